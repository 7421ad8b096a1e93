"""Sockets of `/v1/ws` that are lent to the host of the one session that they play."""

import contextlib
import json
import os
import signal
import threading

import httpx2
import pytest
from websockets.sync.client import connect

import verigym
from verigym.client import RemoteEnv
from verigym.verdict import VerifierFault

ENV = "stage/obeys-v0"
WAIT_S = 60


class Player:
    """A client of `/v1/ws` by hand; one session unless it begins more."""

    def __init__(self, server, socket_):
        self.server = server
        self.socket = socket_
        self.id = 0

    def ask(self, op, **rest):
        self.id += 1
        self.socket.send(json.dumps({"id": self.id, "op": op, **rest}))
        reply = json.loads(self.socket.recv(WAIT_S))
        assert reply["id"] == self.id
        return reply

    def begin(self):
        made = self.ask("create", env=ENV, seed=7)
        return made["ok"]["sessions"][0]["session"]

    def step(self, session, seq, action):
        return self.ask("step", session=session, seq=seq, action=action)

    def see(self, session, seq, action):
        return self.step(session, seq, action)["ok"]["observation"]

    def lent(self):
        """A session with some steps, whose socket is lent, and the number of the last step."""
        session, seq = self.begin(), 0
        while self.server.n_lent() == 0:
            seq += 1
            assert self.see(session, seq, "a") == f"{seq} a"
        return session, seq


@contextlib.contextmanager
def playing(server):
    url = server.url.replace("http", "ws") + "/v1/ws"
    with connect(url, open_timeout=WAIT_S, proxy=None) as socket_:
        yield Player(server, socket_)


def test_a_remote_environment_gives_the_same_over_a_lent_socket(lending):
    local = verigym.make("keydoor")
    with contextlib.closing(RemoteEnv(lending.url, "games/keydoor", transport="websocket")) as far:
        for seed in (7, 8):
            rows = [(local.reset(seed=seed), far.reset(seed=seed))]
            lent = 0
            while len(rows) < 3 or not (rows[-1][0][2] or rows[-1][0][3]):
                action = "nonsense" if len(rows) == 1 else local.oracle()
                rows.append((local.step(action), far.step(action)))
                lent = max(lent, lending.n_lent())
            assert [near == there for near, there in rows] == [True] * len(rows)
            assert lent == 1
            assert lending.n_lent() == 0
    lending.until_lent(0)


def test_other_frames_sessions_and_numbers_are_answered_as_before(lending):
    with playing(lending) as player:
        session, seq = player.lent()
        state = player.ask("state", session=session)["ok"]
        assert (state["seq"], state["turn"], state["busy"]) == (seq, seq, False)
        assert lending.n_lent() == 0
        other = player.begin()
        assert player.see(other, 1, "x") == "1 x"
        again = player.step(session, seq, "a")["ok"]
        assert (again["seq"], again["observation"]) == (seq, f"{seq} a")
        assert player.step(session, seq + 5, "a")["error"]["code"] == "seq_gap"
        for number in range(seq + 1, seq + 9):
            assert player.see(session, number, f"b{number}") == f"{number} b{number}"
        lending.until_lent(1)
        seq += 8
        # The last step again, as after a lost answer, while the socket is lent.
        assert player.step(session, seq, f"b{seq}")["ok"]["observation"] == f"{seq} b{seq}"
        assert player.step(session, seq, "other")["error"]["code"] == "seq_conflict"
        assert player.ask("reset", session=session, seq=seq + 1, seed=7)["ok"]["seq"] == seq + 1
        assert player.see(session, seq + 2, "c") == "1 c"
        assert player.ask("close", session=session)["ok"] == {}
        assert player.step(session, seq + 3, "d")["error"]["code"] == "unknown_session"


def test_a_client_that_alternates_keeps_its_socket_with_the_service(lending):
    with playing(lending) as player:
        sessions = [player.begin() for _ in range(2)]
        for seq in range(1, 20):
            for session in sessions:
                assert player.see(session, seq, "a") == f"{seq} a"
            assert lending.n_lent() == 0


def test_ids_of_any_kind_come_back(lending):
    with playing(lending) as player:
        session, seq = player.lent()
        ids = ["x", None, [1, {"a": "é"}], 2**60, 1.5, "y" * 40]
        for id in ids:
            seq += 1
            frame = {"id": id, "op": "step", "session": session, "seq": seq, "action": "a"}
            player.socket.send(json.dumps(frame, ensure_ascii=False))
            reply = json.loads(player.socket.recv(WAIT_S))
            assert (reply["id"], reply["ok"]["observation"]) == (id, f"{seq} a")


def test_another_socket_may_play_the_same_session(lending):
    with playing(lending) as one, playing(lending) as two:
        session, seq = one.lent()
        slow = threading.Thread(target=lambda: seen.append(one.see(session, seq + 1, "sleep 0.2")))
        seen = []
        slow.start()
        while two.ask("state", session=session)["ok"]["seq"] == seq:
            pass
        assert two.see(session, seq + 2, "b") == f"{seq + 2} b"
        slow.join()
        assert seen == [f"{seq + 1} sleep 0.2"]
        assert one.see(session, seq + 3, "c") == f"{seq + 3} c"


def test_a_session_that_is_not_used_ends_though_its_socket_is_lent(serve_stage):
    with serve_stage("--session-lease-s", "1") as server, playing(server) as player:
        session, seq = player.lent()
        while httpx2.get(server.url + "/v1/sessions", timeout=WAIT_S).json()["sessions"]:
            pass
        assert player.step(session, seq + 1, "a")["error"]["code"] == "unknown_session"


@pytest.mark.parametrize("action", ["sleep 60", "freeze"])
def test_a_hung_step_is_answered_with_its_id(serve_stage, action):
    with serve_stage(timeout_s=1.0) as server, playing(server) as player:
        session, seq = player.lent()
        fault = player.step(session, seq + 1, action)["ok"]["fault"]
        assert (fault["status"], fault["reason"]) == ("timeout", "deadline")
        assert player.see(session, seq + 1, "b") == f"{seq + 1} b"


@pytest.mark.slow
def test_remote_environments_go_on_whoever_is_killed(serve_stage):
    """Every step happens once, though hosts are killed under lent sockets again and again."""
    n_steps = 400
    with serve_stage() as server:
        with contextlib.closing(RemoteEnv(server.url, "stage/pid-v0")) as killer:
            done = threading.Event()
            kills = []

            def kill():
                while not done.wait(0.3):
                    with contextlib.suppress(VerifierFault, ProcessLookupError):
                        _, info = killer.reset(seed=1)
                        os.kill(int(info["legal_actions"][0]), signal.SIGKILL)
                        kills.append(1)

            thread = threading.Thread(target=kill)
            with contextlib.closing(
                RemoteEnv(server.url, "stage/obeys-v0", max_turns=10**6)
            ) as env:
                env.reset(seed=1)
                thread.start()
                count = lent = 0
                while count < n_steps or len(kills) < 3:
                    try:
                        observation = env.step(f"n{count}")[0]
                    except VerifierFault:
                        continue
                    count += 1
                    assert observation == f"{count} n{count - 1}"
                    if count % 50 == 0:
                        lent = max(lent, server.n_lent())
            done.set()
            thread.join()
        assert lent == 1
