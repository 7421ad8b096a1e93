"""Which environment an address means, and the sessions that OpenEnv clients made by HTTP."""

from __future__ import annotations

from dataclasses import dataclass, field

from verigym.server.envs.table import Table
from verigym.server.openenv.seat import Seat, take
from verigym.server.refusals import Refusal
from verigym.server.settings import Settings


@dataclass
class Attached:
    """Sessions that a WebSocket plays now, and those of them that end when it leaves."""

    now: set[str] = field(default_factory=set)
    to_end: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Room:
    """One environment for one caller; what a base URL and a key mean."""

    env: str
    owner: str
    table: Table
    settings: Settings
    attached: Attached

    @property
    def name(self) -> str:
        """What the task API calls it, which has no slash: `keydoor-v0`."""
        return self.env.rpartition("/")[2]

    async def take(self) -> Seat:
        """A seat at a new session. Raises Refusal."""
        return await take(self.table, self.owner, self.env)

    def seat(self, session: str) -> Seat:
        """A seat at a session that is there already. Raises Refusal."""
        found = self.table.find(self.owner, session)
        if found.env != self.env:
            raise Refusal(404, "unknown_session", f"this is a session of {found.env}")
        return Seat(self.table, self.owner, found)

    def end(self, session: str) -> bool:
        """End it, or have it end when its WebSocket leaves; whether it has ended. Raises Refusal."""
        seat = self.seat(session)
        if session in self.attached.now:
            self.attached.to_end.add(session)
            return False
        seat.leave()
        return True

    def capacity(self) -> dict[str, int]:
        """How many sessions there are, of how many; the narrower bound of the two."""
        mine, most = len(self.table.of(self.owner)), self.settings.max_sessions_per_key
        if mine >= most:
            return {"active_sessions": mine, "max_sessions": most}
        return {"active_sessions": len(self.table), "max_sessions": self.settings.max_sessions}
