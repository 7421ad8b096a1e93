"""The clients against a real service, a killed one and ones that talk nonsense."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verigym
from verigym import RequestError, Status, Task, Verifier, VerifierFault, make_verifier, scored
from verigym.client import AsyncClient, Client, RemoteVerifier
from verigym.server.process import ServerProcess

TASK = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference=["secret", 7])
PICKY = "unruly/picky"


@contextlib.contextmanager
def talking(reply, *, keep_open=False):
    """The URL of a server that answers every connection with the bytes `reply`; counts them."""
    listener = socket.create_server(("127.0.0.1", 0))
    seen = []
    held = []

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            seen.append(connection)
            with contextlib.suppress(OSError):
                received = b""
                while b"\r\n\r\n" not in received:
                    received += connection.recv(65536)
                if reply:
                    connection.sendall(reply)
                if keep_open:
                    held.append(connection)
                else:
                    connection.shutdown(socket.SHUT_RDWR)
                    connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", seen
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in [*seen, *held]:
            connection.close()


def http(status, body=b"", *headers):
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


# The same as in process.


@pytest.mark.parametrize("env_id", ["countdown", "keydoor"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_environment_behaves_as_in_process(service, env_id, seed):
    """One trace, valid, invalid and solving actions: every field of every step is the same."""
    here = verigym.make(env_id)
    there = verigym.make(env_id, verifier=service.url)
    assert isinstance(there.verifier, RemoteVerifier)
    assert here.reset(seed=seed) == there.reset(seed=seed)
    done = False
    turn = 0
    while not done:
        action = "nonsense" if turn == 0 and env_id == "keydoor" else here.oracle()
        step = here.step(action)
        assert there.step(action) == step
        done = step[2] or step[3]
        turn += 1
    verdict = step[4]["verdict"]
    assert verdict.score == 1.0
    assert len(verdict.digest) == 64
    assert there.state_key() == here.state_key()


@settings(max_examples=40)
@given(text=st.text(max_size=60), seed=st.integers(0, 20), use_all=st.booleans())
def test_countdown_verdicts_are_those_of_the_process(service, text, seed, use_all):
    task = verigym.make("countdown").sample_task(seed)
    here = make_verifier("math/countdown", use_all=use_all)
    there = RemoteVerifier(service.url, "math/countdown", params={"use_all": use_all})
    for submission in (text, f"<answer>{text}</answer>", f"<answer>1+{seed}</answer>", seed, None):
        verdict = there.verify(task, submission)
        assert verdict == here.verify(task, submission)
        assert verdict.digest == there.digest(task, submission)


@settings(max_examples=20)
@given(
    items=st.lists(
        st.one_of(
            st.just(["secret", 7]),
            st.integers(),
            st.floats(),
            st.text(),
            st.dictionaries(st.text(), st.none() | st.booleans(), max_size=2),
        ),
        max_size=5,
    )
)
def test_batches_are_those_of_the_process(service, items):
    """NaN, infinities and surrogates included: what JSON cannot hold gets the same fault."""
    here = _Same()
    there = RemoteVerifier(service.url, PICKY)
    pairs = [(TASK, item) for item in [*items, float("nan"), "\ud800"]]
    assert there.verify_batch(pairs) == here.verify_batch(pairs)


class _Size(msgspec.Struct, frozen=True):
    size: int = 1


class _Same(Verifier[_Size]):
    """The plugin's `unruly/picky`, defined here again: only what it says of itself counts."""

    id = PICKY
    version = 1

    def judge(self, task, submission):
        return scored(1.0 if submission == task.reference else 0.0, "compared")


def test_a_remote_verifier_describes_itself_as_the_local_one(service):
    here = make_verifier("math/countdown", use_all=False)
    there = RemoteVerifier(service.url, "math/countdown", params={"use_all": False})
    for name in ("id", "version", "name", "params"):
        assert getattr(there, name) == getattr(here, name)
    info = there.info()
    for name in ("about", "evidence", "weights"):
        assert getattr(info, name) == getattr(here, name)
    assert info.schema == here.schema()


def test_large_submissions_and_tasks_arrive_whole(service):
    task = Task(
        id="t",
        env_id="e",
        seed=2**62,
        prompt="é" * 100_000,
        difficulty="d",
        reference="x" * 500_000,
    )
    there = RemoteVerifier(service.url, PICKY)
    assert there.verify(task, "x" * 500_000).score == 1.0
    assert there.verify(task, "x" * 499_999).score == 0.0
    with pytest.raises(RequestError, match="above the limit"):
        there.verify(task, "x" * (9 << 20))


def test_more_than_one_request_of_a_batch_keeps_the_order(service):
    pairs = [(TASK, ["secret", 7] if i % 3 else i) for i in range(150)]
    verdicts = RemoteVerifier(service.url, PICKY).verify_batch(pairs)
    assert [verdict.score for verdict in verdicts] == [float(i % 3 != 0) for i in range(150)]


