"""Protocol between a `SandboxSession` and the driver inside the sandbox.

A cell is sent with its length in front (Python) or up to a NUL, which it cannot hold (bash), so no
text of a cell is ever taken for framing. Its output comes back unframed on standard output and
standard error, child processes included, until the end mark on each: a byte 0x1E and a random nonce
that was sent with the cell. The cell shares its process with the driver and can read the nonce, so it
can forge an end. That is harmless: it changes only how its own session's output is split, every wait
here has a deadline, and output after an end has the same bounds as output before it. Output of
background threads belongs to the cell during which it arrives.
"""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from verigym.errors import RequestError
from verigym.sandbox.job import JobStatus

ENDINGS = {
    b"o": JobStatus.OK,
    b"e": JobStatus.NONZERO_EXIT,  # an exception
    b"x": JobStatus.NONZERO_EXIT,  # sys.exit, or a command of the shell that failed
    b"i": JobStatus.NONZERO_EXIT,  # KeyboardInterrupt
    b"m": JobStatus.MEMORY_LIMIT,
    b"d": JobStatus.DISK_LIMIT,
}
"""Meaning of the letter that follows the nonce on standard output."""

_MARK = b"\x1e"
_LONGEST_END = 100
_END = re.compile(rb" ([oexmid]) (\d{1,3})(?: (\d{1,9}\.\d{6}) (\d{1,9}\.\d))?")
_PLAIN = frozenset(range(32, 127)) - frozenset(b"\\'%")

# Read by the shell before the first cell. An interactive shell, because only that one survives an
# interrupt, an unset variable or a bad expansion. It reads its commands with readline: without it they
# are read ahead, and lost after an error. What it says for itself, the echo of its commands, goes
# nowhere; cells have the streams 10 and 11.
_BASH_START = b"""\
PS1= PS2= PS4='+ '
set +o history +H
unset HISTFILE MAILCHECK
exec 10>&1 11>&2 2>/dev/null
readonly __verigym_folder=$PWD
command rm -f -- .verigym_session.bash
"""


class End(NamedTuple):
    """The driver's report on a cell that ended."""

    status: JobStatus
    exit_code: int
    cpu_s: float
    memory_mib: float


@dataclass(frozen=True)
class Dialect:
    """Commands and frames of the driver of one language."""

    file: str
    source: Callable[[], bytes]
    argv: tuple[str, ...]
    cell: Callable[[str, str], bytes]
    """Frame that runs a cell's text, given the nonce."""
    put: Callable[[str, str, bytes], bytes]
    """Frame that writes a file, given the nonce, its name and its bytes."""
    get: Callable[[str, str], bytes]
    """Frame that prints a file, given the nonce and its name."""


def nonce() -> str:
    """Return a fresh mark for each cell."""
    return secrets.token_hex(16)


class FramedStream:
    """One output stream of one cell: keeps at most `limit` bytes of what stands before the end, and as
    many of what comes after it. `over` says that one of the two had more."""

    def __init__(self, name: str, limit: int) -> None:
        self._mark = _MARK + name.encode()
        self._limit = limit
        self._kept = bytearray()
        self._rest = bytearray()
        self._marked = False
        self.over = False
        self.end: bytes | None = None
        """Text after the mark in its line; None until it has arrived."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        if self.end is not None:
            self._keep_left(data)
            return
        self._rest += data
        if not self._marked:
            at = self._rest.find(self._mark)
            self._marked = at >= 0
            size = at if self._marked else max(0, len(self._rest) - len(self._mark) + 1)
            self._keep(size)
            if self._marked:
                del self._rest[: len(self._mark)]
        if self._marked and self.end is None:
            line, newline, rest = self._rest[:_LONGEST_END].partition(b"\n")
            if newline or len(self._rest) >= _LONGEST_END:
                self.end = bytes(line)
                left = rest + self._rest[_LONGEST_END:]
                self._rest = bytearray()
                self._keep_left(left)

    def output(self) -> bytes:
        """Return the cell's output so far."""
        if not self._marked:
            self._keep(len(self._rest))
        return bytes(self._kept)

    def left(self) -> bytes:
        """Return the data received after the end; it belongs to the next cell."""
        return bytes(self._rest) if self.end is not None else b""

    def _keep_left(self, data: bytes | bytearray) -> None:
        # A cell that forged the end of one stream may go on writing while the other is waited for.
        room = self._limit - len(self._rest)
        self.over = self.over or len(data) > room
        self._rest += data[:room]

    def _keep(self, size: int) -> None:
        room = self._limit - len(self._kept)
        self.over = self.over or size > room
        self._kept += self._rest[: min(size, room)]
        del self._rest[:size]


