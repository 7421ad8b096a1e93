"""Who may ask: the key, and on loopback without a key only programs of this machine.

Covers: a missing or wrong key (compared in constant time), and web pages that reach a keyless
loopback service by DNS rebinding (the Host header) or by a form (the content type, see body.py).
Does not cover: other users of the same machine, who reach loopback as well; give a key there.
"""

from __future__ import annotations

import hmac

from starlette.types import ASGIApp, Receive, Scope, Send

from verigym.server.refusals import Refusal
from verigym.server.settings import Settings, is_loopback

OPEN_PATHS = frozenset({"/healthz", "/docs", "/openapi.json"})
"""Answered without a key; they say nothing that is not in the source."""


class Guard:
    """ASGI layer that lets a request through or refuses it."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._key = None if settings.key is None else settings.key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusal = self._refusal(scope)
            if refusal is not None:
                await refusal.response()(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = dict(scope["headers"])
        if self._key is None:
            host = headers.get(b"host", b"").decode("latin-1")
            if not is_loopback(_without_port(host)):
                message = "without a key this service answers to loopback names only"
                return Refusal(403, "forbidden_host", message, "Host")
            return None
        if scope["path"] in OPEN_PATHS:
            return None
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), self._key):
            return None
        message = "a valid key is needed: Authorization: Bearer <key>"
        return Refusal(
            401, "unauthorized", message, "Authorization", {"WWW-Authenticate": "Bearer"}
        )


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0].lstrip("[")
    return host.rpartition(":")[0] if host.count(":") == 1 else host
