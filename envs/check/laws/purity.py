"""No clock, network, process, file, machine, global generator or printing in the environment's code."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import random
import sys
import tempfile
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from verigym.envs.check.subject import Broken, Subject, plan, rungs, wander

_CALLS = {
    "time": (
        *("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"),
        *("process_time", "process_time_ns", "thread_time", "clock_gettime", "clock_gettime_ns"),
        *("localtime", "gmtime", "ctime", "asctime", "strftime", "mktime"),
    ),
    "posix": (
        *("urandom", "getrandom", "uname", "getcwd", "getcwdb", "getlogin"),
        *("getuid", "cpu_count", "sched_getaffinity", "getloadavg", "times", "write"),
    ),
    "_socket": ("socket", "gethostname"),
}
"""Forbidden functions that are written in C, by module. For those that also format a given time,
the patch cannot see if a time was given; `datetime` does the same without the machine's time zone."""
_DATES = ("now", "utcnow", "today")
_MODULES = ("socket", "urllib.request", "http.client", "secrets", "platform", "getpass", "uuid")
_EVENTS = (
    *(
        "socket.connect",
        "socket.bind",
        "socket.sendto",
        "socket.getaddrinfo",
        "socket.gethostbyname",
    ),
    *(
        "socket.gethostname",
        "subprocess.Popen",
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.fork",
    ),
    *("os.forkpty", "os.putenv", "os.unsetenv", "os.chdir", "os.remove", "os.rename", "os.mkdir"),
    *("os.rmdir", "os.link", "os.symlink", "os.truncate"),
)
"""Audit events of the interpreter (PEP 578), whoever's code raises them on behalf of the environment."""
_OURS = ("verigym.env", "verigym.verifiers", "verigym.sandbox", "verigym.registry")
_IMPORTS = "importlib._bootstrap"

_sinks: list[tuple[str, set[str]]] = []
"""The package that is watched, with what was found; empty if none is."""


def it_is_pure(subject: Subject) -> None:
    """Check that play uses no clock, network, process, file, machine, global generator or print."""
    with _captured():
        parts = type(subject.make()).__module__.split(".")
    package = ".".join(parts[:3] if parts[0] == "verigym" else parts[:1])
    found: set[str] = set()
    before = _global_generators()
    with _captured() as said, _watched(package, found):
        env = subject.quick(redraw=True)
        for seed in range(2):
            for difficulty in rungs(env):
                env.reset(seed=seed, options={"difficulty": difficulty})
                list(wander(env, random.Random(seed), 5))
                env.reset(seed=seed)
                env.render()
                if not env.oracle_absent and not env.costly:
                    plan(env)
    if said:
        raise Broken(f"it prints: {said[0][:80]!r}")
    if _global_generators() != before:
        raise Broken("it draws from a global generator; use the rng it is given")
    if found:
        raise Broken(f"it calls {', '.join(sorted(found))}; same seed, same world")


def _global_generators() -> tuple[Any, str]:
    return random.getstate(), repr(np.random.get_state(legacy=False))


@contextlib.contextmanager
def _captured() -> Iterator[list[str]]:
    """A list that holds, once over, what was printed, if anything: by `print`, or past it by C or `os`."""
    said: list[str] = []
    text = io.StringIO()
    with tempfile.TemporaryFile() as file:
        _flush()
        kept = [os.dup(fd) for fd in (1, 2)]
        try:
            for fd in (1, 2):
                os.dup2(file.fileno(), fd)
            with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
                yield said
        finally:
            _flush()
            for fd, was in zip((1, 2), kept, strict=True):
                os.dup2(was, fd)
                os.close(was)
        file.seek(0)
        if printed := text.getvalue() + file.read(1000).decode(errors="replace"):
            said.append(printed)


def _flush() -> None:
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None and not stream.closed:
            stream.flush()


@contextlib.contextmanager
def _watched(package: str, found: set[str]) -> Iterator[None]:
    """Collects in `found` what the modules of `package` call, and what is done on their behalf."""

    @functools.cache
    def theirs(module: str) -> bool:
        return _within(module, package) and not _ours(module)

    def watch(frame: types.FrameType, event: str, called: Any) -> None:
        if event == "c_call":
            caller = frame.f_globals.get("__name__", "")
            if not theirs(caller):
                return
            module, name = getattr(called, "__module__", None), called.__name__
            owner = getattr(called, "__self__", None)
            if (
                name in _CALLS.get(module or "", ())
                or (name in _DATES and getattr(owner, "__module__", "") == "datetime")
                or isinstance(owner, np.random.RandomState)
            ):
                found.add(f"{module or type(owner).__name__}.{name} in {caller}")
        elif event == "call":
            back = frame.f_back
            caller = back.f_globals.get("__name__", "") if back else ""
            if not theirs(caller):
                return
            module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
            if module in _MODULES:
                found.add(f"{module}.{name} in {caller}")
            elif module == "os" and name == "getenv":
                found.add(f"os.getenv in {caller}")
            elif module in ("os", "collections.abc") and frame.f_locals.get("self") is os.environ:
                found.add(f"os.environ in {caller}")

    _audit_once()
    _sinks.append((package, found))
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)
        _sinks.pop()


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if not _sinks or not (event in _EVENTS or (event == "open" and _writes(arguments))):
        return
    package, found = _sinks[-1]
    frame: types.FrameType | None = sys._getframe(1)
    caller = ""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(_IMPORTS) or (_ours(name) and name != "verigym.env"):
            return  # a module is loaded, or a verifier or a sandbox does its work
        if not caller and _within(name, package):
            caller = name
        frame = frame.f_back
    if caller:
        found.add(f"{event}{' for writing' if event == 'open' else ''} in {caller}")


def _writes(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


@functools.cache
def _audit_once() -> None:
    # A hook stays until the process ends: there is one, and it does nothing if nobody listens.
    sys.addaudithook(_heard)


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _ours(module: str) -> bool:
    return any(_within(module, package) for package in _OURS)
