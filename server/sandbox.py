"""The routes that run programs, there only when the service was started with `--sandbox`."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response

from verigym.sandbox import wire
from verigym.sandbox.session import SandboxSession
from verigym.server import openapi
from verigym.server.body import read
from verigym.server.presence import watched
from verigym.server.programs import ProgramService, refusing
from verigym.server.settings import ServerSettings

_job_decoder = msgspec.json.Decoder(wire.JobBody)
_session_decoder = msgspec.json.Decoder(wire.SessionBody)
_cell_decoder = msgspec.json.Decoder(wire.CellBody)
_file_decoder = msgspec.json.Decoder(wire.FileBody)


def install(app: FastAPI, settings: ServerSettings) -> None:
    """Add the routes; the application's state has `programs` while it runs."""

    def programs() -> ProgramService:
        found: ProgramService = app.state.programs
        return found

    def owner(request: Request) -> str:
        name: str = request.state.caller.name
        return name

    async def body(request: Request, decoder: msgspec.json.Decoder[Any]) -> Any:
        return await read(request, decoder, settings, settings.sandbox_body_bytes)

    @app.get("/v1/sandbox", summary="What programs may be run here", openapi_extra=openapi.SANDBOX)
    async def card() -> Response:
        return _json(programs().card())

    @app.post("/v1/sandbox/run", summary="Run a program", openapi_extra=openapi.RUN)
    async def run(request: Request) -> Response:
        ask: wire.JobBody = await body(request, _job_decoder)
        programs().checked(ask.limits)
        with refusing():
            job = ask.to_job()
        async with watched(request) as gone:
            return _sent(await programs().run(owner(request), job, ask.id, gone))

    @app.delete("/v1/sandbox/jobs/{id}", summary="Kill a program", openapi_extra=openapi.CANCEL)
    async def cancel(request: Request, id: str) -> Response:
        await programs().cancel(owner(request), id)
        return _json({})

    @app.post("/v1/sandbox/sessions", summary="Start a session", openapi_extra=openapi.START)
    async def start(request: Request) -> Response:
        ask: wire.SessionBody = await body(request, _session_decoder)
        async with watched(request) as gone:
            return _json(await programs().start(owner(request), ask, gone))

    @app.post(
        "/v1/sandbox/sessions/{id}/run",
        summary="Run a cell in a session",
        openapi_extra=openapi.CELL,
    )
    async def cell(request: Request, id: str) -> Response:
        ask: wire.CellBody = await body(request, _cell_decoder)
        with refusing("$.code"):
            code = wire.to_text(ask.code)

        def call(session: SandboxSession) -> bytes:
            result = session.run(code, wall_s=ask.wall_s)
            answer = wire.CellResult(result=wire.result_body(result), alive=session.alive)
            return msgspec.json.encode(answer)

        async with watched(request) as gone:
            using = programs().use(owner(request), id, gone, call, lambda one: one.interrupt())
            return _sent(await using)

    @app.post(
        "/v1/sandbox/sessions/{id}/files",
        summary="Read or write a file of a session",
        openapi_extra=openapi.FILE,
    )
    async def file(request: Request, id: str) -> Response:
        ask: wire.FileBody = await body(request, _file_decoder)

        def call(session: SandboxSession) -> bytes:
            if ask.data is None:
                return msgspec.json.encode(wire.blob(session.get(ask.name)))
            session.put(ask.name, ask.data.to_bytes())
            return b'{"text":""}'

        async with watched(request) as gone:
            return _sent(await programs().use(owner(request), id, gone, call))

    @app.post(
        "/v1/sandbox/sessions/{id}/interrupt",
        summary="Stop the cell that a session runs",
        openapi_extra=openapi.INTERRUPT,
    )
    async def interrupt(request: Request, id: str) -> Response:
        await programs().interrupt(owner(request), id)
        return _json({})

    @app.delete("/v1/sandbox/sessions/{id}", summary="Close a session", openapi_extra=openapi.CLOSE)
    async def close(request: Request, id: str) -> Response:
        await asyncio.shield(programs().drop(owner(request), id))
        return _json({})


def _json(value: Any) -> Response:
    return _sent(msgspec.json.encode(value))


def _sent(data: bytes) -> Response:
    return Response(data, media_type="application/json")
