"""Canonical JSON and digests: equal values give equal bytes on every machine."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from verigym.errors import RequestError

if TYPE_CHECKING:
    JSON: TypeAlias = bool | int | float | str | list[Any] | tuple[Any, ...] | dict[str, Any] | None
else:
    JSON = Any  # msgspec refuses to decode into a union of two array types

_encoder = msgspec.json.Encoder(order="deterministic")


def to_json(value: Any) -> bytes:
    """Return canonical JSON of plain data, dataclasses included: sorted keys, no spaces, UTF-8.

    Raises RequestError if JSON cannot hold a value (other objects, text with lone surrogates, NaN and
    infinities).
    """
    try:
        encoded = _encoder.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(f"value cannot be written as JSON: {error}") from error
    # msgspec writes NaN and infinities as null, and NaN would then share the digest of None.
    if b"null" in encoded and _has_nonfinite(msgspec.to_builtins(value)):
        raise RequestError("value cannot be written as JSON: NaN and infinities are not JSON")
    return encoded


def digest(*values: Any) -> str:
    """Return the SHA-256 of the canonical JSON of `values` as 64 hex characters."""
    return hashlib.sha256(to_json(values)).hexdigest()


def _has_nonfinite(value: Any) -> bool:
    inner: list[Any] = [value]
    while inner:
        one = inner.pop()
        if isinstance(one, float):
            if not math.isfinite(one):
                return True
        elif isinstance(one, dict):
            inner += one.values()
        elif isinstance(one, (list, tuple)):
            inner += one
    return False


def is_encodable(text: str) -> bool:
    """Return True if JSON can hold `text`: a lone surrogate is text to Python only.

    No verifier could be asked about such a text. A policy that emits one must not get a fault, which would
    drop the episode, in place of a 0.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
