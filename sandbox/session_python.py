"""The driver of a Python session; runs inside the sandbox as a script and is never imported.

Reads frames (see `verigym.sandbox.framing`) from what was its standard input, runs each cell in one
lasting `__main__`, and marks the end of a cell's output on both streams. The cells share this
process, so they can break or forge anything here; all that they reach is their own session.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import errno
import fcntl
import inspect
import io
import linecache
import os
import resource
import signal
import stat
import sys
import traceback
import types
from os import _exit, dup2, getpid, read, set_blocking, write  # a cell may change the module's
from typing import Any

_HEADER_BYTES = 51
_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _sys_main() -> types.ModuleType:
    """A fresh `__main__`, so that cells see none of this file's names."""
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins  # type: ignore[attr-defined]
    sys.modules["__main__"] = module
    return module


class _Cells:
    """Runs cells one after the other in one namespace."""

    def __init__(self) -> None:
        self.namespace = _sys_main().__dict__
        self._number = 0
        self._flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self._runner: Any = None

    def run(self, source: str) -> tuple[str, int]:
        """Run one cell; how it ended (a letter of `framing.ENDINGS`) and its exit code."""
        self._number += 1
        name = f"<cell {self._number}>"
        # So that tracebacks, also those of later cells, show the lines.
        linecache.cache[name] = (len(source), None, f"{source}\n".splitlines(True), name)
        try:
            for code in self._compile(source, name):
                self._flags |= code.co_flags & _FUTURES
                if code.co_flags & inspect.CO_COROUTINE:
                    self._await(eval(code, self.namespace))  # noqa: S307
                else:
                    exec(code, self.namespace)  # noqa: S102
        except SystemExit as error:
            return _exit_code(error)
        except BaseException as error:  # noqa: BLE001
            _say(_trace(error))
            if isinstance(error, MemoryError):
                return "m", 1
            if isinstance(error, OSError) and error.errno in _FULL:
                return "d", 1
            return ("i", 130) if isinstance(error, KeyboardInterrupt) else ("e", 1)
        return "o", 0

    def _compile(self, source: str, name: str) -> list[types.CodeType]:
        """The cell as code; the value of a last expression is to be shown, as at a prompt."""
        tree = compile(source, name, "exec", self._flags | ast.PyCF_ONLY_AST, True)
        body: list[ast.stmt] = tree.body
        last = [body.pop()] if body and isinstance(body[-1], ast.Expr) else []
        parts: list[tuple[ast.Module | ast.Interactive, str]] = []
        if body:
            parts.append((ast.Module(body, type_ignores=[]), "exec"))
        if last:
            parts.append((ast.Interactive(last), "single"))
        flags = self._flags
        if any(isinstance(each, ast.ImportFrom) and each.module == "__future__" for each in body):
            # Holds for the last expression too, which is compiled apart from its import.
            flags |= compile(parts[0][0], name, "exec", flags, True).co_flags & _FUTURES
        return [compile(part, name, mode, flags, True) for part, mode in parts]

    def _await(self, waiting: Any) -> None:
        if self._runner is None:
            import asyncio

            self._runner = asyncio.Runner()
        self._runner.run(waiting)


def _exit_code(error: SystemExit) -> tuple[str, int]:
    """`sys.exit` ends the cell, not the session."""
    code = error.code
    if code is None:
        return "o", 0
    if isinstance(code, int):
        return ("x" if code & 255 else "o"), code & 255
    _say(f"{code}\n")
    return "x", 1


