"""Sockets that are lent to the hosts of their sessions, as the service sees them.

Covers: a host that hangs in a step, or dies at any moment, however many steps it has answered. The phase of each
socket stands in memory that outlives the host, and every step is reported before it is answered, so no step is lost
or played twice: a client whose step had not been reported hears of a fault, and one of which something was read that
only the host knew, or whose answer may have been sent or not, is cut off. Does not cover: rates and bytes per key; the sockets of services that limit rates are not lent.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable
from dataclasses import dataclass

from verigym.server.envs.messages import (
    CURRENT,
    LENT_BYTES,
    MOST_LENT,
    LentStep,
    Phase,
    SocketBack,
)
from verigym.server.websockets import WebSocketConnection

_PLAYING = (Phase.READING, Phase.PLAYING)


@dataclass(eq=False)
class Loan:
    """One lent socket. Exactly one of `on_back` and `on_lost` is called, once, at its end."""

    session: int
    connection: WebSocketConnection
    on_step: Callable[[LentStep], None]
    on_back: Callable[[SocketBack], None]
    on_lost: Callable[[Phase, bool], None]
    """Called with the phase of a socket whose host has died, and True if its step exceeded its time."""
    frames_of: str = ""
    """Id of the session if its client speaks `/v1/ws`; empty for OpenEnv."""
    seq: int = 0
    """Number of the last step there, when the loan begins."""
    slot: int = 0
    id: bytes = b""
    """Id of the step that was read last, as JSON; known at the end of the loan."""
    is_wanted: bool = False
    """True once the host has been asked for it."""
    n_steps: int = 0
    """Number of steps reported so far."""
    is_late: bool = False
    """True if its step has exceeded its time."""


class Loans:
    """The lent sockets of one host, and how long their steps take. On the event loop."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._by_session: dict[int, Loan] = {}
        self._free = list(range(MOST_LENT))
        self._playing: dict[Loan, tuple[int, float]] = {}
        """Number of the step that each is in, and when it was first seen there."""
        self._overdue: set[Loan] = set()
        """Loans whose step had exceeded its time at the last look."""

    def __len__(self) -> int:
        return len(self._by_session)

    def find(self, session: int) -> Loan | None:
        """Return the loan of a session; None if there is none."""
        return self._by_session.get(session)

    def all(self) -> list[Loan]:
        """Return all loans."""
        return list(self._by_session.values())

    def add(self, loan: Loan) -> bool:
        """Give a loan its slot; return False if none is free."""
        if not self._free:
            return False
        loan.slot = self._free.pop()
        at = self._at(loan)
        self._memory[at : at + 2] = bytes((Phase.WAITING, 0))
        self._by_session[loan.session] = loan
        return True

    def remove(self, loan: Loan) -> None:
        """Forget a loan whose socket is back."""
        at = self._at(loan)
        loan.id = self._memory[at + 2 : at + 2 + self._memory[at + 1]]
        del self._by_session[loan.session]
        self._playing.pop(loan, None)
        self._free.append(loan.slot)

    def phase(self, loan: Loan) -> Phase:
        """Return what the host is doing with the socket, or was when it died."""
        return Phase(self._memory[self._at(loan)])

    def _at(self, loan: Loan) -> int:
        return CURRENT.size + loan.slot * LENT_BYTES

    def find_late(self, timeout_s: float) -> list[Loan]:
        """Return the loans whose step exceeds `timeout_s`, at this look and at the last one.

        Between the two, what the host reported meanwhile has been read.
        """
        now = time.monotonic()
        former, self._playing = self._playing, {}
        for loan in self._by_session.values():
            if self.phase(loan) in _PLAYING:
                step, since = former.get(loan, (-1, now))
                self._playing[loan] = loan.n_steps, since if step == loan.n_steps else now
        overdue = {loan for loan, (_, since) in self._playing.items() if now - since > timeout_s}
        late = [loan for loan in overdue if loan in self._overdue]
        self._overdue = overdue
        return late
