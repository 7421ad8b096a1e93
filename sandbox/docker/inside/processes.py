"""Processes of the job: the time and memory that they take, and their end."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from typing import Any

from verigym.sandbox.docker.inside.confine import FOLDER

_REAP_S = 10.0


def _pids() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def watch(page: int, tick: int) -> tuple[float, dict[str, int]]:
    """CPU seconds of the whole job so far, and bytes of memory that each process holds now."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = usage.ru_utime + usage.ru_stime
    resident = {}
    for pid in _pids():
        try:
            fields = _stat(f"/proc/{pid}/stat")
            cpu_s += sum(map(int, fields[11:15])) / tick
            if fields[0] == b"Z" and int(fields[17]) > 1:
                # The first thread has ended, and shows no memory; the others hold it.
                last = os.listdir(f"/proc/{pid}/task")[-1]
                fields = _stat(f"/proc/{pid}/task/{last}/stat")
            resident[pid] = int(fields[21]) * page
        except (OSError, IndexError):
            continue  # it has ended since
    return cpu_s, resident


def _stat(path: str) -> list[bytes]:
    with open(path, "rb") as file:
        return file.read().rpartition(b")")[2].split()


def proportional_bytes(resident: dict[str, int]) -> int:
    """Memory of all processes with shared pages counted once, as far as the kernel says."""
    total = 0
    for pid, most in resident.items():
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                total += next(
                    (int(line.split()[1]) << 10 for line in file if line[:4] == b"Pss:"), most
                )
        except FileNotFoundError:
            continue  # it has ended, or this kernel has no such file: the engine's limit stands
        except OSError:
            total += most  # it hides, or its first thread has ended
    return total


def kill_all() -> None:
    """Kill and reap every other process. One that cannot be reaped goes with this one."""
    deadline = time.monotonic() + _REAP_S
    while time.monotonic() < deadline:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.001)
        except ChildProcessError:
            return


def measure(peak_bytes: int) -> dict[str, Any]:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    space = os.statvfs(FOLDER)
    return {
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "memory_mib": max(peak_bytes, usage.ru_maxrss << 10) / (1 << 20),
        "full": space.f_bavail * space.f_bsize < 65536 or space.f_favail < 1,
    }
