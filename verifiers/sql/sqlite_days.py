"""SQLite's functions of days with constants, as SQLite computes them: `date('2024-06-01', '-18 years')`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from sqlglot import exp

from verigym.verifiers.sql.near import Value, values_of

_NAMES = frozenset(("date", "datetime", "time", "julianday", "unixepoch", "strftime"))
_SHIFT = re.compile(r"\s*([+-]?)(\d{1,6}(?:\.\d{1,6})?\s*\w+)\s*")


def constant_day(node: exp.Expr) -> Value | None:
    """Return the value of a call whose arguments are all literals; None for other calls and for the current time."""
    call = _call(node)
    if call is None:
        return None
    name, arguments = call
    values = [_literal(argument) for argument in arguments]
    if None in values or any("now" in str(value).lower() for value in values):
        return None
    return _run(name, values)


def unshifted(node: exp.Expr, wanted: list[Value]) -> tuple[exp.Expr, list[Value]] | None:
    """Return the shifted moment in a call, and values of it that give the call about one of the wanted values.

    None if the call is not of a moment with constant shifts. Months of other lengths come out a few days off.
    """
    call = _call(node)
    if call is None or not call[1]:
        return None
    name, arguments = call
    if name == "strftime":
        return None
    moment, *shifts = arguments
    back = [_turned(str(_literal(shift))) for shift in reversed(shifts)]
    known = [shift for shift in back if shift is not None]
    moments = ([value, "unixepoch"] if name == "unixepoch" else [value] for value in wanted)
    found = [_run("datetime" if name == "datetime" else "date", [*one, *known]) for one in moments]
    return moment, [value for value in found if value is not None]


def _call(node: exp.Expr) -> tuple[str, list[exp.Expr]] | None:
    if isinstance(node, exp.Anonymous) and node.name.lower() in _NAMES:
        return node.name.lower(), node.expressions
    if isinstance(node, exp.TimeToStr) and isinstance(node.this, exp.TsOrDsToTimestamp):
        return "strftime", [node.args["format"], node.this.this]
    return None


def _literal(node: exp.Expr) -> Value | None:
    return next(_values(node), None)


def _values(node: exp.Expr) -> Iterator[Value]:
    if isinstance(node, exp.Literal):
        yield from values_of(node)


def _turned(shift: str) -> str | None:
    """The shift that takes `shift` back; None for one like 'start of month'."""
    match = _SHIFT.fullmatch(shift)
    return f"{'+' if match[1] == '-' else '-'}{match[2]}" if match else None


def _run(name: str, values: list[Value | None]) -> Value | None:
    with sqlite3.connect(":memory:") as database:
        marks = ", ".join("?" * len(values))
        found: Value | None = database.execute(f"SELECT {name}({marks})", values).fetchone()[0]
    return found
