"""Reads tool calls out of what a policy submitted, in the shapes that models and servers use.

- An assistant message of the OpenAI chat API (`{"role", "content", "tool_calls": [...]}`), its list of
  `tool_calls`, or one call; `arguments` an object or JSON text.
- Text, without thoughts (`verigym.reply`): every `<tool_call>...</tool_call>` (the last may be cut short at
  its closing tag), each with one call or a list; else every fenced block, tagged `json`, `tool_call`,
  `tool_calls` or not at all, that holds JSON; else the whole text, where it begins with `{` or `[`. Where the
  last answer tag holds calls in one of these forms, those outside of it do not count.
- A call: `{"name", "arguments"}`, also with `parameters` or `input` in place of `arguments`, or
  `{"type": "function", "function": {...}}` without a name beside it. No arguments, null and "" mean `{}`.

JSON is read strictly (`text.strict_json`): a key that stands twice is refused, since the server that
runs the call may take the other one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from verigym.canonical import JSON, to_json
from verigym.reply import fenced, scope, spoken
from verigym.verdict import Verdict, unusable
from verigym.verifiers.text.reply import shown
from verigym.verifiers.text.strict_json import MAX_CHARS, NotJson, check_value, read_json

MAX_CALLS = 64

T = TypeVar("T")

_OPEN = re.compile(r"<\s*tool_calls?\s*>", re.IGNORECASE)
_CLOSE = re.compile(r"<\s*/\s*tool_calls?\s*>", re.IGNORECASE)
_TAGS = ("", "json", "tool_call", "tool_calls")
_ARGUMENTS = ("arguments", "parameters", "input")


@dataclass(frozen=True)
class Call:
    """One call: a tool's name and its arguments."""

    name: str
    arguments: dict[str, JSON]


@dataclass(frozen=True)
class Reply:
    """The calls of a reply, and whether it says anything at all."""

    calls: list[Call]
    blank: bool


class _Unreadable(Exception):
    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def read_calls(submission: JSON) -> Reply | Verdict:
    """The calls in a submission, or the verdict on one that cannot be read."""
    try:
        if isinstance(submission, str):
            return _from_text(submission)
        if len(to_json(submission)) > MAX_CHARS:
            return unusable("too_long", f"a submission has at most {MAX_CHARS} bytes")
        check_value(submission)
        return _from_data(submission)
    except (_Unreadable, NotJson) as error:
        return unusable(error.reason, str(error))


def _from_data(submission: JSON) -> Reply:
    if isinstance(submission, list | tuple):
        return Reply(_calls(submission), False)
    if not isinstance(submission, dict):
        raise _Unreadable(
            "not_calls", f"a submission is text, a message or calls, not {shown(submission)}"
        )
    if "tool_calls" not in submission and "role" not in submission:
        return Reply([_call(submission)], False)
    calls, content = submission.get("tool_calls"), submission.get("content")
    if calls:
        if not isinstance(calls, list | tuple):
            raise _Unreadable("bad_call", "tool_calls must be a list")
        return Reply(_calls(calls), False)
    if content is None:
        return Reply([], True)
    if not isinstance(content, str):
        raise _Unreadable("not_calls", "the content of a message must be text")
    return _from_text(content)


def _from_text(text: str) -> Reply:
    if len(text) > MAX_CHARS:
        raise _Unreadable("too_long", f"{len(text)} characters, {MAX_CHARS} are read")
    text = spoken(text)
    inside = scope(text)
    bodies = _bodies(inside) or (_bodies(text) if inside is not text else [])
    if not bodies:
        return Reply([], not text.strip())
    calls: list[Call] = []
    for body in bodies:
        value = read_json(body.strip())
        calls += _calls(value) if isinstance(value, list) else [_call(value)]
        if len(calls) > MAX_CALLS:
            break
    return Reply(_at_most(calls), False)


def _bodies(text: str) -> list[str]:
    """The JSON of the calls in `text`, unread; empty if it has no calls."""
    bodies = _tagged(text)
    if bodies:
        return bodies
    bodies = [
        block.body
        for block in fenced(text)
        if block.tag in _TAGS and block.body.lstrip().startswith(("{", "["))
    ]
    whole = text.strip()
    return bodies or ([whole] if whole.startswith(("{", "[")) else [])


def _tagged(text: str) -> list[str]:
    bodies: list[str] = []
    at = 0
    while opened := _OPEN.search(text, at):
        closed = _CLOSE.search(text, opened.end())
        bodies.append(text[opened.end() : closed.start() if closed else len(text)])
        if closed is None or len(bodies) > MAX_CALLS:
            break
        at = closed.end()
    return bodies


def _calls(values: Sequence[JSON]) -> list[Call]:
    return [_call(value) for value in _at_most(values)]


def _at_most(items: Sequence[T]) -> list[T]:
    if len(items) > MAX_CALLS:
        raise _Unreadable("too_many_calls", f"more than {MAX_CALLS} calls")
    return list(items)


def _call(value: JSON) -> Call:
    if not isinstance(value, dict):
        raise _Unreadable("bad_call", f"a call is an object, not {shown(value)}")
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
        raise _Unreadable("bad_call", f"the arguments of {shown(name)} must be an object")
    return Call(name.strip(), arguments)
