"""The clients' calls beyond verdicts: streams, jobs, environments, sessions; and when they repeat."""

import asyncio
import contextlib
import json
import socket
import threading
import time
from contextlib import aclosing

import pytest

import verigym
from verigym import RequestError, Status, Task, VerifierFault
from verigym.client import AsyncClient, Client
from verigym.service import Failed, ServiceRefusal, read_answer

TASK = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference=["secret", 7])
PICKY = "unruly/picky"
RIGHT = ["secret", 7]


@pytest.fixture
def client(service):
    with Client(service.url) as client:
        yield client


@contextlib.contextmanager
def answering(*replies):
    """The URL of a server that gives each connection the next of `replies`; and what it was sent."""
    listener = socket.create_server(("127.0.0.1", 0))
    seen = []

    def serve():
        for reply in replies:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                received = b""
                while b"\r\n\r\n" not in received:
                    received += connection.recv(65536)
                head, _, body = received.partition(b"\r\n\r\n")
                length = next(
                    (
                        int(line[15:])
                        for line in head.lower().split(b"\r\n")
                        if line[:15] == b"content-length:"
                    ),
                    0,
                )
                while len(body) < length:
                    body += connection.recv(65536)
                seen.append((head.decode(), body))
                connection.sendall(reply)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", seen
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def http(status, body=b"", *headers):
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def lines(*found):
    return b"".join(json.dumps(one).encode() + b"\n" for one in found)


def verdict(score):
    return {
        "status": "ok",
        "score": score,
        "reason": "r",
        "evidence": "",
        "parts": {},
        "verifier": f"{PICKY}@1",
        "digest": "d",
    }


# Streams.


def test_each_verdict_comes_once_with_its_place(client):
    submissions = [RIGHT if i % 3 else i for i in range(100)]
    submissions[7] = float("nan")
    found = {
        n.index: n.verdict for n in client.verify_each(PICKY, [(TASK, s) for s in submissions])
    }
    assert len(found) == 100
    assert found[7].reason == "not_json"
    assert [found[i].score for i in range(100) if i != 7] == [
        float(i % 3 != 0) for i in range(100) if i != 7
    ]


def test_each_verdict_comes_async(service):
    async def main():
        async with AsyncClient(service.url) as client:
            pairs = [(TASK, RIGHT if i % 2 else i) for i in range(40)]
            return {n.index: n.verdict.score async for n in client.verify_each(PICKY, pairs)}

    assert asyncio.run(main()) == {i: float(i % 2) for i in range(40)}


def test_a_stream_may_be_left_early(service, client):
    each = client.verify_each(PICKY, [(TASK, i) for i in range(50)])
    next(each)
    each.close()

    async def main():
        async with AsyncClient(service.url) as other:
            async with aclosing(other.verify_each(PICKY, [(TASK, i) for i in range(50)])) as each:
                async for _ in each:
                    break
            return (await other.verify(PICKY, TASK, RIGHT)).score

    assert asyncio.run(main()) == 1.0
    assert client.verify(PICKY, TASK, RIGHT).score == 1.0


def test_a_stream_that_breaks_is_asked_for_the_rest():
    first = lines({"index": 2, "verdict": verdict(1.0)})
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + first
    rest = lines({"index": 1, "verdict": verdict(0.0)}, {"index": 0, "verdict": verdict(0.5)})
    with answering(cut, http(200, rest)) as (url, seen):
        found = list(Client(url).verify_each(PICKY, [(TASK, i) for i in range(3)]))
    assert [(n.index, n.verdict.score) for n in found] == [(2, 1.0), (1, 0.0), (0, 0.5)]
    asked = [[item["submission"] for item in json.loads(body)["items"]] for _, body in seen]
    assert asked == [[0, 1, 2], [0, 1]]
    assert all("accept: application/x-ndjson" in head.lower() for head, _ in seen)


@pytest.mark.parametrize(
    "line",
    [b"nonsense\n", b'{"index": 9}\n', b'{"index": -1}\n', b'{"index": 0}\n', b'{"verdict": 1}\n'],
)
def test_a_stream_of_nonsense_is_a_fault(line):
    with answering(http(200, line)) as (url, _):
        (found,) = Client(url).verify_each(PICKY, [(TASK, 1)])
    assert (found.verdict.status, found.verdict.reason) == (Status.INFRA, "bad_answer")


def test_a_refused_line_is_the_callers_error(client):
    with pytest.raises(RequestError, match="no parameter 'syze'"):
        list(client.verify_each(PICKY, [(TASK, 1)], params={"syze": 1}))
    with pytest.raises(RequestError, match="did you mean"):
        list(client.verify_each("unruly/pickey", [(TASK, 1)]))


# Jobs.


