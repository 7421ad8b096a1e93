"""Lets programs run a few at once; callers who wait take turns.

The next to start is a program of the caller who has the fewest running. Where others hold all places,
a caller who has none running gets one more: programs may take minutes, and no key holds up another.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque


class Turn:
    """A place for one program of `caller`; `ready` is done when it may run."""

    def __init__(self, caller: str) -> None:
        self.caller = caller
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class Turns:
    """Gives out `most` places, and one more as the module says. On the event loop."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[Turn]] = {}

    def may_start(self, caller: str) -> bool:
        """Tell if a program of `caller` could run now."""
        return caller not in self._waiting and self._has_place(caller)

    def enter(self, caller: str) -> Turn:
        """Ask for a place; give it back with `leave`, also one that was not waited for."""
        turn = Turn(caller)
        self._waiting.setdefault(caller, deque()).append(turn)
        self._start_next()
        return turn

    def leave(self, turn: Turn) -> None:
        """Give the place back, or stop waiting for it."""
        if turn.ready.done():
            self._running[turn.caller] -= 1
        else:
            turn.ready.cancel()
            self._drop(turn)
        self._start_next()

    def _has_place(self, caller: str) -> bool:
        running = self._running.total()
        return running < self._most or (running == self._most and not self._running[caller])

    def _start_next(self) -> None:
        while self._waiting:
            caller = min(self._waiting, key=lambda name: self._running[name])
            if not self._has_place(caller):
                return
            turn = self._waiting[caller][0]
            self._drop(turn)
            if caller in self._waiting:  # behind the others
                self._waiting[caller] = self._waiting.pop(caller)
            self._running[caller] += 1
            turn.ready.set_result(None)

    def _drop(self, turn: Turn) -> None:
        queue = self._waiting[turn.caller]
        queue.remove(turn)
        if not queue:
            del self._waiting[turn.caller]
