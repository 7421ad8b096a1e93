"""Replies in parts: what a client of a stream is sent while tokens are still being sampled.

A client cannot take text back, so text is held back as long as later tokens may change what it is: half a
character or tag, the beginning of a stop sequence, white space that may turn out to be the last, and, if tools are
offered, everything from what may begin a call. The whole reply is read as if it had not been streamed. If it then
contradicts what was sent (thoughts that close twice, say), the client and the session's memory keep what was
sent; the record has the reply as it is.
"""

from __future__ import annotations

import asyncio
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol
from uuid import uuid4

import msgspec

from verigym.agents.gateway.chat import ChatCall, ChatReply
from verigym.reply import spoken

_OPEN, _CLOSE = "<think>", "</think>"
_TAGS = (("<", ">"), ("[", "]"), ("\u25c1", "\u25b7"))
_LONGEST_TAG = 64
_HALF = "\ufffd"
_CALL = re.compile(r"[<\[{`]")


class PartialReply:
    """The reply to a streamed call while it is sampled. For one event loop.

    `changed` is set whenever there may be something to take.
    """

    def __init__(self, call: ChatCall) -> None:
        self.head = ChatReply(id=uuid4().hex, created=int(time.time()), content="")
        self.changed = asyncio.Event()
        self._call = call
        self._names = [f"{tool['function']['name']}(" for tool in call.tools]
        self._decode: Callable[[Sequence[int]], str] = lambda ids: ""
        self._ids: list[int] = []
        self._from = self._read = 0
        self._opening = self._text = ""
        self._thoughts = self._content = ""

    def begin(self, prompt: str, n_prompt: int, decode: Callable[[Sequence[int]], str]) -> None:
        """Take what is known once the prompt is rendered; it may have opened the thoughts already."""
        self.head = msgspec.structs.replace(self.head, n_prompt=n_prompt)
        self._opening = _OPEN if prompt.rstrip().endswith(_OPEN) else ""
        self._decode = decode

    def feed(self, ids: Sequence[int]) -> None:
        """Take tokens that were sampled."""
        self._ids += ids
        self.changed.set()

    def take(self) -> tuple[str, str]:
        """Return thoughts and content that are new since the last call, each as far as it is certain."""
        if not self._grow():
            return "", ""
        thoughts, content = self._thoughts, self._content
        text = (self._opening + self._before_stop()).lstrip()
        if text.startswith(_OPEN) and _CLOSE not in text:
            shown = _settled(text.removeprefix(_OPEN))
            self._thoughts = _extended(self._thoughts, shown.strip())
        elif not _OPEN.startswith(text):
            inside, _, _ = text.rpartition(_CLOSE)
            self._thoughts = _extended(self._thoughts, inside.replace(_OPEN, "").strip())
            self._content = _extended(self._content, self._certain(spoken(text)))
        return self._thoughts[len(thoughts) :], self._content[len(content) :]

    def settle(self, reply: ChatReply) -> ChatReply:
        """Return the whole reply as the client has it, which begins with what it was sent."""
        return msgspec.structs.replace(
            reply,
            id=self.head.id,
            created=self.head.created,
            thoughts=_extended(self._thoughts, reply.thoughts),
            content=_extended(self._content, reply.content),
        )

    def _grow(self) -> bool:
        """Decode new tokens beside the last ones, as their text may depend on them."""
        if self._read == len(self._ids):
            return False
        text = self._decode(self._ids[self._from :])
        if text.endswith(_HALF):
            return False
        self._text += text[len(self._decode(self._ids[self._from : self._read])) :]
        self._from, self._read = self._read, len(self._ids)
        return True

    def _before_stop(self) -> str:
        """Return the text up to a stop sequence, in thoughts too, or to what may be the beginning of one."""
        text = self._text
        for stop in self._call.stop:
            text = text.partition(stop)[0]
            held = next((n for n in range(len(stop) - 1, 0, -1) if text.endswith(stop[:n])), 0)
            text = text[: len(text) - held]
        return text

    def _certain(self, text: str) -> str:
        if self._call.tools:
            found = _CALL.search(text)
            begins = [at for name in self._names if (at := text.find(name)) >= 0]
            text = text[: min([len(text), *begins, *([found.start()] if found else [])])]
        return _settled(text).strip()


def _settled(text: str) -> str:
    """Return `text` without a tag at its end that is not closed yet."""
    for opening, closing in _TAGS:
        at = text.rfind(opening)
        if at >= 0 and closing not in text[at:] and len(text) - at < _LONGEST_TAG:
            text = text[:at]
    return text


def _extended(sent: str, text: str) -> str:
    """Return `text` if it begins with what was sent, else what was sent."""
    return text if text.startswith(sent) else sent


class ReplyWriter(ABC):
    """Writes a reply as the server-sent events of one wire, in parts or at once."""

    def __init__(self, call: ChatCall, head: ChatReply) -> None:
        self.call = call
        self.head = head
        self._has_begun = False
        self._n_thoughts = self._n_content = 0

    def write(self, thoughts: str, content: str) -> bytes:
        """Return the events of further text, after those of the beginning; nothing without text."""
        return b"".join(self._events(thoughts, content)) if thoughts or content else b""

    def finish(self, reply: ChatReply) -> bytes:
        """Return the remaining events of the whole reply."""
        thoughts, content = reply.thoughts[self._n_thoughts :], reply.content[self._n_content :]
        return b"".join(chain(self._events(thoughts, content), self._ended(reply)))

    def _events(self, thoughts: str, content: str) -> Iterator[bytes]:
        if not self._has_begun:
            self._has_begun = True
            yield from self._begun()
        self._n_thoughts += len(thoughts)
        self._n_content += len(content)
        if thoughts:
            yield from self._thought(thoughts)
        if content:
            yield from self._said(content)

    @abstractmethod
    def _begun(self) -> Iterator[bytes]:
        """Yield the events before any text."""

    @abstractmethod
    def _thought(self, text: str) -> Iterator[bytes]:
        """Yield the events of further thoughts."""

    @abstractmethod
    def _said(self, text: str) -> Iterator[bytes]:
        """Yield the events of further content."""

    @abstractmethod
    def _ended(self, reply: ChatReply) -> Iterator[bytes]:
        """Yield the events after all text: tool calls, the reason for the end, usage."""


class Wire(Protocol):
    """A chat API. Each is a module."""

    path: str
    Writer: type[ReplyWriter]

    def read(self, body: bytes) -> ChatCall:
        """Return the call in the body of a request. Raises RequestError."""

    def answer(self, call: ChatCall, reply: ChatReply) -> Mapping[str, Any]:
        """Return the body of the response."""

    def error(self, status: int, message: str, code: str | None) -> Mapping[str, Any]:
        """Return the body of an error."""
