"""Finds objects of a JSON text that have a key twice.

Which of the two counts differs from one reader of JSON to the next, so a proxy or a log may have seen
another request than the one that is judged.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_NOT_MARKS = bytes(set(range(256)) - set(b':"'))


def has_duplicates(data: bytes) -> bool:
    """Tell if an object in `data`, which is JSON, has a key twice, however it is written."""
    try:
        # Writing what was read loses the colon of each key that stood twice, and no other; unless one
        # comes in for a \\u003a. This takes a microsecond a kilobyte, all of it in C.
        written = _encode(_decode(data))
        if data.count(b":") == written.count(b":") and not (b"\\" in data and rb"\u003" in data):
            return False
        return _n_keys(data) != _n_keys(written)
    except (ValueError, OverflowError, RecursionError):  # a long integer, or half a surrogate pair
        return _has_duplicates(data)


def _n_keys(data: bytes) -> int:
    """Colons outside of strings."""
    if b"\\" in data:  # so that every quote left is one end of a string
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    bare = data.translate(None, _NOT_MARKS).replace(b'""', b"")
    return b"".join(bare.split(b'"')[::2]).count(b":")


def _has_duplicates(data: bytes) -> bool:
    found = False

    def pairs(given: list[tuple[str, Any]]) -> None:
        nonlocal found
        found = found or len({key for key, _ in given}) < len(given)

    json.loads(data, object_pairs_hook=pairs, parse_int=str, parse_float=str)
    return found
