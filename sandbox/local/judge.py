"""Turns the observations of a job into its `Result`, which says whose fault a failure was."""

from __future__ import annotations

import os
import signal

from verigym.sandbox.job import JobStatus, Result
from verigym.sandbox.local.watch import SETUP_S, Seen
from verigym.sandbox.step import ProgramRun

_FULL_BYTES = 64 << 10


def judge(step: ProgramRun, seen: Seen, *, out_of_memory: bool) -> Result:
    """Return the result of `step`. `out_of_memory` says that the kernel killed some of it for that."""
    status, detail = _status(step, seen, out_of_memory)
    reported = not seen.lost and seen.started is not None
    code = os.waitstatus_to_exitcode(seen.status) if reported else None
    return Result(
        status=status,
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        stdout=bytes(seen.stdout.data),
        stderr=bytes(seen.stderr.data),
        stdout_truncated=seen.stdout.over,
        stderr_truncated=seen.stderr.over,
        files=seen.files,
        refused=seen.refused,
        wall_s=seen.wall_s,
        cpu_s=seen.cpu_s,
        memory_mib=seen.peak_kib / 1024,
        detail=detail,
    )


def _status(step: ProgramRun, seen: Seen, out_of_memory: bool) -> tuple[JobStatus, str]:
    if seen.killed is JobStatus.SANDBOX_ERROR:
        return seen.killed, f"the job did not start within {SETUP_S:g} s"
    if seen.error:
        return JobStatus.SANDBOX_ERROR, seen.error
    if seen.stdout.over or seen.stderr.over:
        return JobStatus.OUTPUT_LIMIT, ""
    if seen.killed is not None:
        return seen.killed, ""
    if seen.lost or seen.started is None:
        if out_of_memory and seen.started is not None:
            return JobStatus.MEMORY_LIMIT, ""
        return JobStatus.SANDBOX_ERROR, "the job's slot was killed from outside"
    return _status_of_end(step, seen, out_of_memory), ""


def _status_of_end(step: ProgramRun, seen: Seen, out_of_memory: bool) -> JobStatus:
    code = os.waitstatus_to_exitcode(seen.status)
    if seen.cpu_s > step.limits.cpu_s or code == -signal.SIGXCPU:
        return JobStatus.TIME_LIMIT
    if seen.wall_s > step.limits.wall_s:
        return JobStatus.TIME_LIMIT
    if code == 0:
        return JobStatus.OK
    if out_of_memory:
        return JobStatus.MEMORY_LIMIT
    if code == -signal.SIGXFSZ or seen.free_bytes < _FULL_BYTES:
        return JobStatus.DISK_LIMIT
    if code < 0:
        return JobStatus.SIGNAL
    if step.python is not None:
        # Python turns the kernel's refusal into an exception. A program can print these lines too,
        # and gains nothing: each status here is its own fault.
        last = bytes(seen.stderr.data).rstrip().rpartition(b"\n")[2]
        if last.startswith((b"OSError: [Errno 27]", b"OSError: [Errno 28]")):
            return JobStatus.DISK_LIMIT
    return JobStatus.NONZERO_EXIT
