"""`LocalSandbox` with real processes: how jobs end, what they see, and that nothing stays."""

import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from verigym import RequestError, SandboxError
from verigym.sandbox.base import Cancellation
from verigym.sandbox.job import Job, JobStatus, Limits
from verigym.sandbox.local import LocalSandbox, client, default_sandbox, server, tree
from verigym.sandbox.step import ProgramRun

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def sandbox():
    """A sandbox of this module's own."""
    try:
        made = LocalSandbox()
    except SandboxError as error:
        pytest.skip(f"namespaces do not work here: {error}")
    with made:
        yield made


def run(sandbox, source, stdin=b"", language="python", args=(), files=None, mark="", **limits):
    job = Job(
        source=marking(mark) + source if mark else source,
        language=language,
        stdin=stdin,
        args=args,
        files=files or {},
        limits=Limits(**{"wall_s": 60.0, "cpu_s": 30.0, **limits}),
    )
    return sandbox.run(job)


def marking(marker):
    """Python that gives its process, and all that it forks from then on, the name `marker`."""
    return f"open('/proc/self/comm', 'w').write({marker!r})\n"


def marked(marker):
    """Pids of the processes whose name is `marker`."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                comm = Path(f"/proc/{name}/comm").read_text().rstrip()
            except OSError:
                continue  # it has ended since
            if comm == marker:
                found.append(int(name))
    return found


def await_marked(marker):
    """The same, once there are any; /proc gives no event to wait for."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pids = marked(marker)
        if pids:
            return pids
        os.sched_yield()
    raise AssertionError("the program did not start within 60 s")


def parent_of(pid):
    """The pid of the parent process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def await_end(pidfd):
    """Wait until the process of `pidfd` has ended; closes it."""
    waiting = select.poll()
    waiting.register(pidfd, select.POLLIN)
    assert waiting.poll(60_000), "the process is still there"
    os.close(pidfd)


@pytest.fixture
def marker():
    """A name that no other process has; nothing may have it in the end."""
    word = f"m-{uuid.uuid4().hex[:12]}"
    yield word
    assert marked(word) == []


@pytest.fixture
def temp(tmp_path, monkeypatch):
    """A folder for temporary files of this test's own; empty in the end."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent.stat().st_uid == os.getuid() and parent != parent.parent:
            # pytest's own folders are closed to user 65534.
            parent.chmod(parent.stat().st_mode | 0o011)
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


# How jobs end.


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


# Languages.


def test_bash(sandbox):
    if "bash" not in sandbox.languages:
        pytest.skip("no bash here")
    result = run(sandbox, 'read x; echo "$x $1"', b"in\n", language="bash", args=("arg",))
    assert result.stdout == b"in arg\n"


def test_c(sandbox):
    if "c" not in sandbox.languages:
        pytest.skip("no gcc here")
    good = '#include <stdio.h>\nint main(){int x; scanf("%d", &x); printf("%d\\n", 2*x); return 0;}'
    assert run(sandbox, good, b"21\n", language="c").stdout == b"42\n"
    bad = run(sandbox, "int main( { }", language="c")
    assert bad.status is JobStatus.COMPILE_ERROR
    assert "error" in bad.detail
    crash = run(sandbox, "int main(){ *(volatile int *)0 = 1; }", language="c")
    assert (crash.status, crash.signal) == (JobStatus.SIGNAL, signal.SIGSEGV)


def test_an_unknown_language_is_refused_with_a_suggestion(sandbox):
    with pytest.raises(RequestError, match="did you mean 'python'"):
        run(sandbox, "", language="pyton")


def test_a_program_imports_the_files_beside_it(sandbox):
    files = {"helper.py": b"x = 5", "data/table.txt": b"7"}
    source = "import helper; print(helper.x, open('data/table.txt').read())"
    assert run(sandbox, source, files=files).stdout == b"5 7\n"


def test_files_that_cannot_be_placed_are_refused(sandbox):
    with pytest.raises(RequestError, match="is the program itself"):
        run(sandbox, "", files={"main.py": b""})
    with pytest.raises(RequestError, match="disk_mib"):
        run(sandbox, "", files={"big": b"x" * (2 << 20)}, disk_mib=1)


