"""Sessions of the Open Reward Standard: what a client's calls play, and the events that answer them."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import FastAPI, Request
from pydantic import BaseModel, Field

from verigym.server.keys import Caller
from verigym.server.openenv.seat import Seat, begin
from verigym.server.openenv.types import Reset
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings

ACT = "act"
"""Name of the one tool of every environment."""
_PING_S = 10.0
"""Seconds between signs of life in a stream; the client gives up after 30 without one."""


class Create(BaseModel):
    """Body of `/create`: a task by split and index, or as the server gave it."""

    env_name: str | None = None
    split: str | None = None
    index: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    task_spec: dict[str, Any] | None = None


class Call(BaseModel):
    """Body of a call of a tool; `task_id` resumes the stream of an earlier one."""

    name: str
    input: dict[str, Any] = {}
    task_id: str | None = None


@dataclass
class _Played:
    """A session of a client: its seat, the last answer by the id of its stream, and whether it has ended."""

    seat: Seat
    env: str
    finished: bool = False
    last: tuple[str, str] = ("", "")
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Standard:
    """The sessions of all callers, by caller and session id."""

    def __init__(self, app: FastAPI, settings: ServerSettings) -> None:
        self._app = app
        self._played: dict[tuple[str, str], _Played] = {}
        self._names = {short_name(env): env for env in settings.env_ids()}

    def names(self) -> list[str]:
        """Return the names of the environments."""
        return sorted(self._names)

    def env(self, name: str) -> str:
        """Return an environment's id. Raises Refusal."""
        try:
            return self._names[name.lower()]
        except KeyError:
            raise Refusal(
                404, "unknown_environment", f"no environment {name!r} is served"
            ) from None

    def name(self, request: Request) -> str:
        """Return the name in the path, else in `X-Deployment`, else the only one. Raises Refusal."""
        if (given := request.path_params.get("name")) is not None:
            return str(given)
        deployment = request.headers.get("x-deployment", "").rpartition("/")[2]
        if deployment.lower() in self._names:
            return deployment
        if len(self._names) == 1:
            return next(iter(self._names))
        raise Refusal(
            404,
            "no_environment",
            f"{len(self._names)} environments are served, so name one of /list_environments; "
            f"got {deployment!r}",
        )

    async def create(self, caller: Caller, session: str, name: str, ask: Create) -> None:
        """Begin the task that `ask` names under the client's session id. Raises Refusal."""
        self._forget_ended()
        if (caller.name, session) in self._played:
            raise Refusal(400, "session_exists", "Session already exists")
        env = self.env(name)
        chosen = ask.task_spec or {"split": ask.split, "seed": ask.index}
        if not isinstance(chosen.get("seed"), int):
            raise Refusal(
                400, "no_task", "name the task by split and index, or by a task_spec of this server"
            )
        reset = Reset(
            seed=chosen["seed"], split=chosen.get("split"), difficulty=chosen.get("difficulty")
        )
        begun = await begin(self._app.state.sessions, caller.name, env, reset)
        seat = Seat(self._app.state.sessions, begun)
        self._played[caller.name, session] = _Played(seat, env)

    def find(self, caller: Caller, session: str) -> _Played:
        """Return a session of the caller. Raises Refusal."""
        try:
            return self._played[caller.name, session]
        except KeyError:
            raise Refusal(404, "unknown_session", "Active environment not found") from None

    def delete(self, caller: Caller, session: str) -> None:
        """End a session; unknown ones are ignored."""
        if (played := self._played.pop((caller.name, session), None)) is not None:
            played.seat.leave()

    def _forget_ended(self) -> None:
        table = self._app.state.sessions
        for key, played in list(self._played.items()):
            try:
                table.find(key[0], played.seat.session.id)
            except Refusal:
                del self._played[key]


def short_name(env: str) -> str:
    """Return the name of an environment in one part of a path: `games-keydoor-v0`."""
    return env.removeprefix("verigym/").replace("/", "-").lower()


async def answer(played: _Played, ask: Call) -> AsyncIterator[str]:
    """Yield the events of one call; a call that is resumed by its id is not played again."""
    stream = ask.task_id or secrets.token_hex(16)
    yield event("task_id", stream)
    work = asyncio.ensure_future(_play(played, ask, stream))
    while not (await asyncio.wait({work}, timeout=_PING_S))[0]:
        yield ": ping\n\n"
    try:
        yield event("end", work.result())
    except Refusal as refusal:
        yield event("error", refusal.message)


async def _play(played: _Played, ask: Call, stream: str) -> str:
    async with played.turn:
        if played.last[0] == stream:
            return played.last[1]
        action = ask.input.get("action")
        if played.finished:
            found = _refused("episode_finished", "the episode has ended")
        elif ask.name != ACT:
            found = _refused("not_found", f"no tool {ask.name!r}; there is {ACT!r}")
        elif not isinstance(action, str) or len(ask.input) != 1:
            found = _refused("input_validation", 'the input is {"action": text}')
        else:
            found = await _moved(played, action)
        text = json.dumps(found)
        played.last = (stream, text)
        return text


async def _moved(played: _Played, action: str) -> Mapping[str, Any]:
    moved = await played.seat.act(action)
    if (fault := moved["metadata"].get("fault")) is not None:
        raise Refusal(
            503, "fault", f"no score: {json.dumps(fault)}; nothing has changed, call again"
        )
    played.finished = moved["done"]
    output = {
        "blocks": [text_block(moved["observation"]["message"])],
        "metadata": moved["metadata"],
        "reward": moved["reward"],
        "finished": played.finished,
    }
    return {"ok": True, "output": output}


def _refused(reason: str, error: str) -> Mapping[str, Any]:
    return {"ok": False, "error": error, "reason": reason}


def text_block(text: str) -> Mapping[str, Any]:
    """Return text as a block of the standard."""
    return {"text": text, "detail": None, "type": "text"}


def event(name: str, data: str) -> str:
    """Return a server-sent event."""
    lines = "".join(f"data: {line}\n" for line in data.split("\n"))
    return f"event: {name}\n{lines}\n"
