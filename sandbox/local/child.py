"""One job: a process forked ahead of time that reads the job, gives up everything and runs it.

Programs in Python run right here, in an interpreter that is already warm; all else is executed.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import atexit
import builtins
import errno
import os
import random
import resource
import signal
import socket
import sys
import threading

# What every job calls is imported by name: looking it up in its module touches, and so copies, two more
# pages of memory for each.
from _random import Random as PlainRandom
from collections.abc import Callable
from gc import collect as collect_garbage
from gc import enable as enable_gc
from gc import get_count, get_objects, get_stats
from importlib.machinery import SourceFileLoader
from marshal import loads
from os import chdir, closerange, dup2, pipe, set_blocking, setresgid, setresuid, setsid, urandom
from resource import setrlimit
from time import monotonic_ns
from types import ModuleType
from typing import Any, NoReturn

from verigym.sandbox.local import landlock, plain, root, seccomp, system
from verigym.sandbox.local.landlock import enter as enter_landlock
from verigym.sandbox.local.seccomp import enter as enter_filter
from verigym.sandbox.local.system import SET_DUMPABLE, prctl

MAX_MESSAGE = 48 << 10
"""A larger job comes as a file in memory."""
NOBODY = 65534
_MAX_FD = 1 << 20
_SAME_LIMITS = (
    # 1, not 0: the kernel starts a core_pattern program at 0, and gives up at 1; see core(5).
    (resource.RLIMIT_CORE, 1),
    (resource.RLIMIT_MEMLOCK, 0),
    (resource.RLIMIT_MSGQUEUE, 0),
    (resource.RLIMIT_SIGPENDING, 256),
)
_generators: list[random.Random] = []
_environment: dict[str, str] = {}
"""Variables that the server has; to look one up in `os.environ` touches, and so copies, more pages."""
_hooks_are_due = False
_full_collections = 0
_callbacks = 0
_shutdown = threading._shutdown  # type: ignore[attr-defined]
_closing_filter: seccomp.Prepared = (0, None)
_set_native_id = threading.main_thread()._set_native_id  # type: ignore[attr-defined]
_detach = _socket.socket.detach
_ANCILLARY_BYTES = socket.CMSG_SPACE(4 * 4)
_rules = -1


def register(hooks: list[dict[str, Callable[[], object]]]) -> None:
    """Have `hooks` of os.register_at_fork called in forks by programs, and not in those before.

    Together they take 0.3 ms, and a process that has done nothing yet needs none of them.
    """

    def calling(kind: str, step: int) -> Callable[[], None]:
        chosen = [hook[kind] for hook in hooks if kind in hook][::step]

        def call() -> None:
            if _hooks_are_due:
                for function in chosen:
                    function()

        return call

    os.register_at_fork(
        before=calling("before", -1),
        after_in_child=calling("after_in_child", 1),
        after_in_parent=calling("after_in_parent", 1),
    )


def rules(settings: dict[str, Any]) -> int:
    """Return Landlock's rules for jobs in a root of their own; -1 if the kernel has none."""
    if not landlock.abi():
        return -1
    writable = [root.FOLDER, "/proc", *root.writable_devices(settings)]
    return landlock.ruleset(["/"], writable, tcp=True)


def prepare(settings: dict[str, Any], job_rules: int) -> None:
    """Do once, in the slot, what is the same for all of its jobs."""
    global _callbacks, _closing_filter, _full_collections, _rules
    os.umask(0o022)
    _full_collections = get_stats()[2]["collections"]
    _environment.update(os.environ)
    _callbacks = atexit._ncallbacks()
    _rules = job_rules
    _closing_filter = seccomp.prepare(seccomp.closing_filter())
    spaces = settings["namespaces"]
    inet = spaces or settings["network"]
    # Shared memory without a file outlives its mapping: a watch of processes does not see it.
    shared = settings["counted"]
    seccomp.install(seccomp.job_filter(slot=True, unix=spaces, inet=inet, shared=shared))
    for what, most in _SAME_LIMITS:
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


