"""One WebSocket to a service: session calls, one at a time, resent after a broken connection.

The service keeps a session's answers by call number, so a step resent on a new connection happens
once.
"""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from typing import TYPE_CHECKING

import msgspec

from verigym import service
from verigym.client.address import MAX_ANSWER_BYTES, Address
from verigym.client.calls import Answer, HttpCall, encoded, read_as
from verigym.service import Failed
from verigym.verdict import Status, VerifierFault

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

_CLOSE_S = 2.0
_WITHOUT = (400, 404, 405, 426, 501)
"""HTTP status codes of a server without this WebSocket."""


_STATUS_OF = {
    **dict.fromkeys(("busy", "rate_limited", "too_many_requests"), 429),
    "env_fault": 503,
    "stopping": 503,
    "internal": 500,
}
"""HTTP status of those frame error codes that are not the caller's fault."""


class NoWebSocket(Exception):
    """The service or this machine has no WebSocket support; HTTP does the same."""


class _Reply(msgspec.Struct):
    id: int | None = None
    ok: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


class _Error(msgspec.Struct):
    code: str
    message: str = ""
    where: str = ""


class Socket(Address):
    """A WebSocket client for one thread at a time; connects on first use, and again after a fork."""

    def __init__(self, url: str, *, key: str | None = None, timeout_s: float = 30.0) -> None:
        super().__init__(url, key=key, timeout_s=timeout_s)
        self._connection: ClientConnection | None = None
        self._pid = os.getpid()
        self._inherited: list[ClientConnection] = []
        self._number = 0

    def call(self, call: HttpCall[Answer], timeout_s: float | None = None) -> Answer:
        """Send `call` and return its answer. Raises RequestError, NoWebSocket, or VerifierFault if the
        service is unavailable."""
        deadline = time.monotonic() + (timeout_s or self.timeout_s)
        attempt = 1
        while True:
            try:
                return call.read(self._attempt(call, deadline))
            except Failed as failed:
                pause_s = failed.pause(attempt, deadline - time.monotonic(), repeat=call.repeat)
                if pause_s is None:
                    raise VerifierFault(failed.verdict) from failed
            time.sleep(pause_s)
            attempt += 1

    def close(self) -> None:
        """Close the connection; a later call opens another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            _close(connection, self._pid)

    def _attempt(self, call: HttpCall[Answer], deadline: float) -> bytes:
        from websockets.exceptions import WebSocketException

        connection = self._open(deadline)
        self._number += 1
        try:
            connection.send(encoded({"id": self._number, **call.frame}), text=True)
            while True:
                left_s = max(0.001, deadline - time.monotonic())
                # What comes late, for a call that was given up, has another number.
                reply = read_as(_bytes(connection.recv(timeout=left_s)), _Reply)
                if reply.id == self._number:
                    return _answer(reply)
        except TimeoutError as error:
            self.close()
            evidence = f"no answer from {self.url} in time"
            raise Failed(Status.TIMEOUT, "no_answer", evidence) from error
        except (WebSocketException, OSError) as error:
            self.close()
            evidence = f"the connection to {self.url} broke: {error}"
            raise Failed(Status.INFRA, "unreachable", evidence, again=True) from error

    def _open(self, deadline: float) -> ClientConnection:
        if self._pid != os.getpid():
            # The connection is the other process's; closing it here would end it there.
            self._inherited += [self._connection] if self._connection is not None else []
            self._connection, self._pid = None, os.getpid()
        if self._connection is None:
            self._connection = self._connect(max(0.001, deadline - time.monotonic()))
            weakref.finalize(self, _close, self._connection, self._pid)
        return self._connection

    def _connect(self, left_s: float) -> ClientConnection:
        try:
            from websockets.exceptions import InvalidStatus, WebSocketException
            from websockets.sync.client import connect
        except ModuleNotFoundError:
            raise NoWebSocket("the package websockets is not installed") from None
        try:
            connection = connect(
                "ws" + self.url.removeprefix("http") + "/v1/ws",
                additional_headers=self._headers,
                compression=None,
                proxy=True if self._use_proxy else None,
                open_timeout=left_s,
                close_timeout=_CLOSE_S,
                ping_interval=None,
                max_size=MAX_ANSWER_BYTES,
                user_agent_header=None,
            )
            return connection.__enter__()  # in a block, as the library wants it; `close` ends it
        except InvalidStatus as error:
            answer = error.response
            if answer.status_code in _WITHOUT:
                raise NoWebSocket(f"{self.url} has no WebSocket") from error
            try:
                self._read(answer.status_code, answer.headers, bytes(answer.body or b""))
            except Failed as failed:
                failed.unsent = True
                raise
            raise service.bad_answer(f"status {answer.status_code} to a WebSocket") from error
        except (WebSocketException, OSError) as error:
            evidence = f"{self.url} cannot be reached: {str(error) or type(error).__name__}"
            raise Failed(Status.INFRA, "unreachable", evidence, again=True, unsent=True) from error


def _answer(reply: _Reply) -> bytes:
    ok, error = bytes(reply.ok), bytes(reply.error)
    if ok:
        return ok
    if not error:
        raise service.bad_answer("a reply with neither ok nor error")
    status = _STATUS_OF.get(read_as(error, _Error).code, 400)
    return service.read_answer(status, {}, b'{"error":%s}' % error)  # raises


def _bytes(frame: str | bytes) -> bytes:
    return frame.encode() if isinstance(frame, str) else frame


def _close(connection: ClientConnection, pid: int) -> None:
    if pid == os.getpid():
        with contextlib.suppress(OSError):
            connection.close()
