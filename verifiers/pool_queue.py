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
    """Parcels by lane. Not safe in threads: the pool has a lock."""

    def __init__(self) -> None:
        self.calls = 0
        """Calls of all parcels that wait."""
        self.calls_of: Counter[str] = Counter()
        """The same by lane."""
        self._lanes: dict[str, deque[Parcel]] = {}
        self._working: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Parcel]:
        for lane in self._lanes.values():
            yield from lane

    @property
    def n_lanes(self) -> int:
        """Lanes in which something waits."""
        return len(self._lanes)

    def add(self, parcel: Parcel) -> None:
        """Put `parcel` at the end of its lane."""
        self._lanes.setdefault(parcel.lane, deque()).append(parcel)
        self.calls += len(parcel.calls)
        self.calls_of[parcel.lane] += len(parcel.calls)

    def remove(self, parcel: Parcel) -> None:
        """Take `parcel` out. ValueError if it does not wait."""
        lane = self._lanes[parcel.lane]
        lane.remove(parcel)
        if not lane:
            del self._lanes[parcel.lane]
        self.calls -= len(parcel.calls)
        self.calls_of[parcel.lane] -= len(parcel.calls)
        if not self.calls_of[parcel.lane]:
            del self.calls_of[parcel.lane]

    def next(self, *, spare: bool) -> Parcel | None:
        """Take out the next parcel; `spare`: only one of a lane that has no worker."""
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
        """A worker has `parcel`."""
        self._working[parcel.lane] += 1

    def ended(self, parcel: Parcel) -> None:
        """The worker is done with `parcel`."""
        self._working[parcel.lane] -= 1
        if not self._working[parcel.lane]:
            del self._working[parcel.lane]


HasRoom = Callable[[int, int, int, int], bool]
"""Own calls that wait, all that wait, the limit, calls to add: whether these may be added."""


def has_room(own: int, waiting: int, limit: int, n: int) -> bool:
    """Tell if the queue has room, whoever asks."""
    return waiting + n <= limit
