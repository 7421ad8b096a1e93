"""Sessions: what a cell says, what it leaves behind, how it is stopped, and what it can forge."""

import asyncio
import contextlib
import gc
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import RequestError, SandboxError
from verigym.sandbox import framing
from verigym.sandbox.framing import FramedStream, read_end
from verigym.sandbox.job import JobStatus, Limits, Result
from verigym.sandbox.local import LocalSandbox
from verigym.sandbox.remove import remove_tree
from verigym.sandbox.session import SandboxSession, driver
from verigym.sandbox.step import ProgramRun

LIMITS = Limits(wall_s=120.0, cpu_s=120.0, output_bytes=100_000)


class PlainChannel:
    """A step run without any limit: for what drivers and framing do, never for programs."""

    def __init__(self, step):
        self.folder = Path(tempfile.mkdtemp(prefix="verigym-test-"))
        for name, data in step.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.process = subprocess.Popen(
            step.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=self.folder,
            start_new_session=True,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **step.env},
        )
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            os.set_blocking(pipe.fileno(), False)
        self._pidfd = os.pidfd_open(self.process.pid)
        self._result = None
        self._lock = threading.Lock()  # a descriptor is not closed under a reader

    def send(self, data, timeout_s=10.0):
        deadline = time.monotonic() + timeout_s
        data = memoryview(data)
        pipe = self.process.stdin.fileno()
        while data:
            try:
                data = data[os.write(pipe, data) :]
            except BlockingIOError:
                ready = select.select([], [pipe], [], max(0.0, deadline - time.monotonic()))[1]
                if not ready:
                    raise TimeoutError("the step does not read") from None
            except OSError as error:
                raise SandboxError(f"the step has ended: {error}") from error

    def receive(self, timeout_s):
        with self._lock:
            if self._result is not None:
                return None
            pipes = [self.process.stdout.fileno(), self.process.stderr.fileno()]
            ready, _, _ = select.select([*pipes, self._pidfd], [], [], timeout_s)
            got = [b"", b""]
            for i, pipe in enumerate(pipes):
                with contextlib.suppress(BlockingIOError):
                    got[i] = os.read(pipe, 1 << 16)
            if not any(got) and self._pidfd in ready:
                return None
            return got[0], got[1]

    def interrupt(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGINT)

    def close(self):
        if self._result is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        with self._lock:
            if self._result is None:
                code = self.process.wait()
                for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                    pipe.close()
                os.close(self._pidfd)
                remove_tree(self.folder)
                status = JobStatus.SIGNAL if code < 0 else JobStatus.NONZERO_EXIT
                self._result = Result(
                    status=status if code else JobStatus.OK,
                    exit_code=code if code >= 0 else None,
                    signal=-code if code < 0 else None,
                )
        return self._result


def plain(language, limits=LIMITS, release=lambda: None, argv=None):
    name, source, command = driver(language)
    step = ProgramRun(argv=argv or command, files={name: source}, limits=limits)
    return SandboxSession(language, PlainChannel(step), limits, release)


@pytest.fixture(scope="module")
def sandbox():
    try:
        made = LocalSandbox(max_jobs=3)
    except SandboxError as error:
        pytest.skip(f"the local backend refuses this machine: {error}")
    with made:
        yield made


@pytest.fixture(params=["plain", "local"])
def start(request):
    """Starts a session of a language, over a bare process or in the local sandbox."""
    opened = []

    def start(language, limits=LIMITS):
        if request.param == "plain":
            session = plain(language, limits)
        else:
            session = request.getfixturevalue("sandbox").session(language, limits=limits)
        opened.append(session)
        return session

    yield start
    for session in opened:
        session.close()


def said(result, status=JobStatus.OK):
    assert result.status is status, (result.status, result.detail, result.stderr)
    return result.stdout


# What a cell says


