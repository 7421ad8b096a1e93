"""Limits on requests: rate and number per caller, deadlines, and draining before a stop.

A refusal costs microseconds, before a body is read, so that an overloaded service spends its time on the
requests that it accepted. Rates are a token bucket per caller: a dozen lines, while a library brings
storage backends and a limit parser that nothing here needs.

Covers requests and the opening of WebSockets; their routes bound the messages on them with `RequestGate.spend`
and `RequestGate.working`.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from verigym.server.keys import Caller
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings
from verigym.server.shares import Share

DEADLINE_HEADER: Final = "Verigym-Deadline-S"
"""Header with the seconds that the caller waits, counted from the arrival of the request."""

_LONGEST_S = 1e7
_LONGEST_PAUSE_S = 60


@dataclass
class _Use:
    """Current use of one caller: requests in progress, and the tokens left at time `at`."""

    tokens: float
    at: float
    running: int = 0


class HeldBytes:
    """Counter of the bytes that one request keeps in memory until it is answered."""

    __slots__ = ("_caller", "_n", "_share")

    def __init__(self, share: Share, caller: str) -> None:
        self._share = share
        self._caller = caller
        self._n = 0

    def take(self, n: int) -> None:
        """Count `n` more bytes. Raises Refusal if the caller exceeds its share."""
        if not self._share.has_room(self._caller, n):
            message = "requests under way hold as many bytes as they may; try again later"
            raise busy("too_many_bytes", message)
        self._share.take(self._caller, n)
        self._n += n

    def close(self) -> None:
        """Release all bytes."""
        if self._n:
            self._share.give_back(self._caller, self._n)
            self._n = 0


class RequestGate:
    """Counts running requests and refuses those beyond the limits. On the event loop."""

    def __init__(self, settings: ServerSettings, n_callers: Callable[[], int] = lambda: 1) -> None:
        self.draining = False
        """True while the service is stopping: running requests finish, new ones are refused."""
        self.running = 0
        """Number of running requests."""
        self.before: dict[str, Callable[[Caller, float], None]] = {}
        """Function by path that may refuse a request before it is read, given caller and deadline."""
        self.bytes = Share(settings.max_inflight_mib << 20, n_callers)
        """Bytes of received bodies and frames without an answer."""
        self.sockets = Share(settings.max_sockets, n_callers)
        """Open WebSockets."""
        self._rate = settings.rate_per_s
        self._burst = max(1.0, settings.rate_per_s)
        self._most = settings.max_concurrent
        self._uses: dict[str, _Use] = {}

    @property
    def is_metered(self) -> bool:
        """True if each caller may make a limited number of requests a second."""
        return bool(self._rate)

    def spend(self, caller: Caller) -> None:
        """Charge one request to the caller's rate. Raises Refusal."""
        if not self._rate or not caller.scopes:  # nobody, who asks whether the service is up
            return
        use = self._use(caller)
        now = time.monotonic()
        use.tokens = min(self._burst, use.tokens + (now - use.at) * self._rate)
        use.at = now
        if use.tokens < 1.0:
            message = f"more than {self._rate:g} requests a second; try again later"
            raise busy("rate_limited", message, (1.0 - use.tokens) / self._rate)
        use.tokens -= 1.0

    @contextmanager
    def working(self, caller: Caller) -> Iterator[None]:
        """Count a running request within the block. Raises Refusal."""
        self.begin(caller)
        try:
            yield
        finally:
            self.end(caller)

    def begin(self, caller: Caller) -> None:
        """Count a request that begins, until `end`. Raises Refusal."""
        if self.draining:
            raise stopping()
        use = self._use(caller)
        if use.running >= self._most and caller.scopes:
            message = f"{self._most} requests of this key are under way; try again later"
            raise busy("too_many_requests", message)
        use.running += 1
        self.running += 1

    def end(self, caller: Caller) -> None:
        """Count a request that has ended."""
        self._use(caller).running -= 1
        self.running -= 1

    @contextmanager
    def connected(self, caller: Caller) -> Iterator[None]:
        """Count an open WebSocket within the block. Raises Refusal."""
        if not self.sockets.has_room(caller.name):
            message = "this key has its share of the WebSockets that may be open; close some"
            raise busy("too_many_connections", message)
        self.sockets.take(caller.name)
        try:
            yield
        finally:
            self.sockets.give_back(caller.name)

    @contextmanager
    def holding(self, caller: Caller) -> Iterator[HeldBytes]:
        """Yield a counter of a request's bytes, which are released after the block."""
        held = HeldBytes(self.bytes, caller.name)
        try:
            yield held
        finally:
            held.close()

    def _use(self, caller: Caller) -> _Use:
        # Bounded by the names of keys, of which the operator writes down each.
        use = self._uses.get(caller.name)
        if use is None:
            use = self._uses[caller.name] = _Use(self._burst, time.monotonic())
        return use


class RequestLimits:
    """ASGI layer below the guard: applies a gate, and reads the deadline."""

    def __init__(self, app: ASGIApp, gate: RequestGate) -> None:
        self.app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        caller: Caller = scope["state"]["caller"]
        try:
            self._gate.spend(caller)
            scope["state"]["deadline"] = _deadline(scope)
            if scope["type"] == "websocket":
                if self._gate.draining:
                    raise stopping()
                with self._gate.connected(caller):
                    await self.app(scope, receive, send)
                return
            before = self._gate.before.get(scope["path"])
            if before is not None:
                before(caller, scope["state"]["deadline"])
            with self._gate.working(caller), self._gate.holding(caller) as held:
                scope["state"]["held"] = held
                try:
                    await self.app(scope, receive, sent)
                except asyncio.CancelledError:
                    # The server cancels what is not done when the time to finish is over.
                    if started or not self._gate.draining:
                        raise
                    raise stopping() from None
        except Refusal as refusal:
            await refusal.response()(scope, receive, send)


def deadline_of(connection: HTTPConnection) -> float:
    """Return the time at which the caller stops waiting (`time.monotonic`); infinity if not given."""
    deadline: float = connection.scope["state"].get("deadline", math.inf)
    return deadline


def busy(code: str, message: str, wait_s: float = 1.0) -> Refusal:
    """Return a refusal that says when to retry."""
    pause_s = min(max(1, math.ceil(wait_s)), _LONGEST_PAUSE_S)
    return Refusal(429, code, message, headers={"Retry-After": str(pause_s)})


def stopping() -> Refusal:
    """Return the refusal of a stopping service."""
    headers = {"Connection": "close", "Retry-After": "1"}
    return Refusal(503, "stopping", "the service is stopping", headers=headers)


def _deadline(scope: Scope) -> float:
    given = [value for name, value in scope["headers"] if name == b"verigym-deadline-s"]
    if not given:
        return math.inf
    try:
        left_s = float(given[0]) if len(given) == 1 else math.nan
    except ValueError:
        left_s = math.nan
    if not 0 < left_s <= _LONGEST_S:  # also not a number
        message = f"seconds above 0 and at most {_LONGEST_S:g}, such as 2.5, once"
        raise Refusal(422, "invalid_request", message, DEADLINE_HEADER)
    return time.monotonic() + left_s
