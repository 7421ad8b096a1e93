"""Messages of this service, compared one by one with those of the real server package."""

import json
import subprocess
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

import verigym

HERE = Path(__file__).parent
TRACE = HERE.parents[1] / "data" / "openenv_trace.json"
GOLDEN = HERE.parents[1] / "golden" / "openenv_wire.jsonl"
ROWS = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
ACTIONS = ("nonsense", "down", "up", "right", "right", "down", "right")


def told(observation, reward, done, terminated, truncated, info):
    metadata = {
        "terminated": terminated,
        "truncated": truncated,
        **msgspec.to_builtins(info),
    }
    return {"message": observation, "reward": reward, "done": done, "metadata": metadata}


def played(seed=7, actions=ACTIONS):
    """The steps in process, in the words of the wire."""
    env = verigym.make("keydoor")
    observation, info = env.reset(seed=seed)
    steps = [told(observation, None, False, False, False, info)]
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        steps.append(told(observation, reward, over, terminated, truncated, info))
    return steps


def test_the_trace_is_that_of_the_environment():
    assert json.loads(TRACE.read_text())["steps"] == played()


def shape(schema):
    """Return the fields that a schema asks for, without descriptions. Rewards here are numbers;
    others may be booleans."""
    found = {
        name: {choice["type"] for choice in field.get("anyOf", [field])} - {"boolean", "integer"}
        or field["type"]
        for name, field in schema["properties"].items()
    }
    return found, schema.get("required", []), schema.get("additionalProperties", True)


def plain(row):
    """The row without what may differ: words for people, what was sent, the contents of tasks."""
    answer = json.loads(json.dumps(row["answer"]))
    if row["about"] == "schemas":
        return {name: shape(schema) for name, schema in answer.items()}
    if row["about"] == "metadata":
        return sorted(answer)
    return simple(answer)


def simple(value):
    if isinstance(value, list):
        return [simple(one) for one in value]
    if not isinstance(value, dict):
        return value
    if {"type", "loc", "msg"} <= value.keys():  # pydantic's
        return {name: value[name] for name in ("type", "loc", "msg")}
    if str(value.get("message", "")).startswith("Invalid request"):
        return {**value, "message": "Invalid request"}
    if "inputSchema" in value:
        return {name: value[name] for name in ("name", "inputSchema")}
    if "prompt" in value or (value.get("id", "").__class__ is str and "index" in value):
        return {"index": value["index"]}
    if "structured_content" in value:
        return {name: value[name] for name in value if name != "content"}
    return {name: simple(one) for name, one in value.items()}


def asked(row, service, base, sockets, stack):
    said = json.dumps(row["send"]) if "send" in row else row.get("text")
    if row["to"].startswith("ws "):
        path = base + row["to"].partition(" ")[2]
        if path not in sockets:
            sockets[path] = stack.enter_context(service.socket(path))
        return {**row, "answer": sockets[path].tell(said)}
    method, path = row["to"].split(" ")
    headers = {"Content-Type": "application/json"} if said else {}
    answer = service.http.request(method, base + path, content=said, headers=headers)
    return {**row, "status": answer.status_code, "answer": answer.json()}


@pytest.mark.parametrize("base", ["", "/openenv/games/keydoor-v0", "/openenv/keydoor"])
def test_every_answer_is_that_of_the_real_server(service, base):
    with ExitStack() as stack:
        sockets = {}
        for row in ROWS:
            mine = asked(row, service, base, sockets, stack)
            assert mine.get("status") == row.get("status"), row["about"]
            assert plain(mine) == plain(row), row["about"]
    assert service.sessions == 0


@pytest.mark.slow
def test_the_real_server_still_answers_so(real_python):
    done = subprocess.run(
        [real_python, HERE / "record.py", TRACE],
        input=GOLDEN.read_text(encoding="utf-8"),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [plain(row) for row in rows] == [plain(row) for row in ROWS]
