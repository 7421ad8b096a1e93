"""Messages between the service and its host processes, several to a frame, as a MessagePack array."""

from __future__ import annotations

import struct
from typing import Any, TypeAlias

import msgspec

CURRENT = struct.Struct("<Q")
"""Content of the memory that a service shares with a host: the call that the host's leader began last, in case
it never reports again."""


class History(msgspec.Struct, array_like=True, frozen=True):
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


class MakeSessions(msgspec.Struct, array_like=True, tag="make", frozen=True):
    """Begin `sessions`, all in the same state."""

    request: int
    sessions: list[int]
    history: History


class StepSession(msgspec.Struct, array_like=True, tag="step", frozen=True):
    """Play `action`; if `history` is given, make the session again from it first."""

    request: int
    session: int
    action: Any  # str or bytes
    history: History | None = None


class ResetSession(msgspec.Struct, array_like=True, tag="reset", frozen=True):
    """Start another task; `history` is as for `StepSession`."""

    request: int
    session: int
    seed: int | None
    options: dict[str, Any]
    history: History | None = None


class DropSessions(msgspec.Struct, array_like=True, tag="drop", frozen=True):
    """Forget sessions. No answer."""

    sessions: list[int]


class DescribeEnv(msgspec.Struct, array_like=True, tag="describe", frozen=True):
    """Request the card of an environment."""

    request: int
    env: str


class ListTasks(msgspec.Struct, array_like=True, tag="tasks", frozen=True):
    """Request the public part of the tasks of `seeds`."""

    request: int
    env: str
    split: str | None
    difficulty: int | str | None
    seeds: list[int]


class Done(msgspec.Struct, array_like=True, tag="done"):
    """Success; `body` is JSON, and the other fields are about sessions."""

    request: int
    body: bytes
    over: bool = False
    """True if the episode has ended."""
    seed: int | None = None
    """Seed of the task that began."""
    rng: str = ""
    """State of the seed generator as JSON, if the task began without a seed."""
    most: int = 0
    """Maximum length of a valid action, in characters."""


class RequestFailed(msgspec.Struct, array_like=True, tag="fault"):
    """Failure that is not the caller's fault. `detail` is for the log only."""

    request: int
    status: str
    reason: str
    digest: str = ""
    detail: str = ""
    spoiled: bool = False
    """True if the session may have changed despite the fault, and has to be made again."""


class Invalid(msgspec.Struct, array_like=True, tag="refused"):
    """Refusal of an invalid request."""

    request: int
    message: str
    where: str = ""


class SessionLost(msgspec.Struct, array_like=True, tag="lost"):
    """Failure to make a session again: its environment breaks law 2."""

    request: int
    detail: str


class SlowRequest(msgspec.Struct, array_like=True, tag="slow"):
    """Report of a slow call. Its answer comes later."""

    request: int


Request: TypeAlias = MakeSessions | StepSession | ResetSession | DescribeEnv | ListTasks
Message: TypeAlias = Request | DropSessions
Answer: TypeAlias = Done | RequestFailed | Invalid | SessionLost
Report: TypeAlias = Answer | SlowRequest

encode = msgspec.msgpack.Encoder().encode
decode_messages = msgspec.msgpack.Decoder(list[Message]).decode
decode_reports = msgspec.msgpack.Decoder(list[Report]).decode
