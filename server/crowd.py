"""Whose the open connections are, so that neither strangers nor one key can take them all.

Where the service asks for keys, a connection belongs to nobody until a request on it has shown one.
Those of nobody are few and short-lived: when there are more than `MAX_UNKEYED`, the one that has
waited longest is closed, so a client with a key always gets in. The others are shared by the callers.
Without keys all are alike, and connections.py has the only limit. WebSockets have a limit of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from verigym.server.limits import busy
from verigym.server.shares import Share

MAX_CONNECTIONS: Final = 4096
"""Maximum number of connections besides WebSockets. A few more are answered that the service is full, the rest
are closed."""
MAX_UNKEYED: Final = 512
"""Maximum number of connections without a valid key so far, if the service requires keys."""

NOBODY: Final = ""


class Member(Protocol):
    """A connection, as a crowd sees it."""

    owner: str

    @property
    def is_idle(self) -> bool:
        """Return True if no request is open on the connection."""

    def hang_up(self) -> None:
        """Close the connection."""


class Crowd:
    """Counts connections by caller. On the event loop."""

    def __init__(self, *, keyed: bool, n_callers: Callable[[], int] = lambda: 1) -> None:
        self.keyed = keyed
        self.members: set[Member] = set()
        """All connections, if the service requires no keys."""
        self._nobodys: dict[Member, None] = {}
        """The oldest first."""
        self._owned: dict[str, dict[Member, None]] = {}
        self._share = Share(MAX_CONNECTIONS - MAX_UNKEYED, n_callers)

    def join(self, member: Member) -> None:
        """Count a connection that was made."""
        if not self.keyed:
            self.members.add(member)
            return
        self._nobodys[member] = None
        if len(self._nobodys) > MAX_UNKEYED:
            waiting = (one for one in self._nobodys if one.is_idle)
            oldest = next(waiting, next(iter(self._nobodys)))
            self.leave(oldest)
            oldest.hang_up()

    def claim(self, member: Member, owner: str) -> None:
        """Count `member` for `owner`, whose key was shown on it. Raises Refusal if its share is used up.

        One of the owner's that is idle makes room, if there is any.
        """
        self.leave(member)
        if not self._share.has_room(owner):
            idle = next((one for one in self._owned.get(owner, ()) if one.is_idle), None)
            if idle is None:
                raise busy("too_many_connections", "this key has its share of connections")
            self.leave(idle)
            idle.hang_up()
        self._share.take(owner)
        self._owned.setdefault(owner, {})[member] = None
        member.owner = owner

    def leave(self, member: Member) -> None:
        """Stop counting a connection that ended or became a WebSocket."""
        self.members.discard(member)
        self._nobodys.pop(member, None)
        mine = self._owned.get(member.owner, {})
        if member in mine:
            del mine[member]
            self._share.give_back(member.owner)
            if not mine:
                del self._owned[member.owner]
        member.owner = NOBODY
