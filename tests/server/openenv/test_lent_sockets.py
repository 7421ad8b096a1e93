"""Sockets that are lent to the hosts of their sessions: the client notices nothing, whoever dies or hangs."""

import contextlib
import json
import os
import signal
import socket
import struct
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import verigym

WAIT_S = 60
KEYDOOR = "/openenv/games/keydoor-v0"
STAGE = "/openenv/stage/obeys-v0"


class Player:
    """An OpenEnv client by hand."""

    def __init__(self, socket_):
        self.socket = socket_

    def ask(self, message):
        self.socket.send(json.dumps(message))
        return self.hear()

    def hear(self):
        return json.loads(self.socket.recv(WAIT_S))

    def reset(self, **data):
        return self.ask({"type": "reset", "data": data})["data"]

    def step(self, action):
        return self.ask({"type": "step", "data": {"message": action}})["data"]

    def see(self, action):
        return self.step(action)["observation"]["message"]


@contextlib.contextmanager
def playing(server, base, query=""):
    url = server.url.replace("http", "ws") + base + "/ws" + query
    with connect(url, open_timeout=WAIT_S, proxy=None) as socket_:
        yield Player(socket_)


def begun(player, server):
    """A player whose socket is lent, after one step."""
    player.reset(seed=1)
    assert player.see("a") == "1 a"
    server.until_lent(1)


def test_a_lent_socket_gives_what_the_environment_gives(lending):
    env = verigym.make("keydoor")
    wanted, found = [env.reset(seed=7)[0]], []
    actions = ["nonsense"]
    with playing(lending, KEYDOOR) as player:
        found.append(player.reset(seed=7)["observation"]["message"])
        while True:
            observation, reward, terminated, truncated, info = env.step(actions[-1])
            told = player.step(actions[-1])
            wanted.append(
                (observation, reward, terminated or truncated, info["state_key"], terminated)
            )
            metadata = told["metadata"]
            found.append(
                (
                    *(told["observation"]["message"], told["reward"], told["done"]),
                    *(metadata["state_key"], metadata["terminated"]),
                )
            )
            if len(actions) == 2:
                lending.until_lent(1)
            if told["done"]:
                break
            actions.append(env.oracle())
        assert found == wanted
        assert lending.n_lent() == 0  # the last answer was the service's
        assert player.ask({"type": "state"})["data"]["step_count"] == len(actions)
        over = player.step("up")
        assert "over" in over["message"]
        player.reset(seed=8)
        lending.until_lent(1)  # one who played by plain steps is lent at once
        assert player.step("up")["reward"] == 0.0


def test_faults_come_through_and_nothing_has_happened(lending):
    with playing(lending, STAGE) as player:
        begun(player, lending)
        for action, status in (("fault", "infra"), ("crash", "verifier_error")):
            told = player.step(action)
            assert (told["reward"], told["done"]) == (None, False)
            assert told["metadata"]["fault"]["status"] == status
            assert told["observation"]["message"] == "1 a"
        assert player.see("b") == "2 b"
        assert player.see("c") == "3 c"
        lending.until_lent(1)


def test_any_other_message_ends_the_loan_and_is_answered(lending):
    with playing(lending, STAGE) as player:
        begun(player, lending)
        assert player.ask({"type": "state"})["data"]["step_count"] == 1
        assert lending.n_lent() == 0
        for i, message in enumerate(
            (
                {"type": "nonsense"},
                {"type": "step", "data": {"message": 1}},
                {"type": "step", "data": {"message": "x", "y": 1}},
                {"type": "mcp", "data": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}},
            )
        ):
            assert player.see("b") == f"{2 + i} b"
            lending.until_lent(1)
            assert player.ask(message)["type"] in ("error", "mcp")
        long = "x" * 70_000
        assert player.see("b") == "6 b"
        lending.until_lent(1)
        player.step(long)
        assert player.see("c") == "7 c"  # the long one was invalid
        player.socket.ping().wait(WAIT_S)
        assert player.see("d") == "8 d"
        lending.until_lent(1)
        player.socket.send("[1]")
        assert player.hear()["data"]["code"] == "SESSION_ERROR"
        with pytest.raises(ConnectionClosed):
            player.hear()


def frame(text, mask=b"\1\2\3\4"):
    data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(text.encode()))
    return bytes((0x81, 0x80 | len(data))) + mask + data


def told(stream):
    """The next text of a raw socket."""
    head = stream.read(2)
    size = head[1]
    if size == 126:
        (size,) = struct.unpack(">H", stream.read(2))
    return json.loads(stream.read(size))["data"]["observation"]["message"]


