"""The routes of the Open Reward Standard, at the root, as its clients expect them.

An environment is named by its id with hyphens: `games-keydoor-v0`. It has one tool, `act`, which plays an action. A
fault of a verifier is sent as an error, never as reward 0; the same call may then be made again.
Source: the server of openreward 0.1.167, read and tried.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import StreamingResponse

from verigym.server.body import receive
from verigym.server.envs.catalogue import MOST_TASKS, Catalogue
from verigym.server.keys import Caller
from verigym.server.openenv import rpc
from verigym.server.openenv.seat import Seat, begin
from verigym.server.openenv.types import Reset
from verigym.server.refusals import Refusal
from verigym.server.settings import Settings
from verigym.task import SPLITS

TASKS = range(2**31)
"""Indices of tasks: the seeds that an unseeded reset draws from."""
ACT = "act"
_PREVIEW = 100
_PING_S = 10.0
"""Seconds between signs of life in a stream; the client gives up after 30 without one."""


class _Split(BaseModel):
    split: str


class _Index(_Split):
    index: int


class _Range(_Split):
    start: int | None = None
    stop: int | None = None


class _Create(BaseModel):
    env_name: str | None = None
    split: str | None = None
    index: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    task_spec: dict[str, Any] | None = None


class _Call(BaseModel):
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

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        self._app = app
        self._settings = settings
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

    async def create(self, caller: Caller, session: str, ask: _Create) -> None:
        """Begin the task that `ask` names under the client's session id. Raises Refusal."""
        self._forget_ended()
        if (caller.name, session) in self._played:
            raise Refusal(400, "session_exists", "Session already exists")
        env = self.env(ask.env_name or next(iter(self.names())))
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


def install(app: FastAPI, settings: Settings) -> None:
    """Add the routes, which work within `envs.routes.sessions`."""
    standard = Standard(app, settings)

    def add(method: str, path: str, handler: Any) -> None:
        async def endpoint(request: Request) -> Response:
            try:
                found = await handler(request)
            except ValidationError as error:
                return _json({"detail": json.loads(error.json(include_url=False))}, 422)
            except Refusal as refusal:
                return _json({"detail": refusal.message}, refusal.status)
            return found if isinstance(found, Response) else _json(found)

        app.add_api_route(path, endpoint, methods=[method], include_in_schema=False)

    async def body(request: Request, model: type[BaseModel]) -> Any:
        try:
            said = rpc.load(await receive(request, settings), settings.max_depth)
        except ValueError as error:
            raise Refusal(422, "json_invalid", f"JSON decode error: {error}") from error
        return model.model_validate(said)

    async def health(request: Request) -> Any:
        return {"status": "ok"}

    async def names(request: Request) -> Any:
        return standard.names()

    async def tools(request: Request) -> Any:
        standard.env(request.path_params["name"])
        return {"tools": [_TOOL]}

    async def splits(request: Request) -> Any:
        standard.env(request.path_params["name"])
        return [{"name": split, "type": split} for split in SPLITS]

    async def public(request: Request, split: str, seeds: range) -> list[Any]:
        env = standard.env(request.path_params["name"])
        if split not in SPLITS:
            raise Refusal(400, "unknown_split", "Invalid split")
        if not seeds:
            return []
        catalogue: Catalogue = app.state.catalogue
        asked = {"split": split, "seeds": ",".join(map(str, seeds))}
        return list(json.loads(await catalogue.tasks(env, asked))["tasks"])

    async def tasks(request: Request) -> Any:
        ask = await body(request, _Split)
        found = await public(request, ask.split, TASKS[:_PREVIEW])
        return {"tasks": found, "env_name": request.path_params["name"]}

    async def num_tasks(request: Request) -> Any:
        ask = await body(request, _Split)
        await public(request, ask.split, TASKS[:0])
        return {"num_tasks": len(TASKS)}

    async def task(request: Request) -> Any:
        ask = await body(request, _Index)
        if ask.index not in TASKS:
            raise Refusal(400, "unknown_task", "Invalid index")
        (found,) = await public(request, ask.split, TASKS[ask.index : ask.index + 1])
        return {"task": found, "env_name": request.path_params["name"]}

    async def task_range(request: Request) -> Any:
        ask = await body(request, _Range)
        seeds = TASKS[ask.start : ask.stop]
        if len(seeds) > MOST_TASKS:
            raise Refusal(400, "too_many", f"a range holds at most {MOST_TASKS} tasks")
        found = await public(request, ask.split, seeds)
        return {"tasks": found, "env_name": request.path_params["name"]}

    async def create_session(request: Request) -> Any:
        return _stream(_said(("task_id", secrets.token_hex(16)), ("end", "")))

    async def create(request: Request) -> Any:
        session = _session(request)
        await standard.create(_caller(request), session, await body(request, _Create))
        return {"sid": session}

    async def ping(request: Request) -> Any:
        standard.find(_caller(request), _session(request))
        return {"status": "ok"}

    async def delete(request: Request) -> Any:
        standard.delete(_caller(request), _session(request))
        return {"sid": _session(request)}

    async def prompt(request: Request) -> Any:
        played = standard.find(_caller(request), _session(request))
        return [_text(played.seat.look()["observation"]["message"])]

    async def task_tools(request: Request) -> Any:
        standard.find(_caller(request), _session(request))
        return {"tools": [_TOOL]}

    async def call(request: Request) -> Any:
        played = standard.find(_caller(request), _session(request))
        return _stream(_answer(played, await body(request, _Call)))

    for path, handler in {
        "/health": health,
        "/list_environments": names,
        "/{name}/tools": tools,
        "/{name}/splits": splits,
        "/{name}/prompt": prompt,
        "/{name}/task_tools": task_tools,
    }.items():
        add("GET", path, handler)
    for path, handler in {
        "/{name}/tasks": tasks,
        "/{name}/num_tasks": num_tasks,
        "/{name}/task": task,
        "/{name}/task_range": task_range,
        "/create_session": create_session,
        "/create": create,
        "/ping": ping,
        "/delete": delete,
        "/delete_session": delete,
        "/{name}/call": call,
    }.items():
        add("POST", path, handler)


