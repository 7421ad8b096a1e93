"""Sampled ids as the reply that a client sees: stop sequences, thoughts and tool calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from verigym.agents.engines.sampler import Sample
from verigym.agents.gateway.chat import ChatCall, ChatMessage, ChatReply, ToolUse
from verigym.envs.tools.calls import submission_of
from verigym.reply import spoken
from verigym.verdict import Verdict
from verigym.verifiers.tools.call_forms import before_calls
from verigym.verifiers.tools.read_calls import read_calls
from verigym.verifiers.tools.text_values import rules_of

Decode = Callable[[Sequence[int]], str]

_CLOSE_THOUGHTS = "</think>"


@dataclass(frozen=True, kw_only=True)
class Said:
    """Ids that count as the model's answer, and their text, whole."""

    ids: list[int]
    logprobs: list[float]
    text: str
    is_cut: bool
    """True if a limit ended it: neither an end token nor a stop sequence."""
    stopped_by: str | None = None


def cut_at_stop(sample: Sample, stop: Sequence[str], decode: Decode) -> Said:
    """Return `sample` up to the token that completes the first stop sequence.

    That is what a sampler that stops there would have returned, to the token: the rest had no influence on it.
    """
    is_cut = sample.finish_reason == "length"
    text = decode(sample.ids)
    found = [(at, one) for one in stop if (at := text.find(one)) >= 0]
    if not found:
        return Said(ids=sample.ids, logprobs=sample.logprobs, text=text, is_cut=is_cut)
    first = min(found)[1]
    low, high = 1, len(sample.ids)
    while low < high:
        middle = (low + high) // 2
        if first in decode(sample.ids[:middle]):
            high = middle
        else:
            low = middle + 1
    return Said(
        ids=sample.ids[:low],
        logprobs=sample.logprobs[:low],
        text=decode(sample.ids[:low]),
        is_cut=False,
        stopped_by=first,
    )


def read_reply(call: ChatCall, said: Said, n_prompt: int, decode: Decode) -> ChatReply:
    """Return the reply in `said`. Text that is no readable call stays content."""
    text = said.text if said.stopped_by is None else said.text[: said.text.find(said.stopped_by)]
    thoughts, _, _ = text.rpartition(_CLOSE_THOUGHTS)
    content = spoken(text)
    tools: tuple[ToolUse, ...] = ()
    if call.tools:
        found = read_calls(submission_of(text), rules_of(call.tools))
        if not isinstance(found, Verdict) and found.calls:
            content = before_calls(content)
            tools = tuple(
                ToolUse(name=one.name, arguments=dict(one.arguments), id=f"call_{uuid4().hex[:24]}")
                for one in found.calls
            )
    return ChatReply(
        id=uuid4().hex,
        created=int(time.time()),
        content=content.strip(),
        thoughts=thoughts.replace("<think>", "").strip(),
        tools=tools,
        finish="length" if said.is_cut else "tool_calls" if tools else "stop",
        stopped_by=said.stopped_by,
        n_prompt=n_prompt,
        n_sampled=len(said.ids),
        pieces=[decode([one]) for one in said.ids] if call.wants_logprobs else (),
        logprobs=said.logprobs if call.wants_logprobs else (),
    )


def as_message(reply: ChatReply) -> ChatMessage:
    """Return `reply` as the message that a client sends back in its next call."""
    return ChatMessage(role="assistant", content=reply.content, tools=reply.tools)
