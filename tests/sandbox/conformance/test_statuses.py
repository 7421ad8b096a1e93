"""Ends of jobs, status by status, and whose fault each end is."""

import pytest

from verigym.sandbox.job import JobStatus

C_PROGRAM = r"""
#include <stdio.h>
int main(void) { int n; if (scanf("%d", &n) != 1) return 2; printf("%d\n", n * 2); return 0; }
"""


def test_ok(run):
    result = run("import sys; print(6 * 7); print('aside', file=sys.stderr)")
    assert result.status is JobStatus.OK
    assert (result.exit_code, result.signal) == (0, None)
    assert (result.stdout, result.stderr) == (b"42\n", b"aside\n")
    assert not result.stdout_truncated
    assert not result.stderr_truncated
    assert result.wall_s > 0
    assert result.memory_mib > 0


@pytest.mark.parametrize("code", [1, 3, 127, 137, 255])
def test_nonzero_exit_even_where_it_looks_like_a_signal(run, code):
    result = run(f"import sys; print('said'); sys.exit({code})")
    assert result.status is JobStatus.NONZERO_EXIT
    assert (result.exit_code, result.signal) == (code, None)
    assert result.stdout == b"said\n"


@pytest.mark.parametrize("number", [6, 9, 11, 15])
def test_signal(run, number):
    result = run(f"import os; print('said', flush=True); os.kill(os.getpid(), {number})")
    assert result.status is JobStatus.SIGNAL
    assert (result.exit_code, result.signal) == (None, number)
    assert result.stdout == b"said\n"


def test_wall_time(run):
    result = run("import time; print('began', flush=True); time.sleep(100)", wall_s=0.5)
    assert result.status is JobStatus.TIME_LIMIT
    assert result.stdout == b"began\n"
    assert result.wall_s >= 0.5


def test_cpu_time(run):
    result = run("while True: pass", cpu_s=0.5)
    assert result.status is JobStatus.TIME_LIMIT
    assert result.cpu_s >= 0.4


def test_cpu_time_of_all_processes_together(run):
    source = "import os\nfor _ in range(3): os.fork()\nwhile True: pass"
    assert run(source, cpu_s=1.0, wall_s=40.0).status is JobStatus.TIME_LIMIT


def test_a_program_that_stops_itself_is_out_of_time(run):
    source = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    assert run(source, wall_s=0.5).status is JobStatus.TIME_LIMIT


def test_memory(run):
    result = run("x = b'x' * (600 << 20); print(len(x))", memory_mib=128)
    assert result.status is JobStatus.MEMORY_LIMIT
    assert result.stdout == b""


def test_memory_bit_by_bit(run):
    source = "held = []\nwhile True: held.append(bytearray(b'x' * (1 << 20)))"
    assert run(source, memory_mib=128).status is JobStatus.MEMORY_LIMIT


def test_memory_of_all_processes_together(run):
    source = """
import os, time
for _ in range(5):
    if os.fork() == 0:
        held = b"x" * (80 << 20)
        time.sleep(50)
        os._exit(0)
for _ in range(5):
    if os.wait()[1]:
        raise SystemExit(1)
print("all five had their memory")
"""
    result = run(source, memory_mib=200, wall_s=30.0)
    assert result.status is not JobStatus.OK
    assert result.status is JobStatus.MEMORY_LIMIT


def test_memory_that_processes_share_counts_once(run):
    source = """
import os, time
held = b"x" * (100 << 20)
for _ in range(6):
    if os.fork() == 0:
        time.sleep(0.5)
        os._exit(len(held[::1 << 20]) != 100)
for _ in range(6):
    if os.wait()[1]:
        raise SystemExit(1)
"""
    assert run(source, memory_mib=200).status is JobStatus.OK


def test_memory_behind_a_first_thread_that_has_ended(run):
    source = """
import ctypes, os, threading, time
def hold():
    held = b"x" * (180 << 20)
    time.sleep(50)
children = []
for _ in range(4):
    if os.fork() == 0:
        threading.Thread(target=hold).start()
        time.sleep(0.2)
        ctypes.CDLL(None).pthread_exit(None)
time.sleep(5)
print("all alive" if os.waitpid(-1, os.WNOHANG) == (0, 0) else "killed")
"""
    result = run(source, memory_mib=256, processes=32, wall_s=40.0)
    assert result.status is not JobStatus.SANDBOX_ERROR
    assert b"alive" not in result.stdout


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output(run, stream):
    source = f"import sys\nwhile True: sys.{stream}.write('y' * 9999)"
    result = run(source, output_bytes=50_000)
    assert result.status is JobStatus.OUTPUT_LIMIT
    assert len(getattr(result, stream)) == 50_000
    assert getattr(result, f"{stream}_truncated")
    other = {"stdout": "stderr", "stderr": "stdout"}[stream]
    assert not getattr(result, f"{other}_truncated")


