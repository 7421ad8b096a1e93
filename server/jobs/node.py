"""The name of this process among those that share a store, and whether another one is dead.

A process on the same machine, in the same pid namespace, is dead if its pid is gone or reused; its
claims are then released at once. Claims of processes elsewhere are released when their lease ends.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def own_name() -> str:
    """Return `machine:pid:start`, which is unique among processes of all machines and times."""
    return f"{_machine()}:{os.getpid()}:{_start(os.getpid())}"


def is_dead(name: str) -> bool:
    """Return True if the process `name` is known to have ended."""
    machine, pid, start = name.split(":")
    return machine == _machine() and _start(int(pid)) != start


def _machine() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    namespace = os.stat("/proc/self/ns/pid").st_ino
    return hashlib.sha256(f"{boot} {namespace}".encode()).hexdigest()[:16]


def _start(pid: int) -> str:
    """Return the start time of a process in ticks since boot; "" if it does not run."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    # The name, in parentheses, may hold anything.
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
