"""Follows one launched job from outside: output, report, deadlines, memory."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from dataclasses import dataclass, field
from typing import IO

from verigym.sandbox.job import JobStatus, Limits

SETUP_S = 30.0
"""For set-up by the launcher; a machine that needs longer is broken or far too busy."""
COMPILE_S = 30.0
_GRACE_S = 5.0
_MEMORY_POLL_S = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Stream:
    """What came out of one pipe: at most `limit` bytes are kept, the rest is counted and dropped."""

    limit: int
    data: bytearray = field(default_factory=bytearray)
    seen: int = 0

    @property
    def over(self) -> bool:
        """Whether more came than was allowed."""
        return self.seen > self.limit

    def read(self, fd: int) -> bool:
        """Take what is there; False at the end of the stream."""
        try:
            chunk = os.read(fd, 65536)
        except BlockingIOError:
            return True
        self.seen += len(chunk)
        self.data += chunk[: max(0, self.limit - len(self.data))]
        return bool(chunk)


@dataclass
class Ending:
    """END of the launcher's report."""

    status: int
    wall_s: float
    cpu_s: float
    peak_kib: int
    full: bool


@dataclass
class Observed:
    """All that was seen of a job from outside."""

    stdout: Stream
    stderr: Stream
    phase: str = "setup"
    """`setup`, then `compile` where there is a compiler, then `run`."""
    killed: JobStatus | None = None
    """Why the job was ended from outside."""
    exit: Ending | None = None
    compile_failure: Ending | None = None
    died: bool = False
    error: str = ""
    notes: list[str] = field(default_factory=list)
    run_s: float = 0.0


def watch(
    process: subprocess.Popen[bytes], report: IO[bytes], limits: Limits, *, compiles: bool
) -> Observed:
    """Follow `process` until it and all processes of its job are gone, and reap it.

    On any way out, an interrupt of the caller's included, the job is ended first.
    """
    seen = Observed(Stream(limits.output_bytes), Stream(limits.output_bytes))
    assert process.stdout is not None
    assert process.stderr is not None
    pending = bytearray()
    with selectors.DefaultSelector() as selector:
        for pipe, stream in (
            (process.stdout, seen.stdout),
            (process.stderr, seen.stderr),
            (report, None),
        ):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, stream)
        try:
            _follow(process, report, limits, compiles, selector, pending, seen)
        finally:
            _end(process)
    # Nothing of the job writes any more, so what is left in the pipes is bounded by their size.
    for pipe, stream in ((process.stdout, seen.stdout), (process.stderr, seen.stderr)):
        before = -1
        while stream.seen != before and not stream.over:
            before = stream.seen
            stream.read(pipe.fileno())
    return seen


def _follow(
    process: subprocess.Popen[bytes],
    report: IO[bytes],
    limits: Limits,
    compiles: bool,
    selector: selectors.BaseSelector,
    pending: bytearray,
    seen: Observed,
) -> None:
    now = time.monotonic()
    deadline = now + SETUP_S
    next_poll = now + _MEMORY_POLL_S
    started = now
    while True:
        wait_s = deadline - now
        if seen.phase == "run":
            wait_s = min(wait_s, next_poll - now)
        events = selector.select(max(0.0, wait_s))
        now = time.monotonic()
        for key, _ in events:
            if key.data is None:
                chunk = os.read(report.fileno(), 65536)
                if not chunk:  # the launcher has ended, and with it every process of the job
                    seen.run_s = now - started
                    return
                pending += chunk
                while b"\n" in pending:
                    line, _, rest = bytes(pending).partition(b"\n")
                    pending[:] = rest
                    if _note(line.decode("utf-8", "replace"), seen, compiles):
                        started = now
                        deadline = now + (limits.wall_s if seen.phase == "run" else COMPILE_S)
            elif not key.data.read(key.fd):
                selector.unregister(key.fileobj)
        if seen.killed is not None:
            if now >= deadline:
                process.kill()
                deadline = now + _GRACE_S
            continue
        if seen.stdout.over or seen.stderr.over:
            seen.killed = JobStatus.OUTPUT_LIMIT
        elif now >= deadline and seen.exit is None:
            seen.killed = {
                "setup": JobStatus.SANDBOX_ERROR,
                "compile": JobStatus.COMPILE_ERROR,
                "run": JobStatus.TIME_LIMIT,
            }[seen.phase]
        elif seen.phase == "run" and now >= next_poll:
            next_poll = now + _MEMORY_POLL_S
            if tree_memory_bytes(process.pid) > limits.memory_mib << 20:
                seen.killed = JobStatus.MEMORY_LIMIT
        if seen.killed is not None or now >= deadline:
            process.terminate()
            deadline = now + _GRACE_S


def _note(line: str, seen: Observed, compiles: bool) -> bool:
    """Take one line of the report; True where a new phase begins."""
    event, _, rest = line.partition(" ")
    if event == "ready":
        seen.phase = "compile" if compiles else "run"
        return True
    if event == "compiled":
        seen.phase = "run"
        return True
    if event in ("exit", "compile"):
        status, wall_s, cpu_s, peak_kib, full = rest.split()
        ending = Ending(int(status), float(wall_s), float(cpu_s), int(peak_kib), full == "1")
        if event == "exit":
            seen.exit = ending
        else:
            seen.compile_failure = ending
    elif event == "died":
        seen.died = True
    elif event == "error":
        seen.error = seen.error or rest
    else:
        seen.notes.append(rest)
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Make sure that the launcher, and with it the job, is gone."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def tree_memory_bytes(launcher: int) -> int:
    """Memory of all processes below `launcher` together.

    RLIMIT_AS holds for each process, so by forking a program could take many times its limit. The
    sum of resident sizes counts a page shared by forks several times; where that could matter, the
    dearer figure that divides each page among its users decides.
    """
    pids = _below(launcher)
    resident = sum(_resident_bytes(pid) for pid in pids)
    if len(pids) < 2 or resident < 64 << 20:
        return resident
    return min(resident, sum(_proportional_bytes(pid) for pid in pids))


def _below(root: int) -> list[int]:
    found: list[int] = []
    todo = [root]
    while todo:
        pid = todo.pop()
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                    children = [int(child) for child in file.read().split()]
                found += children
                todo += children
        except OSError:
            continue  # it has ended since
    return found


def _resident_bytes(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
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
        return _resident_bytes(pid)
    return 0
