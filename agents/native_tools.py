"""Native tool calls of local models: tools in the chat template, results as messages of role `tool`.

The assistant's message keeps the reply as it was sampled, calls included, so the ids of the reply stay those that were
sampled (law 3). Environments read the calls in it, in the forms of `verifiers/tools/call_forms.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from verigym.env import Env
from verigym.envs.tools.calls import submission_of
from verigym.verdict import Verdict
from verigym.verifiers.tools.read_calls import read_calls

ToolSchemas: TypeAlias = Sequence[Mapping[str, Any]]


def published_by(env: Env[Any]) -> ToolSchemas | None:
    """Return the tools of the current task as the chat API takes them; None if it has none."""
    tools = getattr(env, "tools", None)
    return (tools() or None) if callable(tools) else None


def calls_tool(reply: str) -> bool:
    """Return True if a reply calls a tool, so that what follows is the tool's result."""
    found = read_calls(submission_of(reply))
    return not isinstance(found, Verdict) and bool(found.calls)
