"""`RemoteEnv` against a real service: as in process, also where connections break."""

import contextlib
import os
import pickle
import socket
import threading

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import verigym
from verigym import RequestError, Status, VerifierFault
from verigym.client import Client, RemoteEnv
from verigym.client import socket as client_socket
from verigym.server.process import ServerProcess

TRANSPORTS = ("websocket", "http")
STAGE = "stage/obeys"


@pytest.fixture(scope="module")
def service(stage_folder):
    env = {"PYTHONPATH": str(stage_folder)}
    with ServerProcess(
        workers=1, verifiers=["stage"], envs=["games", "math", "stage"], env=env, timeout_s=2
    ) as server:
        yield server


@pytest.fixture(params=TRANSPORTS)
def make(request, service):
    """Makes environments of the service, and closes them."""
    with contextlib.ExitStack() as stack:

        def make(env, url=service.url, **rest):
            made = RemoteEnv(url, env, transport=request.param, **rest)
            stack.callback(made.close)
            return made

        yield make


class Proxy:
    """Passes bytes on; `lose` breaks the connection in place of the service's next answers."""

    def __init__(self, url):
        host, _, port = url.removeprefix("http://").rpartition(":")
        self._to = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.lose = 0
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(self._to)
            for one, other, answers in ((near, far, False), (far, near, True)):
                thread = threading.Thread(target=self._pump, args=(one, other, answers))
                self._threads.append(thread)
                thread.start()

    def _pump(self, one, other, answers):
        with one:
            while True:
                try:
                    data = one.recv(1 << 16)
                except OSError:
                    data = b""
                # The handshake of a WebSocket, and what ends one, are no answers.
                said = data and not data.startswith((b"HTTP/1.1 101", b"\x88"))
                if answers and said and self.lose:
                    self.lose -= 1
                    data = b""
                if data:
                    try:
                        other.sendall(data)
                        continue
                    except OSError:
                        pass
                for end in (one, other):
                    with contextlib.suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)
                return


@pytest.fixture
def proxy(service):
    proxy = Proxy(service.url)
    yield proxy
    proxy.close()


def solve(here, there, first=("nonsense", "\ud800", "x" * 9000)):
    """Play both with the same actions, comparing everything, until the end."""
    actions = list(first)
    while True:
        action = actions.pop(0) if actions else here.oracle()
        step = here.step(action)
        assert there.step(action) == step
        if step[2] or step[3]:
            return step


# As in process.


@pytest.mark.parametrize("env", ["keydoor", "countdown"])
def test_it_plays_as_in_process(make, env):
    here, there = verigym.make(env), make(env)
    for seed in range(3):
        assert there.reset(seed=seed) == here.reset(seed=seed)
        step = solve(here, there, () if env == "countdown" else ("nonsense", "\ud800", "x" * 9000))
        assert step[1] == 1.0
    options = {"difficulty": "hard", "split": "test"}
    assert there.reset(seed=5, options=options) == here.reset(seed=5, options=options)
    # What comes unseeded is drawn from the same generator.
    assert there.reset() == here.reset()
    assert there.observation_space == here.observation_space
    assert there.action_space == here.action_space


def test_constructor_arguments_are_those_of_the_environment(make):
    here = verigym.make("keydoor", difficulty="hard", max_turns=2)
    there = make("keydoor", difficulty="hard", max_turns=2)
    assert there.reset(seed=1) == here.reset(seed=1)
    for _ in range(2):
        step = there.step("up")
        assert step == here.step("up")
    assert step[3]
    with pytest.raises(RequestError, match="no such parameter"):
        make("keydoor", colour="red").reset()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_it_is_a_gymnasium_environment(service, transport):
    asked = {"url": service.url, "env": "keydoor", "transport": transport}
    env = gymnasium.make("verigym/remote-v0", render_mode="ansi", **asked)
    check_env(env.unwrapped)
    observation, _ = env.reset(seed=3)
    assert env.render() == observation
    env.close()
    many = gymnasium.make_vec("verigym/remote-v0", num_envs=2, vectorization_mode="sync", **asked)
    observations, _ = many.reset(seed=[3, 4])
    assert observations[0] == observation
    many.close()