@pytest.mark.parametrize(
    ("cell", "stdout"),
    [
        ("6 * 7", b"42\n"),
        ("x = 6", b""),
        ("print('a')\n'b'", b"a\n'b'\n"),
        ("None", b""),
        ("if True:\n    5", b""),
        ("_ = 5\n_", b"5\n"),
        ("'doc'", b"'doc'\n"),
        ("", b""),
        ("# only a comment", b""),
        ("print('no end', end='')", b"no end"),
        ("print('\\ud800')", b"\\ud800\n"),
        ("'\u00e9\u4f60'", b"'\xc3\xa9\xe4\xbd\xa0'\n"),
        ("import sys; sys.stdout.buffer.write(bytes(range(256))); None", bytes(range(256))),
        ("__name__", b"'__main__'\n"),
        ("import sys; sys.argv", b"['']\n"),
        ("sorted(n for n in globals() if not n.startswith('__'))", b"[]\n"),
        ("import os; os.listdir()", b"[]\n"),
        (
            "from __future__ import annotations\ndef f(a: b): pass\nf.__annotations__",
            b"{'a': 'b'}\n",
        ),
        ("import asyncio\nawait asyncio.sleep(0)\n5", b"5\n"),
        ("async def f(): return 7\nawait f()", b"7\n"),
        ("import asyncio\nasync def f(): return 8\nasyncio.run(f())", b"8\n"),
    ],
)
def test_python_shows_what_a_prompt_would(start, cell, stdout):
    assert said(start("python").run(cell)) == stdout


def test_a_traceback_shows_the_cells_lines_and_none_of_ours():
    with plain("python") as session:
        said(session.run("def divide(n):\n    return 1 / n"))
        result = session.run("x = 1\ndivide(0)")
        lines = result.stderr.decode().splitlines()
        # Which markers there are depends on Python's version.
        assert [line for line in lines if line.strip(" ~^")] == [
            "Traceback (most recent call last):",
            '  File "<cell 3>", line 2, in <module>',
            "    divide(0)",
            '  File "<cell 2>", line 2, in divide',
            "    return 1 / n",
            "ZeroDivisionError: division by zero",
        ]
        assert (result.status, result.exit_code) == (JobStatus.NONZERO_EXIT, 1)
        assert said(session.run("x")) == b"1\n"


