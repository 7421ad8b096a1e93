"""The local sandbox and its callers: threads, signals, forks, arguments."""

import os
import resource
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.sandbox.local.marked_jobs import await_end, await_marked, marking, parent_of, run
from verigym import RequestError
from verigym.sandbox.job import Job, JobStatus
from verigym.sandbox.local import LocalSandbox, client, default_sandbox


def test_many_threads(sandbox):
    with ThreadPoolExecutor(8) as pool:
        results = pool.map(lambda n: run(sandbox, "print(int(input()) ** 2)", b"%d" % n), range(24))
        assert [r.stdout for r in results] == [b"%d\n" % (n * n) for n in range(24)]


def test_no_more_jobs_at_once_than_allowed(monkeypatch):
    with LocalSandbox(max_jobs=2) as sandbox:
        real, lock, now, peak = sandbox._execute, threading.Lock(), 0, 0

        def counting(*args):
            nonlocal now, peak
            with lock:
                now += 1
                peak = max(peak, now)
            try:
                return real(*args)
            finally:
                with lock:
                    now -= 1

        monkeypatch.setattr(sandbox, "_execute", counting)
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda _: run(sandbox, ""), range(8)))
        assert peak == 2


def test_a_caller_s_odd_signal_settings_do_not_matter(sandbox):
    old = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGCHLD])
    umask = os.umask(0o077)
    try:
        assert run(sandbox, "print(1)").stdout == b"1\n"
        assert run(sandbox, "while True: pass", wall_s=0.5).status is JobStatus.TIME_LIMIT
    finally:
        os.umask(umask)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGCHLD, old)


CALLER = """
import sys
from verigym.sandbox.job import Job, Limits
from verigym.sandbox.local import LocalSandbox

job = Job(source=sys.argv[1], limits=Limits(wall_s=1000.0))
LocalSandbox().run(job)
"""


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        *(pytest.param(n, marks=pytest.mark.slow) for n in (signal.SIGINT, signal.SIGTERM)),
    ],
)
def test_nothing_outlives_the_caller(marker, number, temp):
    source = marking(marker) + "import time; time.sleep(1000)"
    # -P: the folder `sandbox` beside us must not shadow anything.
    caller = subprocess.Popen(
        [sys.executable, "-P", "-c", CALLER, source],
        env={**os.environ, "TMPDIR": str(temp)},
        stderr=subprocess.DEVNULL,
    )
    pid = await_marked(marker)[0]
    processes = []
    while pid != caller.pid:  # the program, its slot, the warm server and its keeper
        processes.append(os.pidfd_open(pid))
        pid = parent_of(pid)
    assert len(processes) == 4
    caller.send_signal(number)
    caller.wait()
    for process in processes:
        await_end(process)


def test_one_shared_instance(monkeypatch):
    monkeypatch.setattr(client, "_shared", None)
    with ThreadPoolExecutor(4) as pool:
        instances = set(pool.map(lambda _: default_sandbox(), range(4)))
    assert len(instances) == 1
    instances.pop().close()


def test_a_fork_gets_an_instance_of_its_own():
    ours = default_sandbox()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        other = default_sandbox()
        ok = other is not ours and other.run(Job(source="print(1)")).stdout == b"1\n"
        os.write(write, b"y" if ok else b"n")
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(read, 1) == b"y"
    os.close(read)
    os.close(write)


@pytest.mark.parametrize("arguments", [{"max_jobs": 0}, {"max_jobs": True}, {"warm": ("hot",)}])
def test_bad_arguments(arguments):
    with pytest.raises(RequestError):
        LocalSandbox(**arguments)


def test_a_low_hard_limit_of_the_caller_is_respected(sandbox):
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    result = run(sandbox, "import resource; print(resource.getrlimit(resource.RLIMIT_FSIZE)[0])")
    wanted = 32 << 20
    assert int(result.stdout) == (wanted if hard == -1 else min(wanted, hard))
