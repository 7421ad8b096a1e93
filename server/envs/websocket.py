"""`/v1/ws`: many sessions on one socket, each frame an operation with an id that its answer repeats.

Requests on different sessions run at once, those on one session in the order they came. A client that
does not read its answers is not read from either, and cut off in the end (see connections.py). Frames
that cannot be understood are refused one by one; the socket lives on.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec
from starlette.types import Receive, Scope, Send

from verigym.server.envs.table import Play, Restart, Table
from verigym.server.envs.wire import CreateBody, Frame, as_action, id_of, read_frame
from verigym.server.refusals import Refusal
from verigym.server.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

_MOST_UNANSWERED = 512
"""Requests of one socket that may have no answer on its way; the next is read when some have."""
_OPS = "create, reset, step, state, renew or close"

_encode = msgspec.json.Encoder().encode


class Endpoint:
    """The ASGI application of the route."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        await send({"type": "websocket.accept"})
        owner: str = scope["state"]["caller"].name
        socket = _Socket(self._app.state.sessions, owner, self._settings.max_depth)
        writer = asyncio.create_task(socket.write(send))
        try:
            while not writer.done():
                message = await receive()
                if message["type"] != "websocket.receive":
                    return
                socket.hear(message.get("text"))
                if socket.unanswered >= _MOST_UNANSWERED:
                    await socket.room()
        finally:
            writer.cancel()
            await asyncio.wait({writer})
            if not writer.cancelled():
                writer.exception()  # the client is gone, which is no news


class _Socket:
    """One client's connection; it owns no session, so what it began outlives it."""

    def __init__(self, table: Table, owner: str, max_depth: int) -> None:
        self.unanswered = 0
        self._table = table
        self._owner = owner
        self._max_depth = max_depth
        self._out: list[bytes] = []
        self._wake = asyncio.Event()
        self._room = asyncio.Event()

    async def write(self, send: Send) -> None:
        """Send what is answered, for ever."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            out, self._out = self._out, []
            for answer in out:
                await send({"type": "websocket.send", "text": answer.decode()})
                self.unanswered -= 1
            self._room.set()

    async def room(self) -> None:
        """Wait until answers were sent."""
        while self.unanswered >= _MOST_UNANSWERED:
            self._room.clear()
            await self._room.wait()

    def hear(self, text: str | None) -> None:
        """Take one frame; its answer goes out when it is there."""
        self.unanswered += 1
        if text is None:
            refusal = Refusal(422, "not_text", "frames are text, which holds JSON")
            self._say(b"null", refusal)
            return
        try:
            frame = read_frame(text, self._max_depth)
        except Refusal as refusal:
            self._say(id_of(text), refusal)
            return
        id = bytes(frame.id)
        try:
            self._do(frame, id)
        except Refusal as refusal:
            self._say(id, refusal)

    def _do(self, frame: Frame, id: bytes) -> None:
        table = self._table
        if frame.op == "create":
            if frame.env is None:
                raise Refusal(422, "invalid_request", "create needs env", "$.env")
            ask = CreateBody(
                env=frame.env,
                params=frame.params,
                seed=frame.seed,
                options=frame.options,
                count=frame.count,
            )
            table.create(self._owner, ask, lambda answer, again: self._say(id, answer))
            return
        if frame.op not in ("step", "reset", "state", "renew", "close"):
            raise Refusal(422, "invalid_request", f"op must be {_OPS}", "$.op")
        session = table.find(self._owner, frame.session)
        if frame.op in ("step", "reset"):
            if frame.seq is None:
                raise Refusal(422, "invalid_request", f"{frame.op} needs seq", "$.seq")
            move: Play | Restart
            if frame.op == "reset":
                move = Restart(frame.seed, frame.options)
            elif frame.action is None:
                raise Refusal(422, "invalid_request", "step needs action", "$.action")
            else:
                move = Play(as_action(frame.action))
            table.move(session, frame.seq, move, lambda answer, again: self._say(id, answer))
        elif frame.op == "close":
            table.drop(session)
            self._say(id, b"{}")
        else:
            if frame.op == "renew":
                table.renew(session)
            self._say(id, table.state(session))

    def _say(self, id: bytes, answer: bytes | Refusal) -> None:
        if isinstance(answer, Refusal):
            error = {"code": answer.code, "message": answer.message, "where": answer.where}
            text = b'{"id":%s,"error":%s}' % (id, _encode(error))
        else:
            text = b'{"id":%s,"ok":%s}' % (id, answer)
        self._out.append(text)
        self._wake.set()
