"""Catalogue of the environments and their tasks, as the hosts report them; never a hidden reference."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping

import msgspec

from verigym.server.envs.hosts import Write
from verigym.server.envs.messages import (
    Answer,
    DescribeEnv,
    Done,
    Invalid,
    ListTasks,
    RequestFailed,
)
from verigym.server.envs.table import SessionTable
from verigym.server.refusals import Refusal

_log = logging.getLogger(__name__)

MOST_TASKS = 256
_SEEDS = re.compile(r"\d{1,18}(,\d{1,18})*", re.ASCII)
_ASKED = ("split", "difficulty", "seeds")


class Card(msgspec.Struct, kw_only=True):
    """An environment. `max_turns` is the most that a task of it gives, `params` are arguments that
    a session may be made with and their defaults; `about` is a line for people. `levels` are all
    difficulties, as tasks write them, with their numbers."""

    id: str
    version: int
    family: str
    max_turns: int
    difficulties: list[str]
    levels: dict[str, int]
    splits: list[str]
    verifier: str
    about: str
    max_action_chars: int
    max_observation_chars: int
    params: dict[str, str | int | float | bool | None]


class Catalogue:
    """Asks the hosts once, and remembers. On the event loop."""

    def __init__(self, table: SessionTable) -> None:
        self._table = table
        self._cards: dict[str, bytes] = {}

    async def all(self) -> bytes:
        """Return the answer of GET /v1/envs. A broken environment is left out and logged."""
        found = await asyncio.gather(*map(self._card, self._table.names), return_exceptions=True)
        cards = []
        for card in found:
            if isinstance(card, bytes):
                cards.append(card)
            elif not isinstance(card, Refusal):
                raise card
        return b'{"envs":[%s]}' % b",".join(cards)

    async def one(self, name: str) -> bytes:
        """Return the card of one environment. Raises Refusal."""
        return await self._card(self._table.env_id(name, ""))

    async def tasks(self, name: str, query: Mapping[str, str]) -> bytes:
        """Return the answer of GET /v1/envs/{id}/tasks. Raises Refusal."""
        env = self._table.env_id(name, "")
        for asked in query:
            if asked not in _ASKED:
                message = f"the query may hold {', '.join(_ASKED)}"
                raise Refusal(422, "invalid_request", message, "query")
        text = query.get("seeds", "0")
        if not _SEEDS.fullmatch(text):
            message = "seeds are numbers from 0 with commas between, such as 0,1,2"
            raise Refusal(422, "invalid_request", message, "seeds")
        seeds = [int(seed) for seed in text.split(",")]
        if len(seeds) > MOST_TASKS:
            message = f"at most {MOST_TASKS} seeds at once, got {len(seeds)}"
            raise Refusal(422, "invalid_request", message, "seeds")
        split, difficulty = query.get("split"), query.get("difficulty")
        return await self._ask(
            env, lambda number, host: ListTasks(number, env, split, difficulty, seeds)
        )

    async def _card(self, env: str) -> bytes:
        if env not in self._cards:
            self._cards[env] = await self._ask(env, lambda number, host: DescribeEnv(number, env))
        return self._cards[env]

    async def _ask(self, env: str, write: Write) -> bytes:
        future: asyncio.Future[Answer] = asyncio.Future()

        def then(answer: Answer) -> None:
            if not future.done():
                future.set_result(answer)

        self._table.hosts.send(write, then)
        answer = await future
        match answer:
            case Done():
                return answer.body
            case Invalid():
                raise Refusal(422, "invalid_request", answer.message, answer.where)
            case RequestFailed():
                _log.warning("%s: %s: %s", env, answer.reason, answer.detail)
        raise Refusal(503, "env_fault", "the environment does not work; the log says why")