def test_frames_in_pieces_and_together_are_played_in_their_order(lending):
    host, port = lending.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=WAIT_S) as raw:
        raw.sendall(
            f"GET {STAGE}/ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        stream = raw.makefile("rb")
        while stream.readline() != b"\r\n":
            pass
        raw.sendall(frame('{"type":"reset","data":{"seed":1}}'))
        told(stream)

        def step(action):
            return frame(json.dumps({"type": "step", "data": {"message": action}}))

        raw.sendall(step("a"))
        assert told(stream) == "1 a"
        lending.until_lent(1)
        raw.sendall(step("b") + step("c") + step("sleep 0.1") + step("d"))
        seen = [told(stream) for _ in range(4)]
        assert seen == ["2 b", "3 c", "4 sleep 0.1", "5 d"]
        raw.sendall(step("e"))
        assert told(stream) == "6 e"
        lending.until_lent(1)
        whole = step("f")
        for byte in whole[:-1]:
            raw.sendall(bytes((byte,)))
        lending.until_lent(0)
        raw.sendall(whole[-1:])
        assert told(stream) == "7 f"


def test_a_session_that_others_play_too_has_one_order(lending):
    url = lending.url + STAGE + "/mcp"

    def rpc(method, **params):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return httpx2.post(url, json=body, timeout=WAIT_S).json()["result"]

    session = rpc("openenv/session/create")["session_id"]
    with playing(lending, STAGE, f"?session_id={session}") as player:
        begun(player, lending)
        slow = threading.Thread(target=lambda: seen.append(player.see("sleep 0.2")))
        seen = []
        slow.start()
        looked = rpc("tools/call", name="look", arguments={}, session_id=session)
        assert looked["data"]["message"] in ("1 a", "2 sleep 0.2")
        slow.join()
        acted = rpc("tools/call", name="act", arguments={"message": "b"}, session_id=session)
        assert acted["data"]["message"] == "3 b"
        assert seen == ["2 sleep 0.2"]
        assert player.see("c") == "4 c"
        lending.until_lent(1)
    lending.until_lent(0)
    acted = rpc("tools/call", name="act", arguments={"message": "d"}, session_id=session)
    assert acted["data"]["message"] == "5 d"
    rpc("openenv/session/close", session_id=session)


def test_a_client_that_leaves_takes_its_session_along(lending):
    with playing(lending, STAGE) as player:
        begun(player, lending)
    lending.until_lent(0)
    listed = httpx2.get(lending.url + "/v1/sessions", timeout=WAIT_S).json()["sessions"]
    assert listed == []


@pytest.mark.parametrize("action", ["sleep 60", "freeze"])
def test_a_hung_step_is_a_timeout_and_nobody_else_notices(serve_stage, action):
    with serve_stage(timeout_s=1.0) as server, contextlib.ExitStack() as stack:
        players = [stack.enter_context(playing(server, STAGE)) for _ in range(3)]
        for player in players:
            player.reset(seed=1)
            assert player.see("a") == "1 a"
        server.until_lent(3)
        fault = players[0].step(action)
        assert (fault["reward"], fault["done"]) == (None, False)
        assert (fault["metadata"]["fault"]["status"], fault["metadata"]["fault"]["reason"]) == (
            "timeout",
            "deadline",
        )
        assert [player.see("b") for player in players] == ["2 b"] * 3
        server.until_lent(3)


def test_a_step_that_ends_its_host_is_a_fault_for_it_alone(lending):
    with playing(lending, STAGE) as bad, playing(lending, STAGE) as good:
        for player in (bad, good):
            player.reset(seed=1)
            assert player.see("a") == "1 a"
        lending.until_lent(2)
        fault = bad.step("exit")["metadata"]["fault"]
        assert (fault["status"], fault["reason"]) == ("infra", "worker_died")
        assert [bad.see("b"), good.see("b")] == ["2 b", "2 b"]


def test_sigterm_lets_the_step_on_a_lent_socket_finish(serve_stage):
    with serve_stage() as server:
        with playing(server, STAGE) as player:
            begun(player, server)
            seen = []
            slow = threading.Thread(target=lambda: seen.append(player.see("sleep 1")))
            slow.start()
            os.kill(server.pid, signal.SIGTERM)
            slow.join()
            # The signal may have come first.
            assert seen == ["2 sleep 1"]
        assert server.stop() == 0


def test_services_that_limit_rates_lend_nothing(serve_stage):
    with serve_stage("--rate-per-s", "1000") as server, playing(server, STAGE) as player:
        player.reset(seed=1)
        assert [player.see("a"), player.see("b")] == ["1 a", "2 b"]
        assert server.n_lent() == 0


@pytest.mark.slow
def test_every_step_happens_once_whoever_is_killed(serve_stage):
    """Hosts are killed under many lent sockets: an answer is right, a fault, or the connection ends."""
    n_players, n_steps = 8, 900
    with serve_stage() as server:
        url = server.url + STAGE + "/mcp"

        def create():
            body = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {}}
            return httpx2.post(url, json=body, timeout=WAIT_S).json()["result"]["session_id"]

        def attach(stack, session):
            """A player of `session`, once its former socket has been noticed to be gone, and the number of steps."""
            while True:
                player = stack.enter_context(playing(server, STAGE, f"?session_id={session}"))
                try:
                    state = player.ask({"type": "state"})
                except ConnectionClosed:
                    continue
                if state["type"] == "state":
                    return player, state["data"]["step_count"]
                assert "already has an attached WebSocket" in state["data"]["message"]

        def play(session):
            """Play until `n_steps` are done; return how often the connection ended."""
            count = cuts = 0
            with contextlib.ExitStack() as stack:
                player, _ = attach(stack, session)
                player.reset(seed=1)
                while count < n_steps:
                    try:
                        told = player.step(f"n{count}")
                    except ConnectionClosed:
                        cuts += 1
                        player, steps = attach(stack, session)
                        assert steps in (count, count + 1)
                        count = steps
                        continue
                    if told["metadata"].get("fault") is None:
                        count += 1
                        assert told["observation"]["message"] == f"{count} n{count - 1}"
            return cuts

        with (
            playing(server, "/openenv/stage/pid-v0") as killer,
            ThreadPoolExecutor(n_players) as threads,
        ):
            plays = [threads.submit(play, create()) for _ in range(n_players)]
            kills = most_lent = 0
            while any(play.running() for play in plays):
                info = killer.reset(seed=1)["metadata"]
                if "legal_actions" in info:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(info["legal_actions"][0]), signal.SIGKILL)
                        kills += 1
                wait(plays, timeout=0.2)
                most_lent = max(most_lent, server.n_lent())
        assert max(play.result() for play in plays) <= kills
        assert kills >= 2
        assert most_lent > 1
