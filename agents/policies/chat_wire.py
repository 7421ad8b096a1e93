"""Reads what a server of the OpenAI chat API answers: text or tool calls, counts, token ids.

A model writes part of every answer, so whatever is odd in that part must not fail the episode: half
characters, numbers that JSON does not have, tokens that do not add up.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import Any, NamedTuple, TypeGuard

import msgspec

from verigym.canonical import to_json


class Reply(NamedTuple):
    """A chat completion. The three lists are empty unless the server gave all of them, in accord."""

    text: str
    finish_reason: str | None
    prompt_ids: list[int]
    response_ids: list[int]
    logprobs: list[float]
    prompt_tokens: int | None
    response_tokens: int | None


class _Function(msgspec.Struct):
    name: str
    arguments: Any = None


class _ToolCall(msgspec.Struct):
    function: _Function


class _Message(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Logprob(msgspec.Struct):
    logprob: float | None = None


class _Logprobs(msgspec.Struct):
    content: list[_Logprob] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    token_ids: list[int] | None = None
    logprobs: _Logprobs | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Body(msgspec.Struct):
    choices: list[_Choice]
    prompt_token_ids: list[int] | None = None
    usage: _Usage | None = None


class _LooseChoice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    token_ids: Any = None
    logprobs: Any = None


class _LooseBody(msgspec.Struct):
    """A body of which only the text has to be right."""

    choices: list[_LooseChoice]
    prompt_token_ids: Any = None
    usage: Any = None


_strict = msgspec.json.Decoder(_Body)


def read_reply(body: bytes) -> Reply:
    """Read the body of a chat completion. Raises ValueError if it has no text and no tool call."""
    reply: Any
    try:
        reply = _strict.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        reply = _read_loosely(body)
    if not reply.choices:
        raise ValueError("no choices")
    choice = reply.choices[0]
    message: _Message = choice.message
    prompt_ids, response_ids, logprobs = _tokens(reply, choice)
    return Reply(
        text=_as_json(message) if message.tool_calls else message.content or "",
        finish_reason=choice.finish_reason,
        prompt_ids=prompt_ids,
        response_ids=response_ids,
        logprobs=logprobs,
        prompt_tokens=_count(_get(reply.usage, "prompt_tokens")),
        response_tokens=_count(_get(reply.usage, "completion_tokens")),
    )


def error_text(body: bytes) -> str:
    """Return the message of an error's body, at most 300 characters of it."""
    said: Any = None
    with suppress(ValueError, RecursionError):
        said = json.loads(body)
    for name in ("error", "message", "detail"):
        if isinstance(said, dict) and name in said:
            said = said[name]
    text = said if isinstance(said, str) else body.decode("utf-8", "replace")
    return " ".join(text.split())[:300]


def _read_loosely(body: bytes) -> _LooseBody:
    """Read a body with Python's own reader, which takes NaN and lone surrogates, here U+FFFD."""
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return msgspec.convert(json.loads(text), _LooseBody)
    except (ValueError, RecursionError) as error:
        start = body[:200].decode("utf-8", "replace")
        raise ValueError(f"{type(error).__name__}: {error}; it begins {start!r}") from error


def _as_json(message: _Message) -> str:
    """Return a message that calls tools as JSON, in the form that environments read."""
    calls = [
        {
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments},
        }
        for call in message.tool_calls or ()
    ]
    said = {"role": "assistant", "content": message.content, "tool_calls": calls}
    return to_json(said).decode()


def _tokens(reply: Any, choice: Any) -> tuple[list[int], list[int], list[float]]:
    prompt_ids, response_ids = reply.prompt_token_ids, choice.token_ids
    content = _get(choice.logprobs, "content")
    if not (_is_ids(prompt_ids) and _is_ids(response_ids) and isinstance(content, list)):
        return [], [], []
    logprobs = [float(p) for p in (_get(e, "logprob") for e in content) if _is_logprob(p)]
    if not len(logprobs) == len(content) == len(response_ids):
        return [], [], []
    return prompt_ids, response_ids, logprobs


def _get(value: Any, name: str) -> Any:
    """Return a field of a struct or of a JSON object; None if there is none."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _is_logprob(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _is_ids(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and bool(value) and all(type(item) is int for item in value)
