"""The worker pool, with real processes: what a worker does to itself never reaches a score."""

import asyncio
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verigym import RequestError, Status, Task, make_verifier
from verigym.verifiers.cache import VerdictCache
from verigym.verifiers.pool import PoolBusy, PoolClosed, VerifierPool

OBEYS = "unruly/obeys"
LONG_S = 60.0
"""Longer than anything here takes; only a hang waits for it."""

TASK = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference=["secret", 7])

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def pool(unruly):
    with VerifierPool(2, timeout_s=LONG_S, load_timeout_s=LONG_S) as pool:
        yield pool


@pytest.fixture
def fifo(tmp_path):
    """A pipe in the file system: reading it waits for the verifier to have got that far."""
    path = tmp_path / "pid"
    os.mkfifo(path)
    return path


def ask(pool, submission, **options):
    return pool.verify(OBEYS, TASK, submission, **options)


def read_pid(fifo):
    return int(fifo.read_text())


@contextlib.contextmanager
def watched(pid):
    """A descriptor that becomes readable when `pid` ends."""
    fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        os.close(fd)


def assert_ends(fd):
    assert select.select([fd], [], [], LONG_S)[0], "the process still runs"


def in_background(call):
    """Run `call` in a thread; gives a function that waits for its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()

    def result():
        thread.join(LONG_S)
        return results[0]

    return result


def test_verdicts_and_digests_are_those_of_the_process(unruly):
    local = make_verifier("unruly/picky", size=3)
    countdown = make_verifier("math/countdown")
    with VerifierPool(2, preload=["unruly/picky", "math/countdown"]) as pool:

        @settings(max_examples=60)
        @given(JSON_VALUES, JSON_VALUES)
        def same(reference, submission):
            task = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference=reference)
            here = local.verify(task, submission)
            assert pool.verify("unruly/picky", task, submission, params={"size": 3}) == here
            here = countdown.verify(task, submission)
            assert pool.verify("math/countdown", task, submission) == here

        same()


def test_what_json_cannot_hold_gives_the_same_verdict(pool):
    local = make_verifier(OBEYS)
    for submission in (float("nan"), "\ud800", {"a": "\ud800"}, object(), {1: 2}):
        assert ask(pool, submission) == local.verify(TASK, submission)


def test_a_batch_keeps_its_order(pool):
    items = [(TASK, ["secret", 7] if i % 3 else i) for i in range(50)]
    verdicts = pool.verify_batch("unruly/picky", items)
    assert [v.score for v in verdicts] == [float(i % 3 != 0) for i in range(50)]


def test_a_hang_is_killed_and_called_a_timeout(pool, fifo):
    result = in_background(lambda: ask(pool, {"do": "hang", "at": str(fifo)}, timeout_s=3.0))
    with watched(read_pid(fifo)) as worker:
        verdict = result()
        assert_ends(worker)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.TIMEOUT, None, "deadline")
    submission = {"do": "hang", "at": str(fifo)}
    assert verdict.verifier == "unruly/obeys@3"
    assert verdict.digest == make_verifier(OBEYS).digest(TASK, submission)
    assert ask(pool, {"do": "nothing"}).score == 1.0


def test_a_hang_takes_nothing_else_of_its_batch_with_it(unruly):
    with VerifierPool(1, timeout_s=1.0, load_timeout_s=LONG_S) as pool:
        does = ["nothing", "hang", "nothing", "die", "raise", "nothing"]
        verdicts = pool.verify_batch(OBEYS, [(TASK, {"do": do}) for do in does])
    statuses = [verdict.status.value for verdict in verdicts]
    assert statuses == ["ok", "timeout", "ok", "infra", "verifier_error", "ok"]


def test_a_worker_killed_in_a_call_is_replaced_once(pool, fifo):
    result = in_background(lambda: ask(pool, {"do": "hang", "at": str(fifo)}))
    first = read_pid(fifo)
    os.kill(first, signal.SIGKILL)
    second = read_pid(fifo)
    assert second != first
    os.kill(second, signal.SIGKILL)
    verdict = result()
    assert (verdict.status, verdict.score, verdict.reason) == (Status.INFRA, None, "worker_died")
    assert verdict.digest
    assert ask(pool, {"do": "nothing"}).score == 1.0


def test_the_second_worker_may_succeed(pool, tmp_path):
    verdict = ask(pool, {"do": "die_once", "at": str(tmp_path / "mark")})
    assert verdict.score == 1.0
    assert (tmp_path / "mark").exists()


def test_faults_of_the_verifier_keep_their_status(pool):
    local = make_verifier(OBEYS)
    for do in ("raise", "bad_task", "sandbox"):
        assert ask(pool, {"do": do}) == local.verify(TASK, {"do": do})
        assert ask(pool, {"do": do}).fault


def test_ids_and_parameters_are_refused_as_in_process(pool):
    with pytest.raises(RequestError, match="did you mean 'unruly/obeys'"):
        pool.verify("unruly/obey", TASK, {})
    with pytest.raises(RequestError, match="no parameter 'strickt'; did you mean 'strict'"):
        ask(pool, {}, params={"strickt": True})
    with pytest.raises(RequestError, match="size must be"):
        pool.verify("unruly/picky", TASK, 1, params={"size": 0})
    with pytest.raises(RequestError, match="timeout_s"):
        ask(pool, {}, timeout_s=0)


def test_a_refused_parameter_costs_no_worker(pool):
    assert ask(pool, {"do": "nothing"}).score == 1.0
    for _ in range(3):
        with pytest.raises(RequestError, match="strickt"):
            ask(pool, {}, params={"strickt": True})
    assert ask(pool, {"do": "nothing"}).score == 1.0
    assert pool.worker_counts()["started"] <= 2


def test_a_worker_that_dies_while_idle_costs_no_call(unruly):
    with VerifierPool(1) as pool:
        assert ask(pool, {"do": "nothing"}).score == 1.0
        (pid,) = pool.worker_pids()
        with watched(pid) as worker:
            os.kill(pid, signal.SIGKILL)
            assert_ends(worker)
        assert ask(pool, {"do": "nothing"}).score == 1.0
        assert pool.worker_counts() == {"started": 2, "killed": 0, "died": 1}


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


def test_a_verifier_that_cannot_be_imported_is_a_fault(pool):
    verdict = pool.verify("unruly/unloadable", TASK, 1)
    assert (verdict.status, verdict.reason) == (Status.VERIFIER_ERROR, "cannot_load")
    with pytest.raises(RequestError, match="could not be loaded"):
        pool.describe("unruly/unloadable")


def test_describe_is_what_the_verifier_says(pool):
    assert pool.describe(OBEYS) == make_verifier(OBEYS).describe()
    described = pool.describe("unruly/picky", {"size": 4})
    assert described == make_verifier("unruly/picky", size=4).describe()


def test_workers_ignore_interrupts_and_keep_stdout_clean(pool, capfd):
    assert ask(pool, {"do": "sigint"}).score == 1.0
    assert ask(pool, {"do": "print"}).score == 1.0
    captured = capfd.readouterr()
    assert captured.out == ""


def test_workers_do_not_share_random_numbers(pool):
    verdicts = pool.verify_batch(OBEYS, [(TASK, {"do": "global_random"})] * 16)
    assert len({verdict.score for verdict in verdicts}) == 16


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


def test_close_cancels_and_leaves_no_process(unruly, tmp_path):
    fifos = [tmp_path / name for name in ("a", "b")]
    for path in fifos:
        os.mkfifo(path)
    with contextlib.ExitStack() as stack:
        pool = VerifierPool(2, timeout_s=LONG_S, load_timeout_s=LONG_S)
        hang = in_background(lambda: ask(pool, {"do": "hang", "at": str(fifos[0])}))
        keep = in_background(lambda: ask(pool, {"do": "keep_child", "at": str(fifos[1])}))
        pids = [read_pid(path) for path in fifos]
        pids += [*pool.worker_pids(), pool._spawner.server.pid]
        queued = pool.submit(OBEYS, [(TASK, {"do": "nothing"})])
        fds = [stack.enter_context(watched(pid)) for pid in set(pids)]
        pool.close()
        for fd in fds:
            assert select.select([fd], [], [], 0)[0], "alive after close()"
        assert hang().status is Status.CANCELLED
        assert keep().status is Status.CANCELLED
        assert queued[0].result(0)[0].status is Status.CANCELLED
        with pytest.raises(PoolClosed):
            ask(pool, {"do": "nothing"})
        pool.close()


def test_what_waits_when_a_pool_closes_is_cancelled_and_raises_nothing(unruly, fifo):
    for _ in range(5):
        pool = VerifierPool(1, timeout_s=LONG_S, load_timeout_s=LONG_S)
        hang = pool.submit(OBEYS, [(TASK, {"do": "hang", "at": str(fifo)})])
        read_pid(fifo)
        queued = [pool.submit(OBEYS, [(TASK, {"do": "nothing"})])[0] for _ in range(40)]
        pool.close()
        for future in [*hang, *queued]:
            assert future.result(0)[0].status is Status.CANCELLED


def test_a_pool_outlives_its_loop_without_harm(unruly):
    async def main():
        pool = VerifierPool(1, loop=asyncio.get_running_loop())
        await pool.verify_async(OBEYS, TASK, {"do": "nothing"})
        return pool

    pool = asyncio.run(main())
    (pid,) = pool.worker_pids()
    with watched(pid) as worker:
        pool.close()
        assert_ends(worker)


def test_what_a_dead_worker_started_dies_with_it(pool, fifo):
    result = in_background(lambda: ask(pool, {"do": "keep_child", "at": str(fifo)}, timeout_s=3.0))
    with watched(read_pid(fifo)) as child:
        assert result().status is Status.TIMEOUT
        assert_ends(child)


def test_an_orphan_is_killed(pool, fifo):
    result = in_background(lambda: ask(pool, {"do": "leave_child", "at": str(fifo)}))
    with contextlib.suppress(ProcessLookupError), watched(read_pid(fifo)) as orphan:
        assert_ends(orphan)
    assert result().score == 1.0


def test_all_processes_die_with_the_owner(unruly, fifo):
    script = f"""
        import sys
        from verigym import Task
        from verigym.verifiers.pool import VerifierPool

        task = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d")
        pool = VerifierPool(1)
        pool.verify("{OBEYS}", task, {{"do": "nothing"}})
        print(pool._spawner.server.pid, flush=True)
        pool.verify("{OBEYS}", task, {{"do": "keep_child", "at": sys.argv[1]}})
    """
    command = [sys.executable, "-P", "-c", textwrap.dedent(script), str(fifo)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as owner,
        watched(int(owner.stdout.readline())) as server,
        watched(read_pid(fifo)) as child,
    ):
        owner.kill()
        assert_ends(server)
        assert_ends(child)


def test_a_dead_fork_server_is_replaced(pool):
    assert ask(pool, {"do": "nothing"}).score == 1.0
    workers = pool.worker_pids()
    server = pool._spawner.server.pid
    with contextlib.ExitStack() as stack:
        fds = [stack.enter_context(watched(pid)) for pid in workers]
        os.kill(server, signal.SIGKILL)
        for fd in fds:
            assert_ends(fd)
    assert [v.score for v in pool.verify_batch(OBEYS, [(TASK, {"do": "nothing"})] * 8)] == [1.0] * 8
    assert pool._spawner.server.pid != server


def test_a_forked_copy_is_refused(pool, monkeypatch):
    monkeypatch.setattr(pool, "_owner", os.getpid() + 1)
    with pytest.raises(RequestError, match="before the fork"):
        ask(pool, {"do": "nothing"})
    monkeypatch.undo()


@pytest.mark.parametrize("name", ["workers", "timeout_s", "load_timeout_s", "max_queue"])
def test_settings_must_be_above_zero(name):
    with pytest.raises(RequestError, match=name):
        VerifierPool(**{name: 0})


@pytest.mark.slow
def test_no_verdict_is_lost_to_a_worker_that_is_killed_every_second():
    """Ten thousand verifications, each compared with the verdict of one process."""
    program = Path(__file__).parents[2] / "benchmarks" / "pool_kills.py"
    command = [sys.executable, str(program), "--verifications", "10000", "--every", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (report["lost"], report["changed"]) == (0, 0)
    assert report["verifications"] >= 10_000
    assert report["kills"] >= 5


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


def test_a_deadline_that_passes_while_it_is_judged_ends_the_worker(unruly):
    with VerifierPool(1, timeout_s=LONG_S) as pool:
        pool.describe(OBEYS)
        futures = pool.submit(OBEYS, [(TASK, {"do": "hang"})] * 2, deadline=time.monotonic() + 0.2)
        verdicts = [verdict for future in futures for verdict in future.result(LONG_S)]
        assert [v.status for v in verdicts] == [Status.TIMEOUT] * 2
        assert pool.verify(OBEYS, TASK, {"do": "nothing"}).score == 1.0
        assert pool.worker_counts() == {"started": 2, "killed": 1, "died": 0}


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
