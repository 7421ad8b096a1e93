"""Messages between the pool and its workers: length-prefixed JSON frames over a socket, no pickle."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
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


class SentAsk(msgspec.Struct):
    """`Ask` as the pool writes it: items are JSON already."""

    verifier: str
    params: dict[str, Any]
    items: list[msgspec.Raw]


class Ready(msgspec.Struct, tag=True):
    """The verifier was made. Comes before its first verdict."""

    description: dict[str, Any]
    """What `Verifier.describe` gives."""


class Judged(msgspec.Struct, tag=True):
    """The verdict on the next item."""

    verdict: Verdict


class Refused(msgspec.Struct, tag=True):
    """The verifier's id or parameters are not acceptable; ends the answer."""

    message: str


class Broken(msgspec.Struct, tag=True):
    """The verifier could not be loaded, by its own fault; ends the answer."""

    message: str


Answer: TypeAlias = Ready | Judged | Refused | Broken

_encode = msgspec.json.Encoder().encode
_decode_ask = msgspec.json.Decoder(Ask).decode
_decode_answer: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)


class Channel:
    """One end of the connection between the pool and a worker; not for two threads at once.

    All methods raise EOFError or OSError when the other end is gone, and TimeoutError (a kind of
    OSError: catch it first) when `deadline`, in seconds of `time.monotonic`, passes. After either
    the channel is of no more use.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray()

    def send(self, message: SentAsk | Answer, deadline: float | None = None) -> None:
        body = _encode(message)
        if len(body) > MAX_FRAME_BYTES:
            raise OSError(f"a message of {len(body)} bytes is above the limit of {MAX_FRAME_BYTES}")
        self._sock.settimeout(_left(deadline))
        self._sock.sendall(_LENGTH.pack(len(body)) + body)

    def receive_ask(self) -> Ask:
        return _decode_ask(self._frame(None))

    def receive_answer(self, deadline: float) -> Answer:
        return _decode_answer.decode(self._frame(deadline))

    def interrupt(self) -> None:
        """End the connection under another thread's `send` or `receive_answer`, which raises then."""
        with contextlib.suppress(OSError):  # it is closed already
            self._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._sock.close()

    def _frame(self, deadline: float | None) -> bytes:
        (length,) = _LENGTH.unpack(self._take(_LENGTH.size, deadline))
        if length > MAX_FRAME_BYTES:
            raise OSError(f"a message of {length} bytes is above the limit of {MAX_FRAME_BYTES}")
        return self._take(length, deadline)

    def _take(self, size: int, deadline: float | None) -> bytes:
        while len(self._buffer) < size:
            self._sock.settimeout(_left(deadline))
            chunk = self._sock.recv(_CHUNK)
            if not chunk:
                raise EOFError("the other end is gone")
            self._buffer += chunk
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken


def _left(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("deadline passed")
    return left