@pytest.mark.parametrize(
    ("cell", "last"),
    [
        ("x = (", "SyntaxError: '(' was never closed"),
        ("import asyncio\nawait asyncio.sleep(0)\n1 / 0", "ZeroDivisionError: division by zero"),
        (
            "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError from e",
            "ValueError",
        ),
        ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
        (
            "class E(Exception):\n    def __str__(self): 1 / 0\nraise E",
            "E: <exception str() failed>",
        ),
        ("input()", "EOFError: EOF when reading a line"),
        ("x = '\0'", None),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_exceptions_are_the_cells_own(start, cell, last):
    session = start("python")
    result = session.run(cell)
    assert result.status is JobStatus.NONZERO_EXIT
    lines = result.stderr.decode().rstrip().split("\n")
    assert last is None or lines[-1].startswith(last)
    for ours in ("verigym", "runners.py", "eval(", "exec("):
        assert ours not in result.stderr.decode()
    assert said(session.run("1")) == b"1\n"


@pytest.mark.parametrize(
    ("cell", "code"),
    [("sys.exit()", 0), ("sys.exit(3)", 3), ("sys.exit('why')", 1), ("exit(0)", 0)],
)
def test_exit_ends_the_cell_only(cell, code):
    with plain("python") as session:
        result = session.run(f"import sys, site; from builtins import exit; {cell}; 1 / 0")
        assert result.exit_code == code
        assert result.status is (JobStatus.NONZERO_EXIT if code else JobStatus.OK)
        assert result.stderr == (b"why\n" if "why" in cell else b"")
        assert session.alive


@pytest.mark.parametrize(
    ("cell", "stdout", "code"),
    [
        ("echo a; echo b >&2", b"a\n", 0),
        ("false", b"", 1),
        ("(exit 7)", b"", 7),
        ("no-such-command", b"", 127),
        ("cat", b"", 0),
        ("read line", b"", 1),
        ("cat <<'EOF'\n$x \\\nEOF", b"$x \\\n", 0),
        ("cat <<EOF\nnever ends", b"never ends\n", 0),
        ("echo 'unterminated", b"", 2),
        ('echo "unterminated', b"", 2),
        ("echo $(unterminated", b"", 1),
        ("if true; then", b"", 2),
        ("}", b"", 2),
        ("esac; done", b"", 2),
        ("break; echo on", b"on\n", 0),
        ("return 3; echo on", b"on\n", 0),
        ("set -u; echo $nope; echo on", b"", 1),
        ("echo ${nope:?bad}; echo on", b"", 1),
        ("echo $((1 / 0)); echo on", b"", 1),
        ("set -x; echo traced", b"traced\n", 0),
        ("exec >/dev/null; echo lost", b"", 0),
        ("exec 2>&1; echo kept >&2", b"kept\n", 0),
        ("alias printf=false eval=false builtin=false read=false\necho on", b"on\n", 0),
        ("IFS=e; PATH=; set -f; PS1=prompt; echo on", b"on\n", 0),
        ("trap 'echo trapped >&2' DEBUG; :", b"", 0),
        ("printf '\\377\\0\\036'", b"\xff\0\x1e", 0),
        ("", b"", 0),
        ("# only a comment", b"", 0),
        ("echo one \\", b"one \\\n", 0),
        ("!!", b"", 127),
    ],
)
def test_no_text_of_a_shell_cell_breaks_the_framing(start, cell, stdout, code):
    session = start("bash")
    result = session.run(cell)
    assert result.stdout == stdout
    assert result.exit_code == code
    assert result.status is (JobStatus.NONZERO_EXIT if code else JobStatus.OK)
    again = session.run("\\builtin trap - DEBUG; \\builtin echo next; \\builtin echo err >&2")
    assert again.stdout.endswith(b"next\n")
    assert again.stderr.endswith(b"err\n")


CELLS = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=40)


@pytest.fixture(scope="module")
def quoting():
    with plain("bash") as session:
        yield session


@given(CELLS)
def test_a_shell_cell_arrives_letter_by_letter(quoting, text):
    here = text.replace("'", "'\\''")
    assert said(quoting.run(f"printf %s '{here}'")) == text.encode()


@given(
    st.text(st.characters(blacklist_characters="\0\r", blacklist_categories=["Cs"]), max_size=40)
)
def test_a_python_cell_arrives_letter_by_letter(text):
    assert framing.DIALECTS["python"].cell("n" * 32, text).endswith(text.encode())
    assert framing.DIALECTS["python"].cell("n" * 32, "\ud800").endswith(b"\xed\xa0\x80")


@pytest.mark.parametrize("code", ["echo \0", "echo \ud800"])
def test_what_a_shell_cannot_take_is_refused(code):
    with plain("bash") as session:
        with pytest.raises(RequestError):
            session.run(code)
        assert said(session.run("echo on")) == b"on\n"


def test_output_of_child_processes_is_the_cells_in_order(start):
    session = start("python")
    result = session.run(
        "import os, subprocess\n"
        "print('one')\n"
        "os.system('echo two; echo err >&2')\n"
        "subprocess.run(['sh', '-c', 'echo three; cat'])\n"
        "print('four')"
    )
    assert said(result) == b"one\ntwo\nthree\nfour\n"
    assert result.stderr == b"err\n"
    result = session.run("pid = os.fork()\nif pid: os.waitpid(pid, 0)\nprint('me', bool(pid))")
    assert sorted(said(result).split(b"\n")) == [b"", b"me False", b"me True"]
    assert said(session.run("1")) == b"1\n"


def test_a_fork_that_fails_ends_with_its_cell(start):
    session = start("python")
    result = session.run("import os\nif os.fork(): os.wait()\nelse: 1 / 0")
    assert b"ZeroDivisionError" in result.stderr
    assert said(session.run("print('once')")) == b"once\n"


@pytest.mark.parametrize(
    "harm",
    [
        "os.close(0); os.close(1); os.close(2)",
        "os.dup2(os.open('/dev/null', os.O_RDWR), 1)",
        "sys.stdout.close(); sys.stderr.close(); sys.stdin.close()",
        "sys.stdout = sys.stderr = None",
        "sys.__stdout__ = sys.__stderr__ = sys.__stdin__ = None",
        "os.set_blocking(1, False)",
        "os.write = os.read = os.getpid = os.set_blocking = None",
        "signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "signal.raise_signal(signal.SIGINT)",
        "sys.modules.clear()",
        "del __builtins__",
        "sys.setrecursionlimit(60)",
        "os.chdir('/')",
        "sys.stdin.read()",
    ],
)
def test_a_cell_may_break_its_streams_and_still_be_followed_by_another(start, harm):
    session = start("python")
    session.run(f"import os, signal, sys\n{harm}")
    if "sys.stdout = sys" in harm or "__stdout__" in harm:
        said(session.run("import sys; sys.stdout = open(1, 'w', closefd=False)"))
    result = session.run("print('next')")
    assert (result.status, result.stdout) == (JobStatus.OK, b"next\n"), result


def test_what_a_thread_says_later_belongs_to_the_cell_it_arrives_in(start):
    session = start("python")
    said(
        session.run(
            "import threading\n"
            "go, done = threading.Event(), threading.Event()\n"
            "def work(): go.wait(); print('late'); done.set()\n"
            "threading.Thread(target=work, daemon=True).start()"
        )
    )
    assert said(session.run("go.set(); done.wait()")) == b"late\nTrue\n"


# How a cell is stopped


@pytest.mark.parametrize(
    ("language", "cell"),
    [
        ("python", "while True: y = 1"),
        ("python", "import time; time.sleep(1000)"),
        ("python", "import os; os.system('sleep 1000')"),
        ("python", "import subprocess; subprocess.run(['sleep', '1000'])"),
        ("python", "import asyncio; await asyncio.sleep(1000)"),
        ("python", "import threading; threading.Event().wait()"),
        ("bash", "sleep 1000; echo no"),
        ("bash", "while :; do :; done"),
        ("bash", "while :; do sleep 0.01; done"),
        ("bash", "f() { sleep 1000 & wait; }; f; echo no"),
        ("bash", "y=$(sleep 1000); echo no"),
        ("bash", "sleep 1000 | cat; echo no"),
        ("bash", "trap 'echo caught' INT; sleep 1000"),
    ],
)
def test_a_cell_out_of_time_is_interrupted_and_the_state_stays(start, language, cell):
    session = start(language)
    session.run("x=5")
    result = session.run(cell, wall_s=0.3)
    assert result.status is JobStatus.TIME_LIMIT
    assert (result.exit_code, session.alive) == (None, True)
    assert "interrupted after 0.3 s" in result.detail
    assert b"no" not in result.stdout
    assert said(session.run("print(x)" if language == "python" else "echo $x")) == b"5\n"


@pytest.mark.parametrize(
    ("language", "cell"),
    [
        (
            "python",
            "import time\nwhile True:\n    try: time.sleep(1000)\n    except KeyboardInterrupt: pass",
        ),
        ("python", "import signal, time; signal.signal(2, signal.SIG_IGN)\ntime.sleep(1000)"),
        ("bash", "trap '' INT; sleep 1000"),
    ],
)
def test_a_cell_that_will_not_stop_ends_the_session(start, language, cell, monkeypatch):
    monkeypatch.setattr("verigym.sandbox.session._GRACE_S", 0.5)
    session = start(language)
    result = session.run(cell, wall_s=0.3)
    assert result.status is JobStatus.TIME_LIMIT
    assert not session.alive
    assert "state is lost" in result.detail
    with pytest.raises(RequestError, match=r"state is lost: .*did not stop within 0\.5 s"):
        session.run("x")


@pytest.mark.parametrize(
    ("language", "cell"), [("python", "while True: print('y' * 99)"), ("bash", "yes")]
)
def test_output_is_bounded_and_the_flood_stopped(start, language, cell):
    session = start(language, Limits(wall_s=60.0, output_bytes=5000))
    result = session.run(cell)
    assert result.status is JobStatus.OUTPUT_LIMIT
    assert len(result.stdout) == 5000
    assert result.stdout_truncated
    assert session.run("1" if language == "python" else ":").status is JobStatus.OK


def test_too_much_output_of_a_cell_that_ended_says_so_too():
    with plain("python", Limits(wall_s=60.0, output_bytes=10)) as session:
        result = session.run("print('y' * 11, end='')")
        assert (result.status, result.stdout) == (JobStatus.OUTPUT_LIMIT, b"y" * 10)
        assert said(session.run("print('y' * 10, end='')")) == b"y" * 10


def test_the_lifetime_kills_a_cell_and_an_idle_session(start):
    session = start("python", Limits(wall_s=1.5))
    result = session.run("while True: pass")
    assert result.status is JobStatus.TIME_LIMIT
    assert "lifetime of 1.5 s" in result.detail
    with pytest.raises(RequestError, match="lifetime"):
        session.run("1")
    with pytest.raises(RequestError, match="lifetime"):
        session.get("x")


def test_an_idle_session_ends_with_its_lifetime():
    released = threading.Event()
    session = plain("bash", Limits(wall_s=1.0), released.set)
    assert released.wait(60)
    assert not session.alive


def test_interrupting_from_another_thread(start):
    session = start("python")
    session.interrupt()  # nothing runs
    results = []
    thread = threading.Thread(target=lambda: results.append(session.run("while True: y = 1")))
    thread.start()
    while not results:
        session.interrupt()
        thread.join(0.05)
    assert results[0].status is JobStatus.SANDBOX_ERROR
    assert said(session.run("2")) == b"2\n"


def test_closing_ends_the_cell_that_runs(start):
    session = start("bash")
    results = []
    thread = threading.Thread(target=lambda: results.append(session.run("sleep 1000")))
    thread.start()
    while not session._running:
        thread.join(0.01)
    session.close()
    thread.join()
    session.close()
    assert results[0].status is JobStatus.SANDBOX_ERROR
    with pytest.raises(RequestError, match="closed"):
        session.run("echo")


def test_from_an_event_loop(start):
    async def main():
        session = start("python")
        results = await asyncio.gather(*(session.run_async(f"{n}") for n in range(5)))
        assert [said(result) for result in results] == [b"%d\n" % n for n in range(5)]
        task = asyncio.ensure_future(session.run_async("while True: y = 1"))
        while not session._running:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert said(await session.run_async("2")) == b"2\n"

    asyncio.run(main())


# How a session ends


@pytest.mark.parametrize(
    ("language", "cell", "status", "code"),
    [
        ("python", "import os; os._exit(3)", JobStatus.NONZERO_EXIT, 3),
        (
            "python",
            "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
            JobStatus.SIGNAL,
            None,
        ),
        ("bash", "exit 4", JobStatus.NONZERO_EXIT, 4),
        ("bash", "set -e; false; echo on", JobStatus.NONZERO_EXIT, 1),
    ],
)
def test_a_process_that_ends_takes_the_session_with_it(start, language, cell, status, code):
    session = start(language)
    command = "print('first')\n" if language == "python" else "echo first\n"
    result = session.run(command + cell)
    assert (result.status, result.exit_code, result.stdout) == (status, code, b"first\n")
    assert not session.alive
    assert "its process ended" in result.detail
    with pytest.raises(RequestError, match="start another"):
        session.run("1")


def test_memory_is_refused_or_ends_it(sandbox):
    with sandbox.session("python", limits=Limits(wall_s=60.0, memory_mib=64)) as session:
        result = session.run("x = bytearray(8 << 30)")
        assert result.status is JobStatus.MEMORY_LIMIT
        assert session.alive
        result = session.run("x = [bytes([1]) * (1 << 20) for _ in range(4000)]")
        assert result.status is JobStatus.MEMORY_LIMIT


def test_a_full_disk_is_said(sandbox):
    with sandbox.session("python", limits=Limits(wall_s=60.0, disk_mib=2)) as session:
        result = session.run(
            "f = open('f', 'wb')\nfor _ in range(99): f.write(bytes(1 << 18)); f.flush()"
        )
        assert result.status is JobStatus.DISK_LIMIT
        assert session.alive


def test_the_place_is_given_back_once():
    released = []
    session = plain("bash", release=lambda: released.append(1))
    session.run("exit")
    session.close()
    session.close()
    assert released == [1]


def test_a_driver_that_does_not_answer_is_an_error():
    with pytest.raises(SandboxError, match="did not start"):
        plain("python", argv=("false",))


def test_sessions_leave_neither_thread_nor_descriptor(start):
    with start("python") as session:
        session.run("1")
    gc.collect()
    before = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(5):
        with start("python") as session:
            session.run("1")
    gc.collect()
    while threading.active_count() > before[1]:
        time.sleep(0.01)  # a cancelled timer still has to end
    # One that each session left would be five; what else runs in this process may open one or two.
    assert len(os.listdir("/proc/self/fd")) < before[0] + 5


# Files


@pytest.mark.parametrize("language", ["python", "bash"])
def test_files(start, language):
    session = start(language)
    data = bytes(range(256)) * 100
    session.put("a/b c's.bin", data)
    assert session.get("a/b c's.bin") == data
    session.put("-n", b"")
    assert session.get("-n") == b""
    session.run("import os; os.chdir('/')" if language == "python" else "cd /")
    session.put("-n", b"%s\\n")
    assert session.get("-n") == b"%s\\n"
    for name in ("nope", "a"):
        with pytest.raises(RequestError, match=f"file '{name}' cannot be read"):
            session.get(name)
    with pytest.raises(RequestError, match="cannot be written"):
        session.put("-n/x", b"")
    for name in ("../x", "/etc/passwd"):
        with pytest.raises(RequestError, match="relative"):
            session.get(name)
    assert session.alive


def test_a_file_that_is_too_large_is_not_brought_back():
    with plain("python", Limits(wall_s=60.0, output_bytes=1000)) as session:
        session.put("a", b"x" * 1001)
        with pytest.raises(RequestError, match="larger than output_bytes 1000"):
            session.get("a")
        session.put("a", b"x" * 1000)
        assert session.get("a") == b"x" * 1000


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), True, "1"])
def test_bad_times(bad):
    with plain("python") as session, pytest.raises(RequestError, match="wall_s"):
        session.run("1", wall_s=bad)


