"""Ends things whose lease has expired, with one heap and one timer for all leases.

Renewing a lease changes only its time; the heap notices at the old time. Ended things stay in the heap
until they make up half of it, and are then removed, so that it never holds more than twice the live
ones plus `_FEW`.
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
    """True if it has ended already."""


_FEW = 64
"""Number of ended things that is not worth removing."""

Thing = TypeVar("Thing", bound=Leased)


class Leases(Generic[Thing]):
    """Calls `end` with each thing whose time has come. On the event loop."""

    def __init__(self, end: Callable[[Thing], None]) -> None:
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._heap: list[tuple[float, int, Thing]] = []
        self._added = 0
        self._ended = 0
        """Lower bound of the number of ended things in the heap."""
        self._timer: asyncio.Handle | None = None
        self._rings_at = 0.0
        """Time of the timer; uvloop's timers do not report a time in the past."""

    def add(self, thing: Thing) -> None:
        """Supervise `thing` until it has ended."""
        self._added += 1
        heapq.heappush(self._heap, (thing.expires, self._added, thing))
        self._arm()

    def __len__(self) -> int:
        """Return the number of entries, those of ended things included."""
        return len(self._heap)

    def forget(self, thing: Thing) -> None:
        """Note that `thing` has just ended; its `gone` is True."""
        self._ended += 1
        if self._ended > _FEW and 2 * self._ended > len(self._heap):
            self._heap = [entry for entry in self._heap if not entry[2].gone]
            heapq.heapify(self._heap)
            self._ended = 0

    def close(self) -> None:
        """Stop supervising."""
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self) -> None:
        if not self._heap:
            return
        when = self._heap[0][0]
        if self._timer is not None:
            if self._rings_at <= when:
                return
            self._timer.cancel()
        self._rings_at = when
        self._timer = self._loop.call_at(when, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = self._loop.time()
        while self._heap and self._heap[0][0] <= now:
            _, number, thing = heapq.heappop(self._heap)
            if thing.gone:
                self._ended = max(0, self._ended - 1)
                continue
            if thing.expires > now:
                heapq.heappush(self._heap, (thing.expires, number, thing))
            else:
                self._end(thing)
        self._arm()
