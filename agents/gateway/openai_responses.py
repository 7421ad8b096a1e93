"""The OpenAI responses API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from typing_extensions import override

from verigym.agents.gateway import openai_chat
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

path = "/v1/responses"
error = openai_chat.error

_TEXTS = ("input_text", "output_text", "text", "refusal")
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


class _Part(msgspec.Struct):
    type: str
    text: str = ""


class _Item(msgspec.Struct):
    type: str = "message"
    role: str = ""
    content: str | list[_Part] | None = None
    name: str = ""
    arguments: str = "{}"
    call_id: str = ""
    output: str | list[_Part] = ""


class _Text(msgspec.Struct):
    format: dict[str, Any] | None = None


class _Request(msgspec.Struct):
    model: str = ""
    input: str | list[_Item] = ""
    instructions: str | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    max_output_tokens: int | None = None
    stream: bool | None = None
    previous_response_id: str | None = None
    text: _Text | None = None
    top_logprobs: int | None = None
    background: bool | None = None
    conversation: Any = None
    prompt: Any = None


def read(body: bytes) -> ChatCall:
    """Return the call in the body of a request. Raises RequestError."""
    asked: _Request = decode(body, _Request)
    if not asked.input:
        raise RequestError("input is empty; give text or at least one item")
    refuse({"top_logprobs": asked.top_logprobs}, "only sampled tokens have log-probabilities")
    refuse(
        {
            "background": asked.background,
            "conversation": asked.conversation,
            "prompt": asked.prompt,
        },
        "the gateway stores replies of a session only",
    )
    openai_chat.check_format(asked.text.format if asked.text is not None else None)
    opening = [ChatMessage(role="system", content=asked.instructions)] if asked.instructions else []
    if isinstance(asked.input, str):
        said = [ChatMessage(role="user", content=asked.input)]
    else:
        said = [_message(item) for item in asked.input if item.type != "reasoning"]
    before = asked.previous_response_id
    return ChatCall(
        model=asked.model,
        messages=join_assistant([*opening, *said]),
        tools=openai_chat.offered([_nested(tool) for tool in asked.tools or ()], asked.tool_choice),
        max_tokens=asked.max_output_tokens,
        stream=bool(asked.stream),
        continues=None if before is None else before.removeprefix("resp_"),
    )


def _nested(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a function as the chat API describes it. Raises RequestError for tools of the server."""
    if tool.get("type") != "function":
        raise RequestError(f"tool {tool.get('type')!r} is not supported: offer functions")
    names = ("name", "description", "parameters")
    return {
        "type": "function",
        "function": {name: tool[name] for name in names if tool.get(name) is not None},
    }


def _message(item: _Item) -> ChatMessage:
    if item.type == "function_call":
        use = ToolUse(name=item.name, arguments=read_arguments(item.arguments), id=item.call_id)
        return ChatMessage(role="assistant", tools=(use,))
    if item.type == "function_call_output":
        return ChatMessage(role="tool", content=_text(item.output), answers=item.call_id)
    if item.type != "message" or item.role not in _ROLES:
        raise RequestError(
            f"input item of type {item.type!r} and role {item.role!r} is not supported: send messages, "
            "function_call and function_call_output"
        )
    role: Any = _ROLES[item.role]
    return ChatMessage(role=role, content=_text(item.content))


