"""Ends what was not used for a while: one heap and one timer for all leases.

Renewing a lease moves its time and nothing else; the heap hears of it when the old time has come. What
has ended stays in the heap until half of it has: then it is cleared of them, so that it never holds
more than twice what lives, and `_FEW`.
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


_FEW = 64
"""Ended things that are not worth the clearing."""

Thing = TypeVar("Thing", bound=Leased)


class Leases(Generic[Thing]):
    """Calls `end` with each thing whose time has come. On the event loop."""

    def __init__(self, end: Callable[[Thing], None]) -> None:
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._heap: list[tuple[float, int, Thing]] = []
        self._added = 0
        self._ended = 0
        """At least as many things of the heap have ended."""
        self._timer: asyncio.Handle | None = None
        self._rings_at = 0.0
        """When the timer rings; uvloop's do not say so where that has passed."""

    def add(self, thing: Thing) -> None:
        """Watch over `thing` until it is gone."""
        self._added += 1
        heapq.heappush(self._heap, (thing.expires, self._added, thing))
        self._arm()

    def __len__(self) -> int:
        """Entries that are kept, those of ended things included."""
        return len(self._heap)

    def forget(self, thing: Thing) -> None:
        """`thing` has just ended; `gone` says so."""
        self._ended += 1
        if self._ended > _FEW and 2 * self._ended > len(self._heap):
            self._heap = [entry for entry in self._heap if not entry[2].gone]
            heapq.heapify(self._heap)
            self._ended = 0

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
