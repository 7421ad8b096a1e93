"""Runs the jobs of a submission: one process a test, in order or side by side."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from verigym.errors import RequestError, SandboxError, TaskError, suggestion
from verigym.sandbox.base import Cancellation, Sandbox
from verigym.sandbox.job import Job, JobStatus, Result
from verigym.sandbox.languages.load import load_languages, not_here
from verigym.verifiers.deadline import deadline

# What each way to end means, in words that give nothing of a hidden test away.
ENDINGS = {
    JobStatus.NONZERO_EXIT: "the program ended with an error",
    JobStatus.SIGNAL: "the program crashed",
    JobStatus.TIME_LIMIT: "the program took too long",
    JobStatus.MEMORY_LIMIT: "the program used too much memory",
    JobStatus.OUTPUT_LIMIT: "the program printed too much",
    JobStatus.DISK_LIMIT: "the program wrote too much to disk",
    JobStatus.COMPILE_ERROR: "the program does not compile",
}
_SHOWN_CHARS = 300
_MARGIN_S = 2.0
"""Seconds of a verdict's time that are kept for ending jobs and sending the verdict."""
_SLOW_S = 0.5
"""Mean wall time from which programs, and not the machine, are taken to be slow."""


def run_one(sandbox: Sandbox, job: Job, cancellation: Cancellation | None = None) -> Result:
    """Return the result of `job`. Raises SandboxError if the machine failed, MissingError if it lacks
    the language, TaskError for a job that cannot be run as asked."""
    if job.language not in sandbox.languages:
        known = load_languages()
        if job.language in known:
            raise not_here(known[job.language])
        hint = suggestion(job.language, sandbox.languages)
        raise TaskError(f"unknown language {job.language!r}; {hint}")
    try:
        # Without one the call is as simple as a stand-in for a sandbox may expect.
        result = sandbox.run(job, cancellation=cancellation) if cancellation else sandbox.run(job)
    except RequestError as error:
        raise TaskError(f"the sandbox refuses the job: {error}") from error
    if result.status is JobStatus.SANDBOX_ERROR:
        raise SandboxError(result.detail)
    return result


def run_in_order(
    sandbox: Sandbox, jobs: Sequence[Job], at_once: int
) -> Generator[Result, None, None]:
    """Yield the results of `jobs` in their order, `at_once` of them running side by side.

    Whoever stops reading stops the rest, what is under way included; so what was read does not
    depend on how fast the machine is. The first job runs alone, since most programs that fail fail
    there, and a language that compiles does it once.
    No job runs past the deadline of the verdict: one that would is stopped as `time_limit`, if it is the
    programs that took the time. Raises SandboxError if it is the machine.
    """
    at_once = min(at_once, len(jobs) - 1)
    clock = _Clock(sandbox)
    if at_once < 2:
        for job in jobs:
            yield clock.run(job)
        return
    yield clock.run(jobs[0])
    stop = [Cancellation() for _ in jobs]
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(at_once, "verigym-code") as threads:
        try:
            for number in range(1, len(jobs) + at_once - 1):
                if number < len(jobs):
                    waiting.append(threads.submit(clock.run, jobs[number], stop[number]))
                if number >= at_once:
                    yield waiting.popleft().result()
        finally:
            for cancellation in stop if waiting else ():
                cancellation.cancel()
            for future in waiting:
                future.cancel()


class _Clock:
    """Keeps the jobs of one verdict within its deadline, and tells slow programs from a slow machine."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        left = deadline() - time.monotonic()
        # Infinity stays infinity.
        self._ends = deadline() - (max(_MARGIN_S, left / 10) if left < math.inf else 0)
        self._lock = threading.Lock()
        self._jobs = 0
        self._programs_s = 0.0
        self._waits_s = 0.0

    def run(self, job: Job, cancellation: Cancellation | None = None) -> Result:
        """The result of `job`, which gets no more wall time than is left.

        Raises SandboxError if it was stopped for lack of time that programs did not use.
        """
        began = time.monotonic()
        left = self._ends - began
        if left <= 0:
            self._check()
            return Result(status=JobStatus.TIME_LIMIT)
        is_cut = left < job.limits.wall_s
        if is_cut:
            job = replace(job, limits=replace(job.limits, wall_s=left))
        result = run_one(self._sandbox, job, cancellation)
        with self._lock:
            if self._jobs:  # the first may wait for a compiler, and for the sandbox to start
                self._waits_s += max(0.0, time.monotonic() - began - result.wall_s)
            self._jobs += 1
            self._programs_s += result.wall_s
        if is_cut and result.status is JobStatus.TIME_LIMIT and result.cpu_s < job.limits.cpu_s:
            self._check()
        return result

    def _check(self) -> None:
        """Raise SandboxError unless it is the programs that took the time."""
        if self._programs_s < max(self._waits_s, _SLOW_S * max(1, self._jobs)):
            raise SandboxError(
                "the verdict's deadline came before the tests had run; the machine is slow"
            )


def trouble(result: Result) -> str:
    """Return the error message of a failed run in printable ASCII. It may quote the test's input."""
    text = result.stderr.rstrip().rpartition(b"\n")[2]
    if result.status is JobStatus.COMPILE_ERROR:
        text = result.detail.encode()
    return f": {shown(text)}" if text else ""


def shown(data: bytes) -> str:
    """Return at most 300 characters of `data` in printable ASCII, in quotes."""
    text = data[: 4 * _SHOWN_CHARS].decode("utf-8", "replace")
    quoted = ascii(text[:_SHOWN_CHARS])
    if len(quoted) > 2 * _SHOWN_CHARS:
        quoted = quoted[: 2 * _SHOWN_CHARS]
    return quoted + (" ..." if len(text) > _SHOWN_CHARS else "")
