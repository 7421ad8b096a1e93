"""Parameters of verifiers: a frozen `msgspec.Struct` as JSON Schema, and values read into it.

    class Params(msgspec.Struct, frozen=True):
        size: Annotated[int, Meta(ge=1, le=9, description="Minimum number of letters.")] = 3

    read(Params, {"size": 0}, "mine/exact")
    # RequestError: size must be a whole number, at least 1 and at most 9, got 0; leave it out for 3

Types, ranges, choices, defaults and descriptions stand in the struct and nowhere else; what fields must
have in common stands in its `__post_init__`, as ValueError.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import (
    Any,
    ClassVar,
    Final,
    Generic,
    Literal,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from typing_extensions import TypeVar

from verigym.canonical import JSON
from verigym.errors import RequestError, TaskError, suggestion

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_TYPES = {
    "null": "null",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "an object",
}
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "minLength": "with at least {} characters",
    "maxLength": "with at most {} characters",
    "minItems": "with at least {} items",
    "maxItems": "with at most {} items",
    "pattern": "that matches {}",
}
_PLACE = re.compile(r" - at `\$\.?(.*)`$", re.DOTALL)
_STEPS = re.compile(r"\[(\d+)\]|([^.\[]+)")
_LONGEST_VALUE = 200

S = TypeVar("S", bound=msgspec.Struct)
P = TypeVar("P", bound=msgspec.Struct, default=msgspec.Struct, covariant=True)


class NoParams(msgspec.Struct, frozen=True):
    """Parameters of a class that has none."""


class Parameterised(Generic[P]):
    """Base of classes made with parameters that `P` declares, such as `Verifier[P]`.

    `settings` holds their values; `params` is the same as plain data, which digests cover.
    """

    id: ClassVar[str]
    version: ClassVar[int]
    params_type: ClassVar[type[msgspec.Struct]] = NoParams
    """`P`, set by naming it in the class statement."""
    settings: P

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__dict__.keys() & {"defaults", "param_schemas"}:
            raise TaskError(
                f"{cls.__name__} declares its parameters by defaults and param_schemas, which are not read; "
                f"declare them in class Params(msgspec.Struct, frozen=True) and write {cls.__name__}(Verifier[Params])"
            )
        for base in cls.__dict__.get("__orig_bases__", ()):
            for kind in get_args(base):
                if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                    cls.params_type = kind

    def __init__(self, /, **params: JSON) -> None:
        self.settings = cast(P, read(self.params_type, params, f"verifier {self.id}"))
        self.params: dict[str, JSON] = plain(self.settings, params)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the parameters: types, ranges, choices, defaults and descriptions."""
        return schema_of(self.params_type)


def read(kind: type[S], given: Mapping[str, JSON], owner: str) -> S:
    """Return the parameters `kind` with the values `given`; a float that is whole counts as an integer.

    Raises RequestError for a name that `owner` does not have or a value that does not fit.
    """
    check_declaration(kind)
    for name in given:
        if name not in kind.__struct_fields__:
            hint = suggestion(name, kind.__struct_fields__)
            raise RequestError(f"{owner} has no parameter {name!r}; {hint}")
        _check_finite(name, given[name])
    try:
        return msgspec.convert(_with_whole_numbers(kind, given), kind)
    except msgspec.ValidationError as error:
        raise RequestError(_refusal(kind, given, str(error))) from error


