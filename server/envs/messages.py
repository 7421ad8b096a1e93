"""Messages between the service and its host processes, several to a frame.

A frame is a length of four bytes, big-endian, and a MessagePack array. No pickle.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

MAX_FRAME_BYTES = 256 << 20

_LENGTH = struct.Struct(">I")


class Made(msgspec.Struct, array_like=True, frozen=True):
    """History of a session, from which an identical one can be made (law 2).

    An action that is not valid Unicode (a lone surrogate) is bytes, encoded with `surrogatepass`.
    """

    env: str
    params: dict[str, Any]
    seed: int | None
    options: dict[str, Any]
    actions: tuple[Any, ...] = ()  # str or bytes, a union that msgspec does not know
    key: str = ""
    """State key at the end of the history; empty if unknown."""
    rng: str = ""
    """State of the seed generator as JSON; empty if the task began with a seed."""


class Make(msgspec.Struct, array_like=True, tag="make", frozen=True):
    """Begin `sessions`, all in the same state."""

    call: int
    sessions: list[int]
    made: Made


class Step(msgspec.Struct, array_like=True, tag="step", frozen=True):
    """Play `action`; if `made` is given, make the session again from it first."""

    call: int
    session: int
    action: Any  # str or bytes
    made: Made | None = None


class Reset(msgspec.Struct, array_like=True, tag="reset", frozen=True):
    """Start another task; `made` is as for `Step`."""

    call: int
    session: int
    seed: int | None
    options: dict[str, Any]
    made: Made | None = None


class Drop(msgspec.Struct, array_like=True, tag="drop", frozen=True):
    """Forget sessions. No answer."""

    sessions: list[int]


class Describe(msgspec.Struct, array_like=True, tag="describe", frozen=True):
    """Request the card of an environment."""

    call: int
    env: str


class Tasks(msgspec.Struct, array_like=True, tag="tasks", frozen=True):
    """Request the public part of the tasks of `seeds`."""

    call: int
    env: str
    split: str | None
    difficulty: int | str | None
    seeds: list[int]


class Done(msgspec.Struct, array_like=True, tag="done"):
    """Success; `body` is JSON, and the other fields are about sessions."""

    call: int
    body: bytes
    over: bool = False
    """True if the episode has ended."""
    seed: int | None = None
    """Seed of the task that began."""
    rng: str = ""
    """State of the seed generator as JSON, if the task began without a seed."""
    most: int = 0
    """Maximum length of a valid action, in characters."""


class Fault(msgspec.Struct, array_like=True, tag="fault"):
    """Failure that is not the caller's fault. `detail` is for the log only."""

    call: int
    status: str
    reason: str
    digest: str = ""
    detail: str = ""
    spoiled: bool = False
    """True if the session may have changed despite the fault, and has to be made again."""


class Refused(msgspec.Struct, array_like=True, tag="refused"):
    """Refusal of an invalid request."""

    call: int
    message: str
    where: str = ""


class Lost(msgspec.Struct, array_like=True, tag="lost"):
    """Failure to make a session again: its environment breaks law 2."""

    call: int
    detail: str


class Slow(msgspec.Struct, array_like=True, tag="slow"):
    """Report of a slow call. Its answer comes later."""

    call: int


Call: TypeAlias = Make | Step | Reset | Describe | Tasks
Order: TypeAlias = Call | Drop
Answer: TypeAlias = Done | Fault | Refused | Lost
Report: TypeAlias = Answer | Slow

_encode = msgspec.msgpack.Encoder().encode
_orders = msgspec.msgpack.Decoder(list[Order])
_reports = msgspec.msgpack.Decoder(list[Report])


def frame(messages: Sequence[Order | Report]) -> bytes:
    """Encode one frame."""
    body = _encode(messages)
    if len(body) > MAX_FRAME_BYTES:
        raise OSError(f"a frame of {len(body)} bytes is above the limit of {MAX_FRAME_BYTES}")
    return _LENGTH.pack(len(body)) + body


def read_orders(body: bytes) -> list[Order]:
    """Decode the messages of a frame from the service."""
    return _orders.decode(body)


def read_reports(body: bytes) -> list[Report]:
    """Decode the messages of a frame from a host."""
    return _reports.decode(body)


class Frames:
    """Assembles frames from received bytes. Raises OSError if a frame is too long."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the frames that `data` completes, without their lengths."""
        buffer = self._buffer
        buffer += data
        while len(buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(buffer)
            if length > MAX_FRAME_BYTES:
                raise OSError(f"a frame of {length} bytes is above the limit of {MAX_FRAME_BYTES}")
            end = _LENGTH.size + length
            if len(buffer) < end:
                return
            body = bytes(buffer[_LENGTH.size : end])
            del buffer[:end]
            yield body
