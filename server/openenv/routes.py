"""The routes of OpenEnv: for each environment below `/openenv/{id}`, for one at the root, too."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ValidationError
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from verigym import __version__
from verigym.errors import ConfigError
from verigym.registry import resolve
from verigym.server.body import receive
from verigym.server.envs.catalogue import MOST_TASKS, Catalogue
from verigym.server.openenv import rpc, sockets
from verigym.server.openenv.rooms import Room, Shared
from verigym.server.openenv.types import (
    Action,
    Observation,
    Reset,
    Split,
    State,
    StepRequest,
    TaskIndex,
    TaskRange,
    errors_of,
)
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings
from verigym.task import SPLITS

TASKS = range(2**31)
"""Indices of the task API: the seeds that an unseeded reset draws from."""
_PREVIEW = 100

Model = TypeVar("Model", bound=BaseModel)
Handler = Callable[[Room, Request], Awaitable[Any]]


class _Detail(Exception):
    """An answer as FastAPI gives it, which OpenEnv's server is made with."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def install(app: FastAPI, settings: ServerSettings) -> None:
    """Add the routes, which work within `envs.routes.sessions`. Raises RequestError."""
    shared = Shared()
    if settings.openenv is not None and resolve(settings.openenv) not in settings.env_ids():
        raise ConfigError(f"openenv is {settings.openenv!r}, which is not served; see envs")
    handlers: dict[tuple[str, str], Handler] = {
        ("POST", "/reset"): _reset,
        ("POST", "/step"): _step,
        ("GET", "/state"): _state,
        ("GET", "/health"): _health,
        ("GET", "/metadata"): _metadata,
        ("GET", "/schema"): _schema,
        ("POST", "/mcp"): _mcp,
        ("GET", "/list_environments"): _names,
        ("GET", "/{name}/splits"): _splits,
        ("POST", "/{name}/tasks"): _tasks,
        ("POST", "/{name}/num_tasks"): _num_tasks,
        ("POST", "/{name}/task"): _task,
        ("POST", "/{name}/task_range"): _task_range,
    }
    places: list[tuple[str, str | None]] = [("/openenv/{env:path}", None)]
    if settings.openenv is not None:
        places.append(("", settings.openenv))

    for prefix, fixed in places:

        def room_of(scope: Mapping[str, Any], fixed: str | None = fixed) -> Room:
            table = app.state.sessions
            env = table.env_id(fixed or scope["path_params"]["env"], "")
            caller = scope["state"]["caller"]
            return Room(env, caller, app.state.gate, table, settings, shared)

        for (method, path), handler in handlers.items():
            app.add_api_route(
                prefix + path,
                _endpoint(room_of, handler),
                methods=[method],
                include_in_schema=False,  # OpenEnv's own document describes them
            )
        for path, serve in (("/ws", sockets.play), ("/mcp", sockets.speak)):
            app.router.routes.append(WebSocketRoute(prefix + path, _opened(room_of, serve)))


