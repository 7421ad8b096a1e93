"""Reads the calls of an action: an OpenAI message or its parts as JSON, or text.

`verifiers/tools/read_calls.py` and `call_forms.py` know the forms; here only JSON from end to end is told from text.
"""

from __future__ import annotations

import json

from verigym.canonical import JSON
from verigym.verdict import Verdict
from verigym.verifiers.text.strict_json import NotJson, read_json
from verigym.verifiers.tools.read_calls import ReadCall, read_calls
from verigym.verifiers.tools.text_values import Rules

AT_ONCE = 8
"""Calls in one action."""

FORM = (
    'To call a tool, reply with <tool_call>{"name": "TOOL", "arguments": {"PARAMETER": "value"}}</tool_call> or '
    f"with an OpenAI message that has tool_calls. A reply may contain up to {AT_ONCE} calls; they run in order."
)


class NoCalls(ValueError):
    """An action in which there are no calls to run; the text says why, and what to do."""


def submission_of(action: str) -> JSON:
    """Return the submission of an action: the data if it is JSON from end to end, else its text."""
    whole = action.strip()
    if not whole.startswith(("{", "[")):
        return action
    try:
        return read_json(whole)
    except NotJson:
        return action  # text in another form, or one that the reader says what is wrong with


def calls_of(action: str, rules: Rules) -> list[ReadCall]:
    """Return the calls of `action`, at least one, of tools with arguments by `rules`. Raises NoCalls."""
    reply = read_calls(submission_of(action), rules)
    if isinstance(reply, Verdict):
        raise NoCalls(f"{reply.evidence}; {FORM}")
    if not reply.calls:
        raise NoCalls(f"no call was found; {FORM}")
    if len(reply.calls) > AT_ONCE:
        raise NoCalls(f"{len(reply.calls)} calls at once, at most {AT_ONCE} are run; none was")
    return reply.calls


def as_text(*calls: ReadCall) -> str:
    """Return the calls as text with tags."""
    return "\n".join(
        f"<tool_call>{json.dumps({'name': call.name, 'arguments': call.arguments})}</tool_call>"
        for call in calls
    )
