"""Follows one job from outside: output, deadlines, memory, processor time, its slot's report."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from verigym.sandbox.job import JobStatus, Limits
from verigym.sandbox.local.plain import usage
from verigym.sandbox.local.server import Slot
from verigym.sandbox.local.slot import REPORT
from verigym.sandbox.local.tree import TreeCpu, tree_memory_bytes

SETUP_S = 30.0
"""From the job's sending to its start; a machine that needs longer is broken or far too busy."""
GRACE_S = 5.0
_QUIET_S = 0.015
"""At first only the end of the job is waited for: its output, if short, waits in the pipes."""
TICK_S = 0.05


class WatchedStream:
    """Output of one pipe: at most `limit` bytes are kept, the rest is dropped."""

    def __init__(self, fd: int, limit: int) -> None:
        self.fd = fd
        self.limit = limit
        self.data = bytearray()
        self.over = False

    def read(self) -> bool:
        """Take what is there; False at the end of the stream."""
        try:
            chunk = os.read(self.fd, 65536)
        except BlockingIOError:
            return True
        if not chunk:
            return False
        room = self.limit - len(self.data)
        if len(chunk) > room:
            self.over = True
            chunk = chunk[:room]
        self.data += chunk
        return True

    def drain(self) -> None:
        """Take what is left, once nothing writes any more: bounded by what a pipe holds."""
        while not self.over:
            try:
                chunk = os.read(self.fd, 65536)
            except BlockingIOError:
                return
            if not chunk:
                return
            room = self.limit - len(self.data)
            self.over = len(chunk) > room
            self.data += chunk[:room]


@dataclass
class Seen:
    """Observations of a job from outside."""

    stdout: WatchedStream
    stderr: WatchedStream
    started: float | None = None
    killed: JobStatus | None = None
    """Status with which the job was killed from outside; None if it ended by itself."""
    error: str = ""
    """Reason why the job could not be started."""
    lost: bool = False
    """True if the slot ended without a report."""
    status: int = 0
    """Status from wait(2)."""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    """CPU seconds, as far as known: the larger of those seen while it ran and those from wait(2)."""
    peak_kib: int = 0
    free_bytes: int = -1
    files: dict[str, bytes] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def follow(slot: Slot, limits: Limits, seen: Seen) -> None:
    """Follow the job that was just sent to `slot` until all of its processes are gone."""
    control = slot.control.fileno()
    poll = select.poll()
    poll.register(control, select.POLLIN)
    sent = time.monotonic()
    deadline = sent + limits.wall_s
    quiet = min(_QUIET_S, limits.wall_s)
    if not poll.poll(quiet * 1000):
        _follow_long(slot, limits, seen, poll, sent, deadline)
    take_message(slot, seen)
    note_start(slot, seen)
    seen.stdout.drain()
    seen.stderr.drain()


def _follow_long(
    slot: Slot, limits: Limits, seen: Seen, poll: select.poll, sent: float, deadline: float
) -> None:
    control = slot.control.fileno()
    streams = {stream.fd: stream for stream in (seen.stdout, seen.stderr)}
    for fd in streams:
        poll.register(fd, select.POLLIN)
    next_tick = time.monotonic() + TICK_S
    cpu_s = cpu_meter(slot)
    while True:
        now = time.monotonic()
        wait_s = max(0.0, min(deadline, next_tick) - now)
        events = poll.poll(wait_s * 1000 + 1)
        for fd, _ in events:
            if fd == control:
                return
            if not streams[fd].read():
                poll.unregister(fd)
        if seen.killed is None and (seen.stdout.over or seen.stderr.over):
            deadline = _kill(slot, seen, JobStatus.OUTPUT_LIMIT)
        now = time.monotonic()
        if now >= next_tick and seen.killed is None:
            next_tick = now + TICK_S
            tick(slot, limits, seen, cpu_s)
            if seen.killed is not None:
                deadline = _kill(slot, seen, seen.killed)
        if now < deadline:
            continue
        if seen.killed is not None:
            slot.kill()  # it does not answer
            deadline = now + GRACE_S
            continue
        # The program's time begins with the program.
        note_start(slot, seen)
        if seen.started is not None:
            deadline = seen.started + limits.wall_s
        elif not seen.error:
            deadline = min(now + TICK_S, sent + SETUP_S)
        if now >= deadline:
            status = JobStatus.SANDBOX_ERROR if seen.started is None else JobStatus.TIME_LIMIT
            deadline = _kill(slot, seen, status)


def _kill(slot: Slot, seen: Seen, status: JobStatus) -> float:
    seen.killed = status
    slot.tell(b"K%d" % slot.sequence)
    return time.monotonic() + GRACE_S


def cpu_meter(slot: Slot) -> Callable[[], float]:
    """Return a function that gives the CPU seconds of `slot` from now on, ended processes included."""
    group = slot.group
    before = group.cpu_ns() if group is not None else None
    if group is None or before is None:
        return TreeCpu(slot.pid).read
    return lambda: ((group.cpu_ns() or 0) - before) / 1e9


def tick(slot: Slot, limits: Limits, seen: Seen, cpu_s: Callable[[], float]) -> None:
    """Check the quantities that no per-process limit bounds."""
    if slot.group is not None:
        out_of_memory = slot.group.oom_kills() > 0
    else:
        out_of_memory = tree_memory_bytes(slot.pid) > (limits.memory_mib << 20) + slot.base_bytes
    if out_of_memory:
        seen.killed = JobStatus.MEMORY_LIMIT
        return
    if slot.folder is not None and usage(slot.folder, limits.disk_mib << 20, limits.inodes):
        seen.killed = JobStatus.DISK_LIMIT
        return
    seen.cpu_s = max(seen.cpu_s, cpu_s())
    if seen.cpu_s > limits.cpu_s:
        seen.killed = JobStatus.TIME_LIMIT


def take_message(slot: Slot, seen: Seen) -> bytes:
    """Read the slot's next message and return its kind. `seen` records the content of a report, or its absence."""
    try:
        message = slot.control.recv(4096)
    except OSError:
        message = b""
    if message[:1] != b"I":
        _take_report(message, slot, seen)
    return message[:1]


def _take_report(message: bytes, slot: Slot, seen: Seen) -> None:
    if len(message) != REPORT.size:
        seen.lost = True
        seen.error = message[1:].decode("utf-8", "replace")
        return
    _, sequence, status, ended, cpu_us, peak_kib, free = REPORT.unpack(message)
    if sequence != slot.sequence:
        seen.lost = True
        return
    slot.sequence += 1
    seen.status = status
    seen.wall_s = ended
    seen.cpu_s = max(seen.cpu_s, cpu_us / 1e6)
    seen.peak_kib = peak_kib
    seen.free_bytes = free


def note_start(slot: Slot, seen: Seen) -> None:
    """Note when the program began, or why it did not, where its process has said so by now."""
    if seen.started is not None:
        return
    try:
        message = slot.jobs.recv(4096, 0x40)  # MSG_DONTWAIT
    except OSError:
        return
    if message[:1] == b"S":
        seen.started = int(message[1:]) / 1e9
    elif message[:1] == b"N":
        seen.killed = JobStatus.DISK_LIMIT
    elif message[:1] == b"E":
        seen.error = message[1:].decode("utf-8", "replace")
