"""Lends a client's socket to the host of its session while the client sends plain steps.

Not where rates are limited: the host knows nothing of other requests of the key.
"""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Self

from starlette.websockets import WebSocket, WebSocketDisconnect

from verigym.server.envs.messages import LentStep
from verigym.server.openenv.messages import error_message, send
from verigym.server.openenv.rooms import Room
from verigym.server.openenv.seat import Seat
from verigym.server.openenv.types import Object
from verigym.server.refusals import Refusal
from verigym.server.websockets import WebSocketConnection


class SocketLender:
    """The way of one socket to its host and back; leaving the block asks for it."""

    def __init__(
        self, socket: WebSocket, room: Room, seat: Seat, direct: WebSocketConnection | None
    ) -> None:
        self.back = asyncio.Event()
        """Set unless the socket is lent, or the answer to its last step is still to be sent."""
        self.back.set()
        self._socket = socket
        self._room = room
        self._seat = seat
        self._direct = direct
        self._exchange = socket.scope["state"].get("exchange")
        self._answering: asyncio.Task[None] | None = None

    def lend(self) -> None:
        """Lend the socket if that is possible now; no message may be under way."""
        gate, seat = self._room.gate, self._seat
        if self._direct is None or gate.is_metered or gate.draining or not seat.has_begun:
            return
        table = self._room.table
        if table.lend(seat.session, self._direct, self._count, self._take_back):
            self.back.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._room.table.recall(self._seat.session)

    def _count(self, step: LentStep) -> None:
        if self._exchange is not None:
            self._exchange.received += step.received
            self._exchange.sent += step.sent

    def _take_back(self, answer: bytes | Refusal | None, id: bytes) -> None:
        if answer is None:
            self.back.set()
        elif isinstance(answer, Refusal):
            self._say(error_message("EXECUTION_ERROR", answer.message))
        else:
            self._say({"type": "observation", "data": self._seat.read(answer)})

    def _say(self, answer: Object) -> None:
        self._answering = asyncio.create_task(self._send(answer))

    async def _send(self, answer: Object) -> None:
        with contextlib.suppress(WebSocketDisconnect):
            await send(self._socket, answer)
        self.back.set()
