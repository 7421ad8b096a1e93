"""Renders the OpenAPI document as a page of plain HTML; FastAPI's own loads scripts from a CDN."""

from __future__ import annotations

import json
from html import escape
from typing import Any


def render(document: dict[str, Any]) -> str:
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