def read_end(line: bytes) -> End | None:
    """Parse the text behind the end mark on standard output; None if the driver did not write it."""
    match = _END.fullmatch(line)
    if match is None or int(match[2]) > 255:
        return None
    status = JobStatus.OK if match[2] == b"0" else ENDINGS[match[1]]
    return End(status, int(match[2]), float(match[3] or 0), float(match[4] or 0))


def _python_frame(kind: str, name: str, payload: bytes) -> bytes:
    return f"{name} {kind}{len(payload):016x}\n".encode() + payload


def _bash_cell(name: str, code: str) -> bytes:
    if "\0" in code:
        raise RequestError("a cell of bash must not hold NUL characters")
    try:
        data = code.encode()
    except UnicodeEncodeError as error:
        raise RequestError(f"a cell of bash must be Unicode text: {error}") from error
    # Nothing here depends on a variable of the cell's, and the backslashes pass by aliases. The last
    # line is of simple commands only: after an unterminated quote the shell misreads a `case`.
    return (
        b"IFS= \\builtin read -r -d '' __verigym_cell\n%b\0"
        b'\\builtin eval "$__verigym_cell" </dev/null >&10 2>&11\n'
        b"\\builtin printf '\\036%b x %%d\\n' $? >&10; \\builtin printf '\\036%b\\n' >&11\n"
    ) % (data, name.encode(), name.encode())


def _bash_put(name: str, path: str, data: bytes) -> bytes:
    text = "".join(chr(byte) if byte in _PLAIN else f"\\0{byte:03o}" for byte in data)
    target = shlex.quote(f"./{path}")
    folder = shlex.quote(f"./{path.rpartition('/')[0] or '.'}")
    # `%b` is the shell's own: no process is needed where the session may have no more.
    return _bash_cell(
        name,
        f'( builtin cd -- "$__verigym_folder" && {{ [ -d {folder} ] || command mkdir -p {folder}; }}'
        f" && builtin printf %b '{text}' >| {target} )",
    )


def _bash_get(name: str, path: str) -> bytes:
    target = shlex.quote(f"./{path}")
    return _bash_cell(
        name,
        f'( builtin cd -- "$__verigym_folder" && [ -f {target} ] && command cat {target} )',
    )


def _driver_of_python() -> bytes:
    return files("verigym.sandbox").joinpath("session_python.py").read_bytes()


DIALECTS = {
    "python": Dialect(
        file=".verigym_session.py",
        source=_driver_of_python,
        argv=("python3", "-s", "-B", "-X", "utf8", ".verigym_session.py"),
        cell=lambda name, code: _python_frame("c", name, code.encode("utf-8", "surrogatepass")),
        put=lambda name, path, data: _python_frame("p", name, path.encode() + b"\0" + data),
        get=lambda name, path: _python_frame("g", name, path.encode()),
    ),
    "bash": Dialect(
        file=".verigym_session.bash",
        source=lambda: _BASH_START,
        argv=("bash", "--noprofile", "--rcfile", ".verigym_session.bash", "-i"),
        cell=_bash_cell,
        put=_bash_put,
        get=_bash_get,
    ),
}
