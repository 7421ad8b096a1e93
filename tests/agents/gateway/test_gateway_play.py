"""Agent programs as processes: episodes, rewards, faults, deadlines, what they are given."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytest.importorskip("transformers")

from verigym.agents.envpool import EnvPool
from verigym.agents.gateway.harness import Harness
from verigym.agents.gateway.play import HarnessPlayer
from verigym.agents.plan import FaultLimit, Settings, plan_groups
from verigym.agents.rows import token_rows
from verigym.errors import PolicyError, RequestError

PRELUDE = """
import json, os, sys, urllib.request
def post(url, data=None):
    headers = {"x-api-key": os.environ["OPENAI_API_KEY"]}
    body = None if data is None else json.dumps(data).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return json.load(answer)
def ask(text):
    data = {"messages": [{"role": "user", "content": text}]}
    found = post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", data)
    return found["choices"][0]["message"]["content"]
game = os.environ["VERIGYM_ENV_URL"]
"""
STEPS = """
state = post(game)
while not state["done"]:
    state = post(game, {"action": ask(state["observation"])})
"""


@pytest.fixture
def play(serve, counter, make_verifier, tmp_path):
    """Runs a program once for each seed; return the episodes and the player."""

    def run(program, *script, seeds=(3,), outage=(), sampler=None, fault_limit=1.0, **options):
        file = tmp_path / "agent.py"
        file.write_text(PRELUDE + textwrap.dedent(program))
        gateway = serve(
            *script,
            sampler=sampler,
            settings=Settings(patience_s=0.3, backoff_s=0.05, fault_limit=fault_limit),
        )
        verifier = make_verifier(list(outage))
        plans = plan_groups(counter(), list(seeds), env_kwargs={"verifier": verifier})
        command = options.pop("command", (sys.executable, "-S", str(file)))
        with EnvPool() as envs:
            player = HarnessPlayer(
                gateway=gateway,
                harness=Harness(command=command, **options),
                policy=gateway.tokens,
                envs=envs,
            )
            return player.play(plans)

    return run


def test_a_program_plays_an_environment_over_http(play):
    (episode,) = play(STEPS, "up", "up", "stop")
    assert (episode.status, [turn.action for turn in episode.turns]) == (
        "done",
        ["up", "up", "stop"],
    )
    assert [turn.observation for turn in episode.turns] == ["at 0", "at 1", "at 2"]
    assert len({turn.state_key for turn in episode.turns}) == 3
    assert episode.verdict is not None
    assert episode.verdict.score == episode.return_
    assert len(token_rows(episode.turns)) == 3
    assert episode.env_id
    assert all(turn.response_ids and turn.policy_version == 3 for turn in episode.turns)


def test_what_it_prints_is_the_answer_if_it_takes_no_action(play, tmp_path):
    program = """
    assert sys.stdin.read() == os.environ["VERIGYM_PROMPT"] == sys.argv[1]
    print(ask(sys.argv[1]))
    """
    command = (sys.executable, "-S", str(tmp_path / "agent.py"), "{prompt}")
    (episode,) = play(program, "stop", command=command)
    assert episode.status == "done"
    assert [turn.action for turn in episode.turns] == ["stop"]
    (episode,) = play("ask('x')", "stop", answer="reply")
    assert episode.status == "done"


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("ask('x'); raise SystemExit(1)", "truncated"),
        ("ask('x'); os.abort()", "truncated"),
        ("ask('x'); post(game, {'action': 'up'})", "truncated"),
        ("ask('x'); print('gibberish')", "truncated"),
    ],
)
def test_a_program_that_fails_after_a_call_is_judged_as_it_stands(play, program, status):
    (episode,) = play(program, "up")
    assert (episode.status, episode.fault, episode.return_) == (status, None, 0.0)
    assert len(episode.turns) == 1


@pytest.mark.parametrize(
    ("program", "options", "cause"),
    [
        ("raise SystemExit(1)", {}, "harness:no_call"),
        ("pass", {"command": ("/bin/true",)}, "harness:no_call"),
        (STEPS, {"sampler": {"fails": [PolicyError("gone")] * 99}}, "policy_error"),
        (STEPS, {"outage": 99}, "verifier:infra:unreachable"),
        ("ask('x'); print('stop')", {"outage": 99}, "verifier:infra:unreachable"),
    ],
)
def test_what_is_not_the_models_doing_is_a_fault(play, outage, program, options, cause):
    options = {**options, **({"outage": outage(99)} if "outage" in options else {})}
    (episode,) = play(program, "stop", **options)
    assert episode.fault is not None
    assert episode.fault.cause == cause
    assert episode.status == "fault"


def test_a_bug_of_the_engine_is_raised_and_never_a_reward(play):
    with pytest.raises(ZeroDivisionError):
        play(STEPS, "stop", sampler={"fails": [ZeroDivisionError("a bug")]})


def test_a_verifier_that_comes_back_is_asked_again(play, outage):
    (episode,) = play(STEPS, "stop", outage=outage(1))
    assert (episode.status, episode.retries) == ("done", 1)


def test_too_many_faults_end_the_play(play):
    with pytest.raises(FaultLimit, match="no_call"):
        play("pass", "stop", seeds=(1, 2), fault_limit=0.5)


def test_a_hung_program_and_all_that_it_started_is_killed(play, tmp_path):
    program = f"""
    import subprocess, time
    for own in (False, True):
        subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"], start_new_session=own)
    open({str(tmp_path / "pids")!r}, "w").write(os.environ["VERIGYM_SESSION"])
    ask("x")
    time.sleep(60)
    """
    began = time.monotonic()
    (episode,) = play(program, "up", deadline_s=1.0)
    assert time.monotonic() - began < 20
    assert (episode.status, episode.return_) == ("truncated", 0.0)
    mark = f"VERIGYM_SESSION={(tmp_path / 'pids').read_text()}".encode()
    assert not [pid for pid in Path("/proc").glob("[0-9]*") if mark in _environ(pid)]


def _environ(pid: Path) -> bytes:
    try:
        return (pid / "environ").read_bytes()
    except OSError:
        return b""


def test_waiting_for_the_model_does_not_count(play):
    (episode,) = play("ask('x'); print('stop')", "stop", deadline_s=1.0, sampler={"delay_s": 2.0})
    assert episode.status == "done"


def test_calls_and_secrets_are_limited(play, monkeypatch):
    monkeypatch.setenv("MY_SECRET", "x")
    monkeypatch.setenv("MY_FOLDER", "y")
    program = """
    assert "MY_SECRET" not in os.environ and os.environ["MY_FOLDER"] == "y"
    ask("x"); ask("x")
    try:
        ask("x")
    except urllib.error.HTTPError as error:
        assert error.code == 403
        print("stop")
    """
    (episode,) = play(program, "up", max_calls=2, variables=("MY_FOLDER",))
    assert episode.status == "done"
    assert len(episode.turns) == 2


def test_many_run_at_once_in_the_order_of_the_plans(play):
    episodes = play(STEPS, "stop", seeds=range(6), concurrency=3)
    assert [episode.seed for episode in episodes] == list(range(6))
    assert {episode.status for episode in episodes} == {"done"}


def test_one_program_cannot_use_the_session_of_another(serve, http):
    gateway = serve("up")
    own, other = (gateway.open(token=name) for name in ("own", "other"))
    url = f"{gateway.url}/s/{other.id}/v1/chat/completions"
    assert http.post(url, json={"messages": []}, headers={"x-api-key": "own"}).status_code == 401
    assert own.turns == other.turns == []


def test_commands_that_cannot_run_are_refused():
    for command in ((), ("",), ("no-such-program",)):
        with pytest.raises(RequestError):
            Harness(command=command)
    with pytest.raises(RequestError):
        Harness(command=("true",), files=("a",))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs the sandbox")
def test_a_program_in_the_sandbox(play, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = f"""
    assert not os.path.exists({str(tmp_path)!r}) and "MY_SECRET" not in os.environ
    print(ask(sys.stdin.read()))
    """
    monkeypatch.setenv("MY_SECRET", "x")
    options = {"command": ("python3", "agent.py"), "sandbox": True, "files": ("agent.py",)}
    (episode,) = play(program, "stop", **options)
    assert (episode.status, episode.fault) == ("done", None)
    hung = "ask('x')\nimport time\ntime.sleep(60)"
    (episode,) = play(hung, "stop", deadline_s=8.0, **options)
    assert (episode.status, episode.return_) == ("truncated", 0.0)


@pytest.mark.slow
def test_the_example_with_the_package_openai(serve):
    pytest.importorskip("openai")
    example = Path(__file__).parents[3] / "examples" / "keydoor_agent.py"
    gateway = serve("up", settings=Settings(patience_s=0.3))
    plans = plan_groups("games/keydoor", [1], difficulty=1)
    with EnvPool() as envs:
        harness = Harness(command=(sys.executable, str(example)), deadline_s=120.0)
        player = HarnessPlayer(gateway=gateway, harness=harness, policy=gateway.tokens, envs=envs)
        (episode,) = player.play(plans)
    assert (episode.status, len(episode.turns)) == ("truncated", 16)
    assert {turn.action for turn in episode.turns} == {"up"}
    assert all(turn.response_ids for turn in episode.turns)