def _text(content: str | list[_Part] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    for part in content:
        if part.type not in _TEXTS:
            raise RequestError(f"content of type {part.type!r} is not supported: send text")
    return "".join(part.text for part in content)


def answer(call: ChatCall, reply: ChatReply) -> dict[str, Any]:
    """Return the body of the response."""
    cut = reply.finish == "length"
    return {
        **_head(call, reply, "incomplete" if cut else "completed"),
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": _items(reply),
        "usage": {
            "input_tokens": reply.n_prompt,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": reply.n_sampled,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.n_prompt + reply.n_sampled,
        },
    }


class Writer(ReplyWriter):
    """Events of a response: items of thoughts and text, which are written in parts, and of function calls."""

    def __init__(self, call: ChatCall, head: ChatReply) -> None:
        super().__init__(call, head)
        self._number = -1
        self._index = -1
        self._open: dict[str, Any] = {}
        self._text = ""

    @override
    def _begun(self) -> Iterator[bytes]:
        begun = {
            **_head(self.call, self.head, "in_progress"),
            "output": [],
            "incomplete_details": None,
        }
        yield self._send("response.created", response=begun)
        yield self._send("response.in_progress", response=begun)

    @override
    def _thought(self, text: str) -> Iterator[bytes]:
        yield from self._in_item(_thoughts(self.head.id, ""), text)

    @override
    def _said(self, text: str) -> Iterator[bytes]:
        yield from self._in_item(_message_item(self.head.id, ""), text)

    @override
    def _ended(self, reply: ChatReply) -> Iterator[bytes]:
        if not reply.tools and self._open.get("type") != "message":
            yield from self._said("")
        yield from self._closed()
        for item in _function_items(reply):
            yield from self._added({**item, "status": "in_progress", "arguments": ""})
            at, written = self._at(item), item["arguments"]
            yield self._send("response.function_call_arguments.delta", **at, delta=written)
            yield self._send(
                "response.function_call_arguments.done", **at, name=item["name"], arguments=written
            )
            yield self._send("response.output_item.done", output_index=self._index, item=item)
        last = "response.incomplete" if reply.finish == "length" else "response.completed"
        yield self._send(last, response=answer(self.call, reply))

    def _in_item(self, item: dict[str, Any], text: str) -> Iterator[bytes]:
        """Yield text in an item like `item`, which is added if another is open."""
        if self._open.get("type") != item["type"]:
            yield from self._closed()
            yield from self._added({**item, "status": "in_progress", "content": []})
            self._open, self._text = item, ""
            if item["type"] == "message":
                part = item["content"][0]
                yield self._send("response.content_part.added", **self._at(item, 0), part=part)
        self._text += text
        yield self._delta(item, "delta", delta=text)

    def _closed(self) -> Iterator[bytes]:
        item, self._open = self._open, {}
        if not item:
            return
        [part] = item["content"]
        item = {**item, "content": [{**part, "text": self._text}]}
        yield self._delta(item, "done", text=self._text)
        if item["type"] == "message":
            part = item["content"][0]
            yield self._send("response.content_part.done", **self._at(item, 0), part=part)
        yield self._send("response.output_item.done", output_index=self._index, item=item)

    def _delta(self, item: dict[str, Any], what: str, **data: Any) -> bytes:
        at = self._at(item, 0)
        if item["type"] == "message":
            return self._send(f"response.output_text.{what}", **at, **data, logprobs=[])
        return self._send(f"response.reasoning_text.{what}", **at, **data)

    def _added(self, item: dict[str, Any]) -> Iterator[bytes]:
        self._index += 1
        yield self._send("response.output_item.added", output_index=self._index, item=item)

    def _at(self, item: dict[str, Any], part: int | None = None) -> dict[str, Any]:
        place = {} if part is None else {"content_index": part}
        return {"output_index": self._index, "item_id": item["id"], **place}

    def _send(self, kind: str, **data: Any) -> bytes:
        self._number += 1
        return event({"type": kind, "sequence_number": self._number, **data}, kind)


def _head(call: ChatCall, reply: ChatReply, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": reply.created,
        "status": status,
        "error": None,
        "model": call.model,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [{"type": "function", "strict": False, **tool["function"]} for tool in call.tools],
        "instructions": None,
        "metadata": {},
        "temperature": None,
        "top_p": None,
    }


def _items(reply: ChatReply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.thoughts:
        items.append(_thoughts(reply.id, reply.thoughts))
    if reply.content or not reply.tools:
        items.append(_message_item(reply.id, reply.content))
    return [*items, *_function_items(reply)]


def _thoughts(id: str, text: str) -> dict[str, Any]:
    content = [{"type": "reasoning_text", "text": text}]
    return {"type": "reasoning", "id": f"rs_{id}", "summary": [], "content": content}


def _message_item(id: str, text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "type": "message",
        "id": f"msg_{id}",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def _function_items(reply: ChatReply) -> Iterator[dict[str, Any]]:
    for one in reply.tools:
        yield {
            "type": "function_call",
            "id": f"fc_{one.id}",
            "call_id": one.id,
            "name": one.name,
            "arguments": one.arguments_json,
            "status": "completed",
        }