def test_text_that_is_no_program(sandbox):
    for source in ("\ud800", "\ufeffprint(1", "(" * 100_000):
        assert run(sandbox, source).status is JobStatus.NONZERO_EXIT


def test_a_job_s_own_environment(sandbox):
    job = Job(source="import os; print(os.environ['NAME'])", env={"NAME": "value"})
    assert sandbox.run(job).stdout == b"value\n"


def test_sets_come_in_the_same_order_every_time(sandbox):
    source = "print({str(i) for i in range(50)})"
    assert run(sandbox, source).stdout == run(sandbox, source).stdout


# Nothing stays.


DAEMON = """
import os, signal, sys, time
for s in set(range(1, 32)) - set([signal.SIGCHLD]):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {close}
        while True: time.sleep(1000)
    os._exit(0)
os.wait()
print("done", flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("close", ["pass", "os.closerange(0, 256)"])
def test_a_daemon_neither_delays_the_result_nor_survives(sandbox, marker, close):
    result = run(sandbox, DAEMON.format(close=close), mark=marker)
    assert (result.status, result.stdout) == (JobStatus.OK, b"done\n")
    assert marked(marker) == []


def test_children_forked_at_the_last_moment_die(sandbox, marker):
    source = (
        "import os, time\n"
        "for i in range(10):\n"
        "    if os.fork() == 0: os.setsid(); time.sleep(1000)\n"
        "os._exit(0)"
    )
    assert run(sandbox, source, mark=marker).status is JobStatus.OK
    assert marked(marker) == []


def test_a_fork_bomb_dies(sandbox, marker):
    source = "import os\nwhile True:\n    try: os.fork()\n    except OSError: __import__('time').sleep(.01)"
    result = run(sandbox, source, mark=marker, wall_s=1.0, processes=12)
    assert result.status is JobStatus.TIME_LIMIT
    assert marked(marker) == []
    assert run(sandbox, "print(1)").stdout == b"1\n"


def test_deep_and_unreadable_folders_are_removed(sandbox, temp):
    source = (
        "import os\n"
        "for i in range(1500): os.mkdir('d' * 20); os.chdir('d' * 20)\n"
        "open('f', 'w').close(); os.chmod('.', 0)"
    )
    assert run(sandbox, source).status is JobStatus.OK
    assert list(temp.iterdir()) == []


def test_no_descriptors_leak(sandbox):
    run(sandbox, "")
    before = os.listdir("/proc/self/fd")
    for source in ("", "while True: pass", "raise SystemExit(3)"):
        run(sandbox, source, wall_s=0.5)
    assert os.listdir("/proc/self/fd") == before


# What a program sees.


def test_neither_environment_nor_folder_nor_descriptors_of_the_caller(
    sandbox, monkeypatch, tmp_path
):
    monkeypatch.setenv("VERIGYM_SECRET", "hush-hush")
    monkeypatch.chdir(tmp_path)
    with open(tmp_path / "secret", "w+") as file:
        os.set_inheritable(file.fileno(), True)
        source = (
            "import os\n"
            "print(sorted(os.environ))\n"
            "print(os.getcwd())\n"
            "here = os.listdir('/proc/self/fd')\n"
            "print([fd for fd in here if os.path.exists('/proc/self/fd/' + fd)])\n"
            "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
            "    try: print(b'hush-hush' in open(f'/proc/{pid}/environ', 'rb').read())\n"
            "    except OSError: pass\n"
        )
        result = run(sandbox, source)
    names, folder, fds, *seen = result.stdout.decode().splitlines()
    assert "VERIGYM_SECRET" not in names
    assert folder != str(tmp_path)
    assert eval(fds) == ["0", "1", "2"]
    assert "True" not in seen


def test_an_ordinary_user_without_a_way_back(sandbox):
    source = (
        "import os\n"
        "print(os.getuid(), os.geteuid())\n"
        "status = dict(l.split(':\\t') for l in open('/proc/self/status').read().splitlines())\n"
        "print(status['NoNewPrivs'], int(status['CapEff'], 16), int(status['CapPrm'], 16))\n"
    )
    first, second = run(sandbox, source).stdout.decode().splitlines()
    assert first == "65534 65534"
    assert second == "1 0 0"


def test_no_new_user_namespace(sandbox):
    source = "import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))"
    assert run(sandbox, source).stdout == b"-1\n"


def test_only_system_folders_and_a_private_one(sandbox, tmp_path):
    (tmp_path / "other").write_text("x")
    source = (
        "import os\n"
        f"print(os.path.exists({str(tmp_path)!r}), os.path.exists({str(ROOT)!r}))\n"
        "print(os.listdir('/tmp'), os.listdir('/dev/shm'))\n"
        "for folder in ('/', '/usr', '/etc', '/dev'):\n"
        "    try: open(folder + '/x', 'w'); print('written')\n"
        "    except OSError: pass\n"
        "print(os.path.exists('/etc/shadow'), os.path.exists('/sys/kernel'))\n"
    )
    lines = run(sandbox, source).stdout.decode().splitlines()
    assert lines == ["False False", "['main.py'] ['main.py']", "False False"]


def test_jobs_do_not_see_each_other(sandbox):
    run(sandbox, "open('/tmp/ghost', 'w').write('boo')")
    assert run(sandbox, "import os; print(os.listdir('/tmp'))").stdout == b"['main.py']\n"


def test_only_processes_of_the_job(sandbox):
    source = (
        "import os\n"
        "if os.fork() == 0: __import__('time').sleep(60)\n"
        "print(len([p for p in os.listdir('/proc') if p.isdigit()]), os.path.exists('/proc/1'))"
    )
    assert run(sandbox, source).stdout == b"2 False\n"


def test_no_network(sandbox):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        source = (
            "import socket\n"
            f"try: socket.create_connection(('127.0.0.1', {port}), 2); print('reached')\n"
            "except OSError: print('refused')\n"
            "names = [l.split(':')[0].strip() for l in open('/proc/self/net/dev').readlines()[2:]]\n"
            "print(names, open('/proc/self/net/route').readlines()[1:])\n"
        )
        result = run(sandbox, source)
        assert result.stdout == b"refused\n['lo'] []\n"
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_no_abstract_unix_socket_of_the_host(sandbox):
    name = f"\0verigym-{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        source = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r})"
        assert b"Connection refused" in run(sandbox, source).stderr


# Whose fault it was.


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


# The caller's side.


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


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become an ordinary user")
def test_an_ordinary_user_has_namespaces_too():
    python = "/usr/bin/python3"
    if os.path.basename(os.path.realpath(python)) != f"python3.{sys.version_info.minor}":
        pytest.skip("the system's Python is of another version than this one")
    # The checkout may lie where an ordinary user cannot read, and lacks no more than this.
    folder = Path(tempfile.mkdtemp(prefix="verigym-test-"))
    try:
        shutil.copytree(ROOT / "sandbox", folder / "verigym" / "sandbox")
        shutil.copy(ROOT / "verigym" / "errors.py", folder / "verigym")
        (folder / "verigym" / "__init__.py").touch()
        shutil.copytree(Path(msgspec.__file__).parent, folder / "msgspec")
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755)
        script = (
            "import os\n"
            "from verigym.sandbox.job import Job\n"
            "from verigym.sandbox.local import LocalSandbox\n"
            "with LocalSandbox() as s:\n"
            "    r = s.run(Job(source='import os; print(os.getuid(), os.listdir(\"/tmp\"))'))\n"
            "    print(s.describe()['tier'], r.stdout)\n"
            "try: os.waitpid(-1, 0)\n"
            "except ChildProcessError: print('no children')\n"
        )
        done = subprocess.run(
            [python, "-P", "-B", "-c", script],
            user=12345,
            group=12345,
            extra_groups=[],
            cwd="/",
            env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        shutil.rmtree(folder)
    if "user namespaces" in done.stderr:
        pytest.skip("ordinary users may not make namespaces here")
    assert done.stdout == "strong b\"65534 ['main.py']\\n\"\nno children\n", done.stderr
