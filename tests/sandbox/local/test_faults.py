"""Whose fault the end of a job was."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.sandbox.local.marked_jobs import await_end, await_marked, parent_of, run
from verigym import SandboxError
from verigym.sandbox.job import JobStatus
from verigym.sandbox.local import LocalSandbox, server, tree


@pytest.mark.parametrize("what", ["AS", "CPU", "NOFILE", "FSIZE", "DATA", "STACK"])
def test_a_program_cannot_pass_its_failure_off_as_the_machine_s(sandbox, what):
    source = (
        "import os, resource, signal\n"
        f"try: resource.prlimit(1, resource.RLIMIT_{what}, (0, 0))\n"
        "except OSError: pass\n"
        "for s in (2, 15, 19, 9):\n"
        "    try: os.kill(1, s)\n"
        "    except OSError: pass\n"
        "os.write(1, b'error machine\\nexit 0 0 0 0 0\\n')\n"
        "raise SystemExit(5)\n"
    )
    assert run(sandbox, source).status in (JobStatus.NONZERO_EXIT, JobStatus.SIGNAL)


def test_killing_everything_in_reach_is_one_s_own_fault(sandbox):
    source = "import os, signal; print('x', flush=True); os.kill(-1, signal.SIGKILL); raise SystemExit(1)"
    assert run(sandbox, source).status in (JobStatus.NONZERO_EXIT, JobStatus.SIGNAL)


def test_a_slot_killed_from_outside_is_the_machine_s_fault(sandbox, marker):
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(run, sandbox, "import time; time.sleep(1000)", mark=marker)
        (pid,) = await_marked(marker)
        program = os.pidfd_open(pid)
        os.kill(parent_of(pid), signal.SIGKILL)
        assert done.result().status is JobStatus.SANDBOX_ERROR
    await_end(program)
    assert run(sandbox, "print(1)").stdout == b"1\n"


def test_a_warm_server_killed_from_outside_is_the_machine_s_fault(sandbox, marker):
    with ThreadPoolExecutor(2) as pool:
        source = "import os, time\nif os.fork(): time.sleep(1000)\nos.setsid(); time.sleep(1000)"
        done = [pool.submit(run, sandbox, source, mark=f"{marker}{i}") for i in range(2)]
        programs = [os.pidfd_open(pid) for i in range(2) for pid in await_marked(f"{marker}{i}")]
        for server in sandbox.describe()["servers"]:
            os.kill(server, signal.SIGKILL)
        assert {future.result().status for future in done} == {JobStatus.SANDBOX_ERROR}
    for program in programs:
        await_end(program)
    assert run(sandbox, "print(1)").stdout == b"1\n"


def test_a_machine_that_cannot_start_anything(monkeypatch):
    monkeypatch.setattr(server, "BOOT", "raise SystemExit('no luck')")
    with pytest.raises(SandboxError, match="the warm server did not start: no luck"):
        LocalSandbox()


@pytest.mark.slow
def test_a_server_that_does_not_start_again(monkeypatch):
    with LocalSandbox() as sandbox:
        monkeypatch.setattr(server, "BOOT", "raise SystemExit('no luck')")
        (pid,) = sandbox.describe()["servers"]
        below = [os.pidfd_open(child) for child in tree.below(pid)]
        os.kill(pid, signal.SIGKILL)
        for process in below:
            await_end(process)
        result = run(sandbox, "print(1)")
        assert result.status is JobStatus.SANDBOX_ERROR
        assert "times in a row" in result.detail
        monkeypatch.undo()
        assert run(sandbox, "print(1)").stdout == b"1\n"


def test_a_machine_without_descriptors(sandbox, monkeypatch):
    def refuse(*_):
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pipe", refuse)
        result = run(sandbox, "print(1)")
    assert (result.status, result.detail) == (
        JobStatus.SANDBOX_ERROR,
        "OSError: [Errno 24] Too many open files",
    )
    assert run(sandbox, "print(1)").stdout == b"1\n"
