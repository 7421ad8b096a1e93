"""The pool's processes: workers that die are replaced, and none outlives its owner."""

import asyncio
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.verifiers.pool_calls import (
    LONG_S,
    OBEYS,
    TASK,
    ask,
    assert_ends,
    in_background,
    read_pid,
    watched,
)
from verigym import RequestError, Status
from verigym.verifiers.pool import PoolClosed, VerifierPool


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


def test_a_worker_that_dies_while_idle_costs_no_call(unruly):
    with VerifierPool(1) as pool:
        assert ask(pool, {"do": "nothing"}).score == 1.0
        (pid,) = pool.worker_pids()
        with watched(pid) as worker:
            os.kill(pid, signal.SIGKILL)
            assert_ends(worker)
        assert ask(pool, {"do": "nothing"}).score == 1.0
        assert pool.worker_counts() == {"started": 2, "killed": 0, "died": 1}


def test_workers_ignore_interrupts_and_keep_stdout_clean(pool, capfd):
    assert ask(pool, {"do": "sigint"}).score == 1.0
    assert ask(pool, {"do": "print"}).score == 1.0
    captured = capfd.readouterr()
    assert captured.out == ""


def test_workers_do_not_share_random_numbers(pool):
    verdicts = pool.verify_batch(OBEYS, [(TASK, {"do": "global_random"})] * 16)
    assert len({verdict.score for verdict in verdicts}) == 16


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
