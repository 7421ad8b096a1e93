"""The tools of a service that has to be read about first: documents, and one tool that sends requests.

Which methods, paths and parameters there are stands in the table `endpoints`, which no tool shows; the
documents say the same in words. What a request gets wrong is answered as a service would, and tells no
more than that.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from verigym.canonical import JSON
from verigym.envs.tools.tool import Refused, Tool, fields, insert, one, rows, text
from verigym.envs.tools.world import World

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
COLUMNS = ("amount", "state", "keeper")

Db = sqlite3.Connection


def list_documents(db: Db) -> JSON:
    """Return the titles of all documents."""
    return [row["title"] for row in rows(db, "SELECT title FROM documents ORDER BY id")]


def read_document(db: Db, title: str) -> JSON:
    """Return the text of a document."""
    known = f"there is no document {title[:60]!a}"
    return str(one(db, known, "SELECT body FROM documents WHERE title = ?", title)["body"])


def send_request(db: Db, method: str, path: str, params: dict[str, JSON]) -> JSON:
    """Return the service's response to a request."""
    for row in rows(db, "SELECT * FROM endpoints ORDER BY id"):
        stem = str(row["path"])
        in_path = stem.endswith("*")
        fits = path.startswith(stem[:-1]) if in_path else path == stem
        if row["method"] == method and fits:
            name = path[len(stem) - 1 :] if in_path else None
            return _do(db, str(row["action"]), json.loads(str(row["form"])), name, dict(params))
    raise Refused("404: no such method and path")


def _do(
    db: Db, action: str, form: dict[str, Any], name: str | None, given: dict[str, JSON]
) -> JSON:
    if action == "gone":
        raise Refused("410: gone; see the document on the present version")
    key = form.get("key")
    if key and given.pop(key[0], None) != key[1]:
        raise Refused("401: access is not granted")
    values: dict[str, Any] = {} if name is None else {"name": name}
    for part, label in form["labels"].items():
        if label not in given:
            raise Refused(
                f"400: {len(form['labels'])} parameters are wanted besides any for access"
            )
        values[part] = given.pop(label)
    if given:
        raise Refused(f"400: unknown parameter {next(iter(given))[:40]!a}")
    if action == "list":
        return [row["name"] for row in rows(db, "SELECT name FROM records ORDER BY id")]
    if not isinstance(values["name"], str):
        raise Refused("400: a name must be text")
    found = rows(db, "SELECT * FROM records WHERE name = ?", values["name"])
    new = {part: _decoded(part, value, form) for part, value in values.items() if part != "name"}
    if action == "create":
        if found:
            raise Refused("409: there is one of that name")
        insert(db, "records", name=values["name"], **new)
        return {"status": 201}
    if not found:
        raise Refused("404: there is none of that name")
    if action == "delete":
        db.execute("DELETE FROM records WHERE name = ?", (values["name"],))
        return {"status": 204}
    if action == "read":
        state = next(code for code, word in form["codes"].items() if word == found[0]["state"])
        shown = {**found[0], "amount": found[0]["amount"] * form["factor"], "state": state}
        return {form["shown"][column]: shown[column] for column in COLUMNS}
    for column, value in new.items():
        db.execute(f"UPDATE records SET {column} = ? WHERE name = ?", (value, values["name"]))
    return {"status": 200}


def _decoded(part: str, value: JSON, form: dict[str, Any]) -> JSON:
    """A value as the table has it. Amounts come in units of their own, states as codes."""
    if part == "amount":
        if isinstance(value, bool) or not isinstance(value, int) or value % form["factor"]:
            raise Refused("422: an amount must be a whole number in the units of the service")
        return value // int(form["factor"])
    if part == "state":
        if not isinstance(value, str) or value not in form["codes"]:
            raise Refused("422: no such code")
        return str(form["codes"][value])
    if not isinstance(value, str):
        raise Refused("422: a keeper must be text")
    return value


_TOOLS = (
    Tool(
        "list_documents",
        "Titles of the documents on the service.",
        {},
        list_documents,
        ("documents",),
    ),
    Tool(
        "read_document",
        "Read a document.",
        {"title": text("Its title.")},
        *(read_document, ("documents",)),
    ),
    Tool(
        "send_request",
        "Send a request to the service.",
        {
            "method": text("Method.", *METHODS),
            "path": text("Path, such as /a/b."),
            "params": fields("Parameters by name; {} for none."),
        },
        *(send_request, ("endpoints", "records"), ("records",)),
    ),
)

API = World(
    "api",
    {
        "records": ("id", "name", *COLUMNS),
        "documents": ("id", "title", "body"),
        "endpoints": ("id", "method", "path", "action", "form"),
    },
    {tool.name: tool for tool in _TOOLS},
)
