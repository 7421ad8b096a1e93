"""`/`: a page on which a person tries verifiers and looks at cards and sessions.

Plain files of this folder, nothing from elsewhere, no inline script; everything it shows it asks of
the same routes as any client, with the key that the person gave. The files themselves need no key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
from fastapi import FastAPI, Response

from verigym.errors import suggestion
from verigym.server import openapi
from verigym.server.page.examples import examples_of
from verigym.server.refusals import Refusal

_FOLDER: Final = Path(__file__).parent
_KINDS: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class Example(msgspec.Struct):
    """`label` is 1 where the submission is right; `task` holds what a verifier reads of one."""

    name: str
    label: int
    task: dict[str, Any]
    submission: Any
    params: dict[str, Any]


class ExampleList(msgspec.Struct):
    examples: list[Example]


openapi.add_types(Example, ExampleList)
_EXAMPLES: Final = openapi.operation(ExampleList, None, 404)


def install(app: FastAPI) -> None:
    """Add the page and the route of examples."""
    files = {
        path.name: (path.read_bytes(), _KINDS[path.suffix])
        for path in sorted(_FOLDER.iterdir())
        if path.suffix in _KINDS
    }

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return _file(files, "index.html")

    @app.get("/page/{name}", include_in_schema=False)
    async def file(name: str) -> Response:
        return _file(files, name)

    @app.get(
        "/v1/verifiers/{verifier:path}/examples",
        summary="Submissions to try a verifier with, right and wrong ones",
        openapi_extra=_EXAMPLES,
    )
    async def examples(verifier: str) -> Response:
        cards = app.state.service.cards
        if verifier not in cards:
            message = f"unknown verifier; {suggestion(verifier, cards)}"
            raise Refusal(404, "unknown_verifier", message)
        body = msgspec.json.encode({"examples": examples_of(verifier)})
        return Response(body, media_type="application/json")


def _file(files: dict[str, tuple[bytes, str]], name: str) -> Response:
    if name not in files:
        raise Refusal(404, "not_found", "no such path; see /docs")
    data, kind = files[name]
    return Response(data, media_type=kind, headers=_HEADERS)
