"""Frames that nobody would send: the socket answers or closes, nothing breaks, no session leaks."""

import asyncio
import json

import pytest
import websockets
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verigym.server.process import ServerProcess

LONG_S = 60.0
OPS = ("create", "reset", "step", "state", "renew", "close", "list", "", "__init__")
TEXTS = st.text(max_size=20) | st.sampled_from(["games/keydoor-v0", "easy", "0", "\ud800"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=True, allow_infinity=True)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "id": VALUES,
        "op": st.sampled_from(OPS) | VALUES,
        "session": VALUES,
        "env": st.just("games/keydoor-v0") | VALUES,
        "seq": st.integers(-1, 3) | VALUES,
        "seed": st.integers(0, 5) | VALUES,
        "count": st.integers(0, 3) | VALUES,
        "action": TEXTS | VALUES,
        "params": VALUES,
        "options": VALUES,
        "extra": VALUES,
    },
)
FRAMES = st.lists(
    MESSAGES.map(json.dumps) | st.text(max_size=50) | st.binary(max_size=50), min_size=1, max_size=8
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    log = tmp_path_factory.mktemp("log") / "log"
    options = ("--envs", "games/keydoor-v0", "--session-lease-s", "2", "--env-workers", "1")
    with (
        open(log, "wb") as file,
        ServerProcess(verifiers=["games/keydoor"], workers=1, options=options, log=file) as server,
    ):
        yield server
        assert server.stop() == 0
    assert b"Traceback" not in log.read_bytes()


async def ask(socket, **message):
    await socket.send(json.dumps({"id": "known", **message}))
    while True:
        answer = json.loads(await asyncio.wait_for(socket.recv(), LONG_S))
        assert ("ok" in answer) != ("error" in answer)
        if "error" in answer:
            assert {"code", "message"} <= set(answer["error"])
            assert "Traceback" not in answer["error"]["message"]
        if answer.get("id") == "known":
            return answer


def assert_said_why(closed):
    """Require that a frame that is not JSON text closes a socket only with a code of the protocol,
    never by an internal error."""
    assert closed.rcvd is not None
    assert 1000 < closed.rcvd.code < 1016
    assert closed.rcvd.code != 1011


async def play(url, frames):
    """Send `frames` between the moves of a session of one's own, which must not notice."""
    address = url.replace("http", "ws") + "/v1/ws"
    async with websockets.connect(address, proxy=None) as socket:
        made = await ask(socket, op="create", env="games/keydoor-v0", seed=1)
        own = made["ok"]["sessions"][0]["session"]
        try:
            for frame in frames:
                await socket.send(frame)
            state = await ask(socket, op="state", session=own)
            assert state["ok"]["session"] == own
        except websockets.ConnectionClosedError as closed:
            assert_said_why(closed)
    async with websockets.connect(address, proxy=None) as socket:
        assert (await ask(socket, op="close", session=own)).get("ok") is not None


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(frames=FRAMES)
def test_any_frames(server, frames):
    asyncio.run(play(server.url, frames))


def test_what_frames_made_ends_with_its_lease(server):
    async def main():
        address = server.url.replace("http", "ws") + "/v1/ws"
        async with websockets.connect(address, proxy=None) as socket:
            for _ in range(10):
                await ask(socket, op="create", env="games/keydoor-v0", seed=1, count=3)
        import httpx2

        async with httpx2.AsyncClient(base_url=server.url, trust_env=False) as http:
            async with asyncio.timeout(LONG_S):
                while (await http.get("/v1/sessions")).json()["sessions"]:
                    await asyncio.sleep(0.05)

    asyncio.run(main())
