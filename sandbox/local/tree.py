"""Memory and processor time of a tree of processes, read from /proc."""

from __future__ import annotations

import os

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


def tree_memory_bytes(top: int) -> int:
    """Memory of all processes below `top` together.

    RLIMIT_AS holds for each process, so by forking a program could take many times its limit. The
    sum of resident sizes counts a page shared by forks several times; where that could matter, the
    dearer figure that divides each page among its users decides.
    """
    pids = below(top)
    resident = sum(_resident_bytes(pid) for pid in pids)
    if len(pids) < 2 or resident < 64 << 20:
        return resident
    return min(resident, sum(_proportional_bytes(pid) for pid in pids))


def tree_cpu_s(top: int) -> float:
    """Processor time of all processes below `top`, and of those that they have waited for."""
    total = 0
    for pid in below(top):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue  # it has ended since
        total += sum(int(value) for value in fields[11:15])
    return total / _TICKS


def below(root: int) -> list[int]:
    """Pids of all processes below process `root`."""
    found: list[int] = []
    todo = [root]
    while todo:
        pid = todo.pop()
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue  # it has ended since
        for thread in threads:
            try:
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                    children = [int(child) for child in file.read().split()]
            except OSError:
                continue  # it has; its brothers may have children nevertheless
            found += children
            todo += children
    return found


def _resident_bytes(pid: int) -> int:
    pages = _resident_pages(f"/proc/{pid}/statm")
    if pages:
        return pages * _PAGE
    # Where the first thread has ended and others have not, only they show the memory.
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return 0  # it has ended since
    shown = (_resident_pages(f"/proc/{pid}/task/{thread}/statm") for thread in threads)
    return max(shown, default=0) * _PAGE


def _resident_pages(path: str) -> int:
    try:
        with open(path, "rb") as file:
            return int(file.read().split()[1])
    except OSError:
        return 0  # it has ended since


def _proportional_bytes(pid: int) -> int:
    """Resident size with each shared page divided among its users; the plain one where unreadable."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return _resident_bytes(pid)
