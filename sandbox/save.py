"""`save_files`: writes what a job left into a new folder of this machine, and nowhere else.

The names are the program's choice, and another process may change the folder meanwhile. So each part of
a name is opened below the folder that was made, no link is followed, and a file is only ever created.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from verigym.errors import RequestError
from verigym.sandbox.job import check_name

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Control characters of terminals, ends of lines, and what turns the direction of a text.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def check_folder(folder: Path) -> None:
    """Raise RequestError unless `folder` is missing or an empty folder that is no link."""
    if os.path.islink(folder) or (os.path.lexists(folder) and not folder.is_dir()):
        raise RequestError(f"{str(folder)!r} is not a folder; name a new one with --out")
    if folder.is_dir() and os.listdir(folder):
        raise RequestError(
            f"{str(folder)!r} is not empty, and files of a program are only written into a new "
            "folder; name one with --out"
        )


def save_files(files: Mapping[str, bytes], folder: Path) -> dict[str, str]:
    """Write `files` below `folder`, which is made or is empty; why a file was not written, by name.

    Raises RequestError for a folder that will not do, OSError where the disk fails.
    """
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    top = os.open(folder, _FOLDER)
    refused = {}
    try:
        for name, data in files.items():
            trouble = _trouble(name) or _save(top, name, data)
            if trouble:
                refused[name] = trouble
    finally:
        os.close(top)
    return refused


def _trouble(name: str) -> str:
    """Why no file of this machine should bear `name`; empty if it may."""
    try:
        check_name(name)
    except RequestError as error:
        return str(error)
    if _UNSEEN.search(name):
        return "its name has control characters"
    return ""


def _save(top: int, name: str, data: bytes) -> str:
    *parents, last = name.split("/")
    here = os.dup(top)
    try:
        for part in parents:
            # An earlier file may have made it. If it is anything but a folder, it is not opened.
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=here)
            below = os.open(part, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        with open(os.open(last, _NEW_FILE, 0o666, dir_fd=here), "wb") as file:
            file.write(data)
    except FileExistsError:
        return "there is a file of this name already"
    except NotADirectoryError:
        return "its folder is a file or a link"
    finally:
        os.close(here)
    return ""
