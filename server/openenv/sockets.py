"""The WebSockets of OpenEnv: `/ws`, and `/mcp` for JSON-RPC alone.

A socket has one session, which ends with it; or it is attached, by `?session_id=`, to one that
`openenv/session/create` made, which does not. Requests are carried out one after the other.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from verigym.server.openenv import rpc
from verigym.server.openenv.lending import SocketLender
from verigym.server.openenv.messages import error_message, send
from verigym.server.openenv.plain_steps import read_plain_step
from verigym.server.openenv.rooms import Room
from verigym.server.openenv.seat import Seat
from verigym.server.openenv.types import (
    Action,
    CallTool,
    CloseMessage,
    ListTools,
    McpMessage,
    Object,
    Reset,
    ResetMessage,
    StateMessage,
    StepMessage,
    errors_of,
)
from verigym.server.refusals import Refusal
from verigym.server.websockets import direct_of


class _Goodbye(Exception):
    """The client asked to close the socket."""


class _Unusable(Exception):
    """The socket has to be closed because of an unusable message."""


async def play(socket: WebSocket, room: Room) -> None:
    """Serve `/ws` until the client leaves."""

    def refuse(refusal: Refusal) -> Object:
        if refusal.status == 429:
            return error_message("CAPACITY_REACHED", refusal.message, **room.capacity())
        if refusal.code == "env_fault":
            return error_message("FACTORY_ERROR", refusal.message, factory_name=room.env)
        return error_message("SESSION_ERROR", refusal.message)

    def put_off(refusal: Refusal) -> Object:
        return error_message("EXECUTION_ERROR", refusal.message)

    await _serve(socket, room, _played, refuse, put_off, has_steps=True)


async def speak(socket: WebSocket, room: Room) -> None:
    """Serve `/mcp` until the client leaves."""

    async def heard(room: Room, seat: Seat, text: str) -> Object:
        try:
            said = rpc.load(text, room.settings.max_depth)
        except ValueError as error:
            return rpc.unreadable(f"Parse error: {error}")
        return await rpc.answer(room, said, seat)

    def refuse(refusal: Refusal) -> Object:
        return rpc.failed(refusal.message, room.capacity() if refusal.status == 429 else None)

    def put_off(refusal: Refusal) -> Object:
        return rpc.failed(refusal.message, None)

    await _serve(socket, room, heard, refuse, put_off)


async def _serve(
    socket: WebSocket,
    room: Room,
    hear: Callable[[Room, Seat, str], Awaitable[Object]],
    refuse: Callable[[Refusal], Object],
    put_off: Callable[[Refusal], Object],
    *,
    has_steps: bool = False,
) -> None:
    await socket.accept()
    direct = direct_of(socket.scope) if has_steps else None
    try:
        session = socket.query_params.get("session_id")
        async with (
            _seated(room, session) as seat,
            _kept(room, seat),
            SocketLender(socket, room, seat, direct) as lender,
        ):
            while True:
                message = await socket.receive()
                if message["type"] != "websocket.receive":
                    return
                await lender.back.wait()
                text = message.get("text")
                if text is None:
                    raise _Unusable("messages are text, which holds JSON")
                try:
                    room.gate.spend(room.caller)
                    with (
                        room.gate.working(room.caller),
                        room.gate.holding(room.caller) as held,
                    ):
                        held.take(len(text))
                        answer = await hear(room, seat, text)
                except Refusal as refusal:
                    answer = put_off(refusal)
                await send(socket, answer)
                if seat.plays_plainly:
                    lender.lend()
    except (_Goodbye, WebSocketDisconnect):
        pass
    except Refusal as refusal:
        await send(socket, refuse(refusal))
    except _Unusable as unusable:
        await send(socket, error_message("SESSION_ERROR", str(unusable)))
    if socket.application_state is WebSocketState.CONNECTED:
        # The client was faster.
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await socket.close()


@asynccontextmanager
async def _seated(room: Room, session: str | None) -> AsyncIterator[Seat]:
    """Yield a seat for the lifetime of the socket."""
    if not session:
        seat = await room.take()
        try:
            yield seat
        finally:
            seat.leave()
        return
    try:
        seat = room.seat(session)
    except Refusal:
        raise Refusal(404, "unknown_session", f"Unknown session_id: {session}") from None
    shared = room.shared
    if session in shared.attached:
        message = f"Session {session} already has an attached WebSocket"
        raise Refusal(409, "attached", message)
    shared.attached.add(session)
    try:
        yield seat
    finally:
        shared.attached.discard(session)
        if session in shared.to_end:
            shared.to_end.discard(session)
            seat.leave()


@asynccontextmanager
async def _kept(room: Room, seat: Seat) -> AsyncIterator[None]:
    """Keep the session's lease alive for the lifetime of the socket, however long the client takes."""

    async def keep() -> None:
        while True:
            room.table.renew(seat.session)
            await asyncio.sleep(room.settings.session_lease_s / 3)

    keeping = asyncio.create_task(keep())
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.wait({keeping})


async def _played(room: Room, seat: Seat, text: str) -> Object:
    action = read_plain_step(text.encode("utf-8", "surrogatepass"))
    if action is not None:
        seat.plays_plainly = True
        try:
            _check_begun(seat)
            return {"type": "observation", "data": await seat.act(action)}
        except Refusal as refusal:
            return error_message("EXECUTION_ERROR", refusal.message)
    try:
        message = rpc.load(text, room.settings.max_depth)
    except ValueError as error:
        return error_message("INVALID_JSON", f"Invalid JSON: {error}")
    if not isinstance(message, dict):
        raise _Unusable("a message is an object with a type")
    try:
        return await _answer(room, seat, message)
    except ValidationError as error:
        return error_message("VALIDATION_ERROR", "Invalid message", errors=errors_of(error))
    except Refusal as refusal:
        return error_message("EXECUTION_ERROR", refusal.message)


async def _answer(room: Room, seat: Seat, message: Object) -> Object:
    kind = message.get("type", "")
    seat.plays_plainly = seat.plays_plainly and kind == "reset"
    match kind:
        case "reset":
            ask = Reset.model_validate(ResetMessage.model_validate(message).data)
            return {"type": "observation", "data": await seat.reset(ask)}
        case "step":
            action = StepMessage.model_validate(message).data
            return {"type": "observation", "data": await _step(seat, action)}
        case "state":
            StateMessage.model_validate(message)
            return {"type": "state", "data": seat.state()}
        case "close":
            CloseMessage.model_validate(message)
            raise _Goodbye
        case "mcp":
            said = McpMessage.model_validate(message).data
            return {"type": "mcp", "data": await rpc.answer(room, said, seat)}
        case other:
            return error_message("UNKNOWN_TYPE", f"Unknown message type: {other}")


async def _step(seat: Seat, action: Object) -> Object:
    match action.get("type"):
        case "list_tools":
            ListTools.model_validate(action)
            seen = {"metadata": {}, "tools": rpc.tools("input_schema")}
            return {"observation": seen, "reward": None, "done": False}
        case "call_tool":
            return await rpc.as_step(seat, CallTool.model_validate(action))
    _check_begun(seat)
    return await seat.act(Action.model_validate(action).message)


def _check_begun(seat: Seat) -> None:
    if not seat.has_begun:
        raise Refusal(409, "not_begun", "call reset() first")
