"""A program in the warm interpreter behaves as in one that was started for it."""

import re

import pytest

from verigym import SandboxError
from verigym.sandbox.job import Job, JobStatus, Limits
from verigym.sandbox.local import LocalSandbox

# A variable that only a fresh interpreter reads, so the job gets one.
FRESH = {"PYTHONNODEBUGRANGES": ""}


@pytest.fixture(scope="module")
def sandbox():
    """A sandbox of this module's own."""
    try:
        made = LocalSandbox(max_jobs=2)
    except SandboxError as error:
        pytest.skip(f"namespaces do not work here: {error}")
    with made:
        yield made


PROGRAMS = {
    "nothing": "",
    "a name": "print(__name__, __file__, __doc__, __spec__, __package__, __builtins__)",
    "arguments": "import sys; print(sys.argv, sys.path[0], sys.flags.utf8_mode)",
    "a docstring": '"""doc"""\nprint(__doc__)',
    "standard input": "import sys; print(input()); print(sys.stdin.read().upper(), end='')",
    "bytes of standard input": "import sys; print(sys.stdin.buffer.readlines())",
    "lines": "for line in open(0): print(repr(line))",
    "streams": (
        "import sys\n"
        "for s in (sys.stdin, sys.stdout, sys.stderr):\n"
        "    print(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.isatty(), s.seekable())"
    ),
    "an exception": "def f(n):\n    return 1 / n\nf(0)",
    "a chain": "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b') from e",
    "a group": "raise ExceptionGroup('g', [ValueError(1), KeyError(2)])",
    "no syntax": "def f(:\n  pass",
    "no utf-8": "print('\ud800')",
    "a null": "print('a\0b')",
    "exit 0": "import sys; sys.exit()",
    "exit 3": "import sys; sys.exit(3)",
    "exit -1": "import sys; sys.exit(-1)",
    "exit 256": "import sys; sys.exit(256)",
    "exit text": "import sys; sys.exit('no')",
    "exit tuple": "import sys; sys.exit((1, 2))",
    "exit true": "raise SystemExit(True)",
    "exit by hand": "import os; print('lost'); os._exit(4)",
    "exit builtin": "print('x'); exit(5)",
    "atexit": "import atexit; atexit.register(print, 'bye'); print('hi')",
    "atexit after the main thread": (
        "import atexit, threading\n"
        "atexit.register(lambda: print(threading.main_thread().is_alive()))"
    ),
    "a pool of threads": (
        "import time\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "ThreadPoolExecutor().submit(lambda: (time.sleep(.1), print('late')))"
    ),
    "another end of threads": "import threading; threading._shutdown = lambda: print('end')",
    "atexit after an error": "import atexit; atexit.register(print, 'bye'); 1/0",
    "an error in atexit": "import atexit; atexit.register(lambda: 1/0)",
    "a thread": (
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(.1), print('late'))).start()\n"
        "print('main')"
    ),
    "a daemon": (
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); print('main')"
    ),
    "a pool": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "print(list(ThreadPoolExecutor(2).map(str, range(5))))"
    ),
    "an open file": "f = open('out', 'w'); f.write('x' * 10); import os; print(os.stat('out').st_size)",
    "a finalizer": "class C:\n    def __del__(self): print('gone')\nc = C()",
    "a finalizer in a cycle": (
        "class C:\n    def __del__(self): print('gone')\nc = C(); c.c = c; del c"
    ),
    "an old cycle": (
        "import gc\nclass C:\n    def __del__(self): print('gone')\nc = C(); c.c = c\n"
        "gc.collect(); gc.collect(); del c; print('end')"
    ),
    "an excepthook": "import sys; sys.excepthook = lambda *a: print(a[0]); 1/0",
    "a broken excepthook": "import sys; sys.excepthook = lambda *a: {}['x']; 1/0",
    "no stdout": "import sys; sys.stdout.close()",
    "stdout replaced": "import sys, io; sys.stdout = io.StringIO(); print('lost')",
    "recursion": "def f(): f()\ntry: f()\nexcept RecursionError as e: print(e)",
    "fork": (
        "import os\nprint('a')\nif os.fork() == 0: print('child')\nelse: os.wait(); print('parent')"
    ),
    "multiprocessing": (
        "import multiprocessing as m\n"
        "def f(x): return x * x\n"
        "if __name__ == '__main__':\n"
        "    with m.Pool(2) as p: print(p.map(f, range(5)))"
    ),
    "spawn": (
        "import multiprocessing as m\n"
        "def f(q): q.put(7)\n"
        "if __name__ == '__main__':\n"
        "    c = m.get_context('spawn'); q = c.Queue(); p = c.Process(target=f, args=(q,))\n"
        "    p.start(); print(q.get()); p.join()"
    ),
    "pickle": "import pickle\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))))",
    "a dataclass": "import dataclasses as d\n@d.dataclass\nclass C:\n    x: int = 3\nprint(C())",
    "its source": "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f))",
    "annotations": "x: int = 3\nprint(__annotations__)",
    "asyncio": "import asyncio\nasync def f(): await asyncio.sleep(.01); return 4\nprint(asyncio.run(f()))",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "an interrupt": "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
    "handlers": (
        "import signal\n"
        "for s in sorted(signal.valid_signals()):\n"
        "    h = signal.getsignal(s)\n"
        "    if h is not signal.SIG_DFL: print(s, h)\n"
        "print(signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    ),
    "a broken pipe": "import os; r, w = os.pipe(); os.close(r); os.write(w, b'x')",
    "limits": (
        "import resource as r\n"
        "for n in ('AS', 'CPU', 'FSIZE', 'NOFILE', 'NPROC', 'CORE', 'MEMLOCK', 'STACK'):\n"
        "    if n != 'AS': print(n, r.getrlimit(getattr(r, 'RLIMIT_' + n)))"
    ),
    "sets": "print({str(i) for i in range(50)}, hash('x'))",
    "threads": "import threading; print(threading.enumerate(), threading.main_thread().name)",
    "native id": "import threading as t; print(t.get_native_id() == t.main_thread().native_id)",
    "collections": "import gc; print(gc.isenabled(), gc.get_threshold(), gc.garbage)",
    "a helper": "import helper; print(helper.x, helper.__file__)",
    "a file": "print(open('data/table.txt').read())",
    "warnings": "import warnings; warnings.warn('careful')",
    "breakpoint": "breakpoint()",
    "umask": "import os; open('f', 'w').close(); print(oct(os.stat('f').st_mode), os.getcwd())",
}


