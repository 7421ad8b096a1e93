"""One HTTP connection as the service wants it: what uvicorn's own leaves open to slow clients.

Covers: more connections than there may be; a head (request line and headers) that is too large or
does not come in time; what is left of a body after its answer; an answer that the client does not
read; malformed HTTP, which gets our envelope. The time of a body is bounded where it is read
(body.py), silence between requests by uvicorn.
Does not cover: TLS handshakes, which asyncio ends after 60 s.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any, Final

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from verigym.server.refusals import Refusal

MAX_CONNECTIONS: Final = 4096
"""Those beyond are told so; a few more beyond these are dropped."""

MAX_HEAD_BYTES: Final = 64 << 10
HEAD_TIMEOUT_S: Final = 10.0
"""For the request line and the headers, and for what is left of a body after its answer."""
UNREAD_TIMEOUT_S: Final = 30.0
"""How long a client may read nothing of an answer."""

_SPARE_CONNECTIONS = 256
_LINGER_S = 1.0
"""How long what a client still sends is taken after its last answer: a reset would lose that."""
_IDLE, _HEAD, _BODY, _OVER = range(4)


class Connection(HttpToolsProtocol):
    """A connection that `sweep` can look after."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._state = _HEAD
        self._since = time.monotonic()
        self._head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS + _SPARE_CONNECTIONS:
            transport.abort()
        elif len(self.connections) > MAX_CONNECTIONS:
            self.app = _full

    def data_received(self, data: bytes) -> None:
        if self._state == _OVER:
            return
        if self._state == _IDLE:
            self._enter(_HEAD)
        if self._state == _HEAD:
            self._head_bytes += len(data)
            super().data_received(data)
            if self._state == _HEAD and self._head_bytes > MAX_HEAD_BYTES:
                message = f"request line and headers may have {MAX_HEAD_BYTES} bytes"
                self._end(Refusal(431, "head_too_large", message))
        else:
            super().data_received(data)

    def on_message_begin(self) -> None:
        if self._state != _HEAD:  # pipelined behind another
            self._enter(_HEAD)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._enter(_BODY)
        former = self.cycle
        super().on_headers_complete()
        if self.cycle is not former:
            together: Any = _Together(self.transport, self.loop)
            self.cycle.transport = together

    def on_message_complete(self) -> None:
        self._enter(_IDLE)
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self._end(Refusal(400, "malformed_http", "this is not HTTP as the service reads it"))

    def cut_if_late(self, now: float) -> None:
        """End the connection where the client was given its time."""
        if self._state == _OVER and now - self._since > _LINGER_S:
            self.transport.abort()
        if now - self._since < HEAD_TIMEOUT_S or self.transport.is_closing():
            return
        answered = self.cycle is None or self.cycle.response_complete
        if self._state == _HEAD:
            message = f"the headers did not arrive in {HEAD_TIMEOUT_S:g} s"
            self._end(Refusal(408, "slow_headers", message))
        elif self._state == _BODY and answered:
            self.transport.abort()

    def _enter(self, state: int) -> None:
        self._state = state
        self._since = time.monotonic()
        self._head_bytes = 0

    def _end(self, refusal: Refusal) -> None:
        """Say why, if no other answer is under way, and hang up."""
        if self._state == _OVER or self.transport.is_closing():
            return
        cycle = self.cycle
        broken = self._state == _BODY and not self.pipeline  # the body of the current request
        if cycle is None or cycle.response_complete or (broken and not cycle.response_started):
            response = refusal.response()
            response.headers["connection"] = "close"
            head = b"".join(b"%s: %s\r\n" % pair for pair in response.raw_headers)
            line = STATUS_LINE[refusal.status]
            self.transport.write(line + head + b"\r\n" + bytes(response.body))
        self._enter(_OVER)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()


class _Together:
    """What uvicorn writes to for one answer: head and body leave in one call to the system."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head: bytes | None = None

    def write(self, data: bytes) -> None:
        if self._head is None:
            self._head = data
            self._loop.call_soon(self._flush)  # where the body takes longer
        elif self._head:
            self._transport.write(self._head + data)
            self._head = b""
        else:
            self._transport.write(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def _flush(self) -> None:
        if self._head:
            self._transport.write(self._head)
            self._head = b""


class Sweeper:
    """Cuts off clients that keep a connection without using it."""

    def __init__(self) -> None:
        self._stuck: dict[asyncio.Transport, tuple[int, float]] = {}

    def sweep(self, connections: Iterable[Any]) -> None:
        """To be called every second or so with all connections, WebSockets too."""
        now = time.monotonic()
        stuck: dict[asyncio.Transport, tuple[int, float]] = {}
        for connection in list(connections):
            if isinstance(connection, Connection):
                connection.cut_if_late(now)
            transport = connection.transport
            unread = transport.get_write_buffer_size() if transport is not None else 0
            if not unread:
                continue
            before, since = self._stuck.get(transport, (unread, now))
            if unread < before:
                since = now
            if now - since > UNREAD_TIMEOUT_S:
                transport.abort()
            else:
                stuck[transport] = (unread, since)
        self._stuck = stuck


async def _full(scope: Scope, receive: Receive, send: Send) -> None:
    message = "the service has as many connections as it may; try again later"
    headers = {"Connection": "close", "Retry-After": "1"}
    refusal = Refusal(503, "too_many_connections", message, headers=headers)
    await refusal.response()(scope, receive, send)
