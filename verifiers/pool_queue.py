"""Queue of a pool: one queue for each lane, and the order in which the lanes take turns.

A lane is one of several callers that share a pool. The next request comes from the lane that has
the fewest workers; lanes with equally many take turns. A lane that has no worker gets one even if
the others use the usual number, because a pool keeps one spare for that case.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator

from verigym.verifiers.pool_requests import JudgeRequest


class PoolQueue:
    """Requests by lane. Not thread-safe: the pool has a lock."""

    def __init__(self) -> None:
        self.calls = 0
        """Number of calls in all waiting requests."""
        self.calls_of: Counter[str] = Counter()
        """Number of waiting calls by lane."""
        self._lanes: dict[str, deque[JudgeRequest]] = {}
        self._working: Counter[str] = Counter()

    def __iter__(self) -> Iterator[JudgeRequest]:
        for lane in self._lanes.values():
            yield from lane

    @property
    def n_lanes(self) -> int:
        """Number of lanes in which a request waits."""
        return len(self._lanes)

    def add(self, request: JudgeRequest) -> None:
        """Put `request` at the end of its lane."""
        self._lanes.setdefault(request.lane, deque()).append(request)
        self.calls += len(request.calls)
        self.calls_of[request.lane] += len(request.calls)

    def remove(self, request: JudgeRequest) -> None:
        """Take `request` out. Raises ValueError if it is not in the queue."""
        lane = self._lanes[request.lane]
        lane.remove(request)
        if not lane:
            del self._lanes[request.lane]
        self.calls -= len(request.calls)
        self.calls_of[request.lane] -= len(request.calls)
        if not self.calls_of[request.lane]:
            del self.calls_of[request.lane]

    def next(self, *, spare: bool) -> JudgeRequest | None:
        """Take out the next request; if `spare`, only one of a lane that has no worker."""
        if not self._lanes:
            return None
        lane = min(self._lanes, key=lambda name: self._working[name])
        if spare and self._working[lane]:
            return None
        request = self._lanes[lane][0]
        self.remove(request)
        if lane in self._lanes and len(self._lanes) > 1:  # behind the others
            self._lanes[lane] = self._lanes.pop(lane)
        return request

    def start(self, request: JudgeRequest) -> None:
        """Record that a worker has taken `request`."""
        self._working[request.lane] += 1

    def finish(self, request: JudgeRequest) -> None:
        """Record that the worker has finished `request`."""
        self._working[request.lane] -= 1
        if not self._working[request.lane]:
            del self._working[request.lane]


HasRoom = Callable[[int, int, int, int], bool]
"""Decide if calls may be added, given the lane's waiting calls, all waiting calls, the limit, and
the number to add."""


def has_room(own: int, waiting: int, limit: int, n: int) -> bool:
    """Return True if the queue has room, whatever the lane."""
    return waiting + n <= limit
