"""JSON as a strict reader takes it: no duplicate keys, no NaN, bounded in size and depth.

The standard reader keeps the last of two equal keys, accepts `NaN`, turns `1e999` into infinity and
raises RecursionError on deep input; a tool that reads the same text may see something else.
Covers: all of these, lone surrogates by escape, whole numbers too long to read, megabytes.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from verigym.canonical import JSON

MAX_CHARS = 1 << 20
MAX_DEPTH = 64

_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"|([\[{])|([\]}])', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class NotJson(ValueError):
    """Text that is not strict JSON. `reason` is a code for verdicts, the message is for people."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def read_json(text: str, max_chars: int = MAX_CHARS, max_depth: int = MAX_DEPTH) -> JSON:
    """Return the value that `text` holds, in time linear in its length.

    Raises NotJson with reason `too_long`, `too_deep`, `duplicate_key` or `bad_json`. Messages hold
    at most a few characters of the text.
    """
    if len(text) > max_chars:
        raise NotJson("too_long", f"{len(text)} characters, {max_chars} are read")
    if text.count("[") + text.count("{") > max_depth and _depth(text, max_depth) > max_depth:
        raise NotJson("too_deep", f"nested deeper than {max_depth} levels")
    try:
        value: JSON = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise NotJson(
            "bad_json", f"not JSON: {error.msg}, line {error.lineno}, column {error.colno}"
        ) from error
    except UnicodeEncodeError as error:
        raise NotJson("bad_json", "not JSON: text holds a lone surrogate") from error
    return value


def check_value(value: JSON, max_depth: int = MAX_DEPTH) -> None:
    """Raise NotJson if plain data is deeper than `max_depth`; its keys are unique by nature."""
    level: list[JSON] = [value]
    for _ in range(max_depth + 1):
        inner: list[JSON] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list | tuple):
                inner.extend(item)
        if not inner:
            return
        level = inner
    raise NotJson("too_deep", f"nested deeper than {max_depth} levels")


def _depth(text: str, enough: int) -> int:
    """The deepest nesting in `text`; stops counting above `enough`."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        if match[1]:
            depth += 1
            deepest = max(deepest, depth)
            if deepest > enough:
                return deepest
        elif match[2]:
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise NotJson("duplicate_key", f"the key {key[:40]!a} stands twice")
            seen.add(key)
    return found


def _no_constant(name: str) -> JSON:
    raise NotJson("bad_json", f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise NotJson("bad_json", "a number is too large")
    return value


def _whole(digits: str) -> int:
    if len(digits) > 400:
        raise NotJson("bad_json", "a whole number has more than 400 digits")
    return int(digits)
