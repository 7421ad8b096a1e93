"""Threads with deadlines, for calls that may hang.

The standard executor joins its threads at exit, so one hung call would hang the program. Here a call
over its deadline is abandoned: its thread, a daemon, is replaced at once, its late result is
dropped, and it ends when the call returns. Python cannot kill a thread, so until then it keeps its
memory and whatever it holds; code that must be killed belongs into the sandbox.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any


@dataclass(eq=False, kw_only=True)
class ThreadCall:
    """A call for a worker. `result` or `error` is set when it is done.

    `tag` is what the submitter does with the finished or overdue job. `late` is called instead, in
    whichever thread, for a job that nobody awaits any more: it frees what the call held.
    """

    run: Callable[[], Any]
    deadline_s: float
    tag: Callable[[ThreadCall], None]
    late: Callable[[ThreadCall], None] | None = None
    result: Any = None
    error: BaseException | None = None
    overdue: bool = False
    began: float = 0.0
    ends: float = 0.0

    def deliver(self) -> None:
        """Hand the finished or overdue job to whoever submitted it."""
        self.tag(self)

    def drop(self) -> None:
        """Free what the call held; its result is not wanted."""
        if self.late is not None:
            self.late(self)


@dataclass(eq=False, kw_only=True)
class PartialResult:
    """Part of the result of a running job; `act` takes it in the submitter's thread."""

    act: Callable[[], None]

    def deliver(self) -> None:
        """Hand the part to whoever submitted the job."""
        self.act()

    def drop(self) -> None:
        """Do nothing: a part holds nothing to free."""


class Workers:
    """Up to `n` daemon threads, started as needed. Finished jobs are put into `done`."""

    def __init__(self, n: int, done: SimpleQueue[Any], name: str) -> None:
        self.abandoned = 0
        self._n = n
        self._done = done
        self._name = name
        self._jobs: SimpleQueue[ThreadCall | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._running: dict[ThreadCall, threading.Thread] = {}
        self._threads: set[threading.Thread] = set()
        self._waiting = 0

    def submit(self, job: ThreadCall) -> None:
        """Queue `job`; its deadline counts from when a thread takes it up."""
        with self._lock:
            self._waiting += 1
            if self._waiting + len(self._running) > len(self._threads) < self._n:
                self._spawn()
        self._jobs.put(job)

    def expire(self) -> list[ThreadCall]:
        """Abandon the jobs that are over their deadline, replace their threads, and return the jobs."""
        now = time.monotonic()
        with self._lock:
            expired = [job for job in self._running if job.ends <= now]
            for job in expired:
                self._abandon(job)
        return expired

    def lift_deadline(self, job: ThreadCall) -> bool:
        """Give a running job no deadline until it sets another; False if it has been abandoned."""
        with self._lock:
            if job.overdue:
                return False
            job.ends = math.inf
            return True

    def next_deadline(self) -> float | None:
        """Return the time of the next deadline on the monotonic clock; None if no call is running."""
        with self._lock:
            return min((job.ends for job in self._running), default=None)

    def oldest_s(self) -> float:
        """Return the seconds that the oldest running call has taken so far; 0 if none is running."""
        now = time.monotonic()
        with self._lock:
            return max((now - job.began for job in self._running), default=0.0)

    def close(self, wait_s: float = 0.0) -> None:
        """End the idle threads, drop queued jobs, and give running calls `wait_s` to return.

        Calls that were abandoned before are not waited for.
        """
        with self._lock:
            threads = list(self._threads)
            while not self._jobs.empty():
                job = self._jobs.get()
                if job is not None:
                    job.drop()
        for _ in threads:
            self._jobs.put(None)
        ends = time.monotonic() + wait_s
        for thread in threads:
            thread.join(max(0.0, ends - time.monotonic()))
        with self._lock:
            for job in list(self._running):
                self._abandon(job, replace=False)

    def _abandon(self, job: ThreadCall, replace: bool = True) -> None:
        job.overdue = True
        self._threads.discard(self._running.pop(job))
        self.abandoned += 1
        if replace:
            self._spawn()

    def _spawn(self) -> None:
        thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        self._threads.add(thread)
        thread.start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            with self._lock:
                self._waiting -= 1
                job.began = time.monotonic()
                job.ends = job.began + job.deadline_s
                self._running[job] = threading.current_thread()
            try:
                job.result = job.run()
            except BaseException as error:  # noqa: BLE001
                # Whatever it is, it belongs to whoever submitted the job, who raises or records it.
                job.error = error
            with self._lock:
                self._running.pop(job, None)
                overdue = job.overdue
            if overdue:
                job.drop()
                break
            self._done.put(job)
        with self._lock:
            self._threads.discard(threading.current_thread())
