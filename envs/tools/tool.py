"""`Tool`: a function with a schema; what its arguments may be, and what it says when they are wrong.

Arguments come from a model, so they are checked before a tool runs: no unknown names, no missing ones, the
type and range that the schema names, texts without lone surrogates or NUL and not endless.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from verigym.canonical import JSON
from verigym.errors import suggestion

MAX_TEXT = 4000
MAX_WHOLE = 1 << 53
NEW_IDS = 1000
"""Worlds number their first rows from 1, and have fewer."""

Schema = Mapping[str, JSON]


class Refused(Exception):
    """A call that was understood and cannot be done; the text goes to who called."""


@dataclass(frozen=True)
class Tool:
    """One tool. `run(db, **arguments)` answers with plain data or raises Refused.

    `tables` are those that it reads or writes, `writes` those that it may change.
    """

    name: str
    about: str
    parameters: Mapping[str, Schema]
    run: Callable[..., JSON]
    tables: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    optional: frozenset[str] = field(default=frozenset())

    @cached_property
    def line(self) -> str:
        """`function()` as a line of JSON."""
        return json.dumps(self.function())

    def schema(self) -> dict[str, Any]:
        """Return the definition as the OpenAI chat API takes it."""
        return {"type": "function", "function": self.function()}

    def function(self) -> dict[str, Any]:
        """Return the name, description and JSON Schema of the arguments."""
        return {
            "name": self.name,
            "description": self.about,
            "parameters": {
                "type": "object",
                "properties": {name: dict(rule) for name, rule in self.parameters.items()},
                "required": [name for name in self.parameters if name not in self.optional],
                "additionalProperties": False,
            },
        }

    def check(self, arguments: Mapping[str, JSON]) -> None:
        """Raise Refused if the arguments do not fit, with what was got and wanted."""
        for name in arguments:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise Refused(f"{self.name} has no argument {name[:40]!a}; it takes: {known}")
        for name, rule in self.parameters.items():
            if name in arguments:
                _check(name, arguments[name], rule)
            elif name not in self.optional:
                raise Refused(f"{self.name} needs the argument {name!r}")


def text(about: str, *choices: str) -> Schema:
    """Return a text, one of `choices` if there are any."""
    return {"type": "string", "description": about} | ({"enum": list(choices)} if choices else {})


def whole(about: str, least: int | None = None, most: int | None = None) -> Schema:
    """Return a whole number."""
    rule: dict[str, JSON] = {"type": "integer", "description": about}
    if least is not None:
        rule["minimum"] = least
    if most is not None:
        rule["maximum"] = most
    return rule


def flag(about: str) -> Schema:
    """Return the schema of a value that is true or false."""
    return {"type": "boolean", "description": about}


def texts(about: str) -> Schema:
    """Return a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": about}


def fields(about: str) -> Schema:
    """Return an object of texts, numbers and flags."""
    return {"type": "object", "description": about}


def unknown(name: str, known: Sequence[str]) -> str:
    """Return the message for an unknown tool."""
    return f"there is no tool {name[:40]!a}; {suggestion(name[:40], known)}"


def _check(name: str, value: JSON, rule: Schema) -> None:
    kind = rule["type"]
    if kind == "string":
        _check_text(name, value)
    elif kind == "integer":
        _check_whole(name, value, rule)
    elif kind == "boolean":
        if not isinstance(value, bool):
            raise Refused(f"{name} must be true or false, got {_shown(value)}")
    elif kind == "array":
        if not isinstance(value, list) or len(value) > 20:
            raise Refused(f"{name} must be a list of at most 20 texts, got {_shown(value)}")
        for item in value:
            _check_text(name, item)
    else:
        if not isinstance(value, dict) or len(value) > 20:
            raise Refused(f"{name} must be an object of at most 20 fields, got {_shown(value)}")
        for key, item in value.items():
            _check_text(name, key)
            if isinstance(item, str):
                _check_text(name, item)
            elif isinstance(item, list | dict | float) or item is None:
                raise Refused(f"{name}: {key[:40]!a} must be text, a whole number, true or false")
            elif not isinstance(item, bool):
                _check_whole(name, item, {})
    choices = rule.get("enum")
    if isinstance(choices, list) and value not in choices:
        wanted = ", ".join(map(str, choices))
        raise Refused(f"{name} must be one of {wanted}, got {_shown(value)}")


def _check_text(name: str, value: JSON) -> None:
    if not isinstance(value, str):
        raise Refused(f"{name} must be text, got {_shown(value)}")
    if len(value) > MAX_TEXT:
        raise Refused(f"{name} has {len(value)} characters, at most {MAX_TEXT} are taken")
    if "\0" in value or (not value.isascii() and _has_surrogate(value)):
        raise Refused(f"{name} holds characters that cannot be stored")


def _check_whole(name: str, value: JSON, rule: Schema) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused(f"{name} must be a whole number, got {_shown(value)}")
    least, most = rule.get("minimum", -MAX_WHOLE), rule.get("maximum", MAX_WHOLE)
    assert isinstance(least, int)
    assert isinstance(most, int)
    if not least <= value <= most:
        raise Refused(f"{name} must be from {least} to {most}, got {_shown(value)}")


def _has_surrogate(value: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in value)


def _shown(value: JSON) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 100:
        return "a very large number"
    told = ascii(value) if not isinstance(value, list | dict) else f"a {type(value).__name__}"
    return told if len(told) <= 60 else told[:57] + "..."


def rows(db: sqlite3.Connection, query: str, *values: JSON) -> list[dict[str, Any]]:
    """Return the rows of a query as objects."""
    cursor = db.execute(query, values)
    titles = [column[0] for column in cursor.description]
    return [dict(zip(titles, row, strict=True)) for row in cursor]


def one(db: sqlite3.Connection, missing: str, query: str, *values: JSON) -> dict[str, Any]:
    """Return the first row of a query. Raises Refused with `missing` if there is none."""
    found = rows(db, query, *values)
    if not found:
        raise Refused(missing)
    return found[0]


def insert(db: sqlite3.Connection, table: str, **values: JSON) -> int:
    """Return a new row; its id is above `NEW_IDS`, so never that of a row that was there at the start."""
    largest = int(db.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])
    number = max(largest, NEW_IDS) + 1
    marks = ", ".join("?" * (len(values) + 1))
    db.execute(
        f"INSERT INTO {table} (id, {', '.join(values)}) VALUES ({marks})",
        (number, *values.values()),
    )
    return number
