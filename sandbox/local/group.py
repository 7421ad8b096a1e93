"""`ControlGroup`: one control group, made by `Controller.make`: limits, figures, killing, removal."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Mapping

_REMOVE_S = 5.0
# Page cache that earlier jobs left in a group: more than this part of the limit is given back.
_LEFT_PART = 4
# MEMCG_CHARGE_BATCH pages a processor, in mm/memcontrol.c.
_AHEAD = 64 * os.sysconf("SC_PAGE_SIZE") * (os.cpu_count() or 1)


class ControlGroup:
    """One group, made by `Controller.make`; used by one thread at a time."""

    def __init__(self, folders: Mapping[str, str], version: int) -> None:
        """`folders` by controller, memory, pids and cpuacct: all the same for version 2. One that is
        to be removed only may lack some."""
        some = next(iter(folders.values()))
        self._memory, self._pids = folders.get("memory", some), folders.get("pids", some)
        self._cpu = folders.get("cpuacct")
        self._folders = list(dict.fromkeys(folders.values()))
        self._version = version
        self._fds: list[int] = []
        self._peak_fd: int | None = None
        self._limits = (1 << 62, 0)  # as it is made: without any
        self._before = {"oom": 0, "cpu": 0, "usage": 0, "peak": 0}

    def procs_fds(self) -> list[int]:
        """Return the descriptors, close-on-exec, into each of which a process writes "0" to join.

        They belong to the group; a process that joined must close its copies before the job runs.
        """
        if not self._fds:
            for folder in self._folders:
                self._fds.append(os.open(f"{folder}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
        return self._fds

    def set(self, memory_bytes: int, tasks: int) -> None:
        """Bound memory (swap included: none is given) and tasks, for all in the group together."""
        if self._limits == (memory_bytes, tasks):
            return
        memory = str(memory_bytes)
        if self._version == 2:
            write(f"{self._memory}/memory.max", memory)
            for name in ("memory.swap.max", "memory.zswap.max"):
                write_where_it_exists(f"{self._memory}/{name}", "0")
        else:
            both = f"{self._memory}/memory.memsw.limit_in_bytes"
            if memory_bytes > self._limits[0]:  # never below the other one, so it goes first
                write_where_it_exists(both, memory)
            write(f"{self._memory}/memory.limit_in_bytes", memory)
            write_where_it_exists(both, memory)
            write_where_it_exists(f"{self._memory}/memory.swappiness", "0")
        write(f"{self._pids}/pids.max", str(tasks))
        self._limits = (memory_bytes, tasks)

    def reset(self) -> None:
        """Count anew from here: peak, out-of-memory kills, processor time. Call before each job.

        Page cache that earlier jobs left stays, as it serves the next ones, and is taken off the peak;
        where it is much, it is given back first.
        """
        usage = self._usage()
        if usage > self._limits[0] // _LEFT_PART:
            self._give_back(usage)
        if self._version == 2:
            self._reset_peak_2()
        else:
            write(f"{self._memory}/memory.max_usage_in_bytes", "0")
        self._before = {
            "oom": self._oom_kills(),
            "cpu": self._cpu_ns() or 0,
            "usage": self._usage(),
            "peak": self._peak(),
        }

    def oom_kills(self) -> int:
        """Return the number of processes that the kernel killed for lack of memory since `reset`."""
        return self._oom_kills() - self._before["oom"]

    def peak_bytes(self) -> int | None:
        """Return the most memory since `reset`, beyond what lay there then; None if the kernel cannot say.

        Ask when the job has ended.
        """
        peak = self._peak()
        if self._version == 2 and self._peak_fd is None and peak <= self._before["peak"]:
            return None  # an earlier job's, which kernels before 6.12 never forget
        # What lay there at the reset and went since, such as an ended process, was not left over, nor
        # was what the kernel charges ahead of use.
        left = min(self._before["usage"], self._usage()) - _AHEAD
        return peak - max(0, left)

    def cpu_ns(self) -> int | None:
        """Return the processor time of all in the group since `reset`, ended ones too; None if unknown."""
        now = self._cpu_ns()
        return None if now is None else now - self._before["cpu"]

    def members(self) -> frozenset[int]:
        """Return the pids of the processes in the group, as this process sees them (0: not at all)."""
        found = set[int]()
        for folder in self._folders:
            try:
                found.update(map(int, read(f"{folder}/cgroup.procs").split()))
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENODEV):  # removed meanwhile
                    raise
        return frozenset(found)

    def kill(self) -> None:
        """Kill everything in the group, however fast it forks. What it returns to may still die."""
        try:
            write(f"{self._pids}/cgroup.kill", "1")  # version 2, from 5.14
            return
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EACCES, errno.EOPNOTSUPP):
                raise
        limit = f"{self._pids}/pids.max"
        before = read(limit).strip() if os.path.exists(limit) else ""
        write_where_it_exists(limit, "0")  # no more forks
        try:
            deadline = time.monotonic() + _REMOVE_S
            while (pids := self.members()) and time.monotonic() < deadline:
                self._kill_once(pids)
                time.sleep(0.001)
        finally:
            write_where_it_exists(limit, before)

    def remove(self) -> None:
        """Kill what is left in the group and remove it. Repeatable. Raises OSError after 5 s."""
        for fd in self._fds:
            os.close(fd)
        self._fds = []
        if self._peak_fd is not None:
            os.close(self._peak_fd)
            self._peak_fd = None
        deadline = time.monotonic() + _REMOVE_S
        pause_s = 0.0005
        while True:
            try:
                for folder in self._folders:
                    with contextlib.suppress(FileNotFoundError):
                        os.rmdir(folder)
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    raise
            else:
                return
            try:
                self.kill()
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENODEV):  # gone meanwhile
                    raise
            # There is no event in version 1 for the last process to be gone.
            time.sleep(pause_s)
            pause_s = min(0.05, pause_s * 2)

    def _kill_once(self, pids: frozenset[int]) -> None:
        # A pid may be another's by the time of the kill: hold each process first, then look whether
        # the pid is still here. If it is, what is held is in the group, or dead.
        with contextlib.ExitStack() as held:
            fds = {}
            for pid in pids - {0}:
                with contextlib.suppress(OSError):
                    fds[pid] = os.pidfd_open(pid)
                    held.callback(os.close, fds[pid])
            still = self.members()
            for pid, fd in fds.items():
                if pid in still:
                    with contextlib.suppress(ProcessLookupError):
                        signal.pidfd_send_signal(fd, signal.SIGKILL)

    def _usage(self) -> int:
        name = "memory.current" if self._version == 2 else "memory.usage_in_bytes"
        return int(read(f"{self._memory}/{name}"))

    def _peak(self) -> int:
        if self._version == 1:
            return int(read(f"{self._memory}/memory.max_usage_in_bytes"))
        if self._peak_fd is not None:
            return int(os.pread(self._peak_fd, 64, 0))
        try:
            return int(read(f"{self._memory}/memory.peak"))
        except FileNotFoundError:  # before 5.19
            return 0

    def _reset_peak_2(self) -> None:
        # From 6.12 a write resets the peak as seen through the same open file, and only there.
        try:
            if self._peak_fd is None:
                fd = os.open(f"{self._memory}/memory.peak", os.O_RDWR | os.O_CLOEXEC)
                try:
                    os.write(fd, b"reset")
                except OSError:
                    os.close(fd)
                    raise
                self._peak_fd = fd
            else:
                os.write(self._peak_fd, b"reset")
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EACCES, errno.EINVAL):
                raise

    def _give_back(self, usage: int) -> None:
        name, value = ("memory.reclaim", str(usage)) if self._version == 2 else _FORCE_EMPTY
        try:
            write(f"{self._memory}/{name}", value)
        except OSError as error:
            # Not all of it could be: something still runs, or the kernel is older than 5.19.
            if error.errno not in (errno.ENOENT, errno.EAGAIN, errno.EBUSY, errno.EINTR):
                raise

    def _oom_kills(self) -> int:
        name = "memory.events" if self._version == 2 else "memory.oom_control"
        return _figure(read(f"{self._memory}/{name}"), "oom_kill")

    def _cpu_ns(self) -> int | None:
        if self._version == 2:
            return _figure(read(f"{self._memory}/cpu.stat"), "usage_usec") * 1000
        return int(read(f"{self._cpu}/cpuacct.usage")) if self._cpu else None


_FORCE_EMPTY = ("memory.force_empty", "0")


def _figure(text: str, name: str) -> int:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


def read(path: str) -> str:
    """Return the text of the kernel's file at `path`."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def write(path: str, text: str) -> None:
    """Give the kernel's file at `path` one value."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    except OSError as error:
        error.filename = path
        raise
    finally:
        os.close(fd)


def write_where_it_exists(path: str, text: str) -> None:
    """Call `write` for a file that not every kernel has."""
    with contextlib.suppress(FileNotFoundError):
        write(path, text)
