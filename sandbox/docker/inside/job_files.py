"""Takes the job with its files, and sends back the files that it left."""

from __future__ import annotations

import fnmatch
import json
import os
import stat
from typing import Any

from verigym.sandbox.docker.inside.confine import FOLDER
from verigym.sandbox.docker.inside.wire import CHUNK, fail, receive, send

_MAX_NAME_BYTES = 3072


def take_job() -> dict[str, Any]:
    """Wait for the job and write its files; the job."""
    job: dict[str, Any] = {}
    file = -1
    os.chdir(FOLDER)
    while True:
        kind, payload = receive()
        if kind == b"J":
            job = json.loads(payload)
        elif kind == b"F":
            order = json.loads(payload)
            if file >= 0:
                os.close(file)
            if folder := os.path.dirname(order["name"]):
                os.makedirs(folder, exist_ok=True)
            mode = 0o700 if order["executable"] else 0o600
            file = os.open(order["name"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        elif kind == b"D":
            view = memoryview(payload)
            while view:
                view = view[os.write(file, view) :]
        elif kind == b"G":
            if file >= 0:
                os.close(file)
            return job
        else:
            fail(f"unknown frame {kind!r}")


def _refusal(kind: int, size: int, most: int) -> str:
    """Why a file of such a mode and size is not brought back; empty if it is."""
    if stat.S_ISLNK(kind):
        return "a symbolic link"
    if stat.S_ISFIFO(kind):
        return "a named pipe"
    if stat.S_ISSOCK(kind):
        return "a socket"
    if not stat.S_ISREG(kind):
        return "a device"
    if size > most:
        return f"{size} bytes, at most {most} are brought back"
    return ""


def _wanted(patterns: list[str]) -> list[str]:
    """Paths below the folder that match, folders left out; no link is followed."""
    found, todo = [], [""]
    while todo:
        folder = todo.pop()
        try:
            if folder:
                os.chmod(folder, 0o700)
            with os.scandir(folder or ".") as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if len(os.fsencode(path)) > _MAX_NAME_BYTES:
                        continue  # no job can have asked for it by name
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(path)
                    elif any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns):
                        found.append(path)
        except OSError:
            continue
    return sorted(found)


def _shown(name: bytes) -> str:
    """`name` as text. One that is not UTF-8 is escaped, behind "./" so that no other file has its name."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return "./" + name.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def send_files(patterns: list[str], limits: dict[str, int]) -> None:
    """Send the files that match; runs when every other process is dead, so nothing moves."""
    left = limits["disk_mib"] << 20
    for path in _wanted(patterns):
        name = _shown(os.fsencode(path))
        size = 0
        try:
            status = os.lstat(path)
            why = _refusal(status.st_mode, status.st_size, limits["output_bytes"])
            if not why and name != path:
                why = "its name is not UTF-8"
            elif not why and status.st_size > left:
                why = f"all files together have more than {limits['disk_mib']} MiB"
            if not why:
                os.chmod(path, 0o600)
                fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                size = status.st_size
        except OSError as error:
            why = f"it cannot be read: {os.strerror(error.errno or 0)}"
        if why:
            send(b"R", {"name": name, "why": why})
            continue
        left -= size
        send(b"N", {"name": name, "size": size})
        while data := os.read(fd, CHUNK):
            send(b"D", data)
        os.close(fd)