def serve(settings: dict[str, Any], jobs: socket.socket, folder: str) -> NoReturn:
    """Wait for a job on `jobs`, run it in `folder` and end. Whatever fails here is not its fault."""
    try:
        # Without namespaces all tasks of the user on this machine count.
        others = 0 if settings["namespaces"] else plain.tasks_of(_user(settings))
        give_up(settings)
        if _rules >= 0:
            enter_landlock(_rules)
        setsid()
        chdir(folder)
        order = _receive(jobs)
        _put_files(order["files"], jobs)
        warm = order["python"] is not None
        _restore_signals(warm)
        # Also a few descriptors are open still, perhaps more than the job may have.
        for what, soft, hard in order["rlimits"]:
            if others and what == resource.RLIMIT_NPROC:
                soft = hard = hard + others
            setrlimit(what, (soft, hard))
        enable_gc()
        enter_filter(_closing_filter)
        jobs.send(b"S%d" % monotonic_ns())
        _detach(jobs)
        closerange(3, _MAX_FD)
    except BaseException as error:  # noqa: BLE001
        # A fork reports and ends, it never unwinds.
        try:
            jobs.send(b"E" + f"{type(error).__name__}: {error}".encode()[:2000])
        finally:
            os._exit(1)
    if warm:
        run_python(settings, folder, order)
    if not settings["namespaces"]:
        order["env"].update(HOME=folder, TMPDIR=folder)
    execute(order["argv"], order["env"])


def _user(settings: dict[str, Any]) -> int:
    return NOBODY if settings["as_root"] else os.getuid()


def give_up(settings: dict[str, Any]) -> None:
    """Become nobody, without a capability and without a way to get one."""
    if settings["as_root"]:
        setresgid(NOBODY, NOBODY, NOBODY)
        # Takes the capabilities too.
        setresuid(NOBODY, NOBODY, NOBODY)
    else:
        system.drop_capabilities()
    # The change of user, or the slot, took /proc/self away.
    prctl(SET_DUMPABLE, 1)


def _receive(jobs: socket.socket) -> dict[str, Any]:
    """The job that the client sends; its streams become 0, 1 and 2."""
    message, ancillary, _, _ = jobs.recvmsg(MAX_MESSAGE + 16, _ANCILLARY_BYTES)
    if not message:
        os._exit(0)
    streams: list[int] = []
    for _, _, data in ancillary:
        streams += memoryview(data).cast("i")
    if message[:1] == b"F":
        with os.fdopen(streams.pop(), "rb") as file:
            order: dict[str, Any] = loads(file.read())
    else:
        order = loads(message[1:])
    if len(streams) < 3:
        streams.append(_stdin(order["stdin"]))
    stdout, stderr, stdin = streams
    dup2(stdout, 1)
    dup2(stderr, 2)
    dup2(stdin, 0)
    return order


def _stdin(data: bytes) -> int:
    read, write = pipe()
    set_blocking(write, False)
    if data and os.write(write, data) < len(data):
        raise OSError("standard input did not fit into a pipe")
    os.close(write)
    return read


def _put_files(files: list[tuple[str, bytes, int]], jobs: socket.socket) -> None:
    """Write the job's files. That they do not fit is no failure of the machine: say so and end."""
    try:
        _write_files(files)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        jobs.send(b"N")
        os._exit(1)


def _write_files(files: list[tuple[str, bytes, int]]) -> None:
    for name, data, mode in files:
        parent = name.rpartition("/")[0]
        if parent:
            os.makedirs(parent, exist_ok=True)
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.close(fd)


def _restore_signals(warm: bool) -> None:
    """All signals as a fresh process has them, or a fresh Python."""
    # Without the enums of `signal`, which touch, and so copy, a dozen pages more.
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    if warm:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    else:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)


def execute(argv: list[str], env: dict[str, str]) -> NoReturn:
    """Start the program `argv`; answer as a shell does if there is none."""
    try:
        os.execvpe(argv[0], argv, env)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        os.write(2, f"{argv[0]}: {os.strerror(error.errno or 0)}\n".encode())
        os._exit(127 if missing else 126)


