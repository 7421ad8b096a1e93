"""The routes of environments and sessions; see docs/server-envs.md."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
from fastapi import FastAPI, Request, Response

from verigym.server.body import read
from verigym.server.envs import documents
from verigym.server.envs.catalogue import Catalogue
from verigym.server.envs.session import EnvSession, Restart, SessionStep
from verigym.server.envs.table import SessionTable
from verigym.server.envs.websocket import Endpoint
from verigym.server.envs.wire import CreateBody, ResetBody, StepBody, as_action
from verigym.server.limits import deadline_of
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings

_creates = msgspec.json.Decoder(CreateBody)
_steps = msgspec.json.Decoder(StepBody)
_resets = msgspec.json.Decoder(ResetBody)
_TIMEOUT = b'{"session":"%s","seq":%d,"fault":{"status":"timeout","reason":"deadline","digest":""}}'


@asynccontextmanager
async def sessions(
    app: FastAPI, settings: ServerSettings, n_callers: Callable[[], int]
) -> AsyncIterator[None]:
    """Give the application's state `sessions`, the table, and run its hosts, within the block."""
    table = SessionTable(settings, settings.env_ids(), n_callers)
    app.state.sessions = table
    app.state.catalogue = Catalogue(table)
    try:
        yield
    finally:
        await table.close()


def install(app: FastAPI, settings: ServerSettings) -> None:
    """Add the routes, which work within `sessions`."""

    def table() -> SessionTable:
        found: SessionTable = app.state.sessions
        return found

    def catalogue() -> Catalogue:
        found: Catalogue = app.state.catalogue
        return found

    def mine(request: Request, sid: str) -> EnvSession:
        return table().find(_owner(request), sid)

    async def move(
        request: Request, session: EnvSession, seq: int, what: SessionStep | Restart
    ) -> Response:
        answer = _Answer()
        table().move(session, seq, what, answer)
        left_s = deadline_of(request) - time.monotonic()
        try:
            async with asyncio.timeout(None if left_s == math.inf else left_s):
                body, again = await answer.future
        except TimeoutError:
            # It goes on, and who sends it again gets its answer.
            return _json(_TIMEOUT % (session.id.encode(), seq))
        return _json(body, headers={"Verigym-Replayed": "true"} if again else None)

    @app.get("/v1/envs", summary="The environments", openapi_extra=documents.ENVS)
    async def envs() -> Response:
        return _json(await catalogue().all())

    @app.get(
        "/v1/envs/{env:path}/tasks",
        summary="Tasks of an environment, without what is hidden",
        openapi_extra=documents.TASKS,
    )
    async def tasks(request: Request, env: str) -> Response:
        return _json(await catalogue().tasks(env, request.query_params))

    @app.get(
        "/v1/envs/{env:path}",
        summary="An environment with its parameters",
        openapi_extra=documents.ENV,
    )
    async def one(env: str) -> Response:
        return _json(await catalogue().one(env))

    @app.post(
        "/v1/sessions",
        summary="Begin sessions, all in the same state",
        openapi_extra=documents.CREATE,
        status_code=201,
    )
    async def create(request: Request) -> Response:
        ask = await read(request, _creates, settings)
        answer = _Answer()
        table().create(_owner(request), ask, answer)
        body, _ = await answer.future
        return _json(body, 201)

    @app.get("/v1/sessions", summary="The sessions of this key", openapi_extra=documents.SESSIONS)
    async def own(request: Request) -> Response:
        states = [table().state(session) for session in table().of(_owner(request))]
        return _json(b'{"sessions":[%s]}' % b",".join(states))

    @app.get("/v1/sessions/{sid}", summary="How far a session is", openapi_extra=documents.STATE)
    async def state(request: Request, sid: str) -> Response:
        return _json(table().state(mine(request, sid)))

    @app.delete(
        "/v1/sessions/{sid}",
        summary="End a session",
        openapi_extra=documents.CLOSE,
        status_code=204,
    )
    async def close(request: Request, sid: str) -> Response:
        table().drop(mine(request, sid))
        return Response(status_code=204)

    @app.post(
        "/v1/sessions/{sid}/renew",
        summary="Begin the lease of a session anew",
        openapi_extra=documents.RENEW,
    )
    async def renew(request: Request, sid: str) -> Response:
        session = mine(request, sid)
        table().renew(session)
        return _json(table().state(session))

    @app.post("/v1/sessions/{sid}/step", summary="Play one action", openapi_extra=documents.STEP)
    async def step(request: Request, sid: str) -> Response:
        ask = await read(request, _steps, settings)
        session = mine(request, sid)
        return await move(request, session, ask.seq, SessionStep(as_action(ask.action)))

    @app.post(
        "/v1/sessions/{sid}/reset",
        summary="Begin a task in a session",
        openapi_extra=documents.RESET,
    )
    async def reset(request: Request, sid: str) -> Response:
        ask = await read(request, _resets, settings)
        session = mine(request, sid)
        return await move(request, session, ask.seq, Restart(ask.seed, ask.options))

    app.router.routes.append(Endpoint(app, settings).route)


class _Answer:
    """A `Reply` that can be awaited."""

    def __init__(self) -> None:
        self.future: asyncio.Future[tuple[bytes, bool]] = asyncio.Future()

    def __call__(self, answer: bytes | Refusal, again: bool) -> None:
        if self.future.done():  # nobody waits any more
            return
        if isinstance(answer, Refusal):
            self.future.set_exception(answer)
        else:
            self.future.set_result((answer, again))


def _owner(request: Request) -> str:
    name: str = request.state.caller.name
    return name


def _json(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, headers, media_type="application/json")
