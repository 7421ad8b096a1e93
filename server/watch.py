"""The outermost middleware: gives each request an id and reports its outcome to log, metrics and traces.

`X-Request-ID` is taken over where it is 1 to 64 of letters, digits and `._:-`, else made; it is on
every answer and in every line that is logged on behalf of the request.
"""

from __future__ import annotations

import itertools
import logging
import re
import secrets
import time
from typing import TYPE_CHECKING, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from verigym.server import logs
from verigym.server.exchange import GONE, NO_ROUTE, Exchange
from verigym.server.metrics import Metrics
from verigym.server.refusals import NOSNIFF, Refusal

if TYPE_CHECKING:
    from verigym.server.spans import Tracing

_log = logging.getLogger("verigym.access")

_SAFE_ID: Final = re.compile(rb"[A-Za-z0-9._:-]{1,64}")
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked every few seconds by machines: logged at the level debug."""
_START: Final = secrets.token_hex(4)
_numbers = itertools.count()
"""Ids need only differ: 32 random bits for the process and a number for the request."""

_BUSY: Final = 429
_TELL_S: Final = 1.0
"""Requests refused for lack of capacity are logged once in so many seconds, with their number: a line for
each would take the time from those that were admitted."""


class Watch:
    """ASGI layer around everything else."""

    def __init__(self, app: ASGIApp, metrics: Metrics, tracing: Tracing | None) -> None:
        self.app = app
        self._metrics = metrics
        self._tracing = tracing
        self._refused = 0
        self._tell_at = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        exchange = Exchange(_method(scope), _request_id(scope))
        logs.with_id(exchange.id)
        state = scope.setdefault("state", {})
        state["request_id"], state["exchange"] = exchange.id, exchange
        span = None if self._tracing is None else self._tracing.begin(scope, exchange)
        began = time.monotonic()
        self._metrics.under_way.inc()
        try:
            await self._pass_on(scope, receive, send, exchange)
        finally:
            exchange.seconds = time.monotonic() - began
            exchange.route = getattr(scope.get("route"), "path", NO_ROUTE)
            exchange.caller = getattr(scope["state"].get("caller"), "name", "")
            self._metrics.under_way.dec()
            self._tell(scope, exchange)
            if span is not None and self._tracing is not None:
                self._tracing.end(span, exchange)

    async def _pass_on(
        self, scope: Scope, receive: Receive, send: Send, exchange: Exchange
    ) -> None:
        async def receiving() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                exchange.received += len(message.get("body", b""))
            elif message["type"] == "websocket.receive":
                exchange.received += len(message.get("bytes") or message.get("text") or "")
            return message

        async def sending(message: Message) -> None:
            kind = message["type"]
            if kind in ("http.response.start", "websocket.accept", "websocket.http.response.start"):
                exchange.status = message.get("status", 101)
                message.setdefault("headers", [])  # optional where a WebSocket is accepted
                header = (b"x-request-id", exchange.id.encode("ascii"))
                message["headers"] = [*message.get("headers", ()), header, NOSNIFF]
            elif kind in ("http.response.body", "websocket.http.response.body"):
                exchange.sent += len(message.get("body", b""))
            elif kind == "websocket.send":
                exchange.sent += len(message.get("bytes") or message.get("text") or "")
            elif kind == "websocket.close" and exchange.status == GONE:
                exchange.status = 403  # what a server answers where it was not accepted before
            await send(message)

        try:
            await self.app(scope, receiving, sending)
        except Exception:
            if exchange.status == GONE and scope["type"] == "http":
                # Here, not further out, so that this answer has the id, too.
                message = "the service failed; what happened is in its log"
                await Refusal(500, "internal", message).response()(scope, receive, sending)
            raise  # to the log, with its trace

    def _tell(self, scope: Scope, exchange: Exchange) -> None:
        lasting = scope["type"] == "websocket"
        self._metrics.answered(
            exchange.method,
            exchange.route,
            exchange.status,
            None if lasting else exchange.seconds,
        )
        level = logging.DEBUG if exchange.route in _QUIET else logging.INFO
        refused = {}
        if exchange.status == _BUSY:
            self._refused += 1
            now = time.monotonic()
            if now < self._tell_at:
                return
            refused = {"refused": self._refused}
            self._refused, self._tell_at = 0, now + _TELL_S
        if _log.isEnabledFor(level):
            client = scope.get("client")
            _log.log(
                level,
                "%s %s %d",
                *(exchange.method, exchange.route, exchange.status),
                extra=logs.fields(
                    method=exchange.method,
                    route=exchange.route,
                    status=exchange.status,
                    ms=round(exchange.seconds * 1000, 3),
                    caller=exchange.caller,
                    bytes_in=exchange.received,
                    bytes_out=exchange.sent,
                    peer=client[0] if client else "",
                    **refused,
                ),
            )


def _method(scope: Scope) -> str:
    if scope["type"] == "websocket":
        return "WEBSOCKET"
    method: str = scope["method"]
    return method if method in _METHODS else "OTHER"


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            if _SAFE_ID.fullmatch(value):
                return str(value.decode("ascii"))
            break
    return f"{_START}{next(_numbers):08x}"
