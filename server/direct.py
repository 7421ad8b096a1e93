"""The route of single submissions, which is asked thousands of times a second.

FastAPI documents it and is otherwise left out: to look for dependencies that it does not have takes FastAPI
45 µs of processor time a request, an eighth of what one submission costs the service
(docs/decisions/0006-hot-routes-beside-fastapi.md).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from verigym.server.refusals import Refusal

Answering = Callable[[Request], Awaitable[Response]]


def post(app: FastAPI, path: str, **documented: Any) -> Callable[[Answering], Answering]:
    """Register a route as `app.post` does, for a function that takes the request alone and gives the answer."""

    def add(answering: Answering) -> Answering:
        app.router.add_api_route(
            path, answering, methods=["POST"], route_class_override=_Direct, **documented
        )
        return answering

    return add


class _Direct(APIRoute):
    def __init__(self, path: str, endpoint: Answering, **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.app = _asgi(endpoint)


def _asgi(answering: Answering) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await answering(Request(scope, receive, send))
        except Refusal as refusal:
            response = refusal.response()
        await response(scope, receive, send)

    return app
