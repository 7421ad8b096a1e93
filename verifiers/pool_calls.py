"""Ways to wait for the verdicts of a pool: blocking, on an event loop, or one by one as they come."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import Future

from verigym.canonical import JSON
from verigym.errors import VerigymError
from verigym.task import Task
from verigym.verdict import Verdict


class PoolBusy(VerigymError):
    """Raised if the queue of a pool stayed full; nothing was judged, so try again later."""


class PoolCalls(ABC):
    """Calls of a pool, all of which `submit` submissions and wait for their futures."""

    @abstractmethod
    def submit(
        self,
        verifier: str,
        items: Sequence[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
        deadline: float = math.inf,
        lane: str = "",
        on_verdict: Callable[[int, Verdict], None] | None = None,
    ) -> list[Future[list[Verdict]]]:
        """Put `items` in the queue; the futures return their verdicts, both in order.

        An item without a verdict at `deadline`, of `time.monotonic`, gets one of status `timeout`.
        `on_verdict` is called with each place and verdict before its future is done, from any thread
        and in any order; it must be quick and must not raise.
        """

    @abstractmethod
    def cancel(self, futures: Sequence[Future[list[Verdict]]]) -> None:
        """Stop the work on calls: those that wait leave the queue, and workers that run them are
        stopped."""

    def verify(
        self,
        verifier: str,
        task: Task,
        submission: JSON,
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
    ) -> Verdict:
        """Judge one submission; blocks. Raises RequestError for an unknown id or parameter."""
        items = [(task, submission)]
        return self.verify_batch(
            verifier, items, params=params, timeout_s=timeout_s, wait_s=wait_s
        )[0]

    def verify_batch(
        self,
        verifier: str,
        items: Sequence[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
    ) -> list[Verdict]:
        """Judge `items` with all workers and return the verdicts in order; blocks.

        `timeout_s` bounds each item. `wait_s` bounds the wait for room in the queue, None for ever.
        """
        futures = self.submit(verifier, items, params=params, timeout_s=timeout_s, wait_s=wait_s)
        return [verdict for future in futures for verdict in future.result()]

    async def verify_async(
        self,
        verifier: str,
        task: Task,
        submission: JSON,
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
    ) -> Verdict:
        """Judge like `verify` without blocking the event loop. Cancelling it stops the work on it."""
        items = [(task, submission)]
        verdicts = await self.verify_batch_async(
            verifier, items, params=params, timeout_s=timeout_s, wait_s=wait_s
        )
        return verdicts[0]

    async def verify_batch_async(
        self,
        verifier: str,
        items: Sequence[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
        deadline: float = math.inf,
        lane: str = "",
    ) -> list[Verdict]:
        """Judge like `verify_batch` without blocking the event loop. Cancelling it stops the work
        on it."""
        submit = functools.partial(
            self.submit,
            verifier,
            items,
            params=params,
            timeout_s=timeout_s,
            deadline=deadline,
            lane=lane,
        )
        try:
            futures = submit(wait_s=0.0)
        except PoolBusy:
            if wait_s is not None and wait_s <= 0:
                raise
            futures = await asyncio.to_thread(submit, wait_s=wait_s)
        try:
            if len(futures) == 1:
                return await asyncio.wrap_future(futures[0])
            answers = await asyncio.gather(*map(asyncio.wrap_future, futures))
        except BaseException:
            self.cancel(futures)
            raise
        return [verdict for verdicts in answers for verdict in verdicts]

    async def verify_each_async(
        self,
        verifier: str,
        items: Sequence[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        deadline: float = math.inf,
        lane: str = "",
    ) -> AsyncGenerator[tuple[int, Verdict], None]:
        """Yield the places in `items` and their verdicts, each as soon as it is ready; never waits
        for room.

        Close it (`contextlib.aclosing`) to stop the work on the rest.
        """
        loop = asyncio.get_running_loop()
        ready: deque[tuple[int, Verdict]] = deque()
        news = asyncio.Event()

        def report(place: int, verdict: Verdict) -> None:
            ready.append((place, verdict))
            with contextlib.suppress(RuntimeError):  # the loop is closed, so nobody waits
                loop.call_soon_threadsafe(news.set)

        submitted = self.submit(
            *(verifier, items),
            params=params,
            timeout_s=timeout_s,
            wait_s=0.0,
            deadline=deadline,
            lane=lane,
            on_verdict=report,
        )
        futures = [asyncio.wrap_future(future) for future in submitted]
        for future in futures:
            future.add_done_callback(lambda _: news.set())
        left = len(items)
        try:
            while True:
                news.clear()
                while ready:
                    left -= 1
                    yield ready.popleft()
                if not left:
                    return
                for future in futures:
                    if future.done():
                        future.result()  # raises where there are to be no verdicts
                await news.wait()
        finally:
            if left:
                self.cancel(submitted)
            for future in futures:
                if not future.cancel() and not future.cancelled():
                    future.exception()  # looked at, or asyncio complains
