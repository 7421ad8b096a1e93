"""Plain steps: the message that OpenEnv's clients send for each action, read and answered without detours."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from verigym.server.limits import HeldBytes
from verigym.server.openenv import rpc
from verigym.server.openenv.rooms import Room
from verigym.server.openenv.seat import Seat
from verigym.server.openenv.types import Object
from verigym.server.refusals import Refusal
from verigym.server.websockets import WebSocketConnection


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    message: str


class _PlainStep(msgspec.Struct, forbid_unknown_fields=True, tag_field="type", tag="step"):
    data: _Message


_plain_steps = msgspec.json.Decoder(_PlainStep)
_encode = msgspec.json.Encoder().encode


def read_plain_step(text: str) -> str | None:
    """Return the action of the message that clients send for each step; None for any other.

    The general way takes ten times longer.
    """
    try:
        data = text.encode()
        step = _plain_steps.decode(data)
    except ValueError:  # also if it is not valid Unicode
        return None
    # A key that stands twice has a colon more, however the keys are written.
    if data.count(b":") != _encode(step).count(b":") or rb"\u003" in data:
        return None
    return step.data.message


class PlainSteps:
    """Answers the plain steps of one socket as they arrive, while no other message is handled.

    To wake the task that serves the socket, once for the step and once for its answer, takes longer than a
    cheap step.
    """

    def __init__(
        self, socket: WebSocket, room: Room, seat: Seat, direct: WebSocketConnection | None
    ) -> None:
        self.idle = asyncio.Event()
        """Set while no step is under way."""
        self.idle.set()
        self.has_message = True
        """True while the task that serves the socket handles a message."""
        self._socket = socket
        self._room = room
        self._seat = seat
        self._exchange = socket.scope["state"].get("exchange")
        self._late: asyncio.Task[None] | None = None
        """Task that sends an answer which could not be sent at once."""
        if direct is not None:
            self._direct = direct
            direct.on_text = self._hear

    def _hear(self, text: str) -> bool:
        """Begin a step; return False for a message that the task has to handle."""
        if self.has_message or not self.idle.is_set() or not self._seat.has_begun:
            return False
        action = read_plain_step(text)
        if action is None:
            return False
        if self._exchange is not None:
            self._exchange.received += len(text)
        gate, caller = self._room.gate, self._room.caller
        held = HeldBytes(gate.bytes, caller.name)
        try:
            gate.spend(caller)
            held.take(len(text))
            gate.begin(caller)
        except Refusal as refusal:
            held.close()
            self._say(refusal)
            return True
        self.idle.clear()

        def reply(answer: bytes | Refusal, again: bool) -> None:
            gate.end(caller)
            held.close()
            self._say(answer)

        try:
            self._seat.begin_step(action, reply)
        except Refusal as refusal:
            reply(refusal, False)
        return True

    def _say(self, answer: bytes | Refusal) -> None:
        if isinstance(answer, Refusal):
            said = error_message("EXECUTION_ERROR", answer.message)
        else:
            said = {"type": "observation", "data": self._seat.read(answer)}
        data = rpc.dump(said)
        if self._direct.write_text(data):
            if self._exchange is not None:
                self._exchange.sent += len(data)
            self.idle.set()
        else:
            self.idle.clear()
            self._late = asyncio.create_task(self._send_late(said))

    async def _send_late(self, said: Object) -> None:
        with contextlib.suppress(WebSocketDisconnect):
            await send(self._socket, said)
        self.idle.set()


def error_message(code: str, message: str, **rest: Any) -> Object:
    """Return the message that reports an error."""
    return {"type": "error", "data": {"message": message, "code": code, **rest}}


async def send(socket: WebSocket, answer: Object) -> None:
    """Send an answer. Raises WebSocketDisconnect if the client is gone."""
    try:
        await socket.send_text(rpc.dump(answer).decode())
    except RuntimeError as error:  # starlette's, for a socket that is closed
        raise WebSocketDisconnect from error
