"""Maps addresses to environments, and holds the sessions that OpenEnv clients made by HTTP."""

from __future__ import annotations

from dataclasses import dataclass, field

from verigym.server.envs.table import SessionTable
from verigym.server.keys import Caller
from verigym.server.limits import RequestGate
from verigym.server.openenv.seat import Seat, begin
from verigym.server.openenv.types import Reset
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings


@dataclass
class Shared:
    """State that all rooms of a service share, by session id."""

    attached: set[str] = field(default_factory=set)
    """Sessions made by HTTP that a WebSocket plays now."""
    to_end: set[str] = field(default_factory=set)
    """Attached sessions that end when their WebSocket closes."""


@dataclass(frozen=True)
class Room:
    """One environment for one caller, given by a base URL and a key."""

    env: str
    caller: Caller
    gate: RequestGate
    table: SessionTable
    settings: ServerSettings
    shared: Shared

    @property
    def owner(self) -> str:
        """Owner of the sessions."""
        return self.caller.name

    @property
    def name(self) -> str:
        """Name of the environment in the task API, without a slash: `keydoor-v0`."""
        return self.env.rpartition("/")[2]

    async def take(self, ask: Reset | None = None) -> Seat:
        """Return a seat at a new session that plays the task of `ask`. Raises Refusal."""
        return Seat(self.table, await begin(self.table, self.owner, self.env, ask or Reset()))

    def seat(self, session: str) -> Seat:
        """Return a seat at an existing session. Raises Refusal."""
        found = self.table.find(self.owner, session)
        if found.env != self.env:
            raise Refusal(404, "unknown_session", f"this is a session of {found.env}")
        return Seat(self.table, found)

    def end(self, session: str) -> bool:
        """End a session now or when its WebSocket closes; True if it has ended. Raises Refusal."""
        seat = self.seat(session)
        if session in self.shared.attached:
            self.shared.to_end.add(session)
            return False
        seat.leave()
        return True

    def capacity(self) -> dict[str, int]:
        """Return number and limit of sessions: the caller's if its limit is reached, else the service's."""
        mine, most = len(self.table.of(self.owner)), self.settings.max_sessions_per_key
        if mine >= most:
            return {"active_sessions": mine, "max_sessions": most}
        return {"active_sessions": len(self.table), "max_sessions": self.settings.max_sessions}