_TOOL = {
    "name": ACT,
    "description": "Play one action in the environment: the whole reply, as the prompt asks for it.",
    "input_schema": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "description": "The action, or the whole reply."}
        },
        "required": ["action"],
    },
}


async def _answer(played: _Played, ask: _Call) -> AsyncIterator[str]:
    """Yield the events of one call; a call that is resumed by its id is not played again."""
    stream = ask.task_id or secrets.token_hex(16)
    yield _event("task_id", stream)
    work = asyncio.ensure_future(_play(played, ask, stream))
    while not (await asyncio.wait({work}, timeout=_PING_S))[0]:
        yield ": ping\n\n"
    try:
        yield _event("end", work.result())
    except Refusal as refusal:
        yield _event("error", refusal.message)


async def _play(played: _Played, ask: _Call, stream: str) -> str:
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
    answer = await played.seat.act(action)
    if (fault := answer["metadata"].get("fault")) is not None:
        raise Refusal(
            503, "fault", f"no score: {json.dumps(fault)}; nothing has changed, call again"
        )
    played.finished = answer["done"]
    output = {
        "blocks": [_text(answer["observation"]["message"])],
        "metadata": answer["metadata"],
        "reward": answer["reward"],
        "finished": played.finished,
    }
    return {"ok": True, "output": output}


def _refused(reason: str, error: str) -> Mapping[str, Any]:
    return {"ok": False, "error": error, "reason": reason}


def _text(text: str) -> Mapping[str, Any]:
    return {"text": text, "detail": None, "type": "text"}


def _caller(request: Request) -> Caller:
    caller: Caller = request.scope["state"]["caller"]
    return caller


def _session(request: Request) -> str:
    session = request.headers.get("x-session-id", "").strip()
    if not 0 < len(session) <= 128:
        raise Refusal(400, "no_session", "X-Session-ID header is required")
    return session


async def _said(*events: tuple[str, str]) -> AsyncIterator[str]:
    for name, data in events:
        yield _event(name, data)


def _event(name: str, data: str) -> str:
    lines = "".join(f"data: {line}\n" for line in data.split("\n"))
    return f"event: {name}\n{lines}\n"


def _stream(events: AsyncIterator[str]) -> Response:
    return StreamingResponse(
        events, media_type="text/event-stream", headers={"Cache-Control": "no-cache"}
    )


def _json(value: Any, status: int = 200) -> Response:
    return Response(rpc.dump(value), status, media_type="application/json")
