"""Ends of jobs of the local sandbox: exits, signals, clocks and every limit."""

import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.sandbox.local.marked_jobs import run
from verigym.sandbox.base import Cancellation
from verigym.sandbox.job import JobStatus, Limits
from verigym.sandbox.local import tree
from verigym.sandbox.step import ProgramRun


def test_a_program_that_ends_well(sandbox):
    result = run(sandbox, "print(input()[::-1])", b"abc\n")
    assert (result.status, result.exit_code, result.signal) == (JobStatus.OK, 0, None)
    assert (result.stdout, result.stderr) == (b"cba\n", b"")
    assert not result.stdout_truncated
    assert result.wall_s > 0
    assert result.memory_mib > 1


def test_an_exit_code(sandbox):
    result = run(sandbox, "import sys; sys.stderr.write('no'); sys.exit(7)")
    assert (result.status, result.exit_code) == (JobStatus.NONZERO_EXIT, 7)
    assert result.stderr == b"no"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_death_by_signal(sandbox, number):
    result = run(sandbox, f"import os; os.kill(os.getpid(), {int(number)})")
    assert (result.status, result.signal, result.exit_code) == (JobStatus.SIGNAL, number, None)


@pytest.mark.parametrize(
    "source",
    [
        "import time; time.sleep(1000)",
        "while True: pass",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
        "import sys\nwhile True: print('.', end='', flush=True); __import__('time').sleep(0.02)",
        "import signal\nfor s in (2, 14, 15, 24): signal.signal(s, signal.SIG_IGN)\n7 ** 10 ** 9",
        "import os\nos.close(0); os.close(1); os.close(2)\nwhile True: pass",
    ],
)
def test_the_wall_clock_kills(sandbox, source, marker):
    result = run(sandbox, source, mark=marker, wall_s=0.7)
    assert result.status is JobStatus.TIME_LIMIT


def test_the_cpu_clock_kills(sandbox):
    assert run(sandbox, "while True: pass", cpu_s=1.0).status is JobStatus.TIME_LIMIT


def test_cpu_time_below_a_second_counts(sandbox):
    source = "import time\nwhile time.process_time() < 0.5: pass"
    assert run(sandbox, source, cpu_s=0.3).status is JobStatus.TIME_LIMIT


def test_the_memory_of_a_process(sandbox):
    assert run(sandbox, "x = bytearray(1 << 30)", memory_mib=128).status is JobStatus.MEMORY_LIMIT
    assert run(sandbox, "x = bytearray(1 << 25)", memory_mib=256).status is JobStatus.OK


def test_the_memory_of_all_processes_together(sandbox, marker):
    source = (
        "import os, time\n"
        "for i in range(4):\n"
        "    if os.fork() == 0: x = b'x' * (80 << 20); time.sleep(1000)\n"
        "time.sleep(1000)"
    )
    result = run(sandbox, source, mark=marker, memory_mib=200)
    assert result.status is JobStatus.MEMORY_LIMIT


def test_forks_that_share_pages_do_not_count_them_twice(sandbox):
    source = (
        "import os\n"
        "x = b'x' * (100 << 20)\n"
        "r, w = os.pipe()\n"
        "for i in range(5):\n"
        "    if os.fork() == 0: os.close(w); os.read(r, 1); os._exit(0)\n"
        "import time; time.sleep(0.4)\n"
        "os.close(w)\n"
        "for i in range(5): os.wait()\n"
    )
    assert run(sandbox, source, memory_mib=250).status is JobStatus.OK


def test_memory_of_a_process_that_is_gone_is_zero():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert tree.tree_memory_bytes(process.pid) == 0


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_is_cut_and_kills(sandbox, stream, marker):
    source = f"import sys\nwhile True: sys.{stream}.write('x' * 65536)"
    result = run(sandbox, source, mark=marker, output_bytes=1000)
    assert result.status is JobStatus.OUTPUT_LIMIT
    assert getattr(result, stream) == b"x" * 1000
    assert getattr(result, f"{stream}_truncated")


def test_output_over_the_limit_counts_even_if_the_program_was_quick(sandbox):
    source = "import os; os.write(1, b'x' * {}); os._exit(0)"
    assert run(sandbox, source.format(1000), output_bytes=1000).status is JobStatus.OK
    assert run(sandbox, source.format(1001), output_bytes=1000).status is JobStatus.OUTPUT_LIMIT


def test_output_is_bytes(sandbox):
    data = bytes(range(256)) + b"\xed\xa0\x80\x1b[2J"
    assert run(sandbox, f"import os; os.write(1, {data!r})").stdout == data


def test_large_input_that_nobody_reads_or_all_is_read(sandbox):
    stdin = b"x" * (5 << 20)
    assert run(sandbox, "", stdin).status is JobStatus.OK
    assert run(sandbox, "import sys; print(len(sys.stdin.read()))", stdin).stdout == b"5242880\n"


def test_the_disk_limit(sandbox):
    source = "open('f', 'wb').write(b'x' * (9 << 20))"
    assert run(sandbox, source, disk_mib=8).status is JobStatus.DISK_LIMIT
    assert run(sandbox, source, disk_mib=16).status is JobStatus.OK


def test_the_disk_limit_of_many_files_and_of_many_inodes(sandbox):
    source = "for i in range(9): open(str(i), 'wb').write(b'x' * (1 << 20))"
    assert run(sandbox, source, disk_mib=8).status is JobStatus.DISK_LIMIT
    source = "for i in range(100_000): open(str(i), 'wb').close()"
    assert run(sandbox, source).status is JobStatus.DISK_LIMIT


def test_files_that_do_not_fit_are_no_failure_of_the_machine(sandbox):
    step = ProgramRun(
        argv=("true",), files={f"d{n}/x": b"" for n in range(5)}, limits=Limits(inodes=9)
    )
    assert sandbox._execute(step, Cancellation()).status is JobStatus.DISK_LIMIT
    step = replace(step, limits=Limits(inodes=10))
    assert sandbox._execute(step, Cancellation()).status is JobStatus.OK


def test_the_process_limit(sandbox, marker):
    source = (
        "import os, time\n"
        "n = 0\n"
        "try:\n"
        "    while n < 500:\n"
        "        if os.fork() == 0: time.sleep(1000)\n"
        "        n += 1\n"
        "except BlockingIOError: print('refused', flush=True)\n"
    )
    result = run(sandbox, source, mark=marker, processes=8)
    assert (result.status, result.stdout) == (JobStatus.OK, b"refused\n")


def test_the_limit_of_open_files(sandbox):
    source = "import os\ntry:\n    while True: os.dup(1)\nexcept OSError as e: print(e.errno)"
    assert run(sandbox, source, open_files=40).stdout == b"24\n"
