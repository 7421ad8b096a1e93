"""The OpenAPI document, from the types that requests are decoded into.

Clients are generated from it, so it says more than the types do: any object is open, an answer holds
all its fields, and every operation has a name of its own.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from verigym.sandbox import wire
from verigym.server import openapi_page
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
_COMPLETE: set[str] = set()


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


def always_complete(*kinds: type) -> None:
    """State that an answer of these types holds every field: their schemas say what may be decoded."""
    _COMPLETE.update(kind.__name__ for kind in kinds)


def operation_id(route: APIRoute) -> str:
    """Return method and path as one word, such as `post_verify_batch`: generators name functions so."""
    words = re.findall(r"\w+", route.path_format.removeprefix("/v1"))
    return "_".join([min(route.methods or {"GET"}).lower(), *words])


def _components() -> dict[str, Any]:
    """Return the schemas as generators of clients need them."""
    schemas = {name: _explicit(schema) for name, schema in _COMPONENTS.items()}
    for name in _COMPLETE:
        schemas[name]["required"] = list(schemas[name]["properties"])
    return schemas


def _explicit(schema: Any) -> Any:
    """Copy a schema and add what generators do not assume: objects of any content are open."""
    if isinstance(schema, list):
        return [_explicit(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: one if key == "default" else _explicit(one) for key, one in schema.items()}
    if copy.get("type") == "object" and not {"properties", "additionalProperties"} & set(copy):
        copy["additionalProperties"] = True
    if "enum" in copy and "type" not in copy and all(isinstance(one, str) for one in copy["enum"]):
        copy["type"] = "string"
    if isinstance(copy.get("description"), str):
        copy["description"] = cleandoc(copy["description"])
    return copy


add_types(*_TYPES)
always_complete(Verdict, wire.ResultBody)

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
            components.setdefault("schemas", {}).update(_components())
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
            openapi_page.render(app.openapi()),
            media_type="text/html",
            headers={"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"},
        )
