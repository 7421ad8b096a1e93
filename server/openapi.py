"""The OpenAPI document, from the types that requests are decoded into, and a page that shows it.

The page is plain HTML, made here: FastAPI's own loads scripts from a CDN.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi

from verigym.sandbox import wire
from verigym.server.body import BatchBody, VerifyBody
from verigym.server.groups import GroupBody, GroupList
from verigym.server.limits import DEADLINE_HEADER
from verigym.verdict import Verdict


class Health(msgspec.Struct):
    """`waiting`: submissions that no worker has taken yet."""

    status: str
    version: str
    workers: int
    waiting: int


class Ready(msgspec.Struct):
    """Answer with status 200; a full queue is 429, a stopping service 503."""

    status: str


class VerifierCard(msgspec.Struct):
    """`params` are the parameters with their defaults, `schema` is their JSON Schema.

    `about` and `evidence` are descriptions in one line, `weights` the weights of a verdict's parts.
    """

    id: str
    version: int
    params: dict[str, Any]
    about: str
    schema: dict[str, Any]
    evidence: str
    weights: dict[str, float]


class VerifierList(msgspec.Struct):
    verifiers: list[VerifierCard]


class AuditCard(msgspec.Struct):
    """Description of a verifier and, in `reports`, its error rates by set of cases."""

    verifier: str
    version: int
    params: dict[str, Any]
    about: str
    evidence: str
    weights: dict[str, float]
    machine: dict[str, Any]
    reports: dict[str, Any]


class VerdictList(msgspec.Struct):
    """Verdicts in the order of the request's items."""

    verdicts: list[Verdict]


class ErrorDetail(msgspec.Struct):
    """`code` is for programs, `where` a JSON path into the body, a header's name or empty."""

    code: str
    message: str
    where: str


class Error(msgspec.Struct):
    error: ErrorDetail


class Nothing(msgspec.Struct):
    """An empty object: success."""


_TYPES = (
    *(
        Health,
        Ready,
        VerifierList,
        AuditCard,
        VerifyBody,
        BatchBody,
        Verdict,
        VerdictList,
        Error,
        Nothing,
        GroupBody,
        GroupList,
    ),
    *(wire.SandboxCard, wire.JobBody, wire.ResultBody, wire.SessionBody, wire.SessionCard),
    *(wire.CellBody, wire.CellResult, wire.FileBody, wire.Blob),
)
_SCHEMA_OF: dict[type, Any] = {}
_COMPONENTS: dict[str, Any] = {}


def add_types(*types: type) -> None:
    """Add `types` to the document, before `operation` names them."""
    schemas, components = msgspec.json.schema_components(
        types, ref_template="#/components/schemas/{name}"
    )
    for name, schema in components.items():
        if _COMPONENTS.get(name, schema) != schema:
            raise ValueError(f"two types of the wire are called {name}")
    _SCHEMA_OF.update(zip(types, schemas, strict=True))
    _COMPONENTS.update(components)


add_types(*_TYPES)

_MEANING = {
    400: "The body is not JSON, or the request is not HTTP as the service reads it",
    401: "The key is missing or wrong",
    403: "The key has not the scope, or without keys the Host or Origin is not of this machine",
    404: "Unknown verifier, environment, job or session, or no card",
    408: "The headers or the body came too slowly",
    409: "The session has ended, or this is not what comes next in it",
    413: "The body or the batch is too large",
    415: "The body is not sent as application/json",
    422: "The body does not fit the schema, or a parameter or header is refused",
    429: "Too many requests, or the queue is full; try again after Retry-After seconds",
    431: "Request line and headers are too large",
    500: "The service failed",
    503: "The service is stopping, has too many connections, or an environment does not work",
}


_DEADLINE = {
    "name": DEADLINE_HEADER,
    "in": "header",
    "description": "How many seconds the caller will wait.",
    "schema": {"type": "number", "exclusiveMinimum": 0, "maximum": 1e7},
}


