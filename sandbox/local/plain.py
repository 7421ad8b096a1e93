"""The weaker tier: a slot without namespaces, where a container runtime forbids them.

Landlock, the system call filter (which then leaves no socket but pairs), rlimits and a change of user
where it is root are what is left. The slot is the reaper of its orphans and kills them one by one; each
job gets a folder of the host, which the client watches (watch.py), for a file system.
"""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Collection, Iterable
from typing import Any

from verigym.sandbox import remove
from verigym.sandbox.local import landlock, root, system


def confine(settings: dict[str, Any], folder: str) -> int:
    """Prepare this process to be a slot whose jobs live below `folder`; return their Landlock rules."""
    system.prctl(system.SET_PDEATHSIG, signal.SIGKILL)
    system.prctl(system.SET_CHILD_SUBREAPER, 1)
    system.prctl(system.SET_NO_NEW_PRIVS, 1)
    system.prctl(system.SET_DUMPABLE, 0)
    os.mkdir(folder, 0o711)
    readable = [path for path, _ in settings["binds"]]
    hidden = [os.path.realpath(path) for path in settings["hidden"]]
    listed: list[str] = []
    readable = _without(map(os.path.realpath, readable), hidden, listed)
    readable += [path for path, _ in settings["packages"]]
    figures = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat")
    devices = [f"/dev/{name}" for name in root.DEVICES]
    wanted = dict.fromkeys((*readable, *figures, *devices))
    found = [path for path in wanted if os.path.exists(path)]
    writable = [path for path in root.writable_devices(settings) if os.path.exists(path)]
    return landlock.ruleset(found, [folder, *writable], listed=listed)


def _without(paths: Iterable[str], hidden: list[str], listed: list[str]) -> list[str]:
    """`paths`, those above a hidden one replaced by what they hold, but for the hidden ones.

    Those replaced are appended to `listed`: Python finds nothing in a folder that it cannot list.
    """
    found: list[str] = []
    for path in paths:
        if path in hidden:
            continue
        if any(other.startswith(path + "/") for other in hidden):
            inner = (os.path.join(path, name) for name in sorted(os.listdir(path)))
            listed.append(path)
            found += _without([path for path in inner if not os.path.islink(path)], hidden, listed)
        else:
            found.append(path)
    return found


def fresh_folder(settings: dict[str, Any], path: str) -> None:
    """Make the next job's folder."""
    os.mkdir(path, 0o700)
    if settings["as_root"]:
        os.chown(path, settings["nobody"], settings["nobody"])


def remove_folder(path: str) -> None:
    """Remove a job's folder in a child of this process, which so never learns the names in it."""
    pid = os.fork()
    if pid == 0:
        try:
            import pathlib

            remove.remove_tree(pathlib.Path(path))
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def kill_all(spared: Collection[int] = ()) -> None:
    """Kill every process below this one, but for children that are `spared` and what is below them."""
    todo = [pid for pid in children(os.getpid()) if pid not in spared]
    while todo:
        pid = todo.pop()
        todo += children(pid)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def children(pid: int) -> list[int]:
    """Return the pids of the processes that have `pid` for parent; numbers alone, never a name."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += [int(child) for child in file.read().split()]
    except OSError:
        pass  # it has ended since
    return found


def tasks_of(uid: int) -> int:
    """Return the number of tasks of user `uid` on this machine; RLIMIT_NPROC counts them all."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue  # it has ended since
    return count


def usage(folder: str, most_bytes: int, most_names: int) -> bool:
    """Return True if the contents of `folder` exceed the limits on bytes, names or depth."""
    total = names = 0
    todo = [(folder, 0)]
    while todo:
        path, depth = todo.pop()
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    names += 1
                    status = entry.stat(follow_symlinks=False)
                    total += status.st_blocks * 512
                    if stat.S_ISDIR(status.st_mode):
                        todo.append((entry.path, depth + 1))
                    if total > most_bytes or names > most_names or depth > 100:
                        return True
        except FileNotFoundError:
            continue
        except OSError:  # closed to us, or its name has grown too long
            return True
    return False
