"""Brings files back from a job's folder, after all of its processes are gone, in a process of its own."""

from __future__ import annotations

import fnmatch
import marshal
import os
import re
import resource
import socket
import stat
import struct
from collections.abc import Iterator
from typing import Any, NoReturn

from verigym.sandbox.local import child, seccomp, system

HEADER = struct.Struct("=cIQ")
"""Of each entry: D for a file and its bytes, X for a name and why it was refused, Z at the end; bytes
of the name, bytes of what follows it."""

MAX_NAMES = 20_000
MAX_FILES = 2000
CPU_S = 10


def serve(settings: dict[str, Any], fd: int, folder: str) -> NoReturn:
    """Read which files are wanted from `fd`, send them back through it and end."""
    try:
        child.give_up(settings)
        client = socket.socket(fileno=fd)
        client.settimeout(None)
        with client.makefile("rb") as request:
            (size,) = struct.unpack("=I", request.read(4))
            wanted = marshal.loads(request.read(size))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        seccomp.install(seccomp.closing_filter())
        # The job may have shut itself out; the folder itself is its file system's root and no link.
        os.chmod(folder, 0o700)
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        reply = client.makefile("wb")
        for kind, name, data in find(top, wanted["names"], wanted["bytes"], wanted["total"]):
            reply.write(HEADER.pack(kind, len(name), len(data)))
            reply.write(name)
            reply.write(data)
        reply.write(HEADER.pack(b"Z", 0, 0))
        reply.flush()
    finally:
        os._exit(0)


def show_name(name: bytes) -> str:
    """Return `name` as text. One that is not UTF-8 is escaped, behind "./" so that no other file has its name."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return "./" + name.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def find(top: int, names: list[str], most: int, total: int) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield entries for all that `names` stand for below descriptor `top`: literal names or patterns."""
    count = 0
    seen = set()
    for name in _matches(top, names):
        if name in seen:
            continue
        seen.add(name)
        count += 1
        if count > MAX_FILES:
            yield b"X", name, f"more than {MAX_FILES} files".encode()
            return
        if show_name(name).encode() != name:
            yield b"X", name, b"its name is not UTF-8"
            continue
        data, trouble = _read(top, name, min(most, total))
        if trouble:
            yield b"X", name, trouble.encode()
        elif data is not None:
            total -= len(data)
            yield b"D", name, data


def _matches(top: int, names: list[str]) -> Iterator[bytes]:
    """Names of what is there, without regard to what it is; folders only where named literally."""
    patterns = []
    for name in names:
        if any(letter in name for letter in "*?["):
            patterns.append(re.compile(fnmatch.translate(name).encode()).match)
        else:
            yield name.encode()
    if not patterns:
        return
    for path in _walk(top):
        if any(match(path) for match in patterns):
            yield path


def _walk(top: int) -> Iterator[bytes]:
    folders = [b""]
    left = MAX_NAMES
    while folders:
        folder = folders.pop()
        try:
            fd = system.open_beneath(top, folder or b".", os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return
                    name = os.fsencode(entry.name)
                    path = folder + b"/" + name if folder else name
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(path)
                    else:
                        yield path
        finally:
            os.close(fd)


def _read(top: int, name: bytes, most: int) -> tuple[bytes | None, str]:
    """The bytes of file `name` or why it is refused; neither if there is none."""
    try:
        # Without O_NONBLOCK a FIFO would wait for a writer.
        fd = system.open_beneath(top, name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        if error.errno == 40:
            return None, "it is a link, or below one"
        return None, f"it cannot be opened: {os.strerror(error.errno or 0)}"
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return None, "it is a folder" if stat.S_ISDIR(status.st_mode) else "it is no plain file"
        if status.st_size > most:  # not read first: it may be sparse, and there may be thousands
            return None, f"it is larger than {most} bytes"
        data = bytearray()
        while chunk := os.read(fd, min(1 << 20, most + 1 - len(data))):
            data += chunk
        return bytes(data), ""
    finally:
        os.close(fd)