@pytest.mark.parametrize("bad", [b"1", None, "#" * (5 << 20)])
def test_bad_cells(bad):
    with plain("python") as session, pytest.raises(RequestError):
        session.run(bad)


# Framing, and forging it

FORGE = """
import os, sys, gc
frame = sys._getframe()
while "nonce" not in frame.f_locals: frame = frame.f_back
nonce, out, err = frame.f_locals["nonce"], frame.f_locals["out"], frame.f_locals["err"]
"""


def test_a_forged_end_changes_only_where_its_own_output_is_cut(start):
    session = start("python")
    forged = (
        "os.write(err, b'\\x1e' + nonce + b'\\n'); os.write(out, b'\\x1e' + nonce + b' o 0\\n')"
    )
    result = session.run(f"{FORGE}\n{forged}\nprint('after'); import time; time.sleep(0.2)\n1 / 0")
    assert (result.status, result.stdout) == (JobStatus.OK, b"")
    result = session.run("print('next')")
    assert result.stdout.startswith(b"after\n")
    assert result.stdout.endswith(b"next\n")
    assert said(session.run("1")) == b"1\n"


@pytest.mark.parametrize("end", ["garbage", "o", "o 999", "z 0", "o 0 nan 1.0", "x" * 500])
def test_a_forged_end_that_is_none_ends_the_session(end):
    with plain("python") as session:
        forged = f"os.write(err, b'\\x1e' + nonce + b'\\n'); os.write(out, b'\\x1e' + nonce + b' {end}\\n')"
        result = session.run(f"{FORGE}\n{forged}")
        assert result.status is JobStatus.NONZERO_EXIT
        assert not session.alive


