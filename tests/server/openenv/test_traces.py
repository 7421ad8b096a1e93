"""One recorded trace gives the same rewards in process, over HTTP, WebSocket, OpenEnv and its tools."""

import json

import httpx2
import msgspec
import pytest
from websockets.sync.client import connect

import verigym
from verigym.client import RemoteEnv
from verigym.server.process import ServerProcess

ENVS = sorted(verigym.list_envs())
FEW = {"games", "math", "tools"}
FIRST_OF_FAMILY = {env_id.split("/")[1]: env_id for env_id in reversed(ENVS)}
QUICK = {env_id for family, env_id in FIRST_OF_FAMILY.items() if family in FEW}
SEED = 11
JUNK = ("", "nonsense", "half \ud800 a pair")


@pytest.fixture(scope="module")
def service():
    with ServerProcess(workers=1, verifiers=["none"], envs=["*"], timeout_s=60) as server:
        yield server


def recorded(name):
    """Prompt and steps of an episode with junk and, where there is one, a solver in it."""
    env = verigym.make(name)
    observation, info = env.reset(seed=SEED)
    steps = []
    while not steps or not (steps[-1][3] or steps[-1][4]):
        if len(steps) < len(JUNK) and env.turns_allowed(env.task) > len(JUNK):
            action = JUNK[len(steps)]
        else:
            action = "<answer>1</answer>" if env.oracle_absent else env.oracle()
        steps.append((action, *env.step(action)))
    return (observation, info), steps


def by_remote_env(service, name, transport, actions):
    env = RemoteEnv(service.url, name, transport=transport)
    found = [env.reset(seed=SEED), *(env.step(action) for action in actions)]
    env.close()
    return found


def by_openenv(service, name, actions):
    path = f"{service.url}/openenv/{name.removeprefix('verigym/')}/ws".replace("http", "ws", 1)
    with connect(path, proxy=None) as socket:

        def ask(kind, data):
            socket.send(json.dumps({"type": kind, "data": data}))
            return json.loads(socket.recv())["data"]

        return [
            ask("reset", {"seed": SEED}),
            *(ask("step", {"message": action}) for action in actions),
        ]


def by_tools(service, name, actions):
    base = f"{service.url}/openenv/{name.removeprefix('verigym/')}"
    with httpx2.Client(timeout=60) as http:

        def rpc(method, **params):
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            # As JSON writes half a pair; the library's own does not.
            data = json.dumps(body)
            headers = {"Content-Type": "application/json"}
            return http.post(f"{base}/mcp", content=data, headers=headers).json()["result"]

        session = rpc("openenv/session/create")["session_id"]
        with connect(
            f"{base}/ws?session_id={session}".replace("http", "ws", 1), proxy=None
        ) as socket:
            socket.send(json.dumps({"type": "reset", "data": {"seed": SEED}}))
            socket.recv()
        told = [rpc("tools/call", name="look", session_id=session)]
        for action in actions:
            asked = {"name": "act", "arguments": {"message": action}, "session_id": session}
            told.append(rpc("tools/call", **asked))
        assert rpc("openenv/session/close", session_id=session)["closed"]
        return [one["data"] for one in told]


@pytest.mark.parametrize(
    "name",
    [pytest.param(e, marks=() if e in QUICK else pytest.mark.slow) for e in ENVS],
)
def test_every_way_gives_the_same(service, name):
    begun, steps = recorded(name)
    actions = [step[0] for step in steps]
    here = [begun, *(step[1:] for step in steps)]
    for transport in ("websocket", "http"):
        assert by_remote_env(service, name, transport, actions) == here
    plain = [msgspec.to_builtins(found) for found in here]
    ends = [{"terminated": False, "truncated": False}]
    ends += [{"terminated": step[2], "truncated": step[3]} for step in plain[1:]]
    wanted = [
        {
            "message": step[0],
            "reward": step[1] if i else None,
            "done": any(end.values()),
            "metadata": {**end, **step[-1]},
        }
        for i, (step, end) in enumerate(zip(plain, ends, strict=True))
    ]
    told = by_openenv(service, name, actions)
    assert [{**one, "message": one["observation"]["message"]} for one in told] == [
        {**one, "observation": {"message": one["message"], "metadata": one["metadata"]}}
        for one in wanted
    ]
    assert by_tools(service, name, actions) == wanted


def test_messages_that_are_sent_ahead_are_answered_in_their_order(service):
    step = {"type": "step", "data": {"message": "nonsense"}}
    asked = [step, {"type": "reset", "data": {"seed": SEED}}, step, step, {"type": "state"}, step]
    path = f"{service.url}/openenv/games/keydoor-v0/ws".replace("http", "ws", 1)
    with connect(path, proxy=None) as socket:
        for message in asked:
            socket.send(json.dumps(message))
        told = [json.loads(socket.recv()) for _ in asked]
    assert [one["type"] for one in told] == ["error", *["observation"] * 3, "state", "observation"]
    assert told[0]["data"]["code"] == "EXECUTION_ERROR"
    assert told[4]["data"]["step_count"] == 2