def plain(made: msgspec.Struct, given: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return `made` as digests cover it: defaults and, in their place, the values as they were given."""
    defaults = msgspec.to_builtins(type(made)())
    given = _with_whole_numbers(type(made), given)
    return {name: given.get(name, _listed(default)) for name, default in defaults.items()}


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of an object of the parameters `kind`, all optional with a default."""
    return copy.deepcopy(_schema(kind))


@cache
def _schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    document = msgspec.json.schema(kind)
    others = document["$defs"]
    own = others.pop(kind.__name__)["properties"]
    hints = get_type_hints(kind, include_extras=True)
    defaults = msgspec.to_builtins(kind())
    properties = {
        name: {**_tidy(rule, hints[name]), "default": _listed(defaults[name])}
        for name, rule in own.items()
    }
    return {
        "$schema": DIALECT,
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        **({"$defs": others} if others else {}),
    }


@cache
def check_declaration(kind: type[msgspec.Struct]) -> None:
    """Raise TaskError unless `kind` is frozen, and each of its fields has a default that fits."""
    if not kind.__struct_config__.frozen:
        raise TaskError(
            f"{kind.__name__} must be frozen; write class {kind.__name__}(..., frozen=True)"
        )
    try:
        made = kind()
    except TypeError as error:
        raise TaskError(f"each parameter needs a default: {kind.__name__}: {error}") from error
    try:
        msgspec.convert(msgspec.to_builtins(made), kind)
        _schema(kind)
    except msgspec.ValidationError as error:
        raise TaskError(
            f"a default of {kind.__name__} does not fit its own type: {error}"
        ) from error
    except (TypeError, NameError) as error:
        raise TaskError(f"{kind.__name__} has a type that JSON does not know: {error}") from error


def _tidy(rule: dict[str, Any], hint: Any) -> dict[str, Any]:
    """Return the rule with choices in the order in which they are written, and a union as a list of types."""
    rule = dict(rule)
    if "enum" in rule:
        rule["enum"] = list(_choices(hint))
    parts = rule.get("anyOf", ())
    types = [part.get("type") for part in parts]
    bounds = [(key, value) for part in parts for key, value in part.items() if key != "type"]
    if parts and None not in types and len(dict(bounds)) == len(bounds):
        del rule["anyOf"]
        rule = {"type": types, **dict(bounds), **rule}
    return rule


def _choices(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(choice for part in get_args(hint) for choice in _choices(part))


def _check_finite(name: str, value: JSON) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise RequestError(f"{name} must be finite, got {value!r}")
    if isinstance(value, list | tuple):
        for i, one in enumerate(value):
            _check_finite(f"{name}[{i}]", one)


def _listed(value: JSON) -> JSON:
    return [_listed(one) for one in value] if isinstance(value, list | tuple) else value


def _with_whole_numbers(kind: type[msgspec.Struct], given: Mapping[str, JSON]) -> dict[str, JSON]:
    found = dict(given)
    if any(isinstance(value, float) for value in given.values()):
        rules = _schema(kind)["properties"]
        for name, value in given.items():
            if isinstance(value, float) and value.is_integer() and _is_whole(rules[name]):
                found[name] = int(value)
    return found


def _is_whole(rule: Mapping[str, Any]) -> bool:
    kinds = rule.get("type", ())
    return "integer" in ([kinds] if isinstance(kinds, str) else kinds)


def _refusal(kind: type[msgspec.Struct], given: Mapping[str, JSON], error: str) -> str:
    """Return the sentence that says which value was given, which is wanted and what to do."""
    found = _PLACE.search(error)
    if found is None:  # from `__post_init__`
        return error
    value: Any = given
    rule: Any = _schema(kind)
    for place, name in _STEPS.findall(found[1]):
        try:
            value = value[int(place)] if place else value[name]
            rule = rule["items"] if place else rule["properties"][name]
        except (KeyError, IndexError, TypeError):
            return f"{found[1]}: {error[: found.start()]}"
    shown = repr(value)[:_LONGEST_VALUE]
    words = [one for one in rule.get("enum", ()) if isinstance(one, str)]
    if isinstance(value, str) and words:
        advice = suggestion(value, words)
    else:
        default = rule.get("default")
        advice = "" if default is None else f"leave it out for {default!r}"
    sentence = f"{found[1]} must be {describe_rule(rule)}, got {shown}"
    return f"{sentence}; {advice}" if advice else sentence


def describe_rule(rule: Mapping[str, Any]) -> str:
    """Return the values that a JSON Schema allows, in words: `a whole number, above 0`."""
    if "enum" in rule:
        return f"one of {', '.join(map(repr, rule['enum']))}"
    if "anyOf" in rule:
        return " or ".join(map(describe_rule, rule["anyOf"]))
    kinds = rule.get("type", ())
    types = " or ".join(_TYPES[one] for one in ([kinds] if isinstance(kinds, str) else kinds))
    bounds = describe_bounds(rule)
    return f"{types}, {bounds}" if bounds else types or "of another type"


def describe_bounds(rule: Mapping[str, Any]) -> str:
    """Return the range that a JSON Schema allows, in words; empty if it names none."""
    return " and ".join(text.format(rule[key]) for key, text in _BOUNDS.items() if key in rule)
