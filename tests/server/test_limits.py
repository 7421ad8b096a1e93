"""Rates, numbers, deadlines and leaving: what the service does not do, and how it says so."""

import asyncio
import contextlib
import json
import os
import select

import httpx2
import pytest

from verigym import Task
from verigym.server import limits
from verigym.server.app import create_app
from verigym.server.keys import LOCAL, Caller
from verigym.server.limits import RequestGate
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings

PLAIN_TASK = json.loads(
    Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference="hush").to_json()
)
LONG_S = 60.0


def ask(do="nothing", **rest):
    return {"verifier": "unruly/obeys", "task": PLAIN_TASK, "submission": {"do": do, **rest}}


@contextlib.asynccontextmanager
async def running(**settings):
    app = create_app(ServerSettings(workers=1, verifiers=("unruly/obeys",), **settings))
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", timeout=LONG_S
        ) as http,
    ):
        yield app, http


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test turns."""

    class Clock:
        now = 1000.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(limits, "time", clock)
    return clock


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "pid"
    os.mkfifo(path)
    return path


def refused(call):
    with pytest.raises(Refusal) as caught:
        call()
    return caught.value.status, caught.value.code, caught.value.headers.get("Retry-After")


def test_a_rate_is_a_bucket_for_each_caller(clock):
    gate = RequestGate(ServerSettings(rate_per_s=2.0))
    other = Caller("other", frozenset({"verify"}))
    for _ in range(2):
        gate.spend(LOCAL)
    assert refused(lambda: gate.spend(LOCAL)) == (429, "rate_limited", "1")
    gate.spend(other)
    clock.now += 0.5
    gate.spend(LOCAL)
    assert refused(lambda: gate.spend(LOCAL))[1] == "rate_limited"
    clock.now += 1000.0
    for _ in range(2):  # what is not used is not saved up
        gate.spend(LOCAL)
    assert refused(lambda: gate.spend(LOCAL))[1] == "rate_limited"


def test_a_slow_rate_says_when(clock):
    gate = RequestGate(ServerSettings(rate_per_s=0.1))
    gate.spend(LOCAL)
    assert refused(lambda: gate.spend(LOCAL)) == (429, "rate_limited", "10")
    clock.now += 9.5
    assert refused(lambda: gate.spend(LOCAL)) == (429, "rate_limited", "1")


def test_whoever_asks_for_health_is_not_counted(clock):
    gate = RequestGate(ServerSettings(rate_per_s=1.0, max_concurrent=1))
    nobody = Caller("nobody", frozenset())
    for _ in range(5):
        gate.spend(nobody)
    with gate.working(nobody), gate.working(nobody):
        pass


def test_requests_under_way_are_bounded_for_each_caller():
    gate = RequestGate(ServerSettings(max_concurrent=1))
    other = Caller("other", frozenset({"verify"}))
    with gate.working(LOCAL), gate.working(other):
        assert gate.running == 2
        assert refused(lambda: gate.working(LOCAL).__enter__())[1] == "too_many_requests"
    with gate.working(LOCAL):
        gate.draining = True
        assert refused(lambda: gate.working(other).__enter__())[:2] == (503, "stopping")
    assert gate.running == 0


def test_a_deadline_that_cannot_be_is_refused(unruly):
    async def main():
        async with running() as (_, http):
            for value in ("0", "-1", "nan", "inf", "1e9", "soon", "", "0x1", "1, 2"):
                headers = {"Verigym-Deadline-S": value}
                answer = await http.post("/v1/verify", json=ask(), headers=headers)
                error = answer.json()["error"]
                assert (answer.status_code, error["code"]) == (422, "invalid_request"), value
                assert error["where"] == "Verigym-Deadline-S"

    asyncio.run(main())


def test_a_deadline_passes_in_the_queue_and_in_the_worker(unruly, fifo):
    async def main():
        async with running() as (app, http):
            hang = asyncio.create_task(
                http.post(
                    "/v1/verify",
                    json=ask("hang", at=str(fifo)),
                    headers={"Verigym-Deadline-S": "5"},
                )
            )
            await asyncio.to_thread(fifo.read_text)
            late = await http.post(
                "/v1/verify/batch",
                json={"items": [ask("die"), ask("die")]},
                headers={"Verigym-Deadline-S": "0.05"},
            )
            still = not hang.done()
            hung = await hang
            ended = app.state.service.pool.worker_counts()
            return late, still, hung, ended

    late, still, hung, ended = asyncio.run(main())
    assert [(v["status"], v["reason"], v["score"]) for v in late.json()["verdicts"]] == [
        ("timeout", "deadline", None)
    ] * 2
    assert still, "it waited for the worker"
    assert (hung.json()["status"], hung.json()["reason"]) == ("timeout", "deadline")
    assert ended == {"started": 1, "killed": 1, "died": 0}, "what was late was judged"


def test_a_client_that_leaves_ends_its_work(unruly, fifo):
    """The worker that judges for it is killed; what it had in the queue is never begun."""

    def scope():
        return {
            "type": "http",
            "method": "POST",
            "path": "/v1/verify",
            "raw_path": b"/v1/verify",
            "query_string": b"",
            "scheme": "http",
            "http_version": "1.1",
            "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        }

    def call(app, item):
        """The request, and how to hang up."""
        leaving = asyncio.Event()
        messages = [{"type": "http.request", "body": json.dumps(item).encode()}]

        async def receive():
            if messages:
                return messages.pop()
            await leaving.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            pass

        return asyncio.create_task(app(scope(), receive, send)), leaving

    async def main():
        async with running() as (app, http):
            pool = app.state.service.pool
            running_one, leave = call(app, ask("hang", at=str(fifo)))
            worker = os.pidfd_open(int(await asyncio.to_thread(fifo.read_text)))
            queued, leave_queue = call(app, ask("die"))
            while not pool.waiting:
                await asyncio.sleep(0)
            leave_queue.set()
            await queued
            assert pool.waiting == 0
            leave.set()
            await running_one
            ended, _, _ = await asyncio.to_thread(select.select, [worker], [], [], LONG_S)
            os.close(worker)
            after = await http.post("/v1/verify", json=ask())
            return ended, after, pool.worker_counts()

    ended, after, counts = asyncio.run(main())
    assert ended
    assert after.json()["score"] == 1.0
    assert counts == {"started": 2, "killed": 1, "died": 0}


def test_a_busy_service_says_when_to_come_again(unruly, fifo):
    async def main():
        async with running(max_queue=8, max_batch=8) as (app, http):
            pool = app.state.service.pool
            pool._call_s = 3.0  # as after slow calls
            hang = asyncio.create_task(
                http.post("/v1/verify", json=ask("hang", at=str(fifo)), timeout=LONG_S)
            )
            await asyncio.to_thread(fifo.read_text)
            queued = asyncio.create_task(http.post("/v1/verify/batch", json={"items": [ask()] * 8}))
            while not pool.waiting:
                await asyncio.sleep(0)
            # Refused before the body, which is none, is looked at.
            refused = await http.post("/v1/verify", content=b"")
            for task in (queued, hang):
                task.cancel()
            await asyncio.gather(queued, hang, return_exceptions=True)
            return refused

    refused = asyncio.run(main())
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "busy")
    assert refused.headers["Retry-After"] == "24"
