"""`become_ordinary`: from root to user 65534 with this interpreter still readable.

The interpreter, the virtual environment or the sources often lie below a folder that only root may
enter (/root has mode 700). In a mount namespace of its own this process covers each such folder with
an empty one that all may enter, and shows below it, at the same places, only what Python needs. The
host sees none of it, and it goes with the process.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from verigym.errors import SandboxError

NOBODY = 65534
# <linux/sched.h>, <sys/mount.h>
_NEW_MOUNTS = 0x00020000
_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18


def needed() -> list[Path]:
    """Return the folders and files that this interpreter reads to import what it has imported, and may."""
    import verigym

    paths = {sys.prefix, sys.base_prefix, sys.executable, os.path.realpath(sys.executable)}
    paths |= {entry for entry in sys.path if entry}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == verigym.__name__:
            paths |= set(getattr(module, "__path__", ()))
            if getattr(module, "__file__", None):
                paths.add(os.path.dirname(str(module.__file__)))
    paths |= {os.path.realpath(path) for path in paths}
    return sorted(Path(path) for path in paths if os.path.exists(path))


def become_ordinary() -> None:
    """Make this process user and group 65534. Raises SandboxError if that is not possible."""
    try:
        covers = _covers(needed())
        if covers:
            _uncover(covers)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError as error:
        raise SandboxError(f"cannot become user {NOBODY}: {error}") from error
    # Changing user made this process's own /proc entries root's.
    ctypes.CDLL(None).prctl(4, *map(ctypes.c_ulong, (1, 0, 0, 0)))  # PR_SET_DUMPABLE
    os.chdir("/")


def _covers(paths: Iterable[Path]) -> dict[Path, list[Path]]:
    """Each outermost folder that others may not enter, with what must be shown below it."""
    covers: dict[Path, list[Path]] = {}
    for path in paths:
        for folder in reversed(path.parents):
            if not os.stat(folder).st_mode & stat.S_IXOTH:
                covers.setdefault(folder, []).append(path)
                break
    for folder, below in covers.items():
        # A path below another one comes with it.
        outer = [path for path in below if not any(other in path.parents for other in below)]
        covers[folder] = outer
    return covers


def _uncover(covers: dict[Path, list[Path]]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source: str, target: str, kind: bytes | None, flags: int, data: bytes | None) -> None:
        done = libc.mount(source.encode(), target.encode(), kind, ctypes.c_ulong(flags), data)
        if done < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"mount {target}: {os.strerror(number)}")

    if libc.unshare(_NEW_MOUNTS) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"unshare: {os.strerror(number)}")
    mount("none", "/", None, _MS_REC | _MS_PRIVATE, None)
    for folder, below in covers.items():
        # Held open, since their names end at the new folder once it is there.
        held = [(path, os.open(path, os.O_PATH)) for path in below]
        mount("verigym", str(folder), b"tmpfs", _MS_NOSUID | _MS_NODEV, b"mode=0755,size=1m")
        for path, fd in held:
            link = f"/proc/self/fd/{fd}"
            if stat.S_ISDIR(os.fstat(fd).st_mode):
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            mount(link, str(path), None, _MS_BIND | _MS_REC, None)
            os.close(fd)


def main() -> None:
    """Run the worker as an ordinary user: `python -m verigym.sandbox.selfcheck.ordinary ARGS...`."""
    import tempfile

    # Everything that the worker will import has to be found before the folders are covered.
    import verigym.sandbox.selfcheck.worker  # noqa: F401

    become_ordinary()
    os.environ["HOME"] = tempfile.gettempdir()
    command = [sys.executable, "-P", "-m", "verigym.sandbox.selfcheck.worker", *sys.argv[1:]]
    os.execv(sys.executable, command)


if __name__ == "__main__":
    main()
