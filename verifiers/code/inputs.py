"""Bounds of a function's arguments, as data; whether a call keeps them, and how to say them.

A bound is `{"kind": "int", "low", "high"}`, `{"kind": "text", "low", "high", "alphabet"}` (lengths),
`{"kind": "list", "low", "high", "of": bound}` (lengths) or `{"kind": "bool"}`; low and high are included.
"""

from __future__ import annotations

from typing import Any

from verigym.canonical import JSON
from verigym.errors import TaskError


def breach(value: JSON, bound: dict[str, Any]) -> str:
    """Return the reason why `value` is outside `bound`; "" if it is within."""
    kind = bound["kind"]
    if kind == "bool":
        return "" if isinstance(value, bool) else "true or false is wanted"
    low, high = bound["low"], bound["high"]
    if kind == "int":
        if isinstance(value, bool) or not isinstance(value, int):
            return "a whole number is wanted"
        return "" if low <= value <= high else f"a number must be in {low} to {high}"
    if kind == "text":
        if not isinstance(value, str):
            return "a text is wanted"
        if not low <= len(value) <= high:
            return f"a text must have {low} to {high} characters"
        odd = set(value) - set(bound["alphabet"])
        return f"a text must not hold {min(odd)!a}" if odd else ""
    if not isinstance(value, list):
        return "a list is wanted"
    if not low <= len(value) <= high:
        return f"a list must have {low} to {high} items"
    return next((said for item in value if (said := breach(item, bound["of"]))), "")


def smallest(bound: dict[str, Any]) -> JSON:
    """Return the simplest value within `bound`: zero or the number next to it, the shortest text
    or list."""
    if bound["kind"] == "bool":
        return False
    low, high = bound["low"], bound["high"]
    if bound["kind"] == "int":
        return int(max(low, min(high, 0)))
    if bound["kind"] == "text":
        return str(bound["alphabet"][:1] * low)
    return [smallest(bound["of"]) for _ in range(low)]


def read_bounds(bounds: JSON) -> list[dict[str, Any]]:
    """Return the bounds of a reference, checked. Raises TaskError."""
    if not isinstance(bounds, list | tuple):
        raise TaskError('"args" must be a list of bounds, one an argument')
    return [_checked(bound) for bound in bounds]


def _checked(bound: JSON) -> dict[str, Any]:
    if not isinstance(bound, dict) or bound.get("kind") not in ("int", "text", "list", "bool"):
        raise TaskError(f"a bound must have the kind int, text, list or bool, got {bound!r}")
    made: dict[str, Any] = dict(bound)
    if bound["kind"] == "bool":
        return made
    for end in ("low", "high"):
        if isinstance(made.get(end), bool) or not isinstance(made.get(end), int):
            raise TaskError(f"a bound of kind {made['kind']} needs whole numbers low and high")
    if made["kind"] == "text" and not isinstance(made.get("alphabet"), str):
        raise TaskError("a bound of kind text needs its alphabet")
    if made["kind"] == "list":
        made["of"] = _checked(made.get("of"))
    return made


def said(bound: dict[str, Any]) -> str:
    """Return the bound in words: `a list of 0 to 8 items, each a whole number from -20 to 20`."""
    kind = bound["kind"]
    if kind == "bool":
        return "true or false"
    low, high = bound["low"], bound["high"]
    if kind == "int":
        return f"a whole number from {low} to {high}"
    if kind == "text":
        letters = bound["alphabet"].replace(" ", "")
        space = " or spaces" if " " in bound["alphabet"] else ""
        return f"a text of {low} to {high} characters, all of them of {letters}{space}"
    return f"a list of {low} to {high} items, each {said(bound['of'])}"
