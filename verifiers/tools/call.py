"""`tools/call`: the tool calls of a reply, against the tools' schemas and the expected calls.

The reference is

    {"tools": [OpenAI tool definitions], "expected": [call, ...], "order": "sequence"}

`tools` may be left out (no schema is checked then); `order` overrides the parameter. A call that is
wanted is `{"name", "arguments": {name: value}}` and may have

    accept     {name: [further right values]}
    optional   [names that may be left out]
    any        [names that may have any value that the schema allows]

An argument left out that has a `default` in the tool's schema counts as given with it, on both sides.
The reference goes before the schema: a value that it gives or accepts is right, even if the schema refuses it
(null, "N/A", a value outside of an enum), and so is the same value in the type that the schema asks for (5 for
"5"); an argument whose null the schema refuses may be left out. Types of other languages (`dict`, `float`,
`tuple`, `any`, `ArrayList`) are read as those of JSON Schema.
`expected: []` wants no call but a reply in words: at least one word of two letters outside of tags and data, and
no call of a tool written as a program writes it (`name(`).

Score 1 if the calls are those wanted, no more and no fewer; the shares of ToolRL are `parts`
(`match.py` has the formula): `names`, `params`, `values`, and `match` over all three.

Covers: further calls beside the right ones, keys that stand twice, invented tools and arguments,
right calls in a thought, deep and large input. Does not cover: what the calls would do (tools/state).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.text.evidence import show
from verigym.verifiers.text.schema_json import compile_schema, errors
from verigym.verifiers.text.strict_json import NotJson, read_json
from verigym.verifiers.tools.match import CallPair, Match, WantedCall, match_calls
from verigym.verifiers.tools.read_calls import MAX_CALLS, ReadCall, read_calls
from verigym.verifiers.tools.schema_types import with_json_types
from verigym.verifiers.tools.values import Sameness, Strings

if TYPE_CHECKING:
    import jsonschema_rs

Order: TypeAlias = Literal["sequence", "bag", "set"]
ORDERS: tuple[Order, ...] = get_args(Order)
_CALL_KEYS = frozenset({"name", "arguments", "accept", "optional", "any"})


@dataclass(frozen=True)
class _Tool:
    validator: jsonschema_rs.Validator
    rules: Mapping[str, JSON]
    defaults: Mapping[str, JSON]
    arguments: frozenset[str]
    required: frozenset[str]


class CallParams(Struct, frozen=True):
    """Parameters of `CallVerifier`."""

    order: Annotated[
        Order,
        Meta(description="Whether calls count in order, in any order, or in any order and once."),
    ] = "sequence"
    strings: Annotated[
        Strings,
        Meta(
            description="How texts are compared: as they are; white space aside; marks and case aside."
        ),
    ] = "trimmed"
    tolerance: Annotated[
        float,
        Meta(
            ge=0,
            lt=1,
            description="Relative difference allowed between numbers that are not both whole.",
        ),
    ] = 1e-9
    credit: Annotated[
        Literal["all", "parts"],
        Meta(description="The score: 1 or 0, or the part `match` (ToolRL)."),
    ] = "all"


class CallVerifier(Verifier[CallParams]):
    """Score 1 for exactly the calls that the task wants, else 0 (or `match` with `credit="parts"`).

    Judged with `correct`, `missing_call`, `extra_call`, `wrong_tool`, `wrong_order`,
    `wrong_arguments`, `unknown_tool`, `bad_arguments` (against the schema); unusable with `no_call`,
    `bad_json`, `duplicate_key`, `bad_call`, `not_calls`, `too_many_calls`, `too_long`, `too_deep`.
    """

    id: ClassVar[str] = "tools/call"
    version: ClassVar[int] = 2
    about: ClassVar[str] = (
        "Tool calls must be those wanted, by name and arguments; the submission is an OpenAI "
        "message, a list of calls, or text with <tool_call> tags or fenced JSON."
    )

    evidence: ClassVar[str] = (
        "The names and arguments of the calls, against schemas and the calls wanted; words beside "
        "them, thoughts and ids of calls count for nothing."
    )
    weights: ClassVar[Mapping[str, float]] = {
        "match": 1.0,
        "names": 0.0,
        "params": 0.0,
        "values": 0.0,
    }

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self._sameness = Sameness(self.settings.strings, self.settings.tolerance)

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        tools, wanted, order = self._read(task.reference)
        reply = read_calls(
            submission, None if tools is None else {n: t.rules for n, t in tools.items()}
        )
        if isinstance(reply, Verdict):
            return reply
        calls = reply.calls
        if not calls and wanted:
            return unusable("no_call", "no call was made")
        if not calls and reply.blank:
            return unusable("no_call", "the reply says nothing in words")
        if not calls and (named := reply.called_in_words(tools)):
            return unusable("not_calls", f"{show(named[0])} is called in words, which runs nothing")
        if order == "set":
            calls, wanted = self._distinct(calls), _distinct_wanted(wanted, self._sameness)
        match = match_calls(calls, wanted, order == "sequence", self._sameness)
        parts = {
            "names": match.names,
            "params": match.params,
            "values": match.values,
            "match": match.total,
        }
        trouble = _broken(calls, wanted, match, tools)
        if trouble is None and match.full:
            return scored(1.0, "correct", "the calls are those wanted", parts)
        reason, evidence = trouble or self._difference(calls, wanted, match, order)
        if trouble:
            # A call that its tool refuses must not look like a whole success anywhere.
            parts["match"] = min(parts["match"], 0.99)
        return scored(
            parts["match"] if self.settings.credit == "parts" else 0.0, reason, evidence, parts
        )

    def _difference(
        self, calls: Sequence[ReadCall], wanted: Sequence[WantedCall], match: Match, order: str
    ) -> tuple[str, str]:
        """Reason and evidence, in words about what was submitted and nothing else."""
        asked = sorted(one.name for one in wanted)
        made = sorted(call.name for call in calls)
        if asked == made:
            free = match_calls(calls, wanted, False, self._sameness)
            if order == "sequence" and free.full:
                return "wrong_order", "the calls are in another order than wanted"
            for column, pair in sorted(match.pairs.values(), key=lambda item: item[0]):
                if not pair.full:
                    which = f"call {column + 1}, {show(calls[column].name)}"
                    if pair.wrong:
                        return "wrong_arguments", f"{which}: argument {show(pair.wrong[0])}"
                    return "wrong_arguments", f"{which}: an argument is missing"
            return "wrong_order", "the calls are in another order than wanted"
        if len(calls) > len(wanted):
            return "extra_call", "there are more calls than wanted"
        if len(calls) < len(wanted):
            return "missing_call", "there are fewer calls than wanted"
        return "wrong_tool", "a call is of another tool than wanted"

    def _distinct(self, calls: Sequence[ReadCall]) -> list[ReadCall]:
        kept: list[ReadCall] = []
        for call in calls:
            if not any(
                call.name == other.name and self._sameness.same(call.arguments, other.arguments)
                for other in kept
            ):
                kept.append(call)
        return kept

    def _read(self, reference: JSON) -> tuple[dict[str, _Tool] | None, list[WantedCall], str]:
        """Tools, calls wanted and order. Raises TaskError if they cannot be used."""
        if not isinstance(reference, dict) or not isinstance(
            reference.get("expected"), list | tuple
        ):
            raise TaskError('the reference must be {"tools": [...], "expected": [...]}')
        order = reference.get("order", self.settings.order)
        if order not in ORDERS:
            raise TaskError(f"order must be one of {', '.join(ORDERS)}, got {order!r}")
        if len(reference["expected"]) > MAX_CALLS:
            raise TaskError(f"at most {MAX_CALLS} calls can be expected")
        tools = _read_tools(reference["tools"]) if reference.get("tools") is not None else None
        wanted = [_read_wanted(i, one, tools) for i, one in enumerate(reference["expected"], 1)]
        return tools, wanted, order


def _broken(
    calls: Sequence[ReadCall],
    wanted: Sequence[WantedCall],
    match: Match,
    tools: Mapping[str, _Tool] | None,
) -> tuple[str, str] | None:
    """The first call that its tool would refuse, but for what the reference itself wants."""
    if tools is None:
        return None
    pairs = {column: (wanted[row], pair) for row, (column, pair) in match.pairs.items()}
    for number, call in enumerate(calls, 1):
        tool = tools.get(call.name)
        if tool is None:
            return "unknown_tool", f"call {number}: there is no tool {show(call.name)}"
        for error in errors(tool.validator, call.arguments):
            if number - 1 in pairs and _is_wanted(error.path, error.keyword, *pairs[number - 1]):
                continue
            return "bad_arguments", f"call {number}, {show(call.name)}: {error}"
    return None


def _is_wanted(path: Sequence[str | int], keyword: str, one: WantedCall, pair: CallPair) -> bool:
    """Return True if the reference wants what the schema refuses."""
    if path:
        return path[0] not in one.free and path[0] not in pair.wrong
    # Of all arguments together: those that must or may be there are as the reference has them.
    return pair.full and (not one.free or keyword in ("required", "additionalProperties"))


def _read_tools(definitions: JSON) -> dict[str, _Tool]:
    if not isinstance(definitions, list | tuple):
        raise TaskError("tools must be a list of OpenAI tool definitions")
    tools: dict[str, _Tool] = {}
    for number, definition in enumerate(definitions, 1):
        inner: Any = definition
        if isinstance(inner, dict) and isinstance(inner.get("function"), dict):
            inner = inner["function"]
        if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
            raise TaskError(f"tool {number} must have a name")
        name = inner["name"].strip()
        if name in tools:
            raise TaskError(f"tool {name!r} is defined twice")
        schema = with_json_types(inner.get("parameters") or {"type": "object"})
        properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
        if not isinstance(properties, dict):
            raise TaskError(f"tool {name!r}: properties must be an object")
        defaults = {
            key: rule["default"]
            for key, rule in properties.items()
            if isinstance(rule, dict) and "default" in rule
        }
        validator = compile_schema(schema, f"tool {name!r}")
        required = schema.get("required", []) if isinstance(schema, dict) else []
        tools[name] = _Tool(
            validator, properties, defaults, frozenset(properties), frozenset(required)
        )
    return tools


def _read_wanted(number: int, one: JSON, tools: Mapping[str, _Tool] | None) -> WantedCall:
    where = f"expected call {number}"
    if not isinstance(one, dict) or not one.keys() <= _CALL_KEYS:
        raise TaskError(f"{where} must be an object with keys of {sorted(_CALL_KEYS)}")
    name, arguments = one.get("name"), one.get("arguments", {})
    accept, optional, free = one.get("accept", {}), one.get("optional", []), one.get("any", [])
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise TaskError(f"{where} must have a name and an object of arguments")
    name = name.strip()  # as in a reply
    if not isinstance(accept, dict) or not all(isinstance(v, list) for v in accept.values()):
        raise TaskError(f"{where}: accept must be an object of lists")
    for names in (optional, free):
        if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
            raise TaskError(f"{where}: optional and any must be lists of names")
    accepted = {key: [value, *accept.get(key, [])] for key, value in arguments.items()}
    accepted.update({key: values for key, values in accept.items() if key not in accepted})
    tool: _Tool | None = None
    if tools is not None:
        if name not in tools:
            raise TaskError(f"{where}: {name!r} is not one of the tools")
        tool = tools[name]
    known = accepted.keys() | set(free) | (tool.arguments if tool else set())
    if unknown := set(optional) - known:
        raise TaskError(f"{where}: optional {sorted(unknown)} are not arguments of this function")
    may_miss = frozenset(optional)
    if tool:
        may_miss |= _read_by_schema(accepted, tool)
    return WantedCall(name, accepted, frozenset(free), may_miss, tool.defaults if tool else {})


def _read_by_schema(accepted: dict[str, list[JSON]], tool: _Tool) -> frozenset[str]:
    """Add to values that the schema refuses the same values in the type that it asks for.

    Returns the arguments that may be left out, since a null stands for them that the schema refuses.
    """

    def refuses(key: str, value: JSON) -> bool:
        return any(error.path[:1] == (key,) for error in errors(tool.validator, {key: value}))

    missing = set()
    for key, values in accepted.items():
        for value in [value for value in values if refuses(key, value)]:
            if value is None and key not in tool.required:
                missing.add(key)
            values += [other for other in _other_types(value) if not refuses(key, other)]
    return frozenset(missing)


def _other_types(value: JSON) -> list[JSON]:
    """The value that a text writes down, or the text of a number or constant."""
    if isinstance(value, str):
        try:
            return [read_json(value)]
        except NotJson:
            # Python's constants; its other literals are JSON but for the kind of quotes.
            constants: dict[str, JSON] = {"True": True, "False": False, "None": None}
            return [constants[value]] if value in constants else []
    if isinstance(value, bool | int | float):
        return [json.dumps(value)]
    return []


def _distinct_wanted(wanted: Sequence[WantedCall], sameness: Sameness) -> list[WantedCall]:
    kept: list[WantedCall] = []
    for one in wanted:
        if not any(
            one.name == other.name
            and one.free == other.free
            and sameness.same(dict(one.accepted), dict(other.accepted))
            for other in kept
        ):
            kept.append(one)
    return kept
