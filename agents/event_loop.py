"""`EventLoop`: an asyncio loop in a thread of its own, for callers that are threads."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

_T = TypeVar("_T")
_CLOSE_S = 5.0


class EventLoop:
    """A loop that starts with its first task. After a fork, the child starts one of its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._pid = os.getpid()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return the result of `work`; interrupted, it cancels the work."""
        future = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def begin(
        self, work: Coroutine[Any, Any, _T], done: Callable[[_T | BaseException], None]
    ) -> Callable[[], None]:
        """Begin `work` and return at once; the loop's thread calls `done` with its result or its error.

        The function returned cancels the work, which then ends with `asyncio.CancelledError`.
        """
        loop = self._started()
        task: asyncio.Task[_T] | None = None

        def finish(ended: asyncio.Task[_T]) -> None:
            self._tasks.discard(ended)
            if ended.cancelled():
                done(asyncio.CancelledError())
            else:
                done(ended.exception() or ended.result())

        def start() -> None:
            nonlocal task
            task = loop.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(finish)

        def cancel() -> None:
            with suppress(RuntimeError):  # the loop has ended, and all tasks with it
                # Queued behind `start`, so there is a task.
                loop.call_soon_threadsafe(lambda: task is not None and task.cancel())

        loop.call_soon_threadsafe(start)
        return cancel

    def close(self, last: Callable[[], None] = lambda: None) -> None:
        """Cancel all tasks, call `last` in the loop's thread, and end the loop. It may be started anew."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None or self._pid != os.getpid():
            return

        async def end() -> None:
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            last()
            # The loop calls back closed transports in its next iteration.
            await asyncio.sleep(0)
            loop.stop()

        loop.call_soon_threadsafe(lambda: self._tasks.add(loop.create_task(end())))
        thread.join(_CLOSE_S)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._pid != os.getpid():
                self._loop, self._tasks, self._pid = None, set(), os.getpid()
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name=self._name, daemon=True
                )
                self._thread.start()
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()