def test_sessions_end_with_their_environments(service, make):
    with Client(service.url) as client:
        before = len(client.sessions())
        env = make("keydoor")
        assert env.session == ""
        env.reset(seed=1)
        assert env.session in {s.session for s in client.sessions()}
        env.close()
        assert len(client.sessions()) == before
        env.close()
        env.reset(seed=1)
        env.close()
        assert len(client.sessions()) == before


def test_what_the_caller_does_wrong(make):
    with pytest.raises(RequestError, match="did you mean 'games/keydoor-v0'"):
        make("games/keydor")
    env = make("keydoor")
    with pytest.raises(RequestError, match="call reset"):
        env.step("up")
    with pytest.raises(RequestError, match="unknown reset option"):
        env.reset(options={"colour": "red"})
    with pytest.raises(RequestError, match="drawn by the service"):
        env.reset(options={"task": {}})
    env.reset(seed=1)
    with pytest.raises(RequestError, match="an action is text"):
        env.step(3)
    with pytest.raises(RequestError, match="render_mode"):
        make("keydoor", render_mode="human")


def test_a_transport_must_be_one(service):
    with pytest.raises(RequestError, match="transport"):
        RemoteEnv(service.url, "keydoor", transport="pigeon")


# Faults.


def test_a_fault_is_raised_and_the_step_may_be_repeated(make):
    env = make(STAGE)
    env.reset(seed=1)
    before = env.step("one")
    with pytest.raises(VerifierFault) as fault:
        env.step("fault")
    verdict = fault.value.verdict
    assert (verdict.status, verdict.reason, verdict.score) == (Status.INFRA, "away", None)
    assert len(verdict.digest) == 64
    assert "secret" not in str(fault.value)
    assert pickle.loads(pickle.dumps(fault.value)).verdict == verdict
    with pytest.raises(VerifierFault):
        env.step("fault")
    assert before[0] == "1 one"
    assert env.step("two")[0] == "2 two"


def test_a_hanging_environment_is_a_timeout_and_the_session_lives_on(make):
    env = make(STAGE, timeout_s=30)
    env.reset(seed=1)
    env.step("one")
    with pytest.raises(VerifierFault) as fault:
        env.step("freeze")
    assert fault.value.verdict.status is Status.TIMEOUT
    assert env.step("two")[0] == "2 two"


def test_a_session_that_is_lost_is_a_fault_until_the_next_reset(service, make):
    env = make("keydoor")
    env.reset(seed=7)
    with Client(service.url) as client:
        client.close_session(env.session)
    for _ in range(2):
        with pytest.raises(VerifierFault) as fault:
            env.step("down")
        assert fault.value.verdict.reason == "session_lost"
    here = verigym.make("keydoor")
    assert env.reset(seed=7) == here.reset(seed=7)
    with Client(service.url) as client:
        client.close_session(env.session)
    assert env.reset(seed=7) == here.reset(seed=7)
    solve(here, env)


@pytest.mark.slow
def test_a_service_that_went_away_and_came_back(tmp_path):
    with ServerProcess(workers=1, verifiers=["none"], envs=["games"]) as server:
        for transport in TRANSPORTS:
            env = RemoteEnv(server.url, "keydoor", transport=transport, timeout_s=5.0)
            env.reset(seed=7)
            server.kill()
            for _ in range(2):
                with pytest.raises(VerifierFault) as fault:
                    env.step("down")
                assert fault.value.verdict.status is Status.INFRA
            with pytest.raises(VerifierFault):
                env.reset(seed=7)
            server.restart()
            with pytest.raises(VerifierFault) as fault:
                env.step("down")
            assert fault.value.verdict.reason == "session_lost"
            here = verigym.make("keydoor")
            assert env.reset(seed=7) == here.reset(seed=7)
            solve(here, env)
            env.close()


