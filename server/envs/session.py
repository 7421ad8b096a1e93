"""One session of an environment, as the service keeps it, and what may be asked of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from verigym.server.envs.hosts import Host
from verigym.server.envs.loans import Loan
from verigym.server.envs.messages import History
from verigym.server.refusals import Refusal


class SessionStep(msgspec.Struct, frozen=True):
    """A step of a session."""

    action: str | bytes


class Restart(msgspec.Struct, frozen=True):
    """A reset of a session."""

    seed: int | None
    options: dict[str, Any]


Move: TypeAlias = SessionStep | Restart
Reply: TypeAlias = Callable[["bytes | Refusal", bool], None]
"""Callback that gets the answer or a refusal, and True if the answer was given before. Called once."""


class EnvSession:
    """One session; changed by the table alone."""

    __slots__ = (
        *("actions", "answer", "busy", "env", "expires", "gone", "history_chars", "host", "id"),
        *("last", "loan", "most", "number", "over", "owner", "seq", "start", "waiting"),
    )

    def __init__(self, id: str, number: int, owner: str, env: str) -> None:
        self.id = id
        self.number = number
        """Number of the session in messages to hosts."""
        self.owner = owner
        self.env = env
        self.start: History
        """Constructor arguments, seed and options of the last reset."""
        self.actions: list[str | bytes] = []
        """Actions since the last reset."""
        self.history_chars = 0
        """Total length of `actions`, in characters."""
        self.host: Host | None = None
        """Host of the session; None if it has to be made again."""
        self.seq = 0
        self.last: str | bytes | None = None
        """Mark of the request with number `seq`."""
        self.answer = b""
        """Response to that request."""
        self.over = False
        self.most = 0
        self.busy = False
        """True while a request is carried out, and while the client's socket is lent."""
        self.loan: Loan | None = None
        """Loan of the client's socket to the host."""
        self.waiting: deque[tuple[int | None, Move, Reply]] = deque()
        self.expires = 0.0
        self.gone = False