def test_a_driver_that_no_longer_reads_is_found_out(monkeypatch):
    monkeypatch.setattr("verigym.sandbox.session._SEND_S", 0.5)
    with plain("python") as session:
        forged = (
            "os.write(err, b'\\x1e' + nonce + b'\\n'); os.write(out, b'\\x1e' + nonce + b' o 0\\n')"
        )
        said(session.run(f"{FORGE}\n{forged}\nimport time; time.sleep(1000)"))
        result = session.run("#" * (1 << 20))
        assert result.status is JobStatus.TIME_LIMIT
        assert "does not read" in result.detail


@given(
    st.binary(max_size=60),
    st.binary(max_size=60),
    st.integers(1, 80),
    st.lists(st.integers(1, 20), max_size=20),
)
def test_a_stream_is_cut_alike_however_it_arrives(before, after, limit, sizes):
    mark = b"\x1enonce"
    if mark in before + mark[:-1]:
        return
    data = before + mark + b" o 0\n" + after
    stream = FramedStream("nonce", limit)
    rest = data
    for size in sizes:
        stream.feed(rest[:size])
        rest = rest[size:]
    stream.feed(rest)
    assert stream.end == b" o 0"
    assert stream.output() == before[:limit]
    assert stream.over == (len(before) > limit or len(after) > limit)
    assert stream.left() == after[:limit]


@given(st.binary(max_size=60), st.integers(1, 80))
def test_a_stream_without_end_gives_all_of_it(data, limit):
    stream = FramedStream("nonce" * 8, limit)
    stream.feed(data)
    assert stream.end is None
    assert stream.output() == data[:limit]
    assert stream.over == (len(data) > limit)


@given(st.binary(max_size=40))
def test_no_end_is_more_than_it_says(line):
    end = read_end(line)
    assert end is None or (end.status in JobStatus and 0 <= end.exit_code <= 255)
