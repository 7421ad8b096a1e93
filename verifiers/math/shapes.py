"""Reads replies that are no text in lines: an object of JSON, and a chain of equations in rows of TeX.

Not covered: objects with several values, and rows that are equations of their own.
"""

from __future__ import annotations

import json
import re

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import names

_MOST_CHARS = 2000
_ROWS = lazy_pattern(
    r"\\begin\s*\{(?P<kind>align\*?|aligned|alignat\*?|split|eqnarray\*?|gather\*?|gathered)\}(?P<body>.*?)\\end\s*\{(?P=kind)\}",
    re.DOTALL,
    needs="\\begin",
)
_OBJECT = lazy_pattern(r"(?:```(?:json)?\s*)?(?P<object>\{.*\})\s*(?:```)?", re.DOTALL, needs="{")
_UNITS = frozenset(names("unit units"))
_NOTES = frozenset(
    names(
        "steps step reasoning explanation work working workings method notes note rationale justification"
    )
)
_ANSWERS = frozenset(names("answer final_answer finalanswer result value solution"))


def joined_rows(text: str) -> str:
    """`text` with "a &= b \\\\ &= c" in one line; rows with left sides of their own stay."""
    return _ROWS.sub(_joined, text) if "\\begin" in text else text


def _joined(match: re.Match[str]) -> str:
    rows = [
        row.replace("&", " ").strip() for row in re.split(r"\\\\(?:\[[^\]]*\])?", match["body"])
    ]
    rows = [row for row in rows if row]
    if len(rows) < 2 or not all(row.startswith("=") for row in rows[1:]):
        return match[0]
    return f"$${' '.join(rows)}$$"


def value_of_object(text: str, question: str) -> str:
    """The value, with its unit, of a reply that is an object with one value; empty for another reply."""
    found = _OBJECT.fullmatch(text) if text[:1] in "{`" and len(text) <= _MOST_CHARS else None
    if found is None or not question:
        return ""
    try:
        members = json.loads(found["object"])
    except (ValueError, RecursionError):
        return ""
    if not isinstance(members, dict):
        return ""
    kept = {key.lower(): value for key, value in members.items() if key.lower() not in _NOTES}
    unit = next((kept.pop(key) for key in list(kept) if key in _UNITS), "")
    own = [key for key in kept if key in _ANSWERS]
    if len(kept) != 1 or not isinstance(unit, str):
        return ""
    key, value = kept.popitem()
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    name = "" if own else f"{key.replace('_', ' ')} = "
    return f"{name}{value} {unit}".strip()
