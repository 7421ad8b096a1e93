"""Many jobs at once, jobs that are cancelled, what they leave running, and the end of a sandbox."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from verigym import SandboxError
from verigym.sandbox.base import Cancellation
from verigym.sandbox.job import Job, JobStatus, Limits

# Of one clock for all processes of the machine, in every container.
SPAN = "import time; a = time.monotonic(); time.sleep(0.2); print(a, time.monotonic())"


def most_at_once(spans):
    """Return the largest number of intervals that overlap at any moment."""
    return max(sum(a <= moment < b for a, b in spans) for moment, _ in spans)


def read_span(result):
    assert result.status is JobStatus.OK, (result.detail, result.stderr)
    return tuple(map(float, result.stdout.split()))


def test_many_at_once_within_the_bound(sandbox):
    with ThreadPoolExecutor(12) as threads:
        spans = [read_span(r) for r in threads.map(sandbox.run, [Job(source=SPAN)] * 12)]
    assert 1 < most_at_once(spans) <= sandbox.max_jobs


def test_many_at_once_from_an_event_loop(sandbox):
    async def main():
        spans = await asyncio.gather(*(sandbox.run_async(Job(source=SPAN)) for _ in range(12)))
        assert 1 < most_at_once([read_span(r) for r in spans]) <= sandbox.max_jobs

    asyncio.run(main())


def test_every_answer_goes_to_its_own_job(sandbox):
    def ask(number):
        source = "import sys; print(int(sys.stdin.read()) * 3)"
        job = Job(source=source, stdin=str(number).encode(), limits=Limits(wall_s=60.0))
        return sandbox.run(job).stdout

    with ThreadPoolExecutor(9) as threads:
        answers = list(threads.map(ask, range(24)))
    assert answers == [f"{number * 3}\n".encode() for number in range(24)]


def test_cancelling_the_task_kills_the_job(sandbox, marked):
    async def main():
        job = Job(command=("sleep", marked.seconds), limits=Limits(wall_s=300.0))
        task = asyncio.ensure_future(sandbox.run_async(job))
        await asyncio.to_thread(marked.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not marked.pids()

    asyncio.run(main())


def test_a_cancelled_job_gives_its_place_back(sandbox, marked):
    async def main():
        job = Job(command=("sleep", marked.seconds), limits=Limits(wall_s=300.0))
        for _ in range(sandbox.max_jobs + 1):
            task = asyncio.ensure_future(sandbox.run_async(job))
            await asyncio.to_thread(marked.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        result = await sandbox.run_async(Job(source="print('next')"))
        assert result.stdout == b"next\n"

    asyncio.run(main())


def test_a_job_that_waits_for_its_turn_can_be_cancelled(sandbox, marked):
    async def main():
        job = Job(command=("sleep", marked.seconds), limits=Limits(wall_s=300.0))
        first = [asyncio.ensure_future(sandbox.run_async(job)) for _ in range(sandbox.max_jobs)]
        while len(set(marked.pids())) < sandbox.max_jobs:
            await asyncio.sleep(0.02)
        last = asyncio.ensure_future(sandbox.run_async(job))
        await asyncio.sleep(0)
        for task in (last, *first):
            task.cancel()
        for task in (last, *first):
            with pytest.raises(asyncio.CancelledError):
                await task
        assert not marked.pids()

    asyncio.run(main())


def test_cancelling_from_another_thread(sandbox, marked):
    cancellation = Cancellation()
    results = []
    job = Job(command=("sleep", marked.seconds), limits=Limits(wall_s=300.0))
    thread = threading.Thread(
        target=lambda: results.append(sandbox.run(job, cancellation=cancellation))
    )
    thread.start()
    marked.wait()
    cancellation.cancel()
    cancellation.cancel()
    thread.join()
    assert results[0].status is JobStatus.SANDBOX_ERROR
    assert "cancelled" in results[0].detail
    assert not marked.pids()


def test_cancelled_before_it_begins(sandbox):
    cancellation = Cancellation()
    cancellation.cancel()
    result = sandbox.run(Job(source="print(1)"), cancellation=cancellation)
    assert result.status is JobStatus.SANDBOX_ERROR
    assert result.stdout == b""


@pytest.mark.parametrize(
    "line",
    [
        "sleep {} &",
        "setsid sleep {} &",
        "setsid nohup sleep {} >/dev/null 2>&1 </dev/null &",
        "(trap '' TERM HUP INT; (sleep {} &) &)",
    ],
)
def test_what_runs_on_in_the_background_dies_with_the_job(run, marked, line):
    script = f"{line.format(marked.seconds)}\necho ended\n"
    result = run(command=("bash", "-c", script), wall_s=60.0)
    assert (result.status, result.stdout) == (JobStatus.OK, b"ended\n")
    assert result.wall_s < 60.0
    assert not marked.pids()


def test_a_daemon_dies_with_a_job_that_is_out_of_time(run, marked):
    script = f"setsid sleep {marked.seconds} & sleep 100"
    result = run(command=("bash", "-c", script), wall_s=1.0)
    assert result.status is JobStatus.TIME_LIMIT
    assert not marked.pids()


def test_closing_kills_what_runs_and_may_be_repeated_and_nothing_runs_after_it(make, marked):
    sandbox = make(max_jobs=2)
    job = Job(command=("sleep", marked.seconds), limits=Limits(wall_s=300.0))
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(sandbox.run, job)
        marked.wait()
        sandbox.close()
        assert running.result().status is JobStatus.SANDBOX_ERROR
    sandbox.close()
    assert not marked.pids()
    try:
        result = sandbox.run(Job(source="print(1)"))
    except SandboxError:
        return
    assert result.status is JobStatus.SANDBOX_ERROR


def test_a_context_manager_closes(make, marked):
    with make(max_jobs=1) as sandbox:
        assert sandbox.run(Job(source="print(1)")).stdout == b"1\n"
        session = sandbox.session("bash")
        session.run(f"sleep {marked.seconds} & echo")
    assert not marked.pids()