def test_many_threads_share_one_verifier(service):
    there = RemoteVerifier(service.url, PICKY)
    wrong = []

    def work(number):
        for i in range(20):
            submission = ["secret", 7] if (i + number) % 2 else number
            verdict = there.verify(TASK, submission)
            if verdict.score != float((i + number) % 2):
                wrong.append(verdict)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    there.close()


# What goes wrong.


def test_a_hang_in_the_verifier_is_a_timeout_with_the_digest(service):
    there = RemoteVerifier(service.url, "unruly/obeys", timeout_s=6.0)
    verdict = there.verify(TASK, {"do": "hang"})
    assert (verdict.status, verdict.score, verdict.reason) == (Status.TIMEOUT, None, "deadline")
    assert verdict.verifier == "unruly/obeys@3"
    assert verdict.digest == there.digest(TASK, {"do": "hang"})


def test_a_killed_service_is_infra_and_back_when_it_is_back():
    with ServerProcess(verifiers=["math"], workers=1) as server:
        env = verigym.make("countdown", verifier=server.url)
        env.reset(seed=3)
        before = env.state_key()
        assert env.verifier.verify(env.task, "x").score == 0.0
        server.kill()
        verdict = env.verifier.verify(env.task, "x")
        assert (verdict.status, verdict.score, verdict.reason) == (
            Status.INFRA,
            None,
            "unreachable",
        )
        with pytest.raises(VerifierFault):
            env.step(env.oracle())
        with pytest.raises(VerifierFault):
            env.verifier.client.health()
        assert env.state_key() == before
        server.restart()
        _, reward, terminated, _, _ = env.step(env.oracle())
        assert (reward, terminated) == (1.0, True)


def test_nobody_listening_is_infra():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    there = RemoteVerifier(f"http://127.0.0.1:{port}", PICKY)
    verdict = there.verify(TASK, 1)
    assert (verdict.status, verdict.reason) == (Status.INFRA, "unreachable")
    assert (verdict.verifier, verdict.digest) == (PICKY, "")
    assert [v.status for v in there.verify_batch([(TASK, 1), (TASK, 2)])] == [Status.INFRA] * 2
    with pytest.raises(VerifierFault):
        _ = there.version


GOOD = {
    "status": "ok",
    "score": 1.0,
    "reason": "r",
    "evidence": "",
    "parts": {},
    "verifier": f"{PICKY}@9",
    "digest": "d",
}

NONSENSE = {
    "hangs up at once": (b"", Status.INFRA, "unreachable"),
    "not HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", Status.INFRA, "unreachable"),
    "stops half way": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
        Status.INFRA,
        "unreachable",
    ),
    "an empty answer": (http(200), Status.INFRA, "bad_answer"),
    "a page": (http(200, b"<html>welcome</html>"), Status.INFRA, "bad_answer"),
    "another JSON": (http(200, b'{"score": 1.0}'), Status.INFRA, "bad_answer"),
    "not UTF-8": (http(200, b'{"status": "\xff"}'), Status.INFRA, "bad_answer"),
    "a score above 1": (
        http(200, json.dumps({**GOOD, "score": 7}).encode()),
        Status.INFRA,
        "bad_answer",
    ),
    "a score with a fault": (
        http(200, json.dumps({**GOOD, "status": "infra"}).encode()),
        Status.INFRA,
        "bad_answer",
    ),
    "another's verdict": (
        http(200, json.dumps({**GOOD, "verifier": "other@1"}).encode()),
        Status.INFRA,
        "bad_answer",
    ),
    "a redirect": (http(302, b"", "Location: http://127.0.0.1:1/"), Status.INFRA, "bad_answer"),
    "404 of something else": (http(404, b"<html>nginx</html>"), Status.INFRA, "bad_answer"),
    "500": (http(500, b"oops"), Status.INFRA, "http_500"),
    "503": (http(503, b"", "Retry-After: 0"), Status.INFRA, "http_503"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_never_becomes_a_score(name):
    reply, status, reason = NONSENSE[name]
    with talking(reply) as (url, _):
        verdict = RemoteVerifier(url, PICKY).verify(TASK, 1)
    assert (verdict.status, verdict.score, verdict.reason) == (status, None, reason)
    assert verdict.evidence


@pytest.mark.parametrize("name", ["hangs up at once", "a page", "500"])
def test_nonsense_never_becomes_a_score_async(name):
    reply, status, reason = NONSENSE[name]

    async def main(url):
        async with AsyncClient(url) as client:
            return await client.verify(PICKY, TASK, 1)

    with talking(reply) as (url, _):
        verdict = asyncio.run(main(url))
    assert (verdict.status, verdict.score, verdict.reason) == (status, None, reason)


def test_what_may_help_is_tried_again_and_what_cannot_is_not():
    with talking(http(500)) as (url, seen):
        Client(url).verify(PICKY, TASK, 1)
        assert len(seen) == 4
    with talking(http(200, b"{}")) as (url, seen):
        Client(url).verify(PICKY, TASK, 1)
        assert len(seen) == 1


def test_a_busy_service_is_asked_until_the_time_is_up():
    with talking(http(429, b"")) as (url, seen):
        verdict = Client(url, timeout_s=2.5).verify(PICKY, TASK, 1)
        assert (verdict.status, verdict.reason) == (Status.INFRA, "http_429")
        assert len(seen) > 1


def test_silence_is_a_timeout():
    with talking(b"", keep_open=True) as (url, seen):
        verdict = Client(url, timeout_s=0.3).verify(PICKY, TASK, 1)
        assert (verdict.status, verdict.score, verdict.reason) == (
            Status.TIMEOUT,
            None,
            "no_answer",
        )
        assert len(seen) == 1

    async def main(url):
        async with AsyncClient(url, timeout_s=0.3) as client:
            return await client.verify(PICKY, TASK, 1)

    with talking(b"HTTP/1.1 200 OK\r\n", keep_open=True) as (url, _):
        assert asyncio.run(main(url)).status is Status.TIMEOUT


def test_what_the_caller_did_wrong_is_an_error(service):
    with pytest.raises(RequestError, match="did you mean 'unruly/picky'"):
        RemoteVerifier(service.url, "unruly/pickey").verify(TASK, 1)
    with pytest.raises(RequestError, match="did you mean 'unruly/picky'"):
        _ = RemoteVerifier(service.url, "unruly/pickey").version
    with pytest.raises(RequestError, match="no parameter 'syze'"):
        RemoteVerifier(service.url, PICKY, params={"syze": 1}).verify(TASK, 1)
    with pytest.raises(RequestError, match="JSON"):
        RemoteVerifier(service.url, PICKY, params={"size": object()}).verify(TASK, 1)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:80", "ftp://x", "http://", "http://x:port", "http://x:99999", ""]
)
def test_an_address_must_be_one(url):
    with pytest.raises(RequestError, match="must read http"):
        RemoteVerifier(url, PICKY)


