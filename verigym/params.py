"""Parameters of verifiers as JSON Schema: derived from the defaults, and used to check values.

    schema = schema_of({"size": 3}, {"size": {"minimum": 1, "description": "Letters at least."}})
    check("size", 0, schema["properties"]["size"])   # RequestError: size must be at least 1, got 0

Only the keywords in `_KEYWORDS` are checked; a declaration with another keyword is refused, so that no
schema promises an unchecked constraint. The contents of objects are not checked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from verigym.canonical import JSON
from verigym.errors import RequestError, TaskError, suggestion

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_NOTES = frozenset({"description", "title", "examples", "default", "$comment"})
_KEYWORDS = frozenset(
    {
        *("type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "items"),
    }
)
_NAMES = {
    "null": "null",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "an object",
}


def schema_of(
    defaults: Mapping[str, JSON], declared: Mapping[str, Mapping[str, JSON]]
) -> dict[str, Any]:
    """Return the JSON Schema of an object of parameters, all optional with a default.

    An undeclared type is that of the default (None: any value). Raises TaskError if a declaration has no
    default, has an unknown keyword, or does not accept its own default.
    """
    for name in declared:
        if name not in defaults:
            raise TaskError(
                f"param_schemas declares {name!r}, which is not among the defaults; "
                f"{suggestion(name, defaults)}"
            )
    properties: dict[str, Any] = {}
    for name, default in defaults.items():
        own = dict(declared.get(name, {}))
        _known(name, own)
        kind = {} if "type" in own or "enum" in own else _type_of(default)
        properties[name] = {**kind, **own, "default": default}
        try:
            check(name, default, properties[name])
        except RequestError as error:
            raise TaskError(f"the default does not fit its own schema: {error}") from error
    return {
        "$schema": DIALECT,
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def check(name: str, value: JSON, schema: Mapping[str, Any]) -> JSON:
    """Return `value`, with a float that equals an integer converted. Raises RequestError if it is invalid."""
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list | tuple) else [schema["type"]]
        if "integer" in kinds and isinstance(value, float) and value.is_integer():
            value = int(value)
        if not any(_is(value, kind) for kind in kinds):
            wanted = " or ".join(_NAMES[kind] for kind in kinds)
            raise RequestError(f"{name} must be {wanted}, got {value!r}")
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        shown = ", ".join(map(repr, schema["enum"]))
        words = [one for one in schema["enum"] if isinstance(one, str)]
        hint = f"; {suggestion(value, words)}" if isinstance(value, str) and words else ""
        raise RequestError(f"{name} must be one of {shown}, got {value!r}{hint}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        _check_range(name, value, schema)
    if isinstance(value, str):
        _check_size(name, len(value), "characters", schema, "minLength", "maxLength")
    if isinstance(value, list | tuple):
        _check_size(name, len(value), "items", schema, "minItems", "maxItems")
        if "items" in schema:
            return [check(f"{name}[{i}]", one, schema["items"]) for i, one in enumerate(value)]
    return value


def _check_range(name: str, value: float, schema: Mapping[str, Any]) -> None:
    if not math.isfinite(value):
        raise RequestError(f"{name} must be finite, got {value!r}")
    for keyword, holds, words in (
        ("minimum", value >= schema.get("minimum", value), "at least"),
        ("maximum", value <= schema.get("maximum", value), "at most"),
        ("exclusiveMinimum", value > schema.get("exclusiveMinimum", -math.inf), "above"),
        ("exclusiveMaximum", value < schema.get("exclusiveMaximum", math.inf), "below"),
    ):
        if not holds:
            raise RequestError(f"{name} must be {words} {schema[keyword]}, got {value!r}")


def _check_size(
    name: str, size: int, what: str, schema: Mapping[str, Any], least: str, most: str
) -> None:
    if size < schema.get(least, 0):
        raise RequestError(f"{name} must have at least {schema[least]} {what}, got {size}")
    if size > schema.get(most, size):
        raise RequestError(f"{name} must have at most {schema[most]} {what}, got {size}")


def _known(name: str, schema: Mapping[str, Any]) -> None:
    for keyword in schema:
        if keyword not in _KEYWORDS | _NOTES:
            raise TaskError(
                f"the schema of {name} has the keyword {keyword!r}, which is not checked; "
                f"{suggestion(keyword, _KEYWORDS)}"
            )
    kinds = schema.get("type", [])
    for kind in kinds if isinstance(kinds, list | tuple) else [kinds]:
        if kind not in _NAMES:
            raise TaskError(f"the schema of {name} has type {kind!r}; {suggestion(kind, _NAMES)}")
    if isinstance(schema.get("items"), Mapping):
        _known(f"{name}[]", schema["items"])


def _type_of(default: JSON) -> dict[str, Any]:
    for kind in ("boolean", "integer", "number", "string", "array", "object"):
        if _is(default, kind):
            return {"type": kind}
    return {}


def _is(value: JSON, kind: str) -> bool:
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    if kind == "array":
        return isinstance(value, list | tuple)
    return isinstance(value, dict)


def _same(one: JSON, other: JSON) -> bool:
    """Return True if two JSON values are equal; True is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other
