"""Routes that are asked thousands of times a second.

FastAPI documents them and is otherwise left out: what it does for each request, to look for
dependencies that these have none of, takes it a third of all the time that one submission takes here.
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
    """As `app.post`, for a function that takes the request alone and gives the answer."""

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
