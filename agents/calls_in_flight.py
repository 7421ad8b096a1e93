"""`CallsInFlight`: calls with deadlines that need no threads, since somebody else makes them.

The same interface as `Workers`, for a policy that answers from an event loop. Here a call over its deadline
is not abandoned but cancelled, which ends it: its request is broken off.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from verigym.agents.workers import ThreadCall

Begin = Callable[[Callable[[Any], None]], Callable[[], None]]
"""Begins a call: takes the function for its result or error, returns the one that cancels it."""


class CallsInFlight:
    """Calls begun by `ThreadCall.run`, which must be a `Begin`. Finished jobs are put into `done`."""

    def __init__(self, done: SimpleQueue[Any]) -> None:
        self.abandoned = 0
        self._done = done
        self._lock = threading.Lock()
        self._running: dict[ThreadCall, Callable[[], None]] = {}

    def submit(self, job: ThreadCall) -> None:
        """Begin `job`; its deadline counts from now."""
        job.began = time.monotonic()
        job.ends = job.began + job.deadline_s
        with self._lock:
            self._running[job] = lambda: None
        begin: Any = job.run
        try:
            cancel = begin(lambda found: self._finish(job, found))
        except Exception as error:  # noqa: BLE001
            # Whatever it is, it belongs to whoever submitted the job, who raises or records it.
            self._finish(job, error)
            return
        with self._lock:
            if job in self._running:
                self._running[job] = cancel

    def expire(self) -> list[ThreadCall]:
        """Cancel the jobs that are over their deadline, and return them."""
        now = time.monotonic()
        with self._lock:
            expired = {job: cancel for job, cancel in self._running.items() if job.ends <= now}
            for job in expired:
                job.overdue = True
                del self._running[job]
        for cancel in expired.values():
            cancel()
        return list(expired)

    def next_deadline(self) -> float | None:
        """Return the time of the next deadline on the monotonic clock; None if no call is running."""
        with self._lock:
            return min((job.ends for job in self._running), default=None)

    def close(self, wait_s: float = 0.0) -> None:
        """Cancel and forget all calls. None of them uses an environment, so none is waited for."""
        with self._lock:
            cancels = list(self._running.values())
            self._running.clear()
        for cancel in cancels:
            cancel()

    def _finish(self, job: ThreadCall, found: Any) -> None:
        if isinstance(found, BaseException):
            job.error = found
        else:
            job.result = found
        with self._lock:
            is_awaited = job in self._running
            self._running.pop(job, None)
        if is_awaited:
            self._done.put(job)
        elif job.overdue:
            job.drop()