UNREADABLE = ("no utf-8", "a null")


def outcome(sandbox, source, **options):
    job = Job(
        source=source,
        stdin=b"first\nsecond\nth\xc3\xadrd",
        args=("a", "b c"),
        files={"helper.py": b"x = 5", "data/table.txt": b"7"},
        limits=Limits(wall_s=60.0, cpu_s=30.0, processes=24),
        **options,
    )
    result = sandbox.run(job)
    return (
        result.status,
        result.exit_code,
        result.signal,
        *(
            re.sub(r"0x[0-9a-f]+|started \d+", "N", stream.decode("utf-8", "replace"))
            for stream in (result.stdout, result.stderr)
        ),
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_does_what_it_does_in_a_fresh_interpreter(sandbox, name):
    source = PROGRAMS[name]
    warm, fresh = outcome(sandbox, source), outcome(sandbox, source, env=FRESH)
    if name in UNREADABLE:  # the compiler words it otherwise when it reads the file itself
        warm, fresh = warm[:3], fresh[:3]
    assert warm == fresh


def test_the_warm_interpreter_was_used_at_all(sandbox):
    source = "import sys; print('array' in sys.modules)"
    assert outcome(sandbox, source)[3] == "True\n"
    assert outcome(sandbox, source, env=FRESH)[3] == "False\n"


def test_a_module_of_the_job_is_not_hidden_by_one_that_is_loaded(sandbox):
    job = Job(source="import json; print(json.x)", files={"json.py": b"x = 9"})
    assert sandbox.run(job).stdout == b"9\n"


# None of these names the module that draws.
DRAWS = {
    "random": "import sys; print(sys.modules['ran' + 'dom'].getrandbits(60))",
    "numpy": "import numpy, sys; print(sys.modules['numpy.ran' + 'dom'].rand())",
    "pandas": "import pandas; print(pandas.Series(range(10**6)).sample(3).tolist())",
    "sympy": "import sympy, sys; print(sys.modules['sympy.core.ran' + 'dom'].rng.getrandbits(60))",
    "uuid": "import uuid; print(uuid.uuid4(), uuid.uuid1().node)",
    "tempfile": "import tempfile; print(tempfile.mktemp())",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in ("pandas", "sympy") else [])
        for name in DRAWS
    ],
)
def test_jobs_draw_different_numbers(sandbox, name):
    if name in ("numpy", "pandas", "sympy"):
        pytest.importorskip(name)
    runs = [outcome(sandbox, DRAWS[name]) for _ in range(4)]
    if "ModuleNotFoundError" in runs[0][4]:
        pytest.skip(f"this user's programs have no {name}")
    assert len({run[3] for run in runs}) == 4, runs


def test_forks_of_a_program_draw_different_numbers(sandbox):
    source = (
        "import os, random\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0: print(random.random()); raise SystemExit\n"
        "    os.wait()"
    )
    assert len(set(outcome(sandbox, source)[3].split())) == 3


def test_numpy_is_there_warm_and_fresh_and_differs_from_fork_to_fork(sandbox):
    pytest.importorskip("numpy")
    source = "import numpy; print(numpy.random.rand(), numpy.arange(4).sum())"
    runs = [outcome(sandbox, source, **options) for options in ({}, {}, {"env": FRESH})]
    if runs[0][0] is not JobStatus.OK:
        pytest.skip(f"this user's programs have no numpy: {runs[0][4]}")
    assert len({run[3] for run in runs}) == 3
    assert {run[3].split()[1] for run in runs} == {"6"}


def test_packages_beside_those_of_science_are_not_there(sandbox):
    for name in ("verigym", "msgspec", "pytest"):
        assert "ModuleNotFoundError" in outcome(sandbox, f"import {name}")[4]
        assert "ModuleNotFoundError" in outcome(sandbox, f"import {name}", env=FRESH)[4]


@pytest.mark.slow
def test_nothing_tells_where_things_lie_on_the_host(sandbox):
    source = (
        "import sys, os, gc\n"
        "for name in ('mountinfo', 'mounts', 'maps', 'environ', 'cmdline'):\n"
        "    print(open('/proc/self/' + name).read())\n"
        "print(sys.path, sys.prefix, sys.executable, vars(sys).get('orig_argv'), os.__file__)\n"
        "print([m.__file__ for m in sys.modules.values() if getattr(m, '__file__', None)])\n"
    )
    seen = outcome(sandbox, source)[3]
    assert "/opt" in seen or "/usr" in seen
    for path in ("/root", "/home", "/work", "pyenv", "venv"):
        assert path not in seen