def test_a_job_is_begun_once_and_gives_its_verdicts(client):
    pairs = [(TASK, RIGHT if i % 2 else i) for i in range(6)]
    job = client.submit(PICKY, pairs, idempotency_key="mine")
    assert client.submit(PICKY, pairs, idempotency_key="mine").job == job.job
    with pytest.raises(ServiceRefusal, match="another body") as refused:
        client.submit(PICKY, pairs[:1], idempotency_key="mine")
    assert refused.value.code == "idempotency_conflict"
    done = client.wait(job.job, 60)
    assert (done.status, done.items, done.unjudged) == ("done", 6, 0)
    assert [v.score for v in done.verdicts] == [float(i % 2) for i in range(6)]
    assert done.verdicts[1] == client.verify(PICKY, TASK, RIGHT)
    assert client.job(job.job) == done
    assert job.job in [listed.job for listed in client.jobs(status="done")]
    client.drop_job(job.job)
    with pytest.raises(ServiceRefusal) as refused:
        client.job(job.job)
    assert refused.value.code == "unknown_job"


def test_a_job_that_takes_long_is_a_timeout_and_can_be_cancelled(service):
    async def main():
        async with AsyncClient(service.url) as client:
            job = await client.submit("unruly/obeys", [(TASK, {"do": "hang"})], timeout_s=100)
            with pytest.raises(VerifierFault) as fault:
                await client.wait(job.job, 0.3)
            await client.drop_job(job.job)
            return fault.value.verdict, (await client.wait(job.job)).status

    verdict, status = asyncio.run(main())
    assert (verdict.status, verdict.reason, status) == (Status.TIMEOUT, "unfinished", "cancelled")


def test_a_job_takes_what_a_policy_may_write_and_refuses_what_is_no_json(client):
    job = client.submit(PICKY, [(TASK, "half \ud800 pair")])
    assert client.wait(job.job, 60).verdicts[0].fault is not None
    with pytest.raises(RequestError, match="JSON"):
        client.submit(PICKY, [(TASK, float("nan"))])
    with pytest.raises(RequestError, match="printable"):
        client.submit(PICKY, [(TASK, 1)], idempotency_key="ü")


# Environments and sessions.


def test_what_is_there_to_play(client):
    ids = [env.id for env in client.envs()]
    assert "verigym/games/keydoor-v0" in ids
    card = client.env("keydoor")
    here = verigym.make("keydoor")
    assert card.difficulties == here.difficulties
    assert card.splits == verigym.SPLITS
    assert card.max_action_chars == here.max_action_chars
    (task,) = client.tasks("keydoor", [4], difficulty="hard", split="test")
    mine = here.sample_task(4, "hard", "test")
    assert (task.id, task.prompt, task.seed) == (mine.id, mine.prompt, 4)
    assert client.card("math/countdown")["verifier"] == "math/countdown"
    with pytest.raises(ServiceRefusal, match="did you mean"):
        client.env("keydor")


def test_a_group_of_sessions_starts_in_one_state_and_steps_happen_once(client):
    group = client.create_sessions("keydoor", seed=7, options={"difficulty": "easy"}, count=3)
    assert len({s.session for s in group}) == 3
    assert len({(s.observation, s.info["state_key"]) for s in group}) == 1
    sid = group[0].session
    step = client.step(sid, 1, "down")
    assert client.step(sid, 1, "down") == step
    with pytest.raises(ServiceRefusal) as refused:
        client.step(sid, 1, "up")
    assert refused.value.code == "seq_conflict"
    state = client.session(sid)
    assert (state.seq, state.turn, state.state_key) == (1, 1, step.info["state_key"])
    assert client.reset_session(sid, 2, seed=7).seq == 2
    assert client.renew_session(sid).lease_s > 0
    assert {s.session for s in group} <= {s.session for s in client.sessions()}
    for s in group:
        client.close_session(s.session)
    with pytest.raises(ServiceRefusal) as refused:
        client.session(sid)
    assert refused.value.code == "unknown_session"


def test_sessions_async(service):
    async def play(client, seed):
        (session,) = await client.create_sessions("countdown", seed=seed)
        here = verigym.make("countdown")
        assert session.observation == here.reset(seed=seed)[0]
        step = await client.step(session.session, 1, here.oracle())
        await client.close_session(session.session)
        return step.reward, step.terminated

    async def main():
        async with AsyncClient(service.url) as client:
            return await asyncio.gather(*(play(client, seed) for seed in range(20)))

    assert asyncio.run(main()) == [(1.0, True)] * 20


# What is sent again, and when.

OPENED = json.dumps({"sessions": [{"session": "s", "seq": 0}]}).encode()


@pytest.mark.parametrize("reply", [b"", http(500), http(503), http(502)])
def test_a_session_is_not_made_twice(reply):
    with answering(reply, http(201, OPENED)) as (url, seen):
        with pytest.raises(VerifierFault):
            Client(url).create_sessions("keydoor")
        assert len(seen) == 1


def test_a_session_is_asked_for_again_where_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    client = Client(f"http://127.0.0.1:{port}")
    with pytest.raises(Failed) as failed:
        client._attempt("POST", "/v1/sessions", b"{}", time.monotonic() + 5)
    assert failed.value.pause(1, 5, repeat=False) is not None


