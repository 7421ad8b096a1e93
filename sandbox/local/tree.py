"""Memory and processor time of a tree of processes, read from /proc."""

from __future__ import annotations

import os
import time

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_PROCESSORS = os.cpu_count() or 1
# Samples scatter, and must not end a program that stays within its time.
_DOUBT, _DOUBT_S = 1.2, 0.05


def tree_memory_bytes(top: int) -> int:
    """Return the memory of all processes below `top` together.

    RLIMIT_AS holds for each process, so by forking a program could take many times its limit. The
    sum of resident sizes counts a page shared by forks several times; where that could matter, the
    dearer figure that divides each page among its users decides.
    """
    pids = below(top)
    resident = sum(_resident_bytes(pid) for pid in pids)
    if len(pids) < 2 or resident < 64 << 20:
        return resident
    return min(resident, sum(_proportional_bytes(pid) for pid in pids))


class TreeCpu:
    """Counts the processor time of all processes below `top` from now on, where no control group does.

    What processes have used that live, or that others have waited for, is read. Who ignores SIGCHLD has
    children that nobody waits for, and whose time appears nowhere. So each look also counts who is new
    and wants to run, as a share of the processors for the time since the look before: over a few dozen
    looks that gives what such children have used, give or take a quarter on a busy machine. It counts
    where it is clearly more.
    """

    def __init__(self, top: int) -> None:
        self._top = top
        self._before_s = self._reaped_s()
        self._looked = time.monotonic()
        self._known: dict[tuple[int, bytes], float] = {}
        self._sampled_s = 0.0

    def read(self) -> float:
        """Return the seconds so far. To be called every few hundredths of a second."""
        now = time.monotonic()
        share = _share() * (now - self._looked)
        self._looked = now
        total = self._reaped_s() - self._before_s
        known: dict[tuple[int, bytes], float] = {}
        for pid in below(self._top):
            fields = _stat(pid)
            if fields is None:
                continue  # it has ended since
            own_s, reaped_s = _seconds(fields, 11), _seconds(fields, 13)
            total += own_s + reaped_s
            process = (pid, fields[19])  # with when it began
            known[process] = own_s
            if process in self._known:
                self._sampled_s += own_s - self._known[process]
            elif fields[0] == b"R":
                self._sampled_s += share
        self._known = known
        return max(total, (self._sampled_s - _DOUBT_S) / _DOUBT)

    def _reaped_s(self) -> float:
        """Return the CPU seconds of orphans and other processes that `top` waited for."""
        fields = _stat(self._top)
        return _seconds(fields, 13) if fields is not None else 0.0


def _stat(pid: int) -> list[bytes] | None:
    """Fields of /proc/PID/stat from the third (state) on; None if it has ended. proc(5)"""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None


def _seconds(fields: list[bytes], first: int) -> float:
    return (int(fields[first]) + int(fields[first + 1])) / _TICKS


def _share() -> float:
    """Part of a processor that each task gets now which wants to run."""
    with open("/proc/loadavg", "rb") as file:
        running = int(file.read().split()[3].partition(b"/")[0])
    # This process is one of them, while it asks.
    return min(1.0, _PROCESSORS / max(1, running - 1))


def below(root: int) -> list[int]:
    """Return the pids of all processes below process `root`."""
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