def _endpoint(
    room_of: Callable[[Mapping[str, Any]], Room], handler: Handler
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            return _json(await handler(room_of(request.scope), request))
        except _Detail as wrong:
            return _json({"detail": wrong.detail}, wrong.status)
        except ValidationError as error:
            wrong_ = [{**one, "loc": ["body", *one["loc"]]} for one in errors_of(error)]
            return _json({"detail": wrong_}, 422)
        except Refusal as refusal:
            return _json({"detail": refusal.message}, refusal.status, refusal.headers)

    return endpoint


def _opened(
    room_of: Callable[[Mapping[str, Any]], Room],
    serve: Callable[[WebSocket, Room], Awaitable[None]],
) -> Callable[[WebSocket], Awaitable[None]]:
    async def opened(socket: WebSocket) -> None:
        try:
            room = room_of(socket.scope)
        except Refusal as refusal:
            await socket.send_denial_response(refusal.response())
            return
        await serve(socket, room)

    return opened


async def _reset(room: Room, request: Request) -> Any:
    ask = await _body(room, request, Reset, may_be_empty=True)
    seat = await room.take(ask)
    try:
        return seat.look()
    finally:
        seat.leave()


async def _step(room: Room, request: Request) -> Any:
    ask = await _body(room, request, StepRequest)
    try:
        action = Action.model_validate(ask.action)
    except ValidationError as error:
        raise _Detail(422, errors_of(error)) from None
    seat = await room.take(Reset.model_validate(ask.model_extra))
    try:
        return await seat.act(action.message)
    finally:
        seat.leave()


async def _state(room: Room, request: Request) -> Any:
    return State(env_id=room.env).model_dump()


async def _health(room: Room, request: Request) -> Any:
    return {"status": "healthy"}


async def _metadata(room: Room, request: Request) -> Any:
    catalogue: Catalogue = request.app.state.catalogue
    card = json.loads(await catalogue.one(room.env))
    return {
        "name": room.name,
        "description": card["about"] or room.env,
        "readme_content": None,
        "version": f"{card['version']} (verigym {__version__})",
        "author": None,
        "documentation_url": None,
    }


async def _schema(room: Room, request: Request) -> Any:
    seen = Observation.model_json_schema()
    return {
        "action": Action.model_json_schema(),
        "observation": seen,
        "reset_observation": seen,
        "state": State.model_json_schema(),
    }


async def _mcp(room: Room, request: Request) -> Any:
    try:
        said = rpc.load(await receive(request, room.settings), room.settings.max_depth)
    except ValueError:
        return rpc.unreadable("Parse error")
    return await rpc.answer(room, said)


async def _names(room: Room, request: Request) -> Any:
    return [room.name]


async def _splits(room: Room, request: Request) -> Any:
    _check_name(room, request)
    return [{"name": split, "type": split} for split in SPLITS]


async def _tasks(room: Room, request: Request) -> Any:
    _check_name(room, request)
    ask = await _body(room, request, Split)
    return {
        "tasks": await _public(room, request, ask.split, TASKS[:_PREVIEW]),
        "env_name": room.name,
    }


async def _num_tasks(room: Room, request: Request) -> Any:
    _check_name(room, request)
    _check_split((await _body(room, request, Split)).split)
    return {"num_tasks": len(TASKS)}


async def _task(room: Room, request: Request) -> Any:
    _check_name(room, request)
    ask = await _body(room, request, TaskIndex)
    if ask.index not in TASKS:
        raise _Detail(400, "Invalid task index")
    (task,) = await _public(room, request, ask.split, TASKS[ask.index : ask.index + 1])
    return {"task": task}


async def _task_range(room: Room, request: Request) -> Any:
    _check_name(room, request)
    ask = await _body(room, request, TaskRange)
    seeds = TASKS[ask.start : ask.stop]
    if len(seeds) > MOST_TASKS and ask.stop is not None:
        raise _Detail(400, f"A range holds at most {MOST_TASKS} tasks, got {len(seeds)}")
    return {"tasks": await _public(room, request, ask.split, seeds[:MOST_TASKS])}


async def _public(room: Room, request: Request, split: str, seeds: range) -> list[Any]:
    _check_split(split)
    if not seeds:
        return []
    catalogue: Catalogue = request.app.state.catalogue
    asked = {"split": split, "seeds": ",".join(map(str, seeds))}
    found = json.loads(await catalogue.tasks(room.env, asked))
    return [{**task, "index": task["seed"]} for task in found["tasks"]]


def _check_split(split: str) -> None:
    if split not in SPLITS:
        raise _Detail(400, f"Unknown split; known: {', '.join(SPLITS)}")


def _check_name(room: Room, request: Request) -> None:
    if request.path_params["name"].lower() != room.name.lower():
        raise _Detail(404, f"unknown environment {request.path_params['name']!r}")


async def _body(
    room: Room, request: Request, model: type[Model], *, may_be_empty: bool = False
) -> Model:
    if may_be_empty and request.headers.get("content-length", "0") == "0":
        return model()
    data = await receive(request, room.settings)
    if not data and may_be_empty:
        return model()
    try:
        said = rpc.load(data, room.settings.max_depth)
    except ValueError as error:
        wrong = {"type": "json_invalid", "loc": ["body"], "msg": f"JSON decode error: {error}"}
        raise _Detail(422, [wrong]) from None
    return model.model_validate(said)


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(rpc.dump(value), status, headers, media_type="application/json")
