"""`/v1/ws`: many sessions on one socket, each frame an operation with an id that its answer repeats.

Requests on different sessions run concurrently, those on one session in the order of arrival. If a client
does not read its answers, its frames are not read either, and it is finally disconnected (see
connections.py). Malformed frames are refused one by one; the socket stays open.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec
from starlette.routing import WebSocketRoute
from starlette.types import Receive, Scope, Send

from verigym.server.envs.messages import LentStep
from verigym.server.envs.session import EnvSession, Reply, Restart, SessionStep
from verigym.server.envs.table import SessionTable
from verigym.server.envs.wire import CreateBody, Frame, as_action, id_of, read_frame
from verigym.server.exchange import Exchange
from verigym.server.keys import Caller
from verigym.server.limits import HeldBytes, RequestGate
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings
from verigym.server.websockets import WebSocketConnection, direct_of

if TYPE_CHECKING:
    from fastapi import FastAPI

_MOST_UNANSWERED = 4096
"""Maximum number of unanswered requests on one socket: each counts one for its first 4 KiB and one for
each further 4 KiB. The next is read once some are answered."""
_SHORT = 4096
_LONGEST_ID = 1024
_STEPS_BEFORE_LENT = 4
"""Number of steps of one session in a row after which a socket is lent to its host."""
_MOST_BEFORE_LENT = 256
"""The same at most, for a client that has other requests in between."""
_OPS = "create, reset, step, state, renew or close"

_encode = msgspec.json.Encoder().encode


class Endpoint:
    """The ASGI application of the route."""

    def __init__(self, app: FastAPI, settings: ServerSettings) -> None:
        self.route = WebSocketRoute("/v1/ws", self)
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self.route  # for the log
        await receive()  # websocket.connect
        await send({"type": "websocket.accept"})
        state = self._app.state
        caller = scope["state"]["caller"]
        direct = direct_of(scope)
        socket = _Socket(
            *(state.sessions, state.gate, caller, self._settings.max_depth),
            *(direct, scope["state"].get("exchange")),
        )
        if direct is not None:
            direct.on_text = socket.hear_now
        writer = asyncio.create_task(socket.write(send))
        try:
            while not writer.done():
                message = await receive()
                if message["type"] != "websocket.receive":
                    return
                await socket.room()
                socket.hear(message.get("text"))
        finally:
            if direct is not None:
                direct.on_text = None
            socket.recall()
            writer.cancel()
            await asyncio.wait({writer})
            if not writer.cancelled():
                writer.exception()  # the client is gone, which is no news


class _Socket:
    """One client's connection; it owns no session, so the sessions outlive it."""

    def __init__(
        self,
        table: SessionTable,
        gate: RequestGate,
        caller: Caller,
        max_depth: int,
        direct: WebSocketConnection | None,
        exchange: Exchange | None,
    ) -> None:
        self.unanswered = 0
        self._direct = direct
        """Way past the task that writes, for short answers while none waits there."""
        self._exchange = exchange
        self._is_waiting = False
        """True while a message waits for room; later ones must not overtake it."""
        self._is_writing = False
        """True while answers wait to be sent; later ones must not overtake them."""
        self._table = table
        self._gate = gate
        self._caller = caller
        self._max_depth = max_depth
        self._out: list[tuple[bytes, int]] = []
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._last = ""
        """Session of the last frame."""
        self._in_row = 0
        """Number of its steps since a frame of another kind or session."""
        self._needed = _STEPS_BEFORE_LENT
        """Number of steps in a row after which the socket is lent."""
        self._lent_steps = 0
        """Number of steps played on the lent socket."""
        self._lent_for: EnvSession | None = None
        """Session for whose steps the socket is lent."""

    async def write(self, send: Send) -> None:
        """Send answers until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            self._is_writing = True
            out, self._out = self._out, []
            for answer, weight in out:
                await send({"type": "websocket.send", "text": answer.decode()})
                self.unanswered -= weight
            self._is_writing = bool(self._out)
            self._room.set()

    async def room(self) -> None:
        """Wait until enough answers have been sent."""
        self._is_waiting = True
        while self.unanswered >= _MOST_UNANSWERED:
            self._room.clear()
            await self._room.wait()
        self._is_waiting = False

    def hear_now(self, text: str) -> bool:
        """Handle one frame as soon as it arrives; return False if it has to wait for earlier ones."""
        if self._is_waiting or self.unanswered >= _MOST_UNANSWERED:
            return False
        if self._exchange is not None:
            self._exchange.received += len(text)
        self.hear(text)
        return True

    def hear(self, text: str | None) -> None:
        """Handle one frame; its answer is sent once it is available."""
        weight = 1 + len(text or "") // _SHORT
        self.unanswered += weight
        id = b"null"
        try:
            if text is None:
                raise Refusal(422, "not_text", "frames are text, which holds JSON")
            try:
                frame = read_frame(text, self._max_depth)
            except Refusal:
                id = _short(id_of(text))
                raise
            if len(frame.id) > _LONGEST_ID:
                message = f"an id may have {_LONGEST_ID} bytes"
                raise Refusal(422, "invalid_request", message, "$.id")
            id = bytes(frame.id)
            self._gate.spend(self._caller)
            held = HeldBytes(self._gate.bytes, self._caller.name)
            held.take(len(text))
            try:
                self._gate.begin(self._caller)  # until it is answered, by whichever way
            except Refusal:
                held.close()
                raise
        except Refusal as refusal:
            self._say(id, refusal, weight)
            return

        def reply(answer: bytes | Refusal, again: bool = False) -> None:
            self._gate.end(self._caller)
            held.close()
            self._say(id, answer, weight)

        try:
            self._do(frame, reply)
        except Refusal as refusal:
            reply(refusal)

    def _lend(self, session: EnvSession) -> None:
        """Lend the socket to the session's host if the client plays it alone, and waits for nothing."""
        direct, gate = self._direct, self._gate
        if direct is None or self._in_row < self._needed or gate.is_metered or gate.draining:
            return
        if self.unanswered or self._is_writing or self._is_waiting:
            return
        self._lent_steps = 0
        if self._table.lend(session, direct, self._count, self._take_back, has_frames=True):
            self._lent_for = session

    def recall(self) -> None:
        """Ask for the socket if it is lent."""
        if self._lent_for is not None:
            self._table.recall(self._lent_for)

    def _count(self, step: LentStep) -> None:
        self._lent_steps += 1
        if self._exchange is not None:
            self._exchange.received += step.received
            self._exchange.sent += step.sent

    def _take_back(self, answer: bytes | Refusal | None, id: bytes) -> None:
        self._lent_for = None
        self._in_row = 0
        # To lend costs as much as a few steps gain.
        gains = self._lent_steps >= _STEPS_BEFORE_LENT
        self._needed = 1 if gains else min(2 * self._needed, _MOST_BEFORE_LENT)
        if answer is not None:
            self._say(id, answer, 0)

    def _do(self, frame: Frame, reply: Reply) -> None:
        table, owner = self._table, self._caller.name
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
            table.create(owner, ask, reply)
            return
        if frame.op not in ("step", "reset", "state", "renew", "close"):
            raise Refusal(422, "invalid_request", f"op must be {_OPS}", "$.op")
        self._in_row = self._in_row + 1 if frame.op == "step" and frame.session == self._last else 0
        self._last = frame.session
        session = table.find(owner, frame.session)
        if frame.op in ("step", "reset"):
            if frame.seq is None:
                raise Refusal(422, "invalid_request", f"{frame.op} needs seq", "$.seq")
            move: SessionStep | Restart
            if frame.op == "reset":
                move = Restart(frame.seed, frame.options)
            elif frame.action is None:
                raise Refusal(422, "invalid_request", "step needs action", "$.action")
            else:
                move = SessionStep(as_action(frame.action))

                def stepped(answer: bytes | Refusal, again: bool) -> None:
                    reply(answer, again)
                    self._lend(session)

                table.move(session, frame.seq, move, stepped)
                return
            table.move(session, frame.seq, move, reply)
        elif frame.op == "close":
            table.drop(session)
            reply(b"{}", False)
        else:
            if frame.op == "renew":
                table.renew(session)
            reply(table.state(session), False)

    def _say(self, id: bytes, answer: bytes | Refusal, weight: int) -> None:
        if isinstance(answer, Refusal):
            error = {"code": answer.code, "message": answer.message, "where": answer.where}
            text = b'{"id":%s,"error":%s}' % (id, _encode(error))
        else:
            text = b'{"id":%s,"ok":%s}' % (id, answer)
        is_first = not self._out and not self._is_writing
        if self._direct is not None and is_first and self._direct.write_text(text):
            self.unanswered -= weight
            self._room.set()
            if self._exchange is not None:
                self._exchange.sent += len(text)
            return
        self._out.append((text, weight))
        self._wake.set()


def _short(id: bytes) -> bytes:
    return id if len(id) <= _LONGEST_ID else b"null"
