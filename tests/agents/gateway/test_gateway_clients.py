"""Packages that agent programs use, as they are published, against the gateway (`make gateway-clients`)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("transformers")

from verigym.agents.gateway.harness import HarnessRun
from verigym.agents.rows import token_rows

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
PYTHON = CACHE / "verigym-peers" / "gateway-clients" / "bin" / "python"
CLIENTS = Path(__file__).parent / "clients"
CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="make gateway-clients installs the packages"),
]


def environment(gateway, session, folder):
    """Return the environment variables of a client program."""
    given = HarnessRun(
        url=gateway.url, session=session.id, token="secret", model="m", prompt="p", has_env=False
    )
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "MSWEA_SILENT_STARTUP": "1",
        "MSWEA_COST_TRACKING": "ignore_errors",
        "MSWEA_CONFIGURED": "true",
        **given.variables(),
    }


@pytest.fixture
def client(serve, tmp_path):
    """Runs one of the programs in `clients`; return what it printed, and its session."""

    def run(name, *script):
        gateway = serve(*script)
        session = gateway.open(token="secret")
        env = environment(gateway, session, tmp_path)
        found = subprocess.run(
            [PYTHON, CLIENTS / f"{name}.py"], env=env, capture_output=True, text=True, timeout=240
        )
        assert found.returncode == 0, found.stderr[-3000:]
        return json.loads(found.stdout.splitlines()[-1]), session

    return run


def n_sampled(session):
    rows = token_rows(session.turns)
    assert sum(sum(row.mask) for row in rows) == sum(len(t.response_ids) for t in session.turns)
    return len(rows)


def test_openai(client):
    found, session = client("with_openai", CALL)
    call = ["add", {"a": 1}]
    assert found.pop("version")
    assert found == {
        "chat_call": call,
        "logprobs": True,
        "chat_stream_call": call,
        "chat_stream_usage": True,
        "chat_stream_text": CALL,
        "responses_call": call,
        "responses_status": "completed",
        "responses_stream_text": CALL,
        "responses_stream_events": ["response.created", "response.completed"],
        "models": ["m"],
        "bad": ["BadRequestError", 400],
        "key": ["AuthenticationError", 401],
    }
    assert (len(session.turns), n_sampled(session)) == (6, 4)


def test_anthropic(client):
    found, session = client("with_anthropic", CALL)
    call = ["add", {"a": 1}]
    assert found.pop("version")
    assert found == {
        "call": call,
        "stop_reason": "tool_use",
        "stream_call": call,
        "stream_text": CALL,
        "tokens": True,
        "own_header": "assistant",
        "bad": ["BadRequestError", 400],
        "key": ["AuthenticationError", 401],
    }
    assert (len(session.turns), n_sampled(session)) == (4, 3)


@pytest.mark.parametrize(
    "program", [["stream_openai", "chat"], ["stream_openai", "responses"], ["stream_anthropic"]]
)
def test_a_package_gets_text_while_the_rest_is_sampled(serve, stepwise, tmp_path, program):
    gateway = serve("go up then left")
    session = gateway.open(token="secret")
    goes_on = stepwise(gateway, n=8)
    with subprocess.Popen(
        [PYTHON, CLIENTS / f"{program[0]}.py", *program[1:]],
        env=environment(gateway, session, tmp_path),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        said = ""
        while "go" not in said:  # nothing else opens the gate
            said += json.loads(process.stdout.readline())
        assert "left" not in said
        goes_on.set()
        while (piece := json.loads(process.stdout.readline())) is not None:
            said += piece
        assert said == "go up then left"
        assert process.wait(60) == 0
    assert len(session.turns) == 1


def test_litellm(client):
    found, session = client("with_litellm", CALL)
    assert {found[route] for route in ("openai", "hosted_vllm", "anthropic")} == {"add"}
    assert {text for name, text in found.items() if "_stream" in name} == {CALL}
    assert found["responses"] == CALL
    assert len(session.turns) == 7


def test_smolagents(client):
    answer = '<tool_call>{"name": "final_answer", "arguments": {"answer": "2"}}</tool_call>'
    found, session = client("with_smolagents", CALL, answer)
    assert found == {"answer": "2"}
    assert len(session.turns) == 2


def test_mini_swe_agent(client):
    command = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo hello"
    text = f'<tool_call>{{"name": "bash", "arguments": {{"command": "{command}"}}}}</tool_call>'
    look = '<tool_call>{"name": "bash", "arguments": {"command": "echo looked"}}</tool_call>'
    found, session = client("with_mini_swe_agent", look, text)
    assert "hello" in json.dumps(found["found"])
    assert len(session.turns) == 2
    assert n_sampled(session) == 1
