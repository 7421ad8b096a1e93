"""The routes of the Open Reward Standard, at the root, as its clients expect them.

An environment is named by its id with hyphens: `games-keydoor-v0`. A path without a name is that of the environment in
`X-Deployment`, or of the only one. It has one tool, `act`, which plays an action. A fault of a verifier is sent as an
error, never as reward 0; the same call may then be made again.
Source: the server of openreward 0.1.167, read and tried.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ValidationError
from starlette.responses import StreamingResponse

from verigym.server.body import receive
from verigym.server.envs.catalogue import MOST_TASKS, Catalogue
from verigym.server.keys import Caller
from verigym.server.openenv import rpc
from verigym.server.ors.sessions import ACT, Call, Create, Standard, answer, event, text_block
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings
from verigym.task import SPLITS

TASKS = range(2**31)
"""Indices of tasks: the seeds that an unseeded reset draws from."""
_PREVIEW = 100


class _Split(BaseModel):
    split: str


class _Index(_Split):
    index: int


class _Range(_Split):
    start: int | None = None
    stop: int | None = None


def install(app: FastAPI, settings: ServerSettings) -> None:
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
        standard.env(standard.name(request))
        return {"tools": [_TOOL]}

    async def splits(request: Request) -> Any:
        standard.env(standard.name(request))
        return [{"name": split, "type": split} for split in SPLITS]

    async def public(request: Request, split: str, seeds: range) -> list[Any]:
        env = standard.env(standard.name(request))
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
        return {"tasks": found, "env_name": standard.name(request)}

    async def num_tasks(request: Request) -> Any:
        ask = await body(request, _Split)
        await public(request, ask.split, TASKS[:0])
        return {"num_tasks": len(TASKS)}

    async def task(request: Request) -> Any:
        ask = await body(request, _Index)
        if ask.index not in TASKS:
            raise Refusal(400, "unknown_task", "Invalid index")
        (found,) = await public(request, ask.split, TASKS[ask.index : ask.index + 1])
        return {"task": found, "env_name": standard.name(request)}

    async def task_range(request: Request) -> Any:
        ask = await body(request, _Range)
        seeds = TASKS[ask.start : ask.stop]
        if len(seeds) > MOST_TASKS:
            raise Refusal(400, "too_many", f"a range holds at most {MOST_TASKS} tasks")
        found = await public(request, ask.split, seeds)
        return {"tasks": found, "env_name": standard.name(request)}

    async def create_session(request: Request) -> Any:
        return _stream(_said(("task_id", secrets.token_hex(16)), ("end", "")))

    async def create(request: Request) -> Any:
        session, ask = _session(request), await body(request, Create)
        name = ask.env_name or standard.name(request)
        await standard.create(_caller(request), session, name, ask)
        return {"sid": session}

    async def ping(request: Request) -> Any:
        standard.find(_caller(request), _session(request))
        return {"status": "ok"}

    async def delete(request: Request) -> Any:
        standard.delete(_caller(request), _session(request))
        return {"sid": _session(request)}

    async def prompt(request: Request) -> Any:
        played = standard.find(_caller(request), _session(request))
        return [text_block(played.seat.look()["observation"]["message"])]

    async def task_tools(request: Request) -> Any:
        standard.find(_caller(request), _session(request))
        return {"tools": [_TOOL]}

    async def call(request: Request) -> Any:
        played = standard.find(_caller(request), _session(request))
        return _stream(answer(played, await body(request, Call)))

    of_all = {
        "GET": {"/health": health, "/list_environments": names},
        "POST": {
            "/create_session": create_session,
            "/create": create,
            "/ping": ping,
            "/delete": delete,
            "/delete_session": delete,
        },
    }
    of_one = {
        "GET": {"/tools": tools, "/splits": splits, "/prompt": prompt, "/task_tools": task_tools},
        "POST": {
            "/tasks": tasks,
            "/num_tasks": num_tasks,
            "/task": task,
            "/task_range": task_range,
            "/call": call,
        },
    }
    for method in ("GET", "POST"):
        for path, handler in of_all[method].items():
            add(method, path, handler)
        for path, handler in of_one[method].items():
            add(method, f"/{{name}}{path}", handler)
            add(method, path, handler)


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
        yield event(name, data)


def _stream(events: AsyncIterator[str]) -> Response:
    return StreamingResponse(
        events, media_type="text/event-stream", headers={"Cache-Control": "no-cache"}
    )


def _json(value: Any, status: int = 200) -> Response:
    return Response(rpc.dump(value), status, media_type="application/json")
