"""A slot: the first process of a pid namespace, which runs one job after another.

It holds capabilities (over its own namespaces only) and never reads anything of a job: the child that
it has forked ahead reads the job, so that no job finds an earlier one's data in the memory it inherits.
With the slot ends every process of the namespace. Messages on its own socket, all of them small:

    to it:   K seq      kill all processes of job `seq`
             I seq      interrupt the process group of job `seq`, answered by I
             S MiB n    size of the private file system from now on, answered by S
             H          hold the file system at the job's end, until F
             F + fd     bring files back through this socket (collect.py), then go on
    from it: R         it is ready; without namespaces with the path of the jobs' folder
             R + report (REPORT)
             E text     it cannot work; the slot ends
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import struct
import time
from typing import Any, NoReturn

from verigym.sandbox.local import child, collect, plain, root, system

REPORT = struct.Struct("=cqidqqq")
"""R, number of the job, wait status, when it ended (monotonic s), CPU us, peak KiB, free bytes of the
private file system or -1 if no inode is free."""

_NOBODY = 65534
_TMP = f"{root.FOLDER}/tmp"


class _Slot:
    """State of a slot; plain numbers."""

    def __init__(
        self,
        settings: dict[str, Any],
        jobs: socket.socket,
        control: socket.socket,
        badness: int,
    ) -> None:
        self.settings = settings
        self.jobs = jobs
        self.control = control
        self.sequence = 0
        self.disk = "size=33554432,nr_inodes=4096"
        self.folder = _TMP if settings["namespaces"] else f"{settings['folder']}/tmp"
        self.child = 0
        self.held = False
        self.cpu_us = 0
        self.peak_kib = 0
        self.status = 0
        self.badness = badness
        self.own_badness = os.pread(badness, 16, 0)
        self.signals = system.child_signals()
        self.poll = select.poll()
        self.poll.register(control.fileno(), select.POLLIN)
        self.poll.register(self.signals, select.POLLIN)


def main(settings: dict[str, Any], jobs_fd: int, control_fd: int) -> NoReturn:
    """Run jobs until the other end of `control_fd` is closed."""
    control = socket.socket(fileno=control_fd)
    control.settimeout(None)
    try:
        # Opened first, as the kernel closes a process's own figures to one that cannot be dumped.
        badness = os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
        if settings["namespaces"]:
            _confine(settings)
            rules = child.rules(settings)
        else:
            rules = plain.confine(settings, settings["folder"])
            for name in root.OF_THE_HOST:
                del settings[name]
        if settings["as_root"]:
            os.setgroups([])
        jobs = socket.socket(fileno=jobs_fd)
        jobs.settimeout(None)
        slot = _Slot(settings, jobs, control, badness)
        child.prepare(settings, rules)
        # What lives here is never looked at by the collections of a job, which would copy its pages.
        gc.freeze()
        control.send(b"R" + (b"" if settings["namespaces"] else os.fsencode(slot.folder)))
        if not control.recv(1):  # sent when this process is in its control group
            os._exit(0)
        while True:
            _run_one(slot)
    except BaseException as error:  # noqa: BLE001
        # A fork reports and ends, it never unwinds.
        with contextlib.suppress(OSError):
            control.send(b"E" + f"{type(error).__name__}: {error}".encode()[:2000])
    os._exit(1)


def _confine(settings: dict[str, Any]) -> None:
    system.mount("none", "/", None, system.RECURSIVE | system.PRIVATE)
    # No further user namespaces, in which a program would have capabilities again; and quotas of the
    # kernel that would otherwise be one for all slots.
    for name, value in (
        ("max_user_namespaces", 0),
        ("max_inotify_instances", 16),
        ("max_inotify_watches", 1024),
    ):
        root.write(f"/proc/sys/user/{name}", str(value))
    socket.sethostname("sandbox")
    flags = system.NO_SUID | system.NO_DEV | system.NO_EXEC
    system.mount("proc", "/proc", "proc", flags, "subset=pid,hidepid=2")
    system.prctl(system.SET_DUMPABLE, 0)
    system.prctl(system.SET_NO_NEW_PRIVS, 1)
    system.bound_capabilities()
    os.setsid()


def _run_one(slot: _Slot) -> None:
    """Put up a fresh file system and a child that waits for a job; see the job to its end."""
    spaces = slot.settings["namespaces"]
    if spaces:
        owner = f"mode=0700,uid={_NOBODY},gid={_NOBODY},"
        system.mount("job", _TMP, "tmpfs", system.NO_SUID | system.NO_DEV, owner + slot.disk)
    else:
        plain.fresh_folder(slot.settings, slot.folder)
    slot.sequence += 1
    slot.cpu_us = slot.peak_kib = 0
    slot.held = False
    # Where memory runs out, the child goes before this process. Inherited it costs less than set by the child.
    os.pwrite(slot.badness, b"1000", 0)
    slot.child = os.fork()
    if slot.child == 0:
        # The child's end of the slot's socket and of its signals closes when the job begins.
        child.serve(slot.settings, slot.jobs, slot.folder)
    os.pwrite(slot.badness, slot.own_badness, 0)
    others = True
    while slot.child:
        events = dict(slot.poll.poll())
        if slot.control.fileno() in events:
            _obey(slot)
        if slot.signals in events:
            os.read(slot.signals, 128)
            others = _reap(slot)
    ended = time.monotonic()
    if others:
        _kill_rest(slot)
    # Asked for after a failure alone; and without namespaces the disk is the host's own.
    free = 1 << 40
    if spaces and slot.status:
        disk = os.statvfs(_TMP)
        free = disk.f_bavail * disk.f_frsize if disk.f_favail else -1
    report = (b"R", slot.sequence, slot.status, ended, slot.cpu_us, slot.peak_kib, free)
    slot.control.send(REPORT.pack(*report))
    while slot.held:
        _obey(slot)
    if spaces:
        system.unmount(_TMP)
    else:
        plain.remove_folder(slot.folder)


def _reap(slot: _Slot, options: int = os.WNOHANG) -> bool:
    """Take the ends of processes; False when there are no more processes at all."""
    try:
        while True:
            pid, status, usage = os.wait4(-1, options)
            if pid == 0:
                return True
            slot.cpu_us += int((usage.ru_utime + usage.ru_stime) * 1e6)
            slot.peak_kib = max(slot.peak_kib, usage.ru_maxrss)
            if pid == slot.child:
                slot.child = 0
                slot.status = status
    except ChildProcessError:
        return False


def _kill_rest(slot: _Slot) -> None:
    """End what the first process left behind; every orphan of the namespace is a child of this one."""
    while _reap(slot):
        _kill(slot)
        if slot.settings["namespaces"]:
            _reap(slot, 0)
        else:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)


def _kill(slot: _Slot) -> None:
    if slot.settings["namespaces"]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
    else:
        plain.kill_all()


def _obey(slot: _Slot) -> None:
    """Take one message of the client; its end is the slot's end."""
    message, fds, _, _ = socket.recv_fds(slot.control, 64, 1)
    if not message:
        os._exit(0)
    kind, values = message[:1], [int(text) for text in message[1:].split()]
    if kind in b"KI" and values == [slot.sequence] and slot.child:
        if kind == b"K":
            _kill(slot)
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(slot.child, signal.SIGINT)
            slot.control.send(b"I")
    elif kind == b"S":
        slot.disk = f"size={values[0]},nr_inodes={values[1]}"
        if slot.settings["namespaces"]:
            flags = system.REMOUNT | system.NO_SUID | system.NO_DEV
            system.mount("job", _TMP, "tmpfs", flags, slot.disk)
        slot.control.send(b"S")
    elif kind == b"H":
        slot.held = True
    elif kind == b"F":
        if os.fork() == 0:
            collect.serve(slot.settings, fds[0], slot.folder)
        os.close(fds[0])
        _reap(slot, 0)
        slot.held = False
