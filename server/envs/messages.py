"""What the service and its host processes say to each other: frames of several messages each.

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
    """How a session came to where it is; law 2 makes another one of it, exactly.

    An action that is no Unicode (half of a surrogate pair) is bytes, by `surrogatepass`.
    """

    env: str
    params: dict[str, Any]
    seed: int | None
    options: dict[str, Any]
    actions: tuple[Any, ...] = ()  # str or bytes, a union that msgspec does not know
    key: str = ""
    """State key that this leads to; empty where nobody knows."""
    rng: str = ""
    """See `Done`."""


class Make(msgspec.Struct, array_like=True, tag="make", frozen=True):
    """Begin `sessions`, all in the same state."""

    call: int
    sessions: list[int]
    made: Made


class Step(msgspec.Struct, array_like=True, tag="step", frozen=True):
    """Play `action`; in a session that has to be made again first, where `made` is given."""

    call: int
    session: int
    action: Any  # str or bytes
    made: Made | None = None


class Reset(msgspec.Struct, array_like=True, tag="reset", frozen=True):
    """Start a task; as `Step`."""

    call: int
    session: int
    seed: int | None
    options: dict[str, Any]
    made: Made | None = None


class Drop(msgspec.Struct, array_like=True, tag="drop", frozen=True):
    """Forget sessions. No answer."""

    sessions: list[int]


class Describe(msgspec.Struct, array_like=True, tag="describe", frozen=True):
    """Ask what an environment is."""

    call: int
    env: str


class Tasks(msgspec.Struct, array_like=True, tag="tasks", frozen=True):
    """Ask for the public part of the tasks of `seeds`."""

    call: int
    env: str
    split: str | None
    difficulty: str | None
    seeds: list[int]


class Done(msgspec.Struct, array_like=True, tag="done"):
    """It is done; `body` is JSON, and the rest is of sessions."""

    call: int
    body: bytes
    over: bool = False
    """Whether the episode has ended."""
    seed: int | None = None
    """Seed of the task that was begun."""
    rng: str = ""
    """Where the generator of seeds stands, where the task was begun without one: its state as JSON."""
    most: int = 0
    """Longest action that is not invalid for its length, in characters."""


class Fault(msgspec.Struct, array_like=True, tag="fault"):
    """It could not be done, by no fault of who asked. `detail` is for the log alone."""

    call: int
    status: str
    reason: str
    digest: str = ""
    detail: str = ""
    spoiled: bool = False
    """Whether the session may have moved all the same, and has to be made again."""


class Refused(msgspec.Struct, array_like=True, tag="refused"):
    """Who asked asked for something that cannot be."""

    call: int
    message: str
    where: str = ""


class Lost(msgspec.Struct, array_like=True, tag="lost"):
    """A session could not be made again: its environment breaks law 2."""

    call: int
    detail: str


class Slow(msgspec.Struct, array_like=True, tag="slow"):
    """A call has begun and takes its time. Its answer comes later."""

    call: int


Call: TypeAlias = Make | Step | Reset | Describe | Tasks
Order: TypeAlias = Call | Drop
Answer: TypeAlias = Done | Fault | Refused | Lost
Report: TypeAlias = Answer | Slow

_encode = msgspec.msgpack.Encoder().encode
_orders = msgspec.msgpack.Decoder(list[Order])
_reports = msgspec.msgpack.Decoder(list[Report])


def frame(messages: Sequence[Order | Report]) -> bytes:
    """The bytes of one frame."""
    body = _encode(messages)
    if len(body) > MAX_FRAME_BYTES:
        raise OSError(f"a frame of {len(body)} bytes is above the limit of {MAX_FRAME_BYTES}")
    return _LENGTH.pack(len(body)) + body


def read_orders(body: bytes) -> list[Order]:
    """The messages of a frame from the service."""
    return _orders.decode(body)


def read_reports(body: bytes) -> list[Report]:
    """The messages of a frame from a host."""
    return _reports.decode(body)


class Frames:
    """Puts frames together from what arrives. Raises OSError for one that is too long."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The frames that `data` completes, without their lengths."""
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
