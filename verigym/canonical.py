"""Canonical JSON and digests: equal values give equal bytes on every machine."""

from __future__ import annotations

import hashlib
from typing import Any, TypeAlias

import msgspec

from verigym.errors import RequestError

JSON: TypeAlias = bool | int | float | str | list[Any] | tuple[Any, ...] | dict[str, Any] | None

_encoder = msgspec.json.Encoder(order="deterministic")


def to_json(value: Any) -> bytes:
    """Canonical JSON of plain data, dataclasses included: sorted keys, no spaces, UTF-8.

    Raises RequestError for what JSON cannot hold (other objects, text with lone surrogates).
    """
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(f"value cannot be written as JSON: {error}") from error


def digest(*values: Any) -> str:
    """SHA-256 in hex over the canonical JSON of `values`, 64 characters."""
    return hashlib.sha256(to_json(values)).hexdigest()
