"""Runs the jobs of a submission: one process a test, in order or side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from verigym.errors import RequestError, SandboxError, TaskError, suggestion
from verigym.sandbox.base import Cancellation, Sandbox
from verigym.sandbox.job import Job, JobStatus, Result

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


def run_one(sandbox: Sandbox, job: Job, cancellation: Cancellation | None = None) -> Result:
    """The result of `job`. Raises SandboxError where the machine failed or lacks the language,
    TaskError for a job that cannot be run as asked."""
    if job.language not in sandbox.languages:
        raise SandboxError(
            f"this machine does not run {job.language!r}; "
            f"{suggestion(job.language, sandbox.languages)}"
        )
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
    """The results of `jobs` in their order, `at_once` of them running side by side.

    Whoever stops reading stops the rest, what is under way included; so what was read does not
    depend on how fast the machine is. The first job runs alone, since most programs that fail fail
    there, and a language that compiles does it once.
    """
    at_once = min(at_once, len(jobs) - 1)
    if at_once < 2:
        for job in jobs:
            yield run_one(sandbox, job)
        return
    yield run_one(sandbox, jobs[0])
    stop = [Cancellation() for _ in jobs]
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(at_once, "verigym-code") as threads:
        try:
            for number in range(1, len(jobs) + at_once - 1):
                if number < len(jobs):
                    waiting.append(threads.submit(run_one, sandbox, jobs[number], stop[number]))
                if number >= at_once:
                    yield waiting.popleft().result()
        finally:
            for cancellation in stop if waiting else ():
                cancellation.cancel()
            for future in waiting:
                future.cancel()


def trouble(result: Result) -> str:
    """What a failed run said of itself, in printable ASCII. It may quote the test's input."""
    text = result.stderr.rstrip().rpartition(b"\n")[2]
    if result.status is JobStatus.COMPILE_ERROR:
        text = result.detail.encode()
    return f": {shown(text)}" if text else ""


def shown(data: bytes) -> str:
    """At most 300 characters of `data` in printable ASCII, in quotes."""
    text = data[: 4 * _SHOWN_CHARS].decode("utf-8", "replace")
    quoted = ascii(text[:_SHOWN_CHARS])
    if len(quoted) > 2 * _SHOWN_CHARS:
        quoted = quoted[: 2 * _SHOWN_CHARS]
    return quoted + (" ..." if len(text) > _SHOWN_CHARS else "")
