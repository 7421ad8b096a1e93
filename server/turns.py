"""Limits how many programs run at once; waiting callers take turns.

The next program to start is that of the caller with the fewest running. If others hold all slots, a caller
without a running program gets an extra one: programs may take minutes, and no key may block another.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque


class ProgramTurn:
    """Slot for one program of `caller`; `ready` is done when the program may run."""

    def __init__(self, caller: str) -> None:
        self.caller = caller
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class Turns:
    """Hands out `most` slots, and the extra one of the module's docstring. Runs on the event loop."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[ProgramTurn]] = {}

    def may_start(self, caller: str) -> bool:
        """Return True if a program of `caller` could run now."""
        return caller not in self._waiting and self._has_place(caller)

    def enter(self, caller: str) -> ProgramTurn:
        """Request a slot; return it with `leave`, even if `ready` was never awaited."""
        turn = ProgramTurn(caller)
        self._waiting.setdefault(caller, deque()).append(turn)
        self._start_next()
        return turn

    def leave(self, turn: ProgramTurn) -> None:
        """Return the slot, or cancel the wait for it."""
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

    def _drop(self, turn: ProgramTurn) -> None:
        queue = self._waiting[turn.caller]
        queue.remove(turn)
        if not queue:
            del self._waiting[turn.caller]
