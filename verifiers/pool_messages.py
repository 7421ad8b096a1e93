"""Messages between the pool and its workers, one to a frame, as JSON."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from verigym.task import Task
from verigym.verdict import Verdict


class PoolItem(msgspec.Struct, array_like=True):
    """One submission to judge."""

    task: Task
    submission: Any


class Work(msgspec.Struct):
    """Judge `items` in order with one verifier; with no items, only report that it is loaded."""

    verifier: str
    params: dict[str, Any]
    items: list[PoolItem]
    timeout_s: float = 0.0
    """Seconds for each item; 0 for no limit."""


class EncodedWork(msgspec.Struct):
    """`Work` as the pool writes it: items are JSON already."""

    verifier: str
    params: dict[str, Any]
    items: list[msgspec.Raw]
    timeout_s: float = 0.0


class Loaded(msgspec.Struct, tag=True):
    """The verifier was made. Comes before its first verdict."""

    description: dict[str, Any]
    """Result of `Verifier.describe`."""


class ItemJudged(msgspec.Struct, tag=True):
    """The verdict on the next item."""

    verdict: Verdict


class Rejected(msgspec.Struct, tag=True):
    """The verifier's id or parameters are not acceptable; ends the reply."""

    message: str


class LoadFailed(msgspec.Struct, tag=True):
    """The verifier could not be loaded, by its own fault; ends the reply."""

    message: str
    reason: str = "cannot_load"


Reply: TypeAlias = Loaded | ItemJudged | Rejected | LoadFailed

encode = msgspec.json.Encoder().encode
decode_work = msgspec.json.Decoder(Work).decode
_replies: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def decode_reply(body: bytes) -> Reply:
    """Decode a message from a worker. Raises msgspec.DecodeError."""
    return _replies.decode(body)
