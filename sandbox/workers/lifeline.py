"""Ties the life of a process to the one that started it, by the kernel's own means (Linux).

Covers: the starter being killed with SIGKILL, a child that hangs in C code, grandchildren that lost
their parent. Does not cover: systems other than Linux, where both functions raise OSError.
"""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(parent_pid: int) -> None:
    """Have the kernel kill this process when the thread that forked it ends.

    The thread, not the process: fork from a thread that lives as long as the process does.
    Exits at once if `parent_pid` is no longer the parent.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:  # it died before the line above took effect
        os._exit(1)


def adopt_orphans() -> None:
    """Make descendants whose parent dies children of this process, so that it can end them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children() -> list[int]:
    """Return the pids of the direct children of this process's main thread, zombies included."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as listing:
        return [int(pid) for pid in listing.read().split()]


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")