def run_python(settings: dict[str, Any], folder: str, order: dict[str, Any]) -> NoReturn:
    """Run the file `order["python"]` as `__main__`, as a fresh interpreter would, and end."""
    global _hooks_are_due
    name, argv, env = order["python"], order["argv"], order["env"]
    path = f"{folder}/{name}"
    if not settings["namespaces"]:
        env = {**env, "HOME": folder, "TMPDIR": folder}
    source = next(data for file, data, _ in order["files"] if file == name)
    for key, value in env.items():
        if _environment.get(key) != value:
            os.environ[key] = value
    _hooks_are_due = True
    _set_native_id()
    _reseed()
    main = ModuleType("__main__")
    main.__dict__.update(
        __builtins__=builtins,
        __file__=path,
        __cached__=None,
        __loader__=SourceFileLoader("__main__", path),
        __annotations__={},
    )
    sys.modules["__main__"] = main
    sys.argv = argv
    sys.orig_argv = [sys.executable, *argv]
    sys.path.insert(0, path.rpartition("/")[0])
    status = 0
    try:
        exec(compile(source, path, "exec", dont_inherit=True), main.__dict__)  # noqa: S102
    except BaseException as error:  # noqa: BLE001
        status = _report(error)
    os._exit(_finish(main, status))


def warm_up() -> None:
    """Run a short program in the server, where it prints to nowhere.

    What an interpreter sets up at the first program is then there, and no job has to do and to copy it.
    """
    exec(compile(b"print(6 * 7)", "warm-up", "exec", dont_inherit=True), {})  # noqa: S102
    sys.stdout.flush()


def find_generators() -> None:
    """Note the random generators that loaded modules share with all who import them."""
    _generators.extend(
        thing
        for thing in get_objects()
        if isinstance(thing, random.Random) and not isinstance(thing, random.SystemRandom)
    )


def _reseed() -> None:
    """Without this every program would draw what the one before it drew.

    From few bytes, because seeding from all that a generator can take costs as much as a short program; by
    the base class, as what `random.Random` does beside is for generators that have drawn already.
    """
    for generator in _generators:
        PlainRandom.seed(generator, int.from_bytes(urandom(16), "little"))
    if numbers := sys.modules.get("numpy.random"):
        numbers.seed(int.from_bytes(os.urandom(4), "little"))


def _report(error: BaseException) -> int:
    """Say what ended the program as the interpreter does; the exit status."""
    if isinstance(error, SystemExit):
        if error.code is None:
            return 0
        if isinstance(error.code, int):
            return error.code & 0xFF if -(1 << 63) <= error.code < 1 << 63 else 255
        _print(str(error.code))
        return 1
    trace = error.__traceback__.tb_next if error.__traceback__ else None
    try:
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    except BaseException as second:  # noqa: BLE001
        second.__context__ = None
        trace_of_hook = second.__traceback__.tb_next if second.__traceback__ else None
        _print("Error in sys.excepthook:")
        sys.__excepthook__(type(second), second.with_traceback(trace_of_hook), trace_of_hook)
        _print("\nOriginal exception was:")
        sys.__excepthook__(type(error), error, trace)
    if isinstance(error, KeyboardInterrupt):
        _flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 1


def _print(text: str) -> None:
    try:
        _flush()
        sys.stderr.write(text + "\n")
    except (AttributeError, OSError, ValueError):
        pass


def _flush() -> bool:
    good = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (AttributeError, OSError, ValueError):
            good = False
    return good


def _end_threads() -> None:
    """Do what `threading` does when an interpreter ends, if the program could notice it.

    For a program without threads and callbacks it would only touch, and so copy, two dozen pages.
    """
    alone = len(threading._active) == 1 and not threading._threading_atexits  # type: ignore[attr-defined]
    if not alone or atexit._ncallbacks() != _callbacks or threading._shutdown is not _shutdown:  # type: ignore[attr-defined]
        threading._shutdown()  # type: ignore[attr-defined]


def _finish(main: ModuleType, status: int) -> int:
    """Do what an interpreter does at its end and that a program can notice; the exit status.

    Tearing the whole interpreter down would cost more than many a program. What is missing: finalizers
    of objects that only modules of the standard library hold; and to other finalizers of a program without
    threads the main thread is still alive.
    """
    try:
        _end_threads()
        atexit._run_exitfuncs()
        good = _flush()
        for key in list(main.__dict__):
            if key != "__builtins__":
                main.__dict__[key] = None
        # A full collection takes as long as a short program; needed only where something is that old.
        aged = get_count()[2] or get_stats()[2]["collections"] != _full_collections
        collect_garbage(2 if aged else 1)
        return status if _flush() and good else 120
    except BaseException as error:  # noqa: BLE001
        return _report(error)
