"""Ends what was not used for a while: one heap and one timer for all leases.

Renewing a lease moves its time and nothing else; the heap hears of it when the old time has come.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Leased(Protocol):
    """Something with a lease that ends at `expires`, in the loop's time."""

    expires: float
    gone: bool
    """Whether it has ended already."""


Thing = TypeVar("Thing", bound=Leased)


class Leases(Generic[Thing]):
    """Calls `end` with each thing whose time has come. On the event loop."""

    def __init__(self, end: Callable[[Thing], None]) -> None:
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._heap: list[tuple[float, int, Thing]] = []
        self._added = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, thing: Thing) -> None:
        """Watch over `thing` until it is gone."""
        self._added += 1
        heapq.heappush(self._heap, (thing.expires, self._added, thing))
        self._arm()

    def close(self) -> None:
        """Watch over nothing more."""
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self) -> None:
        if not self._heap:
            return
        when = self._heap[0][0]
        if self._timer is not None:
            if self._timer.when() <= when:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = self._loop.time()
        while self._heap and self._heap[0][0] <= now:
            _, number, thing = heapq.heappop(self._heap)
            if thing.gone:
                continue
            if thing.expires > now:
                heapq.heappush(self._heap, (thing.expires, number, thing))
            else:
                self._end(thing)
        self._arm()
