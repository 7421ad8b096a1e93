"""The OpenAI responses API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

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


def events(call: ChatCall, reply: ChatReply) -> Iterator[bytes]:
    """Yield the server-sent events of the response."""
    number = -1

    def send(kind: str, **data: Any) -> bytes:
        nonlocal number
        number += 1
        return event({"type": kind, "sequence_number": number, **data}, kind)

    begun = {**_head(call, reply, "in_progress"), "output": [], "incomplete_details": None}
    yield send("response.created", response=begun)
    yield send("response.in_progress", response=begun)
    for index, item in enumerate(_items(reply)):
        at = {"output_index": index, "item_id": item["id"]}
        empty = {**item, "status": "in_progress"}
        if item["type"] == "message":
            yield send(
                "response.output_item.added", output_index=index, item={**empty, "content": []}
            )
            part = item["content"][0]
            at["content_index"] = 0
            yield send("response.content_part.added", **at, part={**part, "text": ""})
            text = part["text"]
            yield send("response.output_text.delta", **at, delta=text, logprobs=[])
            yield send("response.output_text.done", **at, text=text, logprobs=[])
            yield send("response.content_part.done", **at, part=part)
        elif item["type"] == "function_call":
            yield send(
                "response.output_item.added", output_index=index, item={**empty, "arguments": ""}
            )
            written = item["arguments"]
            yield send("response.function_call_arguments.delta", **at, delta=written)
            yield send(
                "response.function_call_arguments.done", **at, name=item["name"], arguments=written
            )
        else:
            yield send("response.output_item.added", output_index=index, item=empty)
        yield send("response.output_item.done", output_index=index, item=item)
    last = "response.incomplete" if reply.finish == "length" else "response.completed"
    yield send(last, response=answer(call, reply))


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
        thoughts = [{"type": "reasoning_text", "text": reply.thoughts}]
        items.append(
            {"type": "reasoning", "id": f"rs_{reply.id}", "summary": [], "content": thoughts}
        )
    if reply.content or not reply.tools:
        text = {"type": "output_text", "text": reply.content, "annotations": [], "logprobs": []}
        items.append(
            {
                "type": "message",
                "id": f"msg_{reply.id}",
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
        )
    for one in reply.tools:
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{one.id}",
                "call_id": one.id,
                "name": one.name,
                "arguments": one.arguments_json,
                "status": "completed",
            }
        )
    return items
