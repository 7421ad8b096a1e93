"""Refusals of the service: always `{"error": {"code", "message", "where"}}`, never a stack trace."""

from __future__ import annotations

import http
import logging

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from verigym.canonical import to_json

_log = logging.getLogger(__name__)

NOSNIFF = (b"x-content-type-options", b"nosniff")
"""Header of every response: what the service sends is never anything else than it says."""

_CODE_OF = {404: "not_found", 405: "method_not_allowed"}


class Refusal(Exception):
    """An answer other than 2xx. `where` is a JSON path into the body, or a header's name, or ""."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        where: str = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.where = where
        self.headers = headers

    def response(self) -> Response:
        error = {"code": self.code, "message": self.message, "where": self.where}
        return Response(
            to_json({"error": error}),
            self.status,
            headers=self.headers,
            media_type="application/json",
        )


def install(app: FastAPI) -> None:
    """Install the error handlers, so that every failure is sent as the same JSON object."""

    @app.exception_handler(Refusal)
    async def refused(request: Request, error: Refusal) -> Response:
        return error.response()

    @app.exception_handler(HTTPException)
    async def unrouted(request: Request, error: HTTPException) -> Response:
        code = _CODE_OF.get(error.status_code, "refused")
        message = f"{http.HTTPStatus(error.status_code).phrase}: {request.method} on this path"
        if error.status_code == 404:
            message = "no such path; see /docs"
        headers = dict(error.headers) if error.headers else None
        return Refusal(error.status_code, code, message, headers=headers).response()

    @app.exception_handler(RequestValidationError)
    async def misread(request: Request, error: RequestValidationError) -> Response:
        message = "a parameter of the path or the query is not what it must be"
        return Refusal(422, "invalid_request", message).response()

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        # Starlette raises it again after this answer, so the trace is in the server's log.
        _log.error("%s %s failed: %s", request.method, request.url.path, type(error).__name__)
        message = "the service failed; what happened is in its log"
        return Refusal(500, "internal", message).response()
