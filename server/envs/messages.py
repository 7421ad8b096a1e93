"""Messages between the service and its host processes, several to a frame, as a MessagePack array."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

import msgspec

CURRENT = struct.Struct("<Q")
"""Begin of the memory that a service shares with a host: the call that the host's leader began last, in case
it never reports again. For each lent socket follow a byte with its phase, one with the length of the id of the step
that was read last, and the id."""
LONGEST_LENT_ID = 32
"""Maximum length of an id in a step on a lent socket, in bytes."""
LENT_BYTES = 2 + LONGEST_LENT_ID
LENT_NUMBER = 1 << 63
"""Number of the call that plays a step on the lent socket of session 0; those of the other sessions follow."""
MOST_LENT = 512
"""Maximum number of sockets that one host has at a time."""
MEMORY_BYTES = CURRENT.size + MOST_LENT * LENT_BYTES


class Phase(IntEnum):
    """State of a lent socket, from which the service learns what the client of a dead host has been told."""

    WAITING = 0
    """Every step that was read has been answered."""
    READING = 1
    """Something may have been read that only the host knows, perhaps a step that is being played and more behind it."""
    PLAYING = 2
    """One step was read, and nothing else; nothing is known of it."""
    ANSWERING = 3
    """A step is being reported and answered; either may have happened."""


class PlainStep(NamedTuple):
    """A step as a client sent it."""

    action: str
    id: bytes = b""
    """Id of the request that the answer repeats, as JSON; empty if there are none."""


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


class LendSocket(msgspec.Struct, array_like=True, tag="lend", frozen=True):
    """Answer the plain steps that `session`'s client sends; the socket itself came another way.

    No answer until the host gives the socket back with `SocketBack`: once asked to, or when anything but a plain
    step arrives, or a step whose answer the service has to give.
    """

    session: int
    slot: int
    """Place of the socket's phase in the shared memory."""
    limit: int
    """Maximum number of bytes in a message."""
    frames_of: str = ""
    """Id of the session if its client speaks `/v1/ws`; empty for OpenEnv."""
    seq: int = 0
    """Number of the last step there."""


class RecallSocket(msgspec.Struct, array_like=True, tag="recall", frozen=True):
    """Give the socket of `session` back, after the step under way; nothing if that has happened already."""

    session: int


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


class LentStep(msgspec.Struct, array_like=True, tag="played"):
    """A step that came on a lent socket was played, and is answered there after this report."""

    session: int
    action: str
    body: bytes
    """The same as that of `Done`."""
    received: int
    """Bytes of the message."""
    sent: int
    """Bytes of the answer."""


class SocketBack(msgspec.Struct, array_like=True, tag="back"):
    """The host will not use the socket of `session` any more."""

    session: int
    unread: bytes = b""
    """Bytes that were read from the socket, and have to be handled first."""
    unsent: bytes = b""
    """Rest of the last answer, which has to be sent first."""
    action: str | None = None
    """Action of a step that was played, and has `answer`, but no answer was sent."""
    answer: Done | RequestFailed | Invalid | SessionLost | None = None


Request: TypeAlias = MakeSessions | StepSession | ResetSession | DescribeEnv | ListTasks
Message: TypeAlias = Request | DropSessions | LendSocket | RecallSocket
Answer: TypeAlias = Done | RequestFailed | Invalid | SessionLost
Report: TypeAlias = Answer | SlowRequest | LentStep | SocketBack

encode = msgspec.msgpack.Encoder().encode
decode_messages = msgspec.msgpack.Decoder(list[Message]).decode
decode_reports = msgspec.msgpack.Decoder(list[Report]).decode
