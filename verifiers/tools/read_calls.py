"""Reads tool calls out of what a policy submitted, in the shapes that models and servers use.

- An assistant message of the OpenAI chat API (`{"role", "content", "tool_calls": [...]}`), its list of
  `tool_calls`, `{"tool_calls": [...]}`, or one call; `arguments` an object or JSON text.
- Text, without thoughts (`verigym.reply`), in the forms that `call_forms.py` lists.
- A call: `{"name", "arguments"}`, also with `parameters` or `input` in place of `arguments`, or
  `{"type": "function", "function": {...}}` without a name beside it. No arguments, null and "" mean `{}`.

JSON is read strictly (`text.strict_json`): a key that stands twice is refused, since the server that
runs the call may take the other one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from verigym.canonical import JSON, to_json
from verigym.reply import spoken
from verigym.verdict import Verdict, unusable
from verigym.verifiers.text.evidence import show
from verigym.verifiers.text.strict_json import MAX_CHARS, NotJson, check_value, read_json
from verigym.verifiers.tools.call_forms import (
    NotACall,
    TakenBack,
    Written,
    outside_of_data,
    written_calls,
)
from verigym.verifiers.tools.text_values import Rules, read_value

MAX_CALLS = 64

T = TypeVar("T")

_ARGUMENTS = ("arguments", "parameters", "input")
_WORD = re.compile(r"[^\W\d_]{2}")
_CALLED = re.compile(r"(?<![\w.-])([\w.-]++)(?:\(|\s++\(\s*+\w++\s*+=)")
_CALLED_BY_KEY = re.compile(r"(?<![\w.-])([\w.-]++)\s*+\(\s*+\w++\s*+=")
_NO_WORD = re.compile(r"\b(?:null|none|nil|undefined|nan|true|false)\b", re.IGNORECASE)


@dataclass(frozen=True)
class ReadCall:
    """One call: a tool's name and its arguments."""

    name: str
    arguments: dict[str, JSON]


@dataclass(frozen=True)
class CallReply:
    """The calls of a reply, and the text of one that has none."""

    calls: list[ReadCall]
    text: str = ""

    @property
    def blank(self) -> bool:
        """Return True if it says nothing: no word of two letters outside of tags, data and calls as programs write them."""
        return _WORD.search(_NO_WORD.sub(" ", outside_of_data(self.text))) is None

    def called_in_words(self, names: Collection[str] | None) -> list[str]:
        """Return the `names` that the text calls as in a program: `name(`, also after the name of a module.

        Where no names are known: all that are called with an argument by name, `name(key=`.
        """
        if names is None:
            return _CALLED_BY_KEY.findall(self.text)
        found: set[str] = set()
        for called in _CALLED.findall(self.text):
            found |= {called, called.partition(".")[2], called.rpartition(".")[2]}
        return sorted(found.intersection(names))


class _Unreadable(Exception):
    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def read_calls(submission: JSON, rules: Rules | None = None) -> CallReply | Verdict:
    """Return the calls in a submission, or the verdict on one that cannot be read.

    `rules` are the schemas of the tools' arguments, which give values that are written as text their type.
    """
    try:
        if isinstance(submission, str):
            return _from_text(submission, rules or {})
        if len(to_json(submission)) > MAX_CHARS:
            return unusable("too_long", f"a submission has at most {MAX_CHARS} bytes")
        check_value(submission)
        return _from_data(submission, rules or {})
    except (_Unreadable, NotJson) as error:
        return unusable(error.reason, str(error))
    except NotACall as error:
        return unusable("bad_call", str(error))
    except TakenBack:
        return unusable("no_call", "the reply takes back what it answers")


def _from_data(submission: JSON, rules: Rules) -> CallReply:
    if isinstance(submission, list | tuple):
        return CallReply(_calls(submission))
    if not isinstance(submission, dict):
        raise _Unreadable(
            "not_calls", f"a submission is text, a message or calls, not {show(submission)}"
        )
    if not _is_message(submission):
        return CallReply([_call(submission)])
    if submission.get("tool_calls"):
        return CallReply(_calls_of_message(submission))
    content = submission.get("content")
    if content is None:
        return CallReply([])
    if not isinstance(content, str):
        raise _Unreadable("not_calls", "the content of a message must be text")
    return _from_text(content, rules)


def _is_message(value: Mapping[str, JSON]) -> bool:
    return "tool_calls" in value or "role" in value


def _calls_of_message(message: Mapping[str, JSON]) -> list[ReadCall]:
    calls = message["tool_calls"]
    if not isinstance(calls, list | tuple):
        raise _Unreadable("bad_call", "tool_calls must be a list")
    return _calls(calls)


def _from_text(text: str, rules: Rules) -> CallReply:
    if len(text) > MAX_CHARS:
        raise _Unreadable("too_long", f"{len(text)} characters, {MAX_CHARS} are read")
    text = spoken(text)
    written = written_calls(text)
    if len(written) == 1 and isinstance(written[0].value, dict) and _is_message(written[0].value):
        return _from_data(written[0].value, rules)
    calls: list[ReadCall] = []
    for one in written:
        calls += _as_calls(one, rules)
        if len(calls) > MAX_CALLS:
            break
    return CallReply(_at_most(calls), "" if calls else text)


def _as_calls(written: Written, rules: Rules) -> list[ReadCall]:
    value = written.value
    if isinstance(value, list):
        return _calls(value)
    call = _call(value)
    if not written.texts:
        return [call]
    types = rules.get(call.name, {})
    read = {key: read_value(text, types.get(key)) for key, text in written.texts.items()}
    return [ReadCall(call.name, read)]


def _calls(values: Sequence[JSON]) -> list[ReadCall]:
    return [_call(value) for value in _at_most(values)]


def _at_most(items: Sequence[T]) -> list[T]:
    if len(items) > MAX_CALLS:
        raise _Unreadable("too_many_calls", f"more than {MAX_CALLS} calls")
    return list(items)


def _call(value: JSON) -> ReadCall:
    if not isinstance(value, dict):
        raise _Unreadable("bad_call", f"a call is an object, not {show(value)}")
    inner = value.get("function")
    fields: dict[str, JSON] = inner if isinstance(inner, dict) else value
    if fields is inner and (
        beside := [key for key in ("name", *_ARGUMENTS) if value.get(key) is not None]
    ):
        # A server may run either.
        raise _Unreadable("bad_call", f"a call has {beside[0]!r} beside its 'function'")
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        raise _Unreadable("bad_call", "a call must have a name")
    given = [key for key in _ARGUMENTS if key in fields]
    if len(given) > 1:
        raise _Unreadable("bad_call", f"a call has both {given[0]!r} and {given[1]!r}")
    arguments: JSON = fields[given[0]] if given else None
    if isinstance(arguments, str):
        arguments = read_json(arguments) if arguments.strip() else {}
    elif arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise _Unreadable("bad_call", f"the arguments of {show(name)} must be an object")
    return ReadCall(name.strip(), arguments)
