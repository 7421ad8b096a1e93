"""Sessions: what a cell says and what it leaves behind; files."""

import pytest

from tests.sandbox.session.plain_channel import plain, said
from verigym import RequestError
from verigym.sandbox.job import JobStatus, Limits


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
