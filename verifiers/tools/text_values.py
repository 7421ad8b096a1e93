"""Reads an argument that a form of calls writes as text, by the type that the tool's schema gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verigym.canonical import JSON
from verigym.verifiers.text.strict_json import NotJson, read_json
from verigym.verifiers.tools.schema_types import with_json_types

Rules = Mapping[str, Mapping[str, Any]]
"""Schemas of the arguments of each tool."""

_CONSTANTS: dict[str, JSON] = {"True": True, "False": False, "None": None}


def rules_of(definitions: Sequence[JSON]) -> dict[str, Mapping[str, JSON]]:
    """Return the schemas of the arguments of tools, as the OpenAI chat API defines them."""
    found: dict[str, Mapping[str, JSON]] = {}
    for definition in definitions:
        inner = definition.get("function", definition) if isinstance(definition, dict) else None
        if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
            continue
        schema = with_json_types(inner.get("parameters"))
        properties = schema.get("properties") if isinstance(schema, dict) else None
        found[str(inner["name"]).strip()] = properties if isinstance(properties, dict) else {}
    return found


def read_value(text: str, rule: JSON) -> JSON:
    """Return the value of `text`: JSON if the schema takes a value of its type, else the text
    itself if the schema takes text.

    A schema that names no types takes JSON, and text that is not JSON.
    """
    kinds = _kinds(rule)
    bare = text.strip()
    value: JSON
    if kinds == {"string"}:
        return text
    if bare in _CONSTANTS:
        value = _CONSTANTS[bare]
    else:
        try:
            value = read_json(bare)
        except NotJson as error:
            if error.reason != "bad_json" and "string" not in kinds:
                raise
            return text
    if "string" in kinds and (isinstance(value, str) or not _kinds_of(value) & kinds):
        return text
    return value


def _kinds(rule: JSON) -> set[str]:
    """Return the types that a schema names; empty if it names none."""
    if not isinstance(rule, dict):
        return set()
    named = rule.get("type")
    if isinstance(named, str):
        return {named}
    if isinstance(named, list | tuple):
        return {kind for kind in named if isinstance(kind, str)}
    values = rule.get("enum", [rule["const"]] if "const" in rule else [])
    found: set[str] = set()
    for value in values if isinstance(values, list | tuple) else []:
        found |= _kinds_of(value)
    for key in ("anyOf", "oneOf"):
        inner = rule.get(key)
        for one in inner if isinstance(inner, list | tuple) else []:
            found |= _kinds(one)
    return found


def _kinds_of(value: JSON) -> set[str]:
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int):
        return {"integer", "number"}
    if isinstance(value, float):
        return {"number", "integer"} if value.is_integer() else {"number"}
    if isinstance(value, str):
        return {"string"}
    return {"object"} if isinstance(value, dict) else {"array"}