def test_output_as_long_as_its_limit_is_fine(run):
    result = run("import sys; sys.stdout.write('y' * 50_000)", output_bytes=50_000)
    assert result.status is JobStatus.OK
    assert len(result.stdout) == 50_000
    assert not result.stdout_truncated


def test_output_one_byte_too_long(run):
    result = run("import sys; sys.stdout.write('y' * 50_001)", output_bytes=50_000)
    assert result.status is JobStatus.OUTPUT_LIMIT
    assert len(result.stdout) == 50_000


def test_disk(run):
    source = "with open('big', 'wb') as file:\n    while True: file.write(b'x' * 65536)"
    assert run(source, disk_mib=4).status is JobStatus.DISK_LIMIT


def test_disk_in_many_files(run):
    source = """
for number in range(1000):
    with open(f"f{number}", "wb") as file:
        file.write(b"x" * 65536)
"""
    assert run(source, disk_mib=4).status is JobStatus.DISK_LIMIT


def test_inodes(run):
    source = "for number in range(500): open(f'f{number}', 'w').close()"
    assert run(source, inodes=100).status is JobStatus.DISK_LIMIT


def test_processes(run):
    source = """
import os, time
made = 0
try:
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(50)
            os._exit(0)
        made += 1
except OSError:
    print(made)
"""
    result = run(source, processes=6)
    assert result.status is JobStatus.OK
    assert int(result.stdout) <= 6


def test_open_files(run):
    source = "held = [open('/dev/null') for _ in range(500)]"
    result = run(source, open_files=32)
    assert result.status is JobStatus.NONZERO_EXIT
    assert b"Too many open files" in result.stderr


def test_the_smallest_limits_are_no_fault_of_the_machine(run):
    result = run("print(1)", processes=1, open_files=4, disk_mib=1, inodes=3, output_bytes=2)
    assert result.status is not JobStatus.SANDBOX_ERROR
    result = run("print(1)", processes=1, open_files=1, disk_mib=1, inodes=1, output_bytes=1)
    assert result.status is not JobStatus.SANDBOX_ERROR


@pytest.mark.parametrize(
    "source",
    [
        "import os, signal; os.kill(-1, signal.SIGKILL)",
        "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
        "import os, signal; os.killpg(0, signal.SIGKILL)",
        "import os\nfor fd in range(3, 200):\n    try: os.close(fd)\n    except OSError: pass\nos._exit(3)",
        "import resource, signal, os\n"
        "for pid in (1, os.getppid()):\n"
        "    for what in (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_AS):\n"
        "        try: resource.prlimit(pid, what, (0, 0))\n"
        "        except OSError: pass\n"
        "os._exit(4)",
    ],
    ids=["kill-all", "kill-parent", "kill-group", "close-all", "limit-parent"],
)
def test_no_program_makes_its_fault_the_machines(run, source):
    result = run(source, wall_s=20.0)
    assert result.status in (JobStatus.SIGNAL, JobStatus.NONZERO_EXIT, JobStatus.OK)
    assert run("print('still here')").stdout == b"still here\n"


def test_a_folder_that_the_program_shut_is_no_fault_of_the_machine(run):
    result = run("import os; os.chmod('.', 0); print('shut')", fetch=("*",))
    assert (result.status, result.stdout) == (JobStatus.OK, b"shut\n")


def test_compiled(sandbox, run):
    if "c" not in sandbox.languages:
        pytest.skip("no C compiler here")
    result = run(C_PROGRAM, language="c", stdin=b"21")
    assert (result.status, result.stdout) == (JobStatus.OK, b"42\n")


def test_compile_error(sandbox, run):
    if "c" not in sandbox.languages:
        pytest.skip("no C compiler here")
    result = run("int main(void) { return undeclared; }", language="c")
    assert result.status is JobStatus.COMPILE_ERROR
    assert "undeclared" in result.detail
    assert result.exit_code != 0


def test_a_command(run):
    result = run(command=("cat", "data.txt"), files={"data.txt": b"from a file"})
    assert (result.status, result.stdout) == (JobStatus.OK, b"from a file")


def test_a_command_that_is_not_there_ends_as_in_a_shell(run):
    result = run(command=("no-such-program",))
    assert (result.status, result.exit_code) == (JobStatus.NONZERO_EXIT, 127)
    assert b"no-such-program" in result.stderr


def test_a_command_that_cannot_be_executed_ends_as_in_a_shell(run):
    result = run(command=("./data.txt",), files={"data.txt": b"no program"})
    assert (result.status, result.exit_code) == (JobStatus.NONZERO_EXIT, 126)
