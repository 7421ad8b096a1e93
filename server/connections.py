"""HTTP connections that bound slow clients where uvicorn's own do not.

Covers: too many connections, and connections without a key (crowd.py); a head (request line and
headers) that is too large, even in one piece, or too slow; the rest of a body after its answer; an
answer that the client does not read; malformed HTTP, which gets this service's error format. The time
of a body is bounded in body.py, idle time between requests by uvicorn.
Does not cover: TLS handshakes, which asyncio ends after 60 s.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any, ClassVar, Final

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from verigym.server.crowd import MAX_CONNECTIONS, NOBODY, Crowd
from verigym.server.refusals import NOSNIFF, Refusal

MAX_HEAD_BYTES: Final = 64 << 10
HEAD_TIMEOUT_S: Final = 10.0
"""Maximum seconds for the request line and headers, and for the rest of a body after its answer."""
UNKEYED_TIMEOUT_S: Final = 5.0
"""The same limit, and the limit of idle time, if keys are required and none has been shown."""
UNREAD_TIMEOUT_S: Final = 30.0
"""Maximum seconds that a client may stop reading an answer."""

_SPARE_CONNECTIONS = 256
_LINGER_S = 1.0
"""Seconds to accept data from a client after its last answer: a TCP reset would lose the answer."""
_IDLE, _HEAD, _BODY, _OVER = range(4)


class Connection(HttpToolsProtocol):
    """A connection that `sweep` can supervise. A subclass sets its `crowd`."""

    crowd: ClassVar[Crowd]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.owner = NOBODY
        self._state = _HEAD
        self._since = time.monotonic()
        self._head_bytes = 0
        """Bytes received since the head began, if it came in several pieces."""
        self._parsed_bytes = 0
        """Bytes of the head parsed so far."""

    @property
    def is_idle(self) -> bool:
        """Return True if no request is being read or answered."""
        answered = self.cycle is None or self.cycle.response_complete
        return self._state in (_IDLE, _HEAD, _OVER) and answered

    def hang_up(self) -> None:
        """Close the connection without an answer."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.crowd.join(self)
        if self.crowd.keyed:  # which has limits of its own
            return
        n_open = len(self.crowd.members)
        if n_open > MAX_CONNECTIONS + _SPARE_CONNECTIONS:
            transport.abort()
        elif n_open > MAX_CONNECTIONS:
            self.app = _full

    def connection_lost(self, exc: Exception | None) -> None:
        self.crowd.leave(self)
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self.crowd.leave(self)
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        if self._state == _OVER:
            return
        if self._state == _IDLE:
            self._enter(_HEAD)
        if self._state == _HEAD:
            self._head_bytes += len(data)
            super().data_received(data)
            if self._state == _HEAD and self._head_bytes > MAX_HEAD_BYTES:
                self._end(_head_too_large())
        else:
            super().data_received(data)

    def on_message_begin(self) -> None:
        if self._state != _HEAD:  # pipelined behind another
            self._enter(_HEAD)
        super().on_message_begin()
        self._parsed_bytes = 0
        self.scope["state"]["connection"] = self  # for the guard

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 4)  # colon, space and the end of the line
        super().on_header(name, value)

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
        if self._parsed_bytes > MAX_HEAD_BYTES:
            self._end(_head_too_large())
        else:
            self._end(Refusal(400, "malformed_http", "this is not HTTP as the service reads it"))

    def cut_if_late(self, now: float) -> None:
        """End the connection if the client has exceeded its time limit."""
        answered = self.cycle is None or self.cycle.response_complete
        if self._state == _OVER and answered and now - self._since > _LINGER_S:
            self.transport.abort()
        is_stranger = self.crowd.keyed and self.owner == NOBODY
        limit_s = min(HEAD_TIMEOUT_S, UNKEYED_TIMEOUT_S) if is_stranger else HEAD_TIMEOUT_S
        if now - self._since < limit_s or self.transport.is_closing():
            return
        if self._state == _HEAD:
            message = f"the headers did not arrive in {limit_s:g} s"
            self._end(Refusal(408, "slow_headers", message))
        elif self._state == _BODY and answered:
            self.transport.abort()
        elif self._state == _IDLE and is_stranger and answered:
            self.transport.close()

    def _count(self, n: int) -> None:
        """Count `n` bytes of the head: a single read may bring all of it, and more than allowed."""
        self._parsed_bytes += n
        if self._parsed_bytes > MAX_HEAD_BYTES:
            raise ValueError("the head is too large")

    def _enter(self, state: int) -> None:
        self._state = state
        self._since = time.monotonic()
        self._head_bytes = 0

    def _end(self, refusal: Refusal) -> None:
        """Send the refusal, unless another answer is in progress, and close the connection."""
        if self._state == _OVER or self.transport.is_closing():
            return
        cycle = self.cycle
        broken = self._state == _BODY and not self.pipeline  # the body of the current request
        if cycle is None or cycle.response_complete or (broken and not cycle.response_started):
            response = refusal.response()
            response.headers["connection"] = "close"
            pairs = [*self.server_state.default_headers, NOSNIFF, *response.raw_headers]
            head = b"".join(b"%s: %s\r\n" % pair for pair in pairs)
            line = STATUS_LINE[refusal.status]
            self.transport.write(line + head + b"\r\n" + bytes(response.body))
        elif not broken:  # an earlier request's answer is under way, and is the last
            cycle.keep_alive = False
            self._enter(_OVER)
            return
        self._enter(_OVER)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()


def _head_too_large() -> Refusal:
    message = f"request line and headers may have {MAX_HEAD_BYTES} bytes"
    return Refusal(431, "head_too_large", message)


class _Together:
    """Transport for one answer that sends head and body in one system call."""

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
    """Closes connections that clients hold without using them."""

    def __init__(self) -> None:
        self._stuck: dict[asyncio.Transport, tuple[int, float]] = {}

    def sweep(self, connections: Iterable[Any]) -> None:
        """Check all connections, WebSockets included; call it about every second."""
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
    headers = {"Connection": "close", "Retry-After": "1", "X-Content-Type-Options": "nosniff"}
    refusal = Refusal(503, "too_many_connections", message, headers=headers)
    await refusal.response()(scope, receive, send)
