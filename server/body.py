"""Reads request bodies: bounded in size, time and depth, decoded into typed requests.

Every refusal gives the path in the body of its cause, and none repeats the body's content.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import MISSING, fields
from typing import Any, ClassVar, NoReturn, TypeVar, get_type_hints

import msgspec
from fastapi import Request
from msgspec import UNSET, UnsetType
from starlette.requests import ClientDisconnect

from verigym.canonical import digest
from verigym.server.duplicates import has_duplicates
from verigym.server.limits import HeldBytes, deadline_of
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings
from verigym.task import Task

Body = TypeVar("Body")

_WHERE = re.compile(r"^(?P<what>.*?)(?: - at `(?P<where>[^`]*)`)?$", re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b'[]{}"'))
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
_LARGE_BYTES = 1 << 20  # decoding more than this takes too long for the event loop
_DRAIN_FACTOR = 8
"""A body up to this many times too large is read to its end, so that the client gets the refusal."""


def _task_fields() -> list[Any]:
    hints = get_type_hints(Task)
    return [
        (f.name, hints[f.name]) if f.default is MISSING else (f.name, hints[f.name], f.default)
        for f in fields(Task)
    ]


# As Task, but a misspelt field is refused: without `reference` a task would judge differently.
TaskBody = msgspec.defstruct(
    "TaskBody", _task_fields(), kw_only=True, forbid_unknown_fields=True, rename=None
)


class VerifyBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One submission for one verifier; of the task, `reference` and perhaps `prompt` are enough."""

    written_by_models: ClassVar[str] = "submission"
    """Name of the field that may hold lone surrogates."""
    verifier: str
    submission: Any
    task: TaskBody | UnsetType = UNSET  # type: ignore[valid-type]
    reference: Any = UNSET
    prompt: str = ""
    params: dict[str, Any] = {}
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        if self.task is UNSET:
            if self.reference is UNSET:
                raise ValueError("`task` or `reference` is missing")
        elif self.reference is not UNSET or self.prompt:
            raise ValueError("`reference` and `prompt` stand in `task`, or without a `task`")

    def to_task(self) -> Task:
        """Return the task; without one, its id is the digest of prompt and reference."""
        if self.task is not UNSET:
            return Task(**msgspec.structs.asdict(self.task))
        name = digest(self.prompt, self.reference)
        return Task(
            id=name, env_id="", seed=0, prompt=self.prompt, difficulty="", reference=self.reference
        )


class BatchBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Submissions for any verifiers; the verdicts come in the same order."""

    written_by_models: ClassVar[str] = VerifyBody.written_by_models
    items: list[VerifyBody]


async def read(
    request: Request,
    decoder: msgspec.json.Decoder[Body],
    settings: ServerSettings,
    max_bytes: int | None = None,
) -> Body:
    """Read and decode the body; `max_bytes` overrides the settings. Raises Refusal."""
    data = await receive(request, settings, max_bytes)
    if len(data) > _LARGE_BYTES:
        return await asyncio.to_thread(decode, data, decoder, settings.max_depth)
    return decode(data, decoder, settings.max_depth)


async def receive(
    request: Request, settings: ServerSettings, max_bytes: int | None = None
) -> bytes:
    """Read the raw body. Raises Refusal if it is too large or slow, or not sent as JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    # Also keeps web pages out: a browser sends this type to another origin only if that agrees.
    if kind != "application/json":
        message = "the body must be sent as application/json"
        raise Refusal(415, "unsupported_media_type", message, "Content-Type")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        message = "the body must be sent as it is, not compressed"
        raise Refusal(415, "unsupported_encoding", message, "Content-Encoding")
    try:
        left_s = deadline_of(request) - time.monotonic()
        async with asyncio.timeout(min(settings.body_timeout_s, left_s)):
            held = request.scope["state"].get("held")
            return await _collect(request, max_bytes or settings.max_body_bytes, held)
    except TimeoutError:
        message = (
            f"the body did not arrive in {settings.body_timeout_s:g} s, or before the deadline"
        )
        raise Refusal(408, "slow_body", message, headers={"Connection": "close"}) from None
    except ClientDisconnect:
        raise Refusal(400, "disconnected", "the client left") from None


def decode(data: bytes, decoder: msgspec.json.Decoder[Body], max_depth: int) -> Body:
    """Decode `data` with `decoder`. Raises Refusal."""
    if deeper_than(data, max_depth):
        message = f"arrays and objects may be nested {max_depth} deep"
        raise Refusal(422, "too_deep", message, "$")
    try:
        body = decoder.decode(data)
        check_keys(data)
        return body
    except msgspec.ValidationError as error:
        match = _WHERE.match(str(error))
        assert match is not None  # the pattern matches any text
        raise Refusal(422, "invalid_request", match["what"], match["where"] or "$") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        lax = _with_half_pairs(data, decoder)
        if lax is not None:
            check_keys(data)
            return lax
        what = str(error) if isinstance(error, msgspec.DecodeError) else "the text is not UTF-8"
        raise Refusal(400, "malformed_json", f"not JSON: {what}", "$") from None


def check_keys(data: bytes) -> None:
    """Raise Refusal if an object in the JSON has a key twice."""
    if has_duplicates(data):
        message = "an object has a key twice; which one counts would be anybody's guess"
        raise Refusal(400, "duplicate_key", message, "$")


def _with_half_pairs(data: bytes, decoder: msgspec.json.Decoder[Body]) -> Body | None:
    """Decode a body whose only defects are lone surrogates in text of models; None for any other.

    Most JSON encoders write `"\\ud800"`, and a model may have produced it. The whole batch must not be
    refused for it: the verifier scores the submission.
    """
    written = getattr(decoder.type, "written_by_models", "")
    if not written or not _HALF_PAIR.search(data):
        return None
    try:
        plain = json.loads(data, parse_constant=_no_constant)
        body: Body = msgspec.convert(plain, decoder.type)
        for item in plain["items"] if decoder.type is BatchBody else [plain]:
            item[written] = None
        msgspec.json.encode(plain)  # they are there only
    except (ValueError, UnicodeError, RecursionError):  # msgspec's errors are ValueErrors
        return None
    return body


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def deeper_than(data: bytes, limit: int) -> bool:
    """Return True if arrays and objects in the JSON text `data` nest deeper than `limit`; linear time."""
    if data.count(b"[") + data.count(b"{") <= limit:
        return False
    if b"\\" in data:  # so that every quote left is one end of a string
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    # Strings without brackets, which most are, go first.
    bare = data.translate(None, _NO_BRACKETS).replace(b'""', b"")
    brackets = left = b"".join(bare.split(b'"')[::2])
    # Each pass takes one or two levels off: this settles what is sane without a loop in Python.
    for _ in range(limit // 2):
        left = left.replace(b"[]", b"").replace(b"{}", b"")
        if not left:
            return False
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in b"[{" else -1
        if depth > limit:
            return True
        if depth < 0:
            break  # no JSON, as the decoder will say
    return False


async def _collect(request: Request, limit: int, held: HeldBytes | None) -> bytes:
    length = request.headers.get("content-length", "")
    drain = limit * _DRAIN_FACTOR if not length.isdecimal() else int(length)
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= limit:
            if held is not None:
                held.take(len(chunk))
            chunks.append(chunk)
        else:
            chunks.clear()
            if drain > limit * _DRAIN_FACTOR or size > limit * _DRAIN_FACTOR:
                break
    if size > limit:
        message = f"the body is above the limit of {limit} bytes"
        raise Refusal(413, "too_large", message, headers={"Connection": "close"})
    return b"".join(chunks)
