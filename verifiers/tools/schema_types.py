"""Reads the types of other languages in tool schemas as those of JSON Schema.

Data sets of function calls name types as Python, Java or JavaScript do: `dict`, `float`, `tuple`, `any`,
`ArrayList`, `String`; some say `"required": true` of one argument, as drafts before 4 did. A schema like this is
no JSON Schema. Only `type` keywords are read, where a
schema may stand; arguments that are called `type` are left alone.
"""

from __future__ import annotations

from verigym.canonical import JSON

_STANDARD = ("object", "array", "string", "integer", "number", "boolean", "null")
_NAMES = {
    **{name: name for name in _STANDARD},
    **dict.fromkeys(("dict", "dictionary", "hashmap", "hashtable", "map"), "object"),
    **dict.fromkeys(("list", "tuple", "set", "arraylist", "queue", "stack"), "array"),
    **dict.fromkeys(("str", "char", "character"), "string"),
    **dict.fromkeys(("int", "long", "short", "byte", "bigint"), "integer"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("none", "nonetype"), "null"),
}
_ANY = "any"
_SCHEMAS = (
    "items",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
)
_LISTS = ("anyOf", "allOf", "oneOf", "prefixItems", "items")
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def with_json_types(schema: JSON) -> JSON:
    """Return the schema with the types of JSON Schema; names that are none in any language are kept."""
    if not isinstance(schema, dict):
        return schema
    made = dict(schema)
    if "type" in made:
        kinds = made["type"] if isinstance(made["type"], list | tuple) else [made["type"]]
        read = [_NAMES.get(k.lower(), k.lower()) if _is_foreign(k) else k for k in kinds]
        if _ANY in read:
            del made["type"]
        elif read != kinds:
            made["type"] = read[0] if isinstance(schema["type"], str) else list(dict.fromkeys(read))
    if isinstance(made.get("required"), bool):
        del made["required"]
    for key in _SCHEMAS:
        if isinstance(made.get(key), dict):
            made[key] = with_json_types(made[key])
    for key in _LISTS:
        if isinstance(made.get(key), list | tuple):
            made[key] = [with_json_types(inner) for inner in made[key]]
    for key in _MAPS:
        if isinstance(made.get(key), dict):
            made[key] = {name: with_json_types(inner) for name, inner in made[key].items()}
    return made


def _is_foreign(kind: JSON) -> bool:
    if not isinstance(kind, str) or kind in _STANDARD:
        return False
    return kind.lower() == _ANY or kind.lower() in _NAMES
