"""Messages between the pool and its workers: length-prefixed JSON frames over a socket, no pickle."""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from verigym.task import Task
from verigym.verdict import Verdict

MAX_FRAME_BYTES = 256 << 20

_LENGTH = struct.Struct(">I")
_CHUNK = 1 << 16


class Item(msgspec.Struct, array_like=True):
    """One submission to judge."""

    task: Task
    submission: Any


class Ask(msgspec.Struct):
    """Judge `items` in order with one verifier; with no items, only say that it is ready."""

    verifier: str
    params: dict[str, Any]
    items: list[Item]
    timeout_s: float = 0.0
    """Seconds for each item; 0 for no limit."""


class SentAsk(msgspec.Struct):
    """`Ask` as the pool writes it: items are JSON already."""

    verifier: str
    params: dict[str, Any]
    items: list[msgspec.Raw]
    timeout_s: float = 0.0


class Ready(msgspec.Struct, tag=True):
    """The verifier was made. Comes before its first verdict."""

    description: dict[str, Any]
    """Result of `Verifier.describe`."""


class Judged(msgspec.Struct, tag=True):
    """The verdict on the next item."""

    verdict: Verdict


class Refused(msgspec.Struct, tag=True):
    """The verifier's id or parameters are not acceptable; ends the answer."""

    message: str


class Broken(msgspec.Struct, tag=True):
    """The verifier could not be loaded, by its own fault; ends the answer."""

    message: str
    reason: str = "cannot_load"


Answer: TypeAlias = Ready | Judged | Refused | Broken

_encode = msgspec.json.Encoder().encode
_decode_ask = msgspec.json.Decoder(Ask).decode
_decode_answer: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)


def frame(message: SentAsk | Answer) -> bytes:
    """The bytes of `message` on the wire. Raises OSError if it is too large."""
    body = _encode(message)
    if len(body) > MAX_FRAME_BYTES:
        raise OSError(f"a message of {len(body)} bytes is above the limit of {MAX_FRAME_BYTES}")
    return _LENGTH.pack(len(body)) + body


def decode_answer(data: bytes) -> Answer:
    """Decode a message from a worker. Raises msgspec.DecodeError."""
    return _decode_answer.decode(data)


class Frames:
    """Assembles frames from received chunks."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def split(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the frames that `chunk` completes. Raises OSError for a frame that declares too
        large a size."""
        buffer = self._buffer
        buffer += chunk
        at = 0
        try:
            while len(buffer) - at >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(buffer, at)
                if length > MAX_FRAME_BYTES:
                    raise OSError(
                        f"a message of {length} bytes is above the limit of {MAX_FRAME_BYTES}"
                    )
                end = at + _LENGTH.size + length
                if len(buffer) < end:
                    return
                body = bytes(memoryview(buffer)[at + _LENGTH.size : end])
                at = end
                yield body
        finally:
            del buffer[:at]


class Channel:
    """Worker's end of the connection; blocks. Raises EOFError or OSError once the pool is gone."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._frames = Frames()
        self._waiting: deque[bytes] = deque()

    def send(self, message: Answer) -> None:
        self._sock.sendall(frame(message))

    def receive_ask(self) -> Ask:
        while not self._waiting:
            chunk = self._sock.recv(_CHUNK)
            if not chunk:
                raise EOFError("the other end is gone")
            self._waiting.extend(self._frames.split(chunk))
        return _decode_ask(self._waiting.popleft())
