"""Removes a folder whatever a program has built in it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a warm server loads this file too, and each module makes its forks dearer
    from pathlib import Path


def remove_tree(folder: Path) -> None:
    """Remove `folder` and all below it, however deep, unreadable or oddly named.

    `shutil.rmtree` recurses and fails at about 1,000 levels. Here every nested folder is first moved
    up to the top, so that nothing is ever deeper than two levels and no path grows long. Links are
    removed, never followed. Raises OSError if the machine refuses; a missing folder is fine.
    """
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    except PermissionError:
        folder.chmod(0o700)
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.fchmod(top, 0o700)
        moved = 0
        while names := os.listdir(top):
            for name in names:
                if not _is_folder(name, top):
                    os.unlink(name, dir_fd=top)
                    continue
                os.chmod(name, 0o700, dir_fd=top)
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
                try:
                    for below in os.listdir(inner):
                        if _is_folder(below, inner):
                            # Moving a folder rewrites its "..", which needs write permission on it.
                            os.chmod(below, 0o700, dir_fd=inner)
                            moved = _move_up(below, inner, top, moved)
                        else:
                            os.unlink(below, dir_fd=inner)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    folder.rmdir()


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def _move_up(name: str, parent: int, top: int, moved: int) -> int:
    """Move folder `name` to a free name in `top`; the counter to go on with."""
    while True:
        moved += 1
        try:
            os.rename(name, f"verigym-{moved}", src_dir_fd=parent, dst_dir_fd=top)
        except OSError as error:
            # Taken by a name of the program's own making.
            if isinstance(error, FileExistsError | NotADirectoryError) or error.errno == 39:
                continue
            raise
        return moved
