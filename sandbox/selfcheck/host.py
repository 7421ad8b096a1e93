"""Observations of the host from outside: processes below this one, and objects that outlive processes.

Covers processes (by descent: the worker is a subreaper, so an orphan of a job comes to it), what a
job could have changed of a process that is not its own, mounts, descriptors, control groups, System
V objects, POSIX shared memory and queues, temporary files and kernel settings. Does not cover what
the kernel hides from the user who asks.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SETTINGS = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/domainname",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/sysrq",
    "/proc/sys/kernel/panic",
    "/proc/sys/kernel/kptr_restrict",
    "/proc/sys/kernel/dmesg_restrict",
    "/proc/sys/kernel/shmmax",
    "/proc/sys/kernel/threads-max",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/vm/drop_caches",
    "/proc/sys/fs/suid_dumpable",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/fs/binfmt_misc",
    "/proc/swaps",
    "/etc/passwd",
    "/etc/ld.so.preload",
)


@dataclass(frozen=True)
class Process:
    """One process as /proc/PID/stat shows it. `started` tells it from a later one of its number."""

    pid: int
    started: int
    parent: int
    state: str
    name: str
    tasks: int
    nice: int
    policy: int

    @property
    def key(self) -> tuple[int, int]:
        """Identity of the process for its lifetime."""
        return self.pid, self.started


def processes() -> dict[int, Process]:
    """Return all processes that this user can see, by pid."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    text = file.read().decode("utf-8", "replace")
            except OSError:
                continue  # it has ended since
            head, _, tail = text.rpartition(")")
            fields = tail.split()
            pid = int(entry)
            found[pid] = Process(
                pid=pid,
                started=int(fields[19]),
                parent=int(fields[1]),
                state=fields[0],
                name=head.partition("(")[2],
                tasks=int(fields[17]),
                nice=int(fields[16]),
                policy=int(fields[38]),
            )
    return found


def descendants(root: int | None = None) -> dict[int, Process]:
    """Return all processes below `root` (default: this one), by pid."""
    everything = processes()
    children: dict[int, list[int]] = {}
    for process in everything.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: dict[int, Process] = {}
    todo = list(children.get(root or os.getpid(), ()))
    while todo:
        pid = todo.pop()
        found[pid] = everything[pid]
        todo += children.get(pid, ())
    return found


def resident_mib(pids: Iterable[int]) -> float:
    """Return the memory of `pids` together; a page that several share is divided among them if the kernel reports
    shares."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                total += next(
                    int(line.split()[1]) * 1024 for line in file if line.startswith(b"Pss:")
                )
        except (OSError, StopIteration):
            try:
                with open(f"/proc/{pid}/statm", "rb") as file:
                    total += int(file.read().split()[1]) * _PAGE
            except OSError:
                continue  # it has ended since
    return total / (1 << 20)


def traits(pid: int) -> dict[str, str]:
    """Return attributes that a job could change in a foreign process: limits, priority, processors."""
    found: dict[str, str] = {}
    for name in ("oom_score_adj", "limits"):
        try:
            found[name] = Path(f"/proc/{pid}/{name}").read_text()
        except OSError:
            continue
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(("Cpus_allowed:", "TracerPid:", "Uid:", "CapEff:")):
                key, _, value = line.partition(":")
                found[key] = value.strip()
    except OSError:
        pass
    process = processes().get(pid)
    if process is not None:
        found["priority"] = f"nice {process.nice} policy {process.policy}"
    return found


def descriptors() -> dict[int, str]:
    """Open descriptors of this process and what they are."""
    found = {}
    for entry in os.listdir("/proc/self/fd"):
        try:
            found[int(entry)] = os.readlink(f"/proc/self/fd/{entry}")
        except OSError:
            continue  # the descriptor of the listing itself
    return found


def mounts() -> frozenset[str]:
    """Mount points in this process's namespace."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return frozenset(line.split()[4] for line in lines)


def settings() -> dict[str, str]:
    """Return the kernel settings and files whose change would be an escape."""
    found = {}
    for name in _SETTINGS:
        try:
            if os.path.isdir(name):
                found[name] = " ".join(sorted(os.listdir(name)))
            else:
                found[name] = Path(name).read_text()
        except OSError:
            found[name] = "(unreadable)"
    return found


def objects(uids: Iterable[int]) -> frozenset[str]:
    """Return objects of `uids` that outlive processes: shared memory, queues, files."""
    owners = frozenset(uids)
    found = set()
    for kind, column in (("shm", 7), ("sem", 4), ("msg", 7)):
        try:
            lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
        except OSError:
            continue
        found |= {
            f"System V {kind} {line.split()[1]}"
            for line in lines
            if int(line.split()[column]) in owners
        }
    for folder in {"/dev/shm", "/dev/mqueue", "/tmp", "/var/tmp", tempfile.gettempdir()}:
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            if entry.name.startswith("verigym-selfcheck-"):
                continue  # of a worker, this run's or another's, which looks into its own itself
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # gone since
            if status.st_uid in owners:
                kind = stat.filemode(status.st_mode)[0]
                found.add(f"{kind} {folder}/{entry.name!r}")
    return frozenset(found)


def groups() -> frozenset[str]:
    """Control groups, by the folder that each is."""
    found = set()
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        if fields[fields.index("-") + 1] in ("cgroup", "cgroup2"):
            found |= {
                f"{folder}/{name}" for folder, names, _ in os.walk(fields[4]) for name in names
            }
    return frozenset(found)


def groups_of(pids: Iterable[int]) -> frozenset[str]:
    """Control groups whose name holds one of `pids`: those that a sandbox of theirs made."""
    wanted = {str(pid) for pid in pids}
    return frozenset(
        group
        for group in groups()
        if wanted & set("".join(c if c.isdigit() else " " for c in Path(group).name).split())
    )
