"""The gateway's HTTP application (ASGI): chat APIs, the environments of sessions, and their ends.

    POST [/s/ID]/v1/chat/completions, /v1/responses, /v1/messages, /v1/messages/count_tokens
    GET  [/s/ID]/v1/models
    GET  /s/ID/env                 the task and the current observation
    POST /s/ID/env {"action"}      a step
    POST /sessions, /s/ID/end      if sessions are opened by clients (serve.py)

The session is the path's, else that of the header `x-session-id`, else `default`.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from verigym.agents.gateway import anthropic_messages, openai_chat, openai_responses
from verigym.agents.gateway.chat import ChatReply, ContextFull, decode
from verigym.agents.gateway.served import ServedFault
from verigym.agents.gateway.session import GatewaySession, SessionEnded
from verigym.agents.gateway.streams import PartialReply, ReplyWriter, Wire
from verigym.errors import PolicyError, RequestError

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Manage = Callable[[str, str | None, dict[str, Any]], Awaitable[Mapping[str, Any]]]

MAX_BODY_BYTES = 64 << 20
HEARTBEAT_S = 10.0
"""Seconds without a sign after which a stream gets a comment, so that no client gives it up."""
SESSION_ID = re.compile(r"[\w.:-]{1,128}")

_PATH = re.compile(r"(?:/s/([^/]+))?(/.*)")
_WIRES: dict[str, Wire] = {
    wire.path: wire for wire in (openai_chat, openai_responses, anthropic_messages)
}
_log = logging.getLogger(__name__)


class NoAccess(RequestError):
    """The key is missing or wrong."""


class NotFound(RequestError):
    """There is nothing under this address."""


class Gone(Exception):
    """The client has hung up."""


class _Action(msgspec.Struct):
    action: str


class App:
    """The application. `find` returns the session of an id, and `manage` answers `/sessions` and `/end`."""

    def __init__(
        self,
        find: Callable[[str], GatewaySession],
        *,
        model: str,
        key: str | None,
        step_deadline_s: float,
        manage: Manage | None = None,
    ) -> None:
        self._find = find
        self._model = model
        self._key = key
        self._step_deadline_s = step_deadline_s
        self._manage = manage

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        matched = _PATH.fullmatch(scope["path"])
        own, path = matched.groups() if matched else (None, scope["path"])
        wire = _WIRES.get(path.removesuffix("/count_tokens"), openai_chat)
        try:
            headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
            await self._route(scope["method"], own, path, headers, receive, send)
        except Gone:
            return
        except Exception as error:  # noqa: BLE001 - each becomes an answer that the client understands
            status, code = _status(error)
            if status == 500:
                _log.exception("the gateway failed to answer %s %s", scope["method"], path)
            await _send_json(send, status, wire.error(status, str(error), code))

    async def _route(
        self,
        method: str,
        own: str | None,
        path: str,
        headers: Mapping[str, str],
        receive: Receive,
        send: Send,
    ) -> None:
        if (method, path) == ("GET", "/health"):
            return await _send_json(send, 200, {"status": "ok"})
        shown = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if path == "/sessions" or (own is not None and path == "/end"):
            self._check(shown, self._key)
            if self._manage is None or method != "POST":
                raise NotFound(f"there is no {method} {path} here")
            data = await _body(receive)
            given = decode(data or b"{}", dict[str, Any])
            return await _send_json(send, 200, await self._manage(path, own, given))
        named = own or headers.get("x-session-id") or "default"
        if not SESSION_ID.fullmatch(named):
            raise RequestError("a session id has 1 to 128 letters, digits and . _ : -")
        session = self._session(named, shown)
        wire = _WIRES.get(path)
        if method == "POST" and wire is not None:
            return await self._chat(wire, session, receive, send)
        if (method, path) == ("POST", "/v1/messages/count_tokens"):
            call = anthropic_messages.read(await _body(receive))
            return await _send_json(send, 200, {"input_tokens": session.count_tokens(call)})
        if (method, path) == ("GET", "/v1/models"):
            model = {"id": self._model, "object": "model", "created": 0, "owned_by": "verigym"}
            return await _send_json(send, 200, {"object": "list", "data": [model]})
        if path == "/env" and method in ("GET", "POST") and session.served is not None:
            if method == "GET":
                return await _send_json(send, 200, session.served.describe())
            action = decode(await _body(receive), _Action).action
            return await _send_json(send, 200, await session.step(action, self._step_deadline_s))
        raise NotFound(f"there is no {method} {path} here")

    def _session(self, named: str, shown: str) -> GatewaySession:
        """Return the session that a client may use."""
        if self._key is not None:
            # Before a session is looked up, since that may open it.
            self._check(shown, self._key)
        session = self._find(named)
        if session.token is not None:
            self._check(shown, session.token)
        return session

    def _check(self, shown: str, wanted: str | None) -> None:
        if wanted is not None and not hmac.compare_digest(shown.encode(), wanted.encode()):
            raise NoAccess("the API key is missing or wrong")

    async def _chat(
        self, wire: Wire, session: GatewaySession, receive: Receive, send: Send
    ) -> None:
        call = wire.read(await _body(receive))
        parts = PartialReply(call) if call.stream else None
        task = session.start(call, parts)
        gone = asyncio.ensure_future(_hung_up(receive))
        try:
            if parts is not None:
                await _stream(wire, wire.Writer(call, parts.head), parts, task, gone, send)
            else:
                await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
                if not task.done():
                    raise Gone
                if (failed := _failure(task)) is not None:
                    raise failed
                await _send_json(send, 200, wire.answer(call, task.result()))
        finally:
            gone.cancel()
            if not task.done():
                task.cancel()


async def _stream(
    wire: Wire,
    writer: ReplyWriter,
    parts: PartialReply,
    task: asyncio.Task[ChatReply],
    gone: asyncio.Future[None],
    send: Send,
) -> None:
    """Send events of the reply as it is sampled; comments while nothing comes. An early error is an HTTP error."""
    begun = False
    for future in (task, gone):
        future.add_done_callback(lambda _: parts.changed.set())
    while not task.done():
        data = b": the model is at work\n\n"
        try:
            async with asyncio.timeout(HEARTBEAT_S):
                await parts.changed.wait()
            parts.changed.clear()
            data = b"" if task.done() else writer.write(*parts.take())
        except TimeoutError:
            pass
        if gone.done() and not task.done():
            raise Gone
        if data:
            if not begun:
                await _begin(send, 200, b"text/event-stream")
                begun = True
            await _send_part(send, data)
    failed = _failure(task)
    if not begun:
        if failed is not None:
            raise failed
        await _begin(send, 200, b"text/event-stream")
    if failed is None:
        data = writer.finish(task.result())
    else:
        status, code = _status(failed)
        found = msgspec.json.encode(wire.error(status, str(failed), code))
        data = b"event: error\ndata: " + found + b"\n\n"
    await send({"type": "http.response.body", "body": data})


def _failure(task: asyncio.Task[ChatReply]) -> BaseException | None:
    """Return why there is no reply; the end of a session cancels what it was asked."""
    return SessionEnded("the session has ended") if task.cancelled() else task.exception()


def _status(error: BaseException) -> tuple[int, str | None]:
    """Return the HTTP status and the code of an error. Clients repeat 429 and from 500 on."""
    if isinstance(error, ContextFull):
        return 400, "context_length_exceeded"
    if isinstance(error, NoAccess):
        return 401, "invalid_api_key"
    if isinstance(error, NotFound):
        return 404, None
    if isinstance(error, SessionEnded):
        return 403, "session_ended"
    if isinstance(error, RequestError):
        return 400, None
    if isinstance(error, PolicyError | ServedFault):
        return 503, None
    return 500, None


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(receive: Receive) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise RequestError(f"a request has at most {MAX_BODY_BYTES >> 20} MiB")
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


async def _begin(send: Send, status: int, kind: bytes) -> None:
    headers = [(b"content-type", kind), (b"cache-control", b"no-cache")]
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def _send_part(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


async def _send_json(send: Send, status: int, data: Mapping[str, Any]) -> None:
    body = msgspec.json.encode(data)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
