"""The Anthropic messages API."""

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
)
from verigym.agents.gateway.streams import ReplyWriter
from verigym.errors import RequestError

path = "/v1/messages"

_STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
_ERRORS = {
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}


class _Block(msgspec.Struct):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: dict[str, Any] = {}
    tool_use_id: str = ""
    content: Any = None


class _Message(msgspec.Struct):
    role: Literal["user", "assistant", "system"]
    content: str | list[_Block]


class _Request(msgspec.Struct):
    messages: list[_Message]
    model: str = ""
    max_tokens: int | None = None
    system: str | list[_Block] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: dict[str, Any] | None = None
    stop_sequences: list[str] | None = None
    stream: bool | None = None
    thinking: dict[str, Any] | None = None
    output_format: dict[str, Any] | None = None


def read(body: bytes) -> ChatCall:
    """Return the call in the body of a request. Raises RequestError."""
    asked: _Request = decode(body, _Request)
    if not asked.messages:
        raise RequestError("messages is empty; give at least one message")
    if asked.output_format is not None:
        raise RequestError("output_format is not supported: sampling is not constrained")
    if asked.messages[-1].role == "assistant":
        raise RequestError("the last message must be the user's: replies cannot be prefilled")
    messages = [ChatMessage(role="system", content=_text(asked.system))] if asked.system else []
    for message in asked.messages:
        messages += _messages(message)
    return ChatCall(
        model=asked.model,
        messages=join_assistant(messages),
        tools=_offered(asked.tools, asked.tool_choice),
        max_tokens=asked.max_tokens,
        stop=tuple(text for text in asked.stop_sequences or () if text),
        stream=bool(asked.stream),
        wants_thoughts=(asked.thinking or {}).get("type", "disabled") != "disabled",
    )


def _offered(
    tools: list[dict[str, Any]] | None, choice: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """Return the tools as the chat API describes them. A choice of `any` is read as `auto`."""
    kind = (choice or {}).get("type", "auto")
    if kind == "none" or not tools:
        return []
    if kind == "tool":
        raise RequestError(
            "tool_choice with a tool is not supported: sampling is not constrained; offer only that tool"
        )
    out = []
    for tool in tools:
        if tool.get("type", "custom") != "custom" or "name" not in tool:
            raise RequestError(f"tools must be custom ones with a name, got {str(tool)[:200]}")
        function = {"name": tool["name"], "parameters": tool.get("input_schema") or {}}
        if tool.get("description"):
            function["description"] = tool["description"]
        out.append({"type": "function", "function": function})
    return out


def _messages(message: _Message) -> Iterator[ChatMessage]:
    """Yield the messages in one: results of tools are messages of their own, before the rest."""
    if isinstance(message.content, str):
        yield ChatMessage(role=message.role, content=message.content)
        return
    blocks = [b for b in message.content if b.type not in ("thinking", "redacted_thinking")]
    for block in blocks:
        if block.type == "tool_result":
            yield ChatMessage(
                role="tool", content=_result(block.content), answers=block.tool_use_id
            )
    rest = [block for block in blocks if block.type != "tool_result"]
    uses = tuple(
        ToolUse(name=block.name, arguments=block.input, id=block.id)
        for block in rest
        if block.type == "tool_use"
    )
    texts = [block for block in rest if block.type != "tool_use"]
    if texts or uses:
        yield ChatMessage(role=message.role, content=_text(texts), tools=uses)


def _result(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    try:
        return _text(msgspec.convert(content, list[_Block]))
    except msgspec.ValidationError as error:
        raise RequestError(f"the content of a tool_result cannot be read: {error}") from error


def _text(content: str | list[_Block]) -> str:
    if isinstance(content, str):
        return content
    for block in content:
        if block.type != "text":
            raise RequestError(f"content of type {block.type!r} is not supported: send text")
    return "\n".join(block.text for block in content)


def answer(call: ChatCall, reply: ChatReply) -> dict[str, Any]:
    """Return the body of the response."""
    return {
        **_head(call, reply),
        "content": _blocks(call, reply),
        "stop_reason": _stop_reason(reply),
        "stop_sequence": reply.stopped_by,
    }


class Writer(ReplyWriter):
    """Events of a message: blocks of thoughts and text, which are written in parts, and of tool calls."""

    def __init__(self, call: ChatCall, head: ChatReply) -> None:
        super().__init__(call, head)
        self._index = -1
        self._open = ""

    @override
    def _begun(self) -> Iterator[bytes]:
        head = {**_head(self.call, self.head), "content": [], "stop_reason": None}
        yield _sent("message_start", message={**head, "stop_sequence": None})

    @override
    def _thought(self, text: str) -> Iterator[bytes]:
        if self.call.wants_thoughts:
            yield from self._in_block({"type": "thinking", "thinking": "", "signature": ""}, text)

    @override
    def _said(self, text: str) -> Iterator[bytes]:
        yield from self._in_block({"type": "text", "text": ""}, text)

    @override
    def _ended(self, reply: ChatReply) -> Iterator[bytes]:
        if self._open != "text" and not reply.tools:
            yield from self._said("")
        yield from self._closed()
        for block in _uses(reply):
            yield from self._opened({**block, "input": {}})
            written = msgspec.json.encode(block["input"]).decode()
            yield self._delta({"type": "input_json_delta", "partial_json": written})
            yield from self._closed()
        yield _sent(
            "message_delta",
            delta={"stop_reason": _stop_reason(reply), "stop_sequence": reply.stopped_by},
            usage={"output_tokens": reply.n_sampled},
        )
        yield _sent("message_stop")

    def _in_block(self, empty: dict[str, Any], text: str) -> Iterator[bytes]:
        """Yield text in a block like `empty`, which is opened if another is open."""
        kind = empty["type"]
        if self._open != kind:
            yield from self._closed()
            yield from self._opened(empty)
        yield self._delta({"type": f"{kind}_delta", kind: text})

    def _opened(self, block: dict[str, Any]) -> Iterator[bytes]:
        self._index += 1
        self._open = block["type"]
        yield _sent("content_block_start", index=self._index, content_block=block)

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return _sent("content_block_delta", index=self._index, delta=delta)

    def _closed(self) -> Iterator[bytes]:
        if self._open:
            self._open = ""
            yield _sent("content_block_stop", index=self._index)


def _sent(kind: str, **data: Any) -> bytes:
    return event({"type": kind, **data}, kind)


def error(status: int, message: str, code: str | None) -> dict[str, Any]:
    """Return the body of an error."""
    kind = _ERRORS.get(status) or ("invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def _head(call: ChatCall, reply: ChatReply) -> dict[str, Any]:
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": call.model,
        "usage": {"input_tokens": reply.n_prompt, "output_tokens": reply.n_sampled},
    }


def _blocks(call: ChatCall, reply: ChatReply) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.thoughts and call.wants_thoughts:
        blocks.append({"type": "thinking", "thinking": reply.thoughts, "signature": ""})
    if reply.content or not reply.tools:
        blocks.append({"type": "text", "text": reply.content})
    return [*blocks, *_uses(reply)]


def _uses(reply: ChatReply) -> Iterator[dict[str, Any]]:
    for one in reply.tools:
        given = one.arguments if isinstance(one.arguments, dict) else {}
        yield {"type": "tool_use", "id": one.id, "name": one.name, "input": given}


def _stop_reason(reply: ChatReply) -> str:
    return "stop_sequence" if reply.stopped_by is not None else _STOP_REASONS[reply.finish]
