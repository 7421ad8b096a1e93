"""Calls that wait in a pool: order, batches, backpressure, verdicts one by one, calls taken back."""

import asyncio
import contextlib
import os
import select
import signal
import threading
import time

import pytest

from tests.verifiers.pool_calls import (
    LONG_S,
    OBEYS,
    TASK,
    ask,
    in_background,
    read_pid,
)
from verigym import RequestError, Status
from verigym.verifiers.cache import VerdictCache
from verigym.verifiers.pool import PoolBusy, VerifierPool


def test_a_batch_keeps_its_order(pool):
    items = [(TASK, ["secret", 7] if i % 3 else i) for i in range(50)]
    verdicts = pool.verify_batch("unruly/picky", items)
    assert [v.score for v in verdicts] == [float(i % 3 != 0) for i in range(50)]


def test_it_serves_its_workers_on_the_loop_of_who_made_it(unruly):
    big = {"do": "nothing", "text": "x" * (4 << 20)}  # more than a socket takes at once

    async def main():
        loop = asyncio.get_running_loop()
        pool = VerifierPool(2, timeout_s=1.0, load_timeout_s=LONG_S, loop=loop)
        try:
            names = {thread.name for thread in threading.enumerate()}
            assert "pool" not in names
            does = [{"do": "nothing"}, {"do": "hang"}, big, {"do": "die"}]
            verdicts = await pool.verify_batch_async(OBEYS, [(TASK, do) for do in does])
            in_thread = await asyncio.to_thread(pool.verify, OBEYS, TASK, {"do": "nothing"})
            hang = asyncio.create_task(pool.verify_async(OBEYS, TASK, {"do": "hang"}))
            await asyncio.sleep(0)
        finally:
            await asyncio.to_thread(pool.close)
        return [v.status.value for v in [*verdicts, in_thread, await hang]]

    statuses = asyncio.run(main())
    assert statuses == ["ok", "timeout", "ok", "infra", "ok", "cancelled"]


def test_what_has_come_can_be_taken_between_two_looks_of_the_loop(unruly):
    async def main():
        pool = VerifierPool(1, loop=asyncio.get_running_loop())
        try:
            await pool.verify_async(OBEYS, TASK, {"do": "nothing"})
            (done,) = pool.submit(OBEYS, [(TASK, {"do": "nothing"})])
            end = time.monotonic() + LONG_S
            while not done.done() and time.monotonic() < end:
                pool.look()  # and nothing else runs on the loop
            return done.result(0)[0].score
        finally:
            await asyncio.to_thread(pool.close)

    assert asyncio.run(main()) == 1.0


def test_a_full_queue_pushes_back(unruly, fifo, tmp_path):
    with VerifierPool(1, timeout_s=LONG_S, load_timeout_s=LONG_S, max_queue=2) as pool:
        running = in_background(lambda: ask(pool, {"do": "hang", "at": str(fifo)}))
        worker = read_pid(fifo)
        queued = pool.submit(OBEYS, [(TASK, {"do": "nothing"})] * 2)
        with pytest.raises(PoolBusy):
            ask(pool, {"do": "nothing"}, wait_s=0.0)
        with pytest.raises(PoolBusy):
            asyncio.run(pool.verify_async(OBEYS, TASK, {"do": "nothing"}, wait_s=0.0))
        with pytest.raises(RequestError, match="above the queue's limit"):
            pool.submit(OBEYS, [(TASK, {"do": "nothing"})] * 3)
        waiting = in_background(lambda: ask(pool, {"do": "nothing"}))
        os.kill(worker, signal.SIGKILL)
        os.kill(read_pid(fifo), signal.SIGKILL)
        assert running().status is Status.INFRA
        assert waiting().score == 1.0
        assert [v.score for future in queued for v in future.result(LONG_S)] == [1.0, 1.0]


def test_waiting_leaves_the_event_loop_free(pool, tmp_path):
    fifos = [tmp_path / name for name in ("a", "b")]
    for path in fifos:
        os.mkfifo(path)

    async def main():
        hangs = [
            asyncio.create_task(
                pool.verify_async(OBEYS, TASK, {"do": "hang", "at": str(path)}, timeout_s=LONG_S)
            )
            for path in fifos
        ]
        # The loop reads the pids while both calls are under way: it is not blocked.
        workers = [await asyncio.to_thread(read_pid, path) for path in fifos]
        queued = asyncio.create_task(pool.verify_async(OBEYS, TASK, {"do": "nothing"}))
        for path, worker in zip(fifos, workers, strict=True):
            os.kill(worker, signal.SIGKILL)
            os.kill(await asyncio.to_thread(read_pid, path), signal.SIGKILL)
        verdicts = await asyncio.gather(*hangs, queued)
        return [verdict.status for verdict in verdicts]

    assert asyncio.run(main()) == [Status.INFRA, Status.INFRA, Status.OK]


def test_a_cancelled_call_leaves_the_queue(unruly, fifo, tmp_path):
    mark = tmp_path / "mark"
    with VerifierPool(1, timeout_s=LONG_S, load_timeout_s=LONG_S) as pool:
        running = in_background(lambda: ask(pool, {"do": "hang", "at": str(fifo)}))
        worker = read_pid(fifo)

        async def give_up():
            submission = {"do": "die_once", "at": str(mark)}
            call = asyncio.create_task(pool.verify_async(OBEYS, TASK, submission))
            while not pool.waiting:
                await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

        asyncio.run(give_up())
        os.kill(worker, signal.SIGKILL)
        os.kill(read_pid(fifo), signal.SIGKILL)
        assert running().status is Status.INFRA
        assert ask(pool, {"do": "nothing"}).score == 1.0
    assert not mark.exists()


