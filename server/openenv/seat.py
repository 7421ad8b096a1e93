"""One OpenEnv session: a session of the table, played in OpenEnv's format.

OpenEnv has fields for `reward` and `done`. `metadata` holds the rest: `terminated` and `truncated`, the
environment's `info`, and `fault` if nothing happened; the reward is then null, never 0 (law 1), and the
same action may be sent again.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

import msgspec

from verigym.server.envs.session import EnvSession, Move, Reply, Restart, SessionStep
from verigym.server.envs.table import SessionTable
from verigym.server.envs.wire import CreateBody, as_action
from verigym.server.openenv.plain_steps import observe
from verigym.server.openenv.types import Object, Reset
from verigym.server.refusals import Refusal


class Seat:
    """A player of a session; the table carries out its moves one at a time, in their order.

    The methods raise Refusal if a request cannot be served.
    """

    def __init__(self, table: SessionTable, session: EnvSession) -> None:
        self.session = session
        self._table = table
        self.plays_plainly = False
        """True if the last action came as a plain step."""
        self._episode_id: str | None = None

    async def reset(self, ask: Reset) -> Object:
        """Begin an episode; return the answer to send."""
        seed, options = what_to_play(ask)
        begun = await self._move(Restart(seed, options))
        if _fault_of(begun) is None:
            self._episode_id = ask.episode_id or secrets.token_hex(16)
        return self.read(begun)

    async def act(self, message: str) -> Object:
        """Play one action; return the answer to send."""
        return self.read(await self._move(SessionStep(as_action(message))))

    def read(self, answer: bytes) -> Object:
        """Return the answer to send for the table's answer to a move."""
        fault = _fault_of(answer)
        if fault is None:
            seen: Object = msgspec.json.decode(observe(answer))
            return seen
        metadata: Object = {"fault": fault}
        return {
            "observation": {"metadata": metadata, "message": self._last()["observation"]},
            "reward": None,
            "done": False,
            "metadata": metadata,
        }

    def look(self) -> Object:
        """Return the answer of the last reset or action again."""
        return self.read(self.session.answer)

    @property
    def has_begun(self) -> bool:
        """True once the client has reset the session; before that, its state is arbitrary."""
        return self.session.seq > 0

    def state(self) -> Object:
        """Return the progress of the episode."""
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

    async def _move(self, move: Move) -> bytes:
        session = self._table.find(self.session.owner, self.session.id)
        return await wait(lambda reply: self._table.move(session, None, move, reply))


class _MaybeFault(msgspec.Struct):
    fault: Object | None = None


def _fault_of(answer: bytes) -> Object | None:
    """Return the fault that the table's answer to a move reports; None if it reports none."""
    return msgspec.json.decode(answer, type=_MaybeFault).fault


async def begin(table: SessionTable, owner: str, env: str, ask: Reset) -> EnvSession:
    """Create a session of `env` that plays the task of `ask`. Raises Refusal."""
    seed, options = what_to_play(ask)
    body = CreateBody(env=env, seed=seed, options=options)
    answer = await wait(lambda reply: table.create(owner, body, reply))
    (begun,) = msgspec.json.decode(answer)["sessions"]
    return table.find(owner, begun["session"])


def what_to_play(ask: Reset) -> tuple[int | None, dict[str, Any]]:
    """Return seed and options of a reset."""
    chosen = {"split": ask.split, "difficulty": ask.difficulty}
    options = {name: value for name, value in chosen.items() if value is not None}
    return ask.index if ask.seed is None else ask.seed, options


async def wait(start: Callable[[Reply], None]) -> bytes:
    """Wait for the table's answer and return it. Raises Refusal."""
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
