"""Requests about environments and sessions, over HTTP and in the frames of a WebSocket."""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar

import msgspec

from verigym.server.body import check_keys, decode
from verigym.server.refusals import Refusal

MAX_GROUP = 256

Seed = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Seq = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Count = Annotated[int, msgspec.Meta(ge=1, le=MAX_GROUP)]

_HALF_PAIR = b"\\u"


class CreateBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Create `count` sessions of one environment, all in the start state of `seed`.

    `params` are arguments of the environment's constructor, `options` those of its `reset`.
    """

    env: str
    params: dict[str, Any] = {}
    seed: Seed | None = None
    options: dict[str, Any] = {}
    count: Count = 1


class StepBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Play one action. `seq` is the last number + 1, or the last number to get its answer again."""

    written_by_models: ClassVar[str] = "action"
    seq: Seq
    action: str


class ResetBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Start another task in the same session; `seq` is as for a step."""

    seq: Seq
    seed: Seed | None = None
    options: dict[str, Any] = {}


class Frame(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One text frame from a client: an operation, with the fields of its HTTP body."""

    op: str
    id: msgspec.Raw = msgspec.Raw(b"null")
    session: str = ""
    seq: Seq | None = None
    action: str | None = None
    seed: Seed | None = None
    options: dict[str, Any] = {}
    env: str | None = None
    params: dict[str, Any] = {}
    count: Count = 1


_frames = msgspec.json.Decoder(Frame)


def read_frame(text: str, max_depth: int) -> Frame:
    """Decode a frame. Raises Refusal."""
    data = text.encode()
    try:
        return decode(data, _frames, max_depth)
    except Refusal as refusal:
        if refusal.code == "malformed_json" and _HALF_PAIR in data:
            lax = _with_half_pairs(data)
            if lax is not None:
                check_keys(data)
                return lax
        raise


def as_action(text: str) -> str | bytes:
    """Return `text` as messages carry it: bytes if it is not valid Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def id_of(text: str) -> bytes:
    """Return the `id` of a refused frame as JSON; null if it has none."""
    try:
        return bytes(msgspec.json.decode(text, type=_Id).id)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return b"null"


class _Id(msgspec.Struct):
    id: msgspec.Raw = msgspec.Raw(b"null")


def _with_half_pairs(data: bytes) -> Frame | None:
    """Decode a frame whose only defects are lone surrogates in its action; None for any other."""
    try:
        plain = json.loads(data)
        id = msgspec.Raw(msgspec.json.encode(plain.pop("id", None)))
        frame = msgspec.convert(plain, Frame)
        msgspec.json.encode({**plain, "action": None})
    except (ValueError, AttributeError, RecursionError):  # msgspec's errors are ValueErrors
        return None
    frame.id = id
    return frame