def test_verdicts_come_one_by_one_as_they_are_there(pool, tmp_path):
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    # The first hangs until it is killed; the verdict on the others must not wait for it.
    submissions = [{"do": "hang", "at": str(fifo)}, *[{"do": "nothing", "n": n} for n in range(9)]]
    items = [(TASK, submission) for submission in submissions]

    async def main():
        places, killed = [], False
        async with contextlib.aclosing(pool.verify_each_async(OBEYS, items)) as each:
            reading = asyncio.create_task(asyncio.to_thread(fifo.read_text))
            async for place, verdict in each:
                places.append(place)
                if len(places) == 7 and not killed:  # all but those sent with the one that hangs
                    killed = True
                    os.kill(int(await reading), signal.SIGKILL)
                    os.kill(int(await asyncio.to_thread(fifo.read_text)), signal.SIGKILL)
                wanted = Status.INFRA if place == 0 else Status.OK
                assert verdict.status is wanted
                assert verdict.digest
        return places

    places = asyncio.run(main())
    assert sorted(places) == list(range(10))
    assert set(places[:7]) == set(range(3, 10))


def test_each_raises_what_the_caller_did_wrong(pool):
    async def main(**params):
        each = pool.verify_each_async("unruly/picky", [(TASK, 1), (TASK, 2)], params=params)
        return [verdict.score async for _, verdict in each]

    with pytest.raises(RequestError, match="size"):
        asyncio.run(main(size=0))
    assert asyncio.run(main()) == [0.0, 0.0]


def test_each_gives_kept_verdicts_too(unruly):
    async def main(pool):
        each = pool.verify_each_async(OBEYS, [(TASK, {"do": "nothing"})] * 3)
        return [place async for place, _ in each]

    with VerifierPool(1, cache=VerdictCache(1)) as pool:
        assert asyncio.run(main(pool)) == [0, 1, 2]
        assert sorted(asyncio.run(main(pool))) == [0, 1, 2]
        assert pool.cache.hits


def test_each_takes_back_what_is_not_begun(unruly, fifo, tmp_path):
    late = [tmp_path / f"late{n}" for n in range(4)]

    async def main(pool):
        hang = asyncio.create_task(
            pool.verify_async(OBEYS, TASK, {"do": "hang", "at": str(fifo)}, timeout_s=LONG_S)
        )
        pid = int(await asyncio.to_thread(fifo.read_text))
        asks = [(TASK, {"do": "die_once", "at": str(path)}) for path in late]
        each = pool.verify_each_async(OBEYS, asks)
        first = asyncio.create_task(anext(each))
        while not pool.waiting:
            await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait({first})
        os.kill(pid, signal.SIGKILL)
        os.kill(int(await asyncio.to_thread(fifo.read_text)), signal.SIGKILL)
        await hang
        await pool.verify_async(OBEYS, TASK, {"do": "nothing"})

    with VerifierPool(1) as pool:
        asyncio.run(main(pool))
    assert not any(path.exists() for path in late)


def test_a_deadline_that_passes_in_the_queue_is_told_then_and_nothing_is_judged(unruly, fifo):
    with VerifierPool(1, timeout_s=LONG_S) as pool:
        pool.describe(OBEYS)  # so that it knows what to call what it settles itself
        (hang,) = pool.submit(OBEYS, [(TASK, {"do": "hang", "at": str(fifo)})])
        pid = int(fifo.read_text())
        late = pool.submit(OBEYS, [(TASK, {"do": "die"})] * 2, deadline=time.monotonic() + 0.05)
        verdicts = [verdict for future in late for verdict in future.result(LONG_S)]
        assert {(v.status, v.reason) for v in verdicts} == {(Status.TIMEOUT, "deadline")}
        assert [(v.verifier, bool(v.digest)) for v in verdicts] == [(f"{OBEYS}@3", True)] * 2
        assert not hang.done()
        assert pool.waiting == 0
        assert pool.worker_pids() == [pid]
        pool.cancel([hang])
        assert hang.result(LONG_S)[0].status is Status.CANCELLED


def test_what_is_taken_back_is_not_judged(unruly, fifo):
    with VerifierPool(1, timeout_s=LONG_S) as pool:
        (hang,) = pool.submit(OBEYS, [(TASK, {"do": "hang", "at": str(fifo)})])
        pid = int(fifo.read_text())
        queued = pool.submit(OBEYS, [(TASK, {"do": "die"})])
        kept = pool.submit(OBEYS, [(TASK, {"do": "nothing"})])
        assert pool.waiting == 2
        pool.cancel(queued)
        assert pool.waiting == 1
        assert queued[0].cancelled()
        worker = os.pidfd_open(pid)
        pool.cancel([hang])
        assert select.select([worker], [], [], LONG_S)[0]
        os.close(worker)
        assert kept[0].result(LONG_S)[0].score == 1.0
        assert hang.result(LONG_S)[0].reason == "cancelled"


def test_cancelling_an_awaited_batch_ends_its_worker(unruly, fifo):

    async def main(pool):
        items = [(TASK, {"do": "hang", "at": str(fifo)})]
        task = asyncio.create_task(pool.verify_batch_async(OBEYS, items))
        worker = os.pidfd_open(int(await asyncio.to_thread(fifo.read_text)))
        task.cancel()
        ended = await asyncio.to_thread(select.select, [worker], [], [], LONG_S)
        os.close(worker)
        return ended[0], await asyncio.gather(task, return_exceptions=True)

    with VerifierPool(1, timeout_s=LONG_S) as pool:
        ended, (cancelled,) = asyncio.run(main(pool))
        assert ended
        assert isinstance(cancelled, asyncio.CancelledError)
        assert pool.verify(OBEYS, TASK, {"do": "nothing"}).score == 1.0