def test_a_key_opens_what_is_locked():
    with ServerProcess(verifiers=["math"], workers=1, key="sesame") as server:
        task = verigym.make("countdown").sample_task(1)
        with pytest.raises(RequestError, match="key"):
            RemoteVerifier(server.url, "math/countdown").verify(task, "")
        there = RemoteVerifier(server.url, "math/countdown", key="sesame")
        assert there.verify(task, "").score == 0.0
        there.close()


def test_another_version_shows_in_the_verdict():
    body = json.dumps(GOOD).encode()
    with talking(http(200, body)) as (url, _):
        there = RemoteVerifier(url, PICKY)
        assert there.verify(TASK, 1).verifier == f"{PICKY}@9"


# The async client, and processes.


def test_async_calls_run_together(service):
    async def main():
        async with AsyncClient(service.url) as client:
            assert (await client.health())["status"] == "ok"
            assert PICKY in {info.id for info in await client.verifiers()}
            submissions = [["secret", 7] if i % 3 else i for i in range(60)]
            single = await asyncio.gather(
                *(client.verify(PICKY, TASK, submission) for submission in submissions)
            )
            batch = await client.verify_batch(PICKY, [(TASK, one) for one in submissions])
            with pytest.raises(RequestError, match="did you mean"):
                await client.verify("unruly/pickey", TASK, 1)
            odd = await client.verify_batch(PICKY, [(TASK, float("nan"))])
            return single, batch, odd

    single, batch, odd = asyncio.run(main())
    assert single == batch
    assert [verdict.score for verdict in single] == [float(i % 3 != 0) for i in range(60)]
    assert odd[0].reason == "not_json"


def test_an_async_client_survives_a_change_of_event_loop(service):
    client = AsyncClient(service.url)

    async def once(close):
        verdict = await client.verify(PICKY, TASK, ["secret", 7])
        if close:
            await client.close()
        return verdict.score

    assert [asyncio.run(once(close)) for close in (True, True)] == [1.0, 1.0]


def test_both_sides_of_a_fork_go_on(service):
    """Fork in a process of its own: this one has threads, and Python warns of forking then."""
    script = """
import os, sys
from verigym import Task
from verigym.client import RemoteVerifier

task = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference=1)
there = RemoteVerifier(sys.argv[1], "unruly/picky")
assert there.verify(task, 1).score == 1.0
child = os.fork()
scores = [there.verify(task, i % 2).score for i in range(20)]
assert scores == [float(i % 2) for i in range(20)], scores
if child:
    assert os.waitpid(child, 0)[1] == 0
there.close()
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, service.url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_verigym_does_not_import_the_http_library():
    script = "import sys, verigym, verigym.client; print('httpx2' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    assert done.stdout == "False\n"


def test_a_proxy_in_the_environment_is_not_asked_for_this_machine(service, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with Client(service.url) as client:
        assert client.verify(PICKY, TASK, ["secret", 7]).score == 1.0
