"""Who may ask: a key with the scope that the path needs, and without keys only this machine.

Sets `request.state.caller`, for WebSockets too. Covers: a missing, wrong, expired or too narrow key,
and web pages that reach a keyless loopback service by DNS rebinding (the Host header), by a form (the
content type, see body.py) or by a WebSocket (the Origin header).
Does not cover: other users of the same machine, who reach loopback as well; give a key there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from verigym.server.crowd import Crowd
from verigym.server.keys import LOCAL, Caller, KeyFile, OneKey
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings, is_loopback

OPEN_PATHS = frozenset({"/", "/healthz", "/readyz", "/docs", "/openapi.json"})
"""Paths that need no key; their answers reveal nothing beyond the source code."""

UNLISTED = ""
"""Stands for a path without a scope: a new route is closed to all but admins until it has one."""

_SCOPES: tuple[tuple[str, str | None], ...] = (
    (r"/v1/verifiers(/|$)", None),  # any key
    (r"/v1/(verify|jobs|sandbox)(/|$)", "verify"),
    (r"/v1/(envs|sessions|ws)(/|$)", "step"),
    (r"/metrics$", "admin"),
    (r"/openenv(/|$)", "step"),
    (r"/(reset|step|state|health|metadata|schema|mcp|ws|list_environments)$", "step"),
    (r"/[^/]+/(splits|tasks|num_tasks|task|task_range)$", "step"),
    (r"/(create_session|create|ping|delete|delete_session)$", "step"),
    (r"/[^/]+/(tools|task_tools|prompt|call)$", "step"),
)
_SCOPE_OF = [(re.compile(pattern), scope) for pattern, scope in _SCOPES]


def keys_of(settings: ServerSettings) -> list[KeyFile | OneKey]:
    """Return the sources of a service's keys. Raises ConfigError if the key file cannot be used."""
    keys: list[KeyFile | OneKey] = []
    if settings.key is not None:
        keys.append(OneKey(settings.key))
    if settings.keys is not None:
        reserved = () if settings.key is None else (OneKey.NAME,)
        keys.append(KeyFile(settings.keys, reserved))
    return keys


_CLOSE = {"Connection": "close"}


class Guard:
    """ASGI layer that lets a request through or refuses it. Without keys, only this machine asks."""

    def __init__(self, app: ASGIApp, keys: Sequence[KeyFile | OneKey], crowd: Crowd) -> None:
        self.app = app
        self._keys = keys
        self._crowd = crowd

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            try:
                caller = self._admit(scope)
                self._claim(scope, caller)
            except Refusal as refusal:
                await refusal.response()(scope, receive, send)
                return
            scope.setdefault("state", {})["caller"] = caller
        await self.app(scope, receive, send)

    def _admit(self, scope: Scope) -> Caller:
        names = [name for name, _ in scope["headers"]]
        for name in (b"host", b"authorization", b"x-api-key", b"origin"):
            if names.count(name) > 1:  # whoever stands in front may have read the other one
                message = "this header may be sent once"
                raise Refusal(400, "malformed_http", message, name.decode().title(), _CLOSE)
        headers = dict(scope["headers"])
        path = scope["path"]
        if not self._keys:
            _from_here(headers)
            return LOCAL
        # Clients of the Open Reward Standard have a header of their own for the key.
        sent = b"Bearer " + headers.get(b"x-api-key", b"")
        caller = self._caller(headers.get(b"authorization", sent))
        if path in OPEN_PATHS or path.startswith("/page/"):
            return caller or Caller("nobody", frozenset())
        if caller is None:
            message = "a valid key is needed: Authorization: Bearer <key>"
            challenge = {"WWW-Authenticate": "Bearer"}
            raise Refusal(401, "unauthorized", message, "Authorization", challenge)
        needed = scope_of(path)
        if needed == UNLISTED and not caller.may("admin"):
            raise Refusal(404, "not_found", "no such path; see /docs")
        if needed is not None and not caller.may(needed):
            message = f"this key lacks the scope {needed!r}, which this path needs"
            raise Refusal(403, "forbidden_scope", message, "Authorization")
        return caller

    def _claim(self, scope: Scope, caller: Caller) -> None:
        """Note whose the connection is. Raises Refusal if the caller has too many."""
        connection = scope.get("state", {}).get("connection")
        if connection is None or not self._keys or not caller.scopes:
            return
        if connection.owner != caller.name:
            try:
                self._crowd.claim(connection, caller.name)
            except Refusal as refusal:
                refusal.headers = {**(refusal.headers or {}), **_CLOSE}
                raise

    def _caller(self, authorization: bytes) -> Caller | None:
        scheme, _, given = authorization.partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        callers = [keys.caller(given.strip()) for keys in self._keys]
        return next((caller for caller in callers if caller is not None), None)


def scope_of(path: str) -> str | None:
    """Return the scope that `path` needs; None for any key."""
    return next((scope for pattern, scope in _SCOPE_OF if pattern.match(path)), UNLISTED)


def _from_here(headers: dict[bytes, bytes]) -> None:
    """Raises Refusal for what a web page of somewhere else may have sent."""
    host = headers.get(b"host", b"").decode("latin-1")
    if not is_loopback(_without_port(host)):
        message = "without a key this service answers to loopback names only"
        raise Refusal(403, "forbidden_host", message, "Host")
    origin = headers.get(b"origin")
    if origin is not None and origin.decode("latin-1").partition("://")[2] != host:
        message = "without a key this service answers to its own pages only"
        raise Refusal(403, "forbidden_origin", message, "Origin")


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0].lstrip("[")
    return host.rpartition(":")[0] if host.count(":") == 1 else host
