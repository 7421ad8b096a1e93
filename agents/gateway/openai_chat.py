"""The OpenAI chat completions API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from typing_extensions import override

from verigym.agents.gateway.chat import (
    ChatCall,
    ChatMessage,
    ChatReply,
    ToolUse,
    decode,
    event,
    join_assistant,
    read_arguments,
    refuse,
)
from verigym.agents.gateway.streams import ReplyWriter
from verigym.errors import RequestError

path = "/v1/chat/completions"


class _Part(msgspec.Struct):
    type: str
    text: str = ""


class _Function(msgspec.Struct):
    name: str
    arguments: str = "{}"


class _ToolCall(msgspec.Struct):
    function: _Function
    id: str = ""


class _Message(msgspec.Struct):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[_Part] | None = None
    tool_calls: list[_ToolCall] | None = None
    tool_call_id: str | None = None


class _StreamOptions(msgspec.Struct):
    include_usage: bool | None = None


class _Request(msgspec.Struct):
    messages: list[_Message]
    model: str = ""
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stop: str | list[str] | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    n: int | None = None
    logit_bias: dict[str, float] | None = None
    response_format: dict[str, Any] | None = None
    functions: list[Any] | None = None
    audio: dict[str, Any] | None = None


def read(body: bytes) -> ChatCall:
    """Return the call in the body of a request. Raises RequestError."""
    asked: _Request = decode(body, _Request)
    if not asked.messages:
        raise RequestError("messages is empty; give at least one message")
    if (asked.n or 1) != 1:
        raise RequestError(f"n must be 1, got {asked.n}; make several requests")
    refuse({"logit_bias": asked.logit_bias}, "tokens are sampled as the model gives them")
    refuse({"top_logprobs": asked.top_logprobs}, "only sampled tokens have log-probabilities")
    refuse({"functions": asked.functions}, "it was replaced by tools")
    refuse({"audio": asked.audio}, "the model writes text")
    check_format(asked.response_format)
    options = asked.stream_options
    stop = [asked.stop] if isinstance(asked.stop, str) else asked.stop or []
    return ChatCall(
        model=asked.model,
        messages=join_assistant(_message(one) for one in asked.messages),
        tools=offered(asked.tools, asked.tool_choice),
        max_tokens=asked.max_completion_tokens or asked.max_tokens,
        stop=tuple(text for text in stop if text),
        stream=bool(asked.stream),
        wants_usage=options is not None and bool(options.include_usage),
        wants_logprobs=bool(asked.logprobs),
    )


def check_format(wanted: dict[str, Any] | None) -> None:
    """Raise RequestError if the reply has to follow a schema."""
    if wanted is not None and wanted.get("type", "text") != "text":
        raise RequestError(
            f"response format {wanted.get('type')!r} is not supported: sampling is not constrained; "
            "ask for the format in the prompt"
        )


def offered(tools: list[dict[str, Any]] | None, choice: Any) -> list[dict[str, Any]]:
    """Return the tools that the model may call. Raises RequestError for those that are no functions.

    A choice of `required` is read as `auto`, since sampling is not constrained.
    """
    if choice == "none" or not tools:
        return []
    if isinstance(choice, dict):
        raise RequestError(
            "tool_choice with a function is not supported: sampling is not constrained; offer only "
            "that tool"
        )
    for tool in tools:
        if tool.get("type", "function") != "function" or "name" not in tool.get("function", {}):
            raise RequestError(f"tools must be functions with a name, got {str(tool)[:200]}")
    return tools


def _message(given: _Message) -> ChatMessage:
    parts = [] if given.content is None else given.content
    if isinstance(parts, str):
        text = parts
    else:
        for part in parts:
            if part.type not in ("text", "refusal"):
                raise RequestError(f"content of type {part.type!r} is not supported: send text")
        text = "".join(part.text for part in parts)
    calls = given.tool_calls or []
    return ChatMessage(
        role="system" if given.role == "developer" else given.role,
        content=text,
        tools=tuple(
            ToolUse(
                name=one.function.name,
                arguments=read_arguments(one.function.arguments),
                id=one.id,
            )
            for one in calls
        ),
        answers=given.tool_call_id or "",
    )


def answer(call: ChatCall, reply: ChatReply) -> dict[str, Any]:
    """Return the body of the response."""
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", **_said(reply)},
        "finish_reason": reply.finish,
        "logprobs": _logprobs(call, reply),
    }
    return {
        **_head(call, reply, "chat.completion"),
        "choices": [choice],
        "usage": _usage(reply),
    }


class Writer(ReplyWriter):
    """Chunks of a chat completion."""

    @override
    def _begun(self) -> Iterator[bytes]:
        yield self._chunk({"role": "assistant", "content": ""})

    @override
    def _thought(self, text: str) -> Iterator[bytes]:
        yield self._chunk({"reasoning_content": text})

    @override
    def _said(self, text: str) -> Iterator[bytes]:
        yield self._chunk({"content": text})

    @override
    def _ended(self, reply: ChatReply) -> Iterator[bytes]:
        for index, one in enumerate(_said(reply).get("tool_calls", ())):
            yield self._chunk({"tool_calls": [{"index": index, **one}]})
        yield self._chunk({}, reply.finish)
        if self.call.wants_usage:
            head = _head(self.call, self.head, "chat.completion.chunk")
            yield event({**head, "choices": [], "usage": _usage(reply)})
        yield b"data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return event({**_head(self.call, self.head, "chat.completion.chunk"), "choices": [choice]})


def error(status: int, message: str, code: str | None) -> dict[str, Any]:
    """Return the body of an error."""
    kind = {401: "authentication_error", 429: "rate_limit_error"}.get(status)
    kind = kind or ("invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _head(call: ChatCall, reply: ChatReply, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{reply.id}",
        "object": kind,
        "created": reply.created,
        "model": call.model,
    }


def _said(reply: ChatReply) -> dict[str, Any]:
    said: dict[str, Any] = {"content": reply.content or (None if reply.tools else "")}
    if reply.thoughts:
        said["reasoning_content"] = reply.thoughts
    if reply.tools:
        said["tool_calls"] = [
            {
                "id": one.id,
                "type": "function",
                "function": {"name": one.name, "arguments": one.arguments_json},
            }
            for one in reply.tools
        ]
    return said


def _usage(reply: ChatReply) -> dict[str, int]:
    return {
        "prompt_tokens": reply.n_prompt,
        "completion_tokens": reply.n_sampled,
        "total_tokens": reply.n_prompt + reply.n_sampled,
    }


def _logprobs(call: ChatCall, reply: ChatReply) -> dict[str, Any] | None:
    if not call.wants_logprobs:
        return None
    return {
        "content": [
            {"token": text, "logprob": logp, "bytes": list(text.encode()), "top_logprobs": []}
            for text, logp in zip(reply.pieces, reply.logprobs, strict=True)
        ]
    }
