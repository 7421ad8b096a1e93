"""One OpenEnv session: a session of the table, played in OpenEnv's words.

`reward` and `done` have places of their own there. What has none is in `metadata`: `terminated` and
`truncated`, the environment's `info`, and `fault` where nothing happened; the reward is then null,
never 0 (law 1), and the same action may be sent again.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

import msgspec

from verigym.server.envs.table import Move, Play, Reply, Restart, Session, Table
from verigym.server.envs.wire import CreateBody, as_action
from verigym.server.openenv.types import Object, Reset
from verigym.server.refusals import Refusal


class Seat:
    """Who plays a session, one move after the other in `turn`, which all seats at it share.

    Raises Refusal, here and there, for what cannot be done.
    """

    def __init__(self, table: Table, owner: str, session: Session, turn: asyncio.Lock) -> None:
        self.session = session
        self._table = table
        self._owner = owner
        self._turn = turn
        self._episode_id: str | None = None

    async def reset(self, ask: Reset) -> Object:
        """Begin an episode; what it answers on the wire."""
        seed, options = what_to_play(ask)
        begun = await self._move(Restart(seed, options))
        if "fault" not in begun:
            self._episode_id = ask.episode_id or secrets.token_hex(16)
        return self._told(begun)

    async def act(self, message: str) -> Object:
        """Play one action; what it answers on the wire."""
        return self._told(await self._move(Play(as_action(message))))

    def look(self) -> Object:
        """What the last reset or action answered, again."""
        return self._told(self._last())

    @property
    def has_begun(self) -> bool:
        """Whether it was ever reset by who plays; it is in a state of nobody's choice before."""
        return self.session.seq > 0

    def state(self) -> Object:
        """How far the episode is."""
        info = self._last()["info"] if self.has_begun else {}
        return {
            "episode_id": self._episode_id,
            "step_count": len(self.session.actions),
            "env_id": self.session.env,
            "task_id": info.get("task_id"),
            "state_key": info.get("state_key"),
        }

    def leave(self) -> None:
        """End the session."""
        self._table.drop(self.session)

    def _last(self) -> Object:
        last: Object = msgspec.json.decode(self.session.answer)
        return last

    def _told(self, answer: Object) -> Object:
        if "fault" in answer:
            metadata: Object = {"fault": answer["fault"]}
            reward, done = None, False
            message = self._last()["observation"]
        else:
            ends = {name: answer.get(name, False) for name in ("terminated", "truncated")}
            metadata = {**ends, **answer["info"]}
            reward, done = answer.get("reward"), any(ends.values())
            message = answer["observation"]
        return {
            # Older clients read the one inside, newer ones the one outside.
            "observation": {"metadata": metadata, "message": message},
            "reward": reward,
            "done": done,
            "metadata": metadata,
        }

    async def _move(self, move: Move) -> Object:
        async with self._turn:
            session = self._table.find(self._owner, self.session.id)
            seq = session.seq + 1
            answer = await wait(lambda reply: self._table.move(session, seq, move, reply))
        found: Object = msgspec.json.decode(answer)
        return found


async def begin(table: Table, owner: str, env: str, ask: Reset) -> Session:
    """A new session of `env`, which plays what `ask` says. Raises Refusal."""
    seed, options = what_to_play(ask)
    body = CreateBody(env=env, seed=seed, options=options)
    answer = await wait(lambda reply: table.create(owner, body, reply))
    (begun,) = msgspec.json.decode(answer)["sessions"]
    return table.find(owner, begun["session"])


def what_to_play(ask: Reset) -> tuple[int | None, dict[str, Any]]:
    """Seed and options of a reset."""
    chosen = {"split": ask.split, "difficulty": ask.difficulty}
    options = {name: value for name, value in chosen.items() if value is not None}
    return ask.index if ask.seed is None else ask.seed, options


async def wait(start: Callable[[Reply], None]) -> bytes:
    """What the table answers. Raises Refusal."""
    future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def reply(answer: bytes | Refusal, again: bool) -> None:
        if future.done():  # nobody waits any more
            return
        if isinstance(answer, Refusal):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    start(reply)
    return await future
