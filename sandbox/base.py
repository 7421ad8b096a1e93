"""`Sandbox`: the public interface of every backend, and the methods that a backend implements."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from verigym.errors import RequestError, SandboxError
from verigym.sandbox.build import Builder
from verigym.sandbox.dialogue import converse
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.sandbox.session import SandboxSession
from verigym.sandbox.step import Channel, ProgramRun


class Cancellation:
    """Lets one thread kill a job that another thread waits for."""

    def __init__(self) -> None:
        self.cancelled = False
        self._lock = threading.Lock()
        self._kill: Callable[[], None] | None = None

    def cancel(self) -> None:
        """Kill the job now, or as soon as it starts if it has not started yet. May be repeated."""
        with self._lock:
            self.cancelled = True
            if self._kill is not None:
                self._kill()

    @contextmanager
    def calling(self, kill: Callable[[], None]) -> Iterator[None]:
        """Make `cancel` call `kill` within the block, at once if already cancelled; `kill` must be fast."""
        with self._lock:
            self._kill = kill
            if self.cancelled:
                kill()
        try:
            yield
        finally:
            with self._lock:
                self._kill = None


class Sandbox(ABC):
    """A place to run untrusted programs. Safe to use from many threads; a context manager.

    `max_jobs` is the maximum number of concurrent jobs; further callers wait for their turn. A backend
    calls this constructor with the languages that it found, by name, and implements `_execute`,
    `_connect`, `describe` and, if it holds resources, `close`.
    """

    name: str

    def __init__(
        self,
        *,
        max_jobs: int,
        languages: Mapping[str, Any],
        allow_network: bool = False,
    ) -> None:
        if isinstance(max_jobs, bool) or not isinstance(max_jobs, int) or max_jobs < 1:
            raise RequestError(f"max_jobs must be a whole number of at least 1, got {max_jobs!r}")
        self.max_jobs = max_jobs
        self.allow_network = allow_network
        self._builder = Builder(languages)
        self._turns = threading.BoundedSemaphore(max_jobs)
        self._threads_lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None

    @property
    def languages(self) -> frozenset[str]:
        """Names of the languages whose toolchain is installed."""
        return self._builder.available

    def versions(self) -> dict[str, str]:
        """Return the version of each toolchain, as printed in the sandbox; "" if it prints nothing."""
        return self._builder.versions(self._execute_alone)

    def run(self, job: Job, *, cancellation: Cancellation | None = None) -> Result:
        """Run `job` to its end or its limits, after compiling it if its language requires so; blocks.

        Raises RequestError before anything starts if the job is invalid (unknown language, network not
        allowed). Failures of the machine are `sandbox_error`; so is a job that `cancellation` stopped.
        """
        cancellation = cancellation or Cancellation()
        self._check(job)
        with self._turns:
            if cancellation.cancelled:
                return Result(status=JobStatus.SANDBOX_ERROR, detail="cancelled by the caller")
            if job.partner is not None:
                return self._run_with_partner(job, job.partner, cancellation)
            return self._builder.run(
                job,
                lambda step: self._execute(step, cancellation),
                lambda: cancellation.cancelled,
            )

    async def run_async(self, job: Job) -> Result:
        """Run `job` from an event loop. Cancelling the task kills the job and waits for its end."""
        with self._threads_lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self.max_jobs, f"verigym-{self.name}")
            threads = self._threads
        cancellation = Cancellation()
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(threads, lambda: self.run(job, cancellation=cancellation))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            cancellation.cancel()
            await asyncio.wait([running])
            raise

    def session(
        self,
        language: str = "python",
        *,
        limits: Limits | None = None,
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> SandboxSession:
        """Start a stateful interpreter (`python`) or shell (`bash`); it takes one of `max_jobs`.

        `limits` hold for the session as a whole: `wall_s` is its lifetime (by default 600 s, all of
        which may be CPU time). Raises RequestError for another language, SandboxError if the session
        cannot start.
        """
        limits = limits or Limits(wall_s=600.0, cpu_s=600.0)
        language = self._builder.canonical(language)
        step = self._builder.session_step(language, limits, files, env)
        if not self._turns.acquire(timeout=60.0):
            raise SandboxError(f"all {self.max_jobs} job slots of the sandbox were busy for 60 s")
        try:
            return SandboxSession(language, self._connect(step), step.limits, self._turns.release)
        except BaseException:
            self._turns.release()
            raise

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return the active configuration as JSON, for people and for records."""

    @abstractmethod
    def _execute(self, step: ProgramRun, cancellation: Cancellation) -> Result:
        """Run `step` to its end or its limits. Failures of the machine are `sandbox_error`."""

    @abstractmethod
    def _connect(self, step: ProgramRun) -> Channel:
        """Start `step` with its streams left open. Raises SandboxError if it cannot start."""

    def close(self) -> None:
        """Kill all running jobs and release all resources. May be repeated."""
        with self._threads_lock:
            threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _execute_alone(self, step: ProgramRun) -> Result:
        with self._turns:
            return self._execute(step, Cancellation())

    def _run_with_partner(self, job: Job, other: Job, cancellation: Cancellation) -> Result:
        """Run two jobs that talk to each other; together they take one of `max_jobs`, since mostly one waits."""
        stop = threading.Event()

        def execute(step: ProgramRun) -> Result:
            return self._execute(step, cancellation)

        def is_cancelled() -> bool:
            return cancellation.cancelled

        def run(step: ProgramRun) -> Result:
            own: list[Result] = []

            def run_other(other_step: ProgramRun) -> Result:
                first = self._connect(step)
                try:
                    second = self._connect(other_step)
                except BaseException:
                    first.close()
                    raise
                with cancellation.calling(stop.set):
                    mine, theirs = converse(first, second, step.limits, other_step.limits, stop)
                own.append(mine)
                return theirs

            theirs = self._builder.run(other, execute, is_cancelled, run=run_other)
            mine = own[0] if own else Result(status=JobStatus.OK)
            return replace(mine, partner=theirs)

        try:
            result = self._builder.run(job, execute, is_cancelled, run=run)
        except SandboxError as error:
            return Result(status=JobStatus.SANDBOX_ERROR, detail=str(error))
        if cancellation.cancelled:
            return Result(status=JobStatus.SANDBOX_ERROR, detail="cancelled by the caller")
        return result

    def _check(self, job: Job) -> None:
        if job.partner is not None:
            self._check(job.partner)
        if job.network and not self.allow_network:
            raise RequestError(
                "this sandbox gives no network; make it with allow_network=True if jobs may have one"
            )
        if job.source is not None:
            self._builder.check(job)
