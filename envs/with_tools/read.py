"""Decides if a reply is a tool call or the answer; the forms of calls are those of `read_calls`.

A call counts if it stands inside the last answer tag or if there is no answer tag: a reply that answers runs
nothing. A reply that names no tool and bears no mark of a call is an answer, whatever else it holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from verigym.envs.tools.calls import submission_of
from verigym.envs.tools.tool import Refused
from verigym.envs.with_tools.aids import Aid
from verigym.errors import suggestion
from verigym.reply import last_answer, spoken
from verigym.verdict import Verdict
from verigym.verifiers.tools.read_calls import read_calls
from verigym.verifiers.tools.text_values import rules_of

_MARK = re.compile(
    r"<\|?\s*(?:tool_?|function_)calls?\b|\[TOOL_CALLS\]|<function=|\"tool_calls\"|<\|python_tag\|>",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ToolCall:
    """A call that can be made."""

    name: str
    text: str


@dataclass(frozen=True)
class BadCall:
    """A reply that was meant to call a tool and cannot be run; `why` is shown to the policy."""

    why: str


def read_call(reply: str, aids: Mapping[str, Aid]) -> ToolCall | BadCall | None:
    """Return the tool call in a whole reply; None if the reply is the answer."""
    if not aids:
        return None
    rules = rules_of([aid.tool.schema() for aid in aids.values()])
    submission, said = submission_of(reply), spoken(reply)
    if isinstance(submission, str) and (answered := last_answer(said)):
        submission = said = answered
    found = read_calls(submission, rules)
    is_marked = _MARK.search(said) is not None
    if isinstance(found, Verdict):
        if not is_marked:
            return None
        return BadCall(f"The tool call cannot be read: {found.evidence}.")
    if not found.calls:
        return None
    unknown = [call.name for call in found.calls if call.name not in aids]
    if unknown and not is_marked:
        return None
    if unknown:
        return BadCall(
            f"There is no tool {unknown[0][:40]!a}; {suggestion(unknown[0][:40], aids)}."
        )
    if len(found.calls) > 1:
        return BadCall(f"Make one call per reply, not {len(found.calls)}; none was run.")
    (call,) = found.calls
    aid = aids[call.name]
    try:
        aid.tool.check(call.arguments)
    except Refused as error:
        return BadCall(f"The call was not run: {error}.")
    return ToolCall(call.name, str(call.arguments[aid.parameter]))