def test_a_session_is_asked_for_again_where_there_was_no_room():
    with answering(http(429), http(429), http(201, OPENED)) as (url, seen):
        assert Client(url).create_sessions("keydoor")[0].session == "s"
        assert len(seen) == 3


@pytest.mark.parametrize("reply", [b"", http(500), http(503, b"", "Retry-After: 0"), http(429)])
def test_a_step_is_sent_again_as_it_was(reply):
    step = json.dumps({"session": "s", "seq": 1, "reward": 0.5}).encode()
    with answering(reply, http(200, step)) as (url, seen):
        assert Client(url).step("s", 1, "go").reward == 0.5
    assert seen[0][1] == seen[1][1] == b'{"action":"go","seq":1}'


def test_a_job_keeps_its_key_when_it_is_sent_again():
    card = {"job": "j", "status": "queued", "items": 1, "unjudged": 1, "created_s": 1.0}
    with answering(b"", http(202, json.dumps(card).encode())) as (url, seen):
        assert Client(url).submit(PICKY, [(TASK, 1)]).job == "j"
    keys = [
        [line for line in head.split("\r\n") if line.lower().startswith("idempotency-key")]
        for head, _ in seen
    ]
    assert keys[0] == keys[1]
    assert len(keys[0]) == 1


def test_deadline_and_key_go_with_each_request(monkeypatch):
    monkeypatch.setenv("VERIGYM_API_KEY", "from-outside")
    body = b'{"status": "ok"}'
    with answering(http(200, body), http(200, body)) as (url, seen):
        Client(url, timeout_s=20).health()
        Client(url, key="given").health()
    heads = [head.lower().split("\r\n") for head, _ in seen]
    assert "authorization: bearer from-outside" in heads[0]
    assert "authorization: bearer given" in heads[1]
    (told,) = (
        line.partition(": ")[2] for line in heads[0] if line.startswith("verigym-deadline-s")
    )
    assert 18 < float(told) <= 19


@pytest.mark.parametrize(
    ("told", "least", "most"),
    [
        ("3", 3, 4),
        ("0", 0, 1),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 9999, 10000),
        ("Sat, 01 Jan 2000 00:00:00 GMT", 0, 1),
        ("soon", 0, 1),
        ("-5", 0, 1),
        ("99999", 0, 1),
    ],
)
def test_retry_after_is_waited_for(told, least, most):
    with pytest.raises(Failed) as failed:
        read_answer(429, {"retry-after": told}, b"")
    pauses = [failed.value.pause(1, 1e9, repeat=False) for _ in range(50)]
    assert all(least <= pause <= most for pause in pauses)
    assert len(set(pauses)) > 1  # jitter
    assert failed.value.pause(1, least - 0.1) is None  # not in the time that is left


@pytest.mark.parametrize("autoreset", ["NextStep", "SameStep"])
def test_what_a_vector_step_submits_is_judged_in_one_request(service, autoreset, monkeypatch):
    requests = []
    one, streamed = Client._send, Client._chunks
    monkeypatch.setattr(
        Client, "_send", lambda self, *call: requests.append(call[1]) or one(self, *call)
    )
    monkeypatch.setattr(
        Client, "_chunks", lambda self, *call: requests.append("batch") or streamed(self, *call)
    )

    def played(**options):
        envs = verigym.make_vec("math/arithmetic", 5, autoreset=autoreset, **options)
        envs.reset(seed=1)
        record = []
        for n in range(6):
            right = [env.unwrapped.oracle() for env in envs.envs]
            actions = tuple("no" if (n + i) % 3 == 0 else one for i, one in enumerate(right))
            _, rewards, over, _, infos = envs.step(actions)
            record.append((rewards.tolist(), over.tolist(), infos["state_key"].tolist()))
        envs.close()
        return record

    remote = played(verifier=service.url)
    judged = sum(path == "/v1/verify" or path.endswith("batch") for path in requests)
    assert judged == (3 if autoreset == "NextStep" else 6)
    assert remote == played()


def test_a_vector_of_a_service_says_how_it_was_made_and_repeats_a_step_that_failed(service):
    envs = verigym.make_vec("math/arithmetic", 3, verifier=service.url, difficulty="hard")
    one = envs.envs[1].unwrapped
    assert json.loads(one.spec.to_json())["kwargs"] == {
        "verifier": service.url,
        "difficulty": "hard",
    }
    envs.reset(seed=1)
    before = [env.unwrapped.snapshot() for env in envs.envs]
    actions = tuple(env.unwrapped.oracle() for env in envs.envs)
    client = one.verifier.client
    away, client.timeout_s = client.timeout_s, 1e-9
    with pytest.raises(VerifierFault):
        envs.step(actions)
    client.timeout_s = away
    assert [env.unwrapped.snapshot() for env in envs.envs] == before
    assert envs.step(actions)[1].tolist() == [1.0] * 3
    envs.close()
