"""Messages, calls and replies as the gateway knows them; one file per wire translates them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from verigym.errors import RequestError

Finish = Literal["stop", "length", "tool_calls"]


class ContextFull(RequestError):
    """The prompt leaves the model no room for an answer."""


class ToolUse(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the model called. `arguments` is a JSON object, or the text that should have been one."""

    name: str
    arguments: dict[str, Any] | str
    id: str = ""

    @property
    def arguments_json(self) -> str:
        """Arguments as JSON text."""
        if isinstance(self.arguments, str):
            return self.arguments
        return msgspec.json.encode(self.arguments).decode()


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a conversation. `tools` are those that an assistant called, `answers` the id of the
    call whose result this is."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tools: tuple[ToolUse, ...] = ()
    answers: str = ""


class ChatCall(msgspec.Struct, frozen=True, kw_only=True):
    """One request of a client, in any wire.

    `tools` are functions as the chat API describes them. `continues` is the id of the reply that the
    messages follow, if the client leaves the conversation to the server.
    """

    model: str
    messages: list[ChatMessage]
    tools: list[dict[str, Any]] = []
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    stream: bool = False
    wants_usage: bool = False
    wants_logprobs: bool = False
    wants_thoughts: bool = False
    continues: str | None = None


class ChatReply(msgspec.Struct, frozen=True, kw_only=True):
    """The model's answer to a call. `content` is what the client sees: no thoughts, calls or stop sequence.

    `pieces` and `logprobs` are the text and log-probability of each token, empty unless they were asked for.
    """

    id: str
    created: int
    content: str
    thoughts: str = ""
    tools: tuple[ToolUse, ...] = ()
    finish: Finish = "stop"
    stopped_by: str | None = None
    n_prompt: int = 0
    n_sampled: int = 0
    pieces: Sequence[str] = ()
    logprobs: Sequence[float] = ()


def decode(body: bytes, kind: Any) -> Any:
    """Return `body` as the struct `kind`; unknown fields are ignored. Raises RequestError."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestError(f"the request cannot be read: {error}") from error


def refuse(given: Mapping[str, object], why: str) -> None:
    """Raise RequestError if any of the fields is given; `why` says what the gateway cannot do."""
    for name, value in given.items():
        if value:
            raise RequestError(f"{name} is not supported: {why}; leave it out")


def read_arguments(text: str) -> dict[str, Any] | str:
    """Return the arguments in JSON `text`; the text itself if it is no JSON object."""
    try:
        found = msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return text
    return found if isinstance(found, dict) else text


def join_assistant(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Return `messages` with neighbouring ones of the assistant joined, which some wires send in parts."""
    out: list[ChatMessage] = []
    for message in messages:
        last = out[-1] if out else None
        if last is not None and last.role == message.role == "assistant":
            text = "\n".join(part for part in (last.content, message.content) if part)
            out[-1] = ChatMessage(
                role="assistant", content=text, tools=(*last.tools, *message.tools)
            )
        else:
            out.append(message)
    return out


def event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """Return one server-sent event."""
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    return head + b"data: " + msgspec.json.encode(data) + b"\n\n"