# Broken connections.


@pytest.mark.slow
@settings(max_examples=5)
@given(broken=st.lists(st.integers(0, 2), min_size=12, max_size=12))
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_step_happens_once_however_often_its_answer_is_lost(service, transport, broken):
    proxy = Proxy(service.url)
    here = verigym.make("keydoor")
    there = RemoteEnv(proxy.url, "keydoor", transport=transport)
    try:
        assert there.reset(seed=7) == here.reset(seed=7)
        for turn, lost in enumerate(broken):
            proxy.lose = lost
            step = here.step(["up", "down", "left", "right"][turn % 4])
            assert there.step(["up", "down", "left", "right"][turn % 4]) == step
        proxy.lose = 1
        assert there.reset(seed=8) == here.reset(seed=8)
        proxy.lose = 1
        assert there.reset() == here.reset()
        assert proxy.lose == 0
        with Client(service.url) as client:
            assert client.session(there.session).turn == 0
    finally:
        there.close()
        proxy.close()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_step_that_was_given_up_is_known_again(proxy, transport):
    """Its answer never came; the same action gives it, another is refused, a reset begins anew."""
    here = verigym.make("keydoor")
    there = RemoteEnv(proxy.url, "keydoor", transport=transport, timeout_s=1.0)
    there.reset(seed=7)
    here.reset(seed=7)
    for again in (True, False):
        proxy.lose = 1000
        with pytest.raises(VerifierFault) as fault:
            there.step("down")
        # A broken connection or no time left, whichever the last try met.
        assert fault.value.verdict.status in (Status.INFRA, Status.TIMEOUT)
        proxy.lose = 0
        step = here.step("down")
        if again:
            assert there.step("down") == step
        else:
            with pytest.raises(RequestError, match="used for something else"):
                there.step("up")
    assert there.reset(seed=8) == here.reset(seed=8)
    solve(here, there)
    there.close()


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_session_is_not_made_twice(service, proxy, transport):
    env = RemoteEnv(proxy.url, "keydoor", transport=transport)
    with Client(service.url) as client:
        before = len(client.sessions())
        proxy.lose = 1
        with pytest.raises(VerifierFault):
            env.reset(seed=1)
        assert len(client.sessions()) == before + 1
        env.close()


# Transports and processes.


def test_without_the_library_it_is_http(service, monkeypatch):
    def absent(self, left_s):
        raise client_socket.NoWebSocket("the package websockets is not installed")

    monkeypatch.setattr(client_socket.Socket, "_connect", absent)
    here, there = verigym.make("keydoor"), RemoteEnv(service.url, "keydoor")
    assert there.reset(seed=1) == here.reset(seed=1)
    solve(here, there)
    there.close()
    env = RemoteEnv(service.url, "keydoor", transport="websocket")
    with pytest.raises(RequestError, match="not installed"):
        env.reset()
    env.close()


def test_both_sides_of_a_fork_have_a_session_each(make):
    here, env = verigym.make("keydoor"), make("keydoor")
    here.reset(seed=7)
    env.reset(seed=7)
    env.step("down")
    here.step("down")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with pytest.raises(RequestError, match="call reset"):
                env.step("down")
            other = verigym.make("keydoor")
            assert env.reset(seed=8) == other.reset(seed=8)
            solve(other, env)
            env.close()
            os.write(write, b"good")
        finally:
            os._exit(0)
    os.close(write)
    assert os.read(read, 10) == b"good"
    os.close(read)
    os.waitpid(child, 0)
    solve(here, env)


@pytest.mark.slow  # a service of its own; that a key is sent is shown of the client
def test_a_key_opens_what_is_locked():
    with ServerProcess(verifiers=["none"], envs=["games"], workers=1, key="sesame") as server:
        with pytest.raises(RequestError, match="key"):
            RemoteEnv(server.url, "keydoor")
        for transport in TRANSPORTS:
            env = RemoteEnv(server.url, "keydoor", key="sesame", transport=transport)
            env.reset(seed=1)
            env.close()
