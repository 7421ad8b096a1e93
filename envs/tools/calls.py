"""Reads the calls of an action: an OpenAI message or its parts as JSON, or text with `<tool_call>` tags.

`verifiers/tools/read_calls.py` knows the forms; here only JSON from end to end is told from text.
"""

from __future__ import annotations

import json

from verigym.canonical import JSON
from verigym.verdict import Verdict
from verigym.verifiers.text.strict_json import NotJson, read_json
from verigym.verifiers.tools.read_calls import Call, read_calls

AT_ONCE = 8
"""Calls in one action."""

FORM = (
    'To use a tool reply with <tool_call>{"name": ..., "arguments": {...}}</tool_call>, or with an '
    f"OpenAI message that has tool_calls; one reply may make up to {AT_ONCE} calls, which run in order."
)


class NoCalls(ValueError):
    """An action in which there are no calls to run; the text says why, and what to do."""


def submission_of(action: str) -> JSON:
    """What an action submits: the data where it is JSON from end to end, else its text. Raises NotJson."""
    whole = action.strip()
    return read_json(whole) if whole.startswith(("{", "[")) else action


def calls_of(action: str) -> list[Call]:
    """The calls of `action`, at least one. Raises NoCalls."""
    try:
        reply = read_calls(submission_of(action))
    except NotJson as error:
        raise NoCalls(f"{error}; {FORM}") from error
    if isinstance(reply, Verdict):
        raise NoCalls(f"{reply.evidence}; {FORM}")
    if not reply.calls:
        raise NoCalls(f"no call was found; {FORM}")
    if len(reply.calls) > AT_ONCE:
        raise NoCalls(f"{len(reply.calls)} calls at once, at most {AT_ONCE} are run; none was")
    return reply.calls


def as_text(*calls: Call) -> str:
    """Calls as text with tags."""
    return "\n".join(
        f"<tool_call>{json.dumps({'name': call.name, 'arguments': call.arguments})}</tool_call>"
        for call in calls
    )
