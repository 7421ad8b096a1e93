"""Queue of a pool: one queue for each lane, and the order in which the lanes take turns.

A lane is one of several callers that share a pool. The next parcel comes from the lane that has
the fewest workers; lanes with equally many take turns. A lane that has no worker gets one even if
the others use the usual number, because a pool keeps one spare for that case.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator

from verigym.verifiers.pool_parcels import Parcel


class PoolQueue:
    """Parcels by lane. Not thread-safe: the pool has a lock."""

    def __init__(self) -> None:
        self.calls = 0
        """Number of calls in all waiting parcels."""
        self.calls_of: Counter[str] = Counter()
        """Number of waiting calls by lane."""
        self._lanes: dict[str, deque[Parcel]] = {}
        self._working: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Parcel]:
        for lane in self._lanes.values():
            yield from lane

    @property
    def n_lanes(self) -> int:
        """Number of lanes in which a parcel waits."""
        return len(self._lanes)

    def add(self, parcel: Parcel) -> None:
        """Put `parcel` at the end of its lane."""
        self._lanes.setdefault(parcel.lane, deque()).append(parcel)
        self.calls += len(parcel.calls)
        self.calls_of[parcel.lane] += len(parcel.calls)

    def remove(self, parcel: Parcel) -> None:
        """Take `parcel` out. Raises ValueError if it is not in the queue."""
        lane = self._lanes[parcel.lane]
        lane.remove(parcel)
        if not lane:
            del self._lanes[parcel.lane]
        self.calls -= len(parcel.calls)
        self.calls_of[parcel.lane] -= len(parcel.calls)
        if not self.calls_of[parcel.lane]:
            del self.calls_of[parcel.lane]

    def next(self, *, spare: bool) -> Parcel | None:
        """Take out the next parcel; if `spare`, only one of a lane that has no worker."""
        if not self._lanes:
            return None
        lane = min(self._lanes, key=lambda name: self._working[name])
        if spare and self._working[lane]:
            return None
        parcel = self._lanes[lane][0]
        self.remove(parcel)
        if lane in self._lanes and len(self._lanes) > 1:  # behind the others
            self._lanes[lane] = self._lanes.pop(lane)
        return parcel

    def began(self, parcel: Parcel) -> None:
        """Record that a worker has taken `parcel`."""
        self._working[parcel.lane] += 1

    def ended(self, parcel: Parcel) -> None:
        """Record that the worker has finished `parcel`."""
        self._working[parcel.lane] -= 1
        if not self._working[parcel.lane]:
            del self._working[parcel.lane]


HasRoom = Callable[[int, int, int, int], bool]
"""Decide if calls may be added, given the lane's waiting calls, all waiting calls, the limit, and
the number to add."""


def has_room(own: int, waiting: int, limit: int, n: int) -> bool:
    """Return True if the queue has room, whatever the lane."""
    return waiting + n <= limit