def _trace(error: BaseException) -> str:
    """The traceback without the frames of this file and of what runs a coroutine."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        each = todo.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _trimmed(each.__traceback__)
        todo += [each.__cause__, each.__context__]
    try:
        return "".join(traceback.TracebackException.from_exception(error).format())
    except Exception as trouble:  # noqa: BLE001
        # Whatever a cell's own exception class does when it is shown.
        return f"{type(error).__name__}, which cannot be shown: {type(trouble).__name__}\n"


def _trimmed(trace: types.TracebackType | None) -> types.TracebackType | None:
    ours = False
    first = trace
    while first is not None:
        name = first.tb_frame.f_code.co_filename
        if name.startswith("<cell "):
            return first if ours else trace
        ours = ours or name == _HERE or name.endswith("/asyncio/runners.py")
        first = first.tb_next
    return None if ours else trace


def _say(text: str) -> None:
    _flush()
    _write_all(2, text.encode("utf-8", "backslashreplace"))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        # A cell may have put anything here, or closed it.
        with contextlib.suppress(Exception):
            stream.flush()


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    with contextlib.suppress(OSError):
        set_blocking(fd, True)  # asyncio's pipes change it for all who share the stream
        while rest:
            rest = rest[write(fd, rest) :]


def _renew(null: int, out: int, err: int) -> None:
    """Give the next cell its streams, whatever the one before did to them."""
    for name, source, fd in (("stdin", null, 0), ("stdout", out, 1), ("stderr", err, 2)):
        dup2(source, fd)
        stream = getattr(sys, f"__{name}__")
        if stream is None or stream.closed:
            stream = open(fd, "w" if fd else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, f"__{name}__", stream)
            setattr(sys, name, stream)
        if fd and isinstance(stream, io.TextIOWrapper) and not stream.line_buffering:
            # In order with what child processes print, and there if the session is killed.
            stream.reconfigure(line_buffering=True, errors="backslashreplace")


def _read_exactly(fd: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        try:
            chunk = read(fd, size - len(data))
        except OSError:
            _exit(1)  # a cell closed it
        except BaseException:  # noqa: BLE001
            continue  # from a signal handler that a cell left behind
        if not chunk:
            _exit(0)
        data += chunk
    return bytes(data)


def _put(folder: str, payload: bytes) -> tuple[str, int]:
    name, _, data = payload.partition(b"\0")
    path = os.path.join(folder, os.fsdecode(name))
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        _say(f"{error}\n")
        return ("d" if error.errno in _FULL else "e"), 1
    return "o", 0


def _get(folder: str, payload: bytes, out: int) -> tuple[str, int]:
    path = os.path.join(folder, os.fsdecode(payload))
    try:
        # A FIFO would be waited for.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                _say(f"{path} is no plain file\n")
                return "e", 1
            while chunk := file.read(1 << 16):
                _write_all(out, chunk)
    except OSError as error:
        _say(f"{error}\n")
        return "e", 1
    return "o", 0


def _usage() -> float:
    """CPU seconds of this process and of the children that it has waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)


def _ignore(_number: int, _frame: types.FrameType | None) -> None:
    """For an interrupt that comes when no cell runs. Not SIG_IGN, which children would inherit."""


def main() -> None:
    """Serve frames until standard input ends."""
    signal.signal(signal.SIGINT, _ignore)
    control, out, err = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in (0, 1, 2))
    null = fcntl.fcntl(os.open(os.devnull, os.O_RDWR), fcntl.F_DUPFD_CLOEXEC, 3)
    pid, folder = getpid(), os.getcwd()
    with contextlib.suppress(OSError):
        os.unlink(_HERE)
    sys.argv = [""]
    cells = _Cells()
    while True:
        header = _read_exactly(control, _HEADER_BYTES)
        nonce, kind, size = header[:32], header[33:34], int(header[34:50], 16)
        payload = _read_exactly(control, size)
        _renew(null, out, err)
        before = _usage()
        ending, code = "i", 130
        try:
            if kind == b"p":
                ending, code = _put(folder, payload)
            elif kind == b"g":
                ending, code = _get(folder, payload, out)
            else:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                ending, code = cells.run(payload.decode("utf-8", "surrogatepass"))
            signal.signal(signal.SIGINT, _ignore)
        except KeyboardInterrupt:  # between the cell's last line and the one above
            signal.signal(signal.SIGINT, _ignore)
        except MemoryError:  # not even for the traceback
            signal.signal(signal.SIGINT, _ignore)
            ending, code = "m", 1
        _flush()
        if getpid() != pid:  # the cell forked: its child ends with the cell
            _exit(code)
        peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        said = f" {ending} {code} {_usage() - before:.6f} {peak_mib:.1f}\n"
        _write_all(err, b"\x1e" + nonce + b"\n")
        _write_all(out, b"\x1e" + nonce + said.encode())


_HERE = main.__code__.co_filename

if __name__ == "__main__":
    main()