def _content(kind: type) -> dict[str, Any]:
    return {"application/json": {"schema": _SCHEMA_OF[kind]}}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of refusals with the given statuses."""
    return {
        status: {"description": _MEANING[status], "content": _content(Error)} for status in statuses
    }


EVERYWHERE = refusals(400, 401, 403, 408, 422, 429, 431, 500, 503)
"""Answers that the layers in front of all routes give; FastAPI adds them to each."""


def operation(
    answer: type | None, body: type | None = None, *further: int, status: int = 200
) -> dict[str, Any]:
    """Return the documentation of one route; `answer` None is an answer without a body.

    `further` are statuses of refusals that `EVERYWHERE` does not hold.
    """
    done: dict[str, Any] = {"description": "Done"}
    if answer is not None:
        done["content"] = _content(answer)
    documented = {status: done, **refusals(*further)}
    said: dict[str, Any] = {"responses": {str(code): one for code, one in documented.items()}}
    if body is not None:
        said["requestBody"] = {"required": True, "content": _content(body)}
    return said


ON_BODIES = (404, 413, 415)
HEALTH = operation(Health)
READY = operation(Ready)
VERIFIERS = operation(VerifierList)
CARD = operation(AuditCard, None, 404)
VERIFY = operation(Verdict, VerifyBody, *ON_BODIES)
BATCH = operation(VerdictList, BatchBody, *ON_BODIES)
BATCH["responses"]["200"]["content"]["application/x-ndjson"] = {"schema": {"type": "string"}}
GROUP = operation(VerdictList, GroupBody, *ON_BODIES)
GROUPS = operation(GroupList)
SANDBOX = operation(wire.SandboxCard)
RUN = operation(wire.ResultBody, wire.JobBody, *ON_BODIES)
CANCEL = operation(Nothing, None, 404)
START = operation(wire.SessionCard, wire.SessionBody, *ON_BODIES)
CELL = operation(wire.CellResult, wire.CellBody, *ON_BODIES, 409)
FILE = operation(wire.Blob, wire.FileBody, *ON_BODIES, 409)
INTERRUPT = operation(Nothing, None, 404)
CLOSE = INTERRUPT


def install(app: FastAPI) -> None:
    """Complete the application's document and serve it as a page at /docs."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
            )
            components = schema.setdefault("components", {})
            components.setdefault("schemas", {}).update(_COMPONENTS)
            components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{"key": []}, {}]
            for operations in schema["paths"].values():
                for said in operations.values():
                    said.setdefault("parameters", []).append(_DEADLINE)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # as FastAPI's manual says

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return Response(
            page(app.openapi()),
            media_type="text/html",
            headers={"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"},
        )


def page(document: dict[str, Any]) -> str:
    """Render the document as HTML: one section per route and type, without scripts or downloads."""
    info = document["info"]
    routes = [
        _route(method, path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    types = [
        f'<section id="{escape(name)}"><h3>{escape(name)}</h3>'
        f"<p>{escape(schema.get('description', ''))}</p>{_fields(schema)}</section>"
        for name, schema in sorted(document["components"]["schemas"].items())
    ]
    return _PAGE.format(
        title=escape(info["title"]),
        version=escape(info["version"]),
        about=escape(info["description"]),
        routes="".join(routes),
        types="".join(types),
    )


def _route(method: str, path: str, operation: dict[str, Any]) -> str:
    body = ""
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        body = f"<p>Body: {_kind(schema)}</p>"
    answers = "".join(
        f"<tr><td><code>{escape(status)}</code></td><td>{escape(answer['description'])}</td><td>"
        + _kind(answer.get("content", {}).get("application/json", {}).get("schema", {}))
        + "</td></tr>"
        for status, answer in sorted(operation["responses"].items())
    )
    return (
        f"<section><h3><b>{escape(method.upper())}</b> <code>{escape(path)}</code></h3>"
        f"<p>{escape(operation.get('summary', ''))}</p>{body}<table>{answers}</table></section>"
    )


def _fields(schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{_kind(kind)}</td><td>"
        + ("required" if name in required else f"default {_default(kind)}")
        + "</td></tr>"
        for name, kind in schema.get("properties", {}).items()
    )
    if "enum" in schema:
        return " ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    return f"<table>{rows}</table>"


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_kind(choice) for choice in schema["anyOf"])
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        return f"list of {_kind(schema['items'])}"
    return escape(str(schema.get("type", "any JSON")))


def _default(schema: dict[str, Any]) -> str:
    return f"<code>{escape(json.dumps(schema['default']))}</code>" if "default" in schema else "-"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} {version}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem }}
section {{ border-top: 1px solid #8886; padding: .2rem 0 1rem }}
table {{ border-collapse: collapse }}
td {{ padding: .1rem 1.2rem .1rem 0; vertical-align: top }}
</style></head><body>
<h1>{title} <small>{version}</small></h1>
<p>{about} The same as JSON: <a href="/openapi.json">/openapi.json</a>.</p>
<h2>Routes</h2>{routes}
<h2>Types</h2>{types}
</body></html>
"""
