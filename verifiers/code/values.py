"""Answers of functions as plain data: read what a driver printed, and compare it, outside the sandbox.

Values travel as JSON. What JSON lacks is an object with one key: `{"$tuple": [...]}`,
`{"$set": [...]}`, `{"$dict": [[key, value], ...]}`, `{"$bytes": hex}`, `{"$int": hex}` (long ones) and
`{"$float": "nan" | "inf" | "-inf"}`. References may hold the same.

`normal` turns such JSON into nested tuples in which equal values are equal: a list and a tuple of the
same items are (other languages have but one of them, and so has JSON), and 4 and 4.0 are, though only a
value near to the second is close to it (`Rounded`); `true` and 1 are not, nor is a text and a number, nor a set and a list. Leaves are texts, so that a policy cannot
choose values whose hashes collide. Objects of the policy's own classes never come here.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

from verigym.canonical import JSON
from verigym.verifiers.code.drivers import MARK

Normal: TypeAlias = tuple[Any, ...]

# The drivers' 200 and some: a level is three frames at most, and Python's stack has a thousand.
MAX_DEPTH = 210
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Rounded(str):
    """The text of a whole number that was given as a float, which others may be close to.

    Equal to the text of the same whole number that was given as one.
    """

    __slots__ = ()


class BadValue(Exception):
    """A value is not of the form above; the message says why."""


def read_answer(stdout: bytes) -> JSON:
    """Return the answer in what a job printed. Raises BadValue unless there is just one, and JSON."""
    lines = [line for line in stdout.split(b"\n") if line.startswith(MARK)]
    if len(lines) != 1:
        raise BadValue("no answer" if not lines else f"{len(lines)} answers to one call")
    return load(lines[0][len(MARK) :])


def load(line: bytes) -> JSON:
    """Return one line of JSON. Raises BadValue, whatever it holds."""
    try:
        value: JSON = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        # ValueError: no JSON, no Unicode, or a whole number of more digits than Python reads.
        raise BadValue(f"not JSON: {type(error).__name__}") from error
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def normal(value: JSON, depth: int = 0) -> Normal:
    """Return the normal form of tagged JSON; equal values have equal forms. Raises BadValue."""
    if depth > MAX_DEPTH:
        raise BadValue(f"nested more than {MAX_DEPTH} deep")
    if value is None or isinstance(value, bool):
        return ("constant", str(value))
    if isinstance(value, int):
        return ("number", f"{value:x}")
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return ("text", value)
    if isinstance(value, list | tuple):
        return ("list", tuple(normal(item, depth + 1) for item in value))
    if not isinstance(value, dict):
        raise BadValue(f"{type(value).__name__} is not plain data")
    if len(value) == 1:
        ((tag, inner),) = value.items()
        if tag.startswith("$"):
            return _tagged(tag, inner, depth)
    return ("dict", frozenset((("text", k), normal(v, depth + 1)) for k, v in value.items()))


def _float(value: float) -> Normal:
    if not math.isfinite(value):
        return ("odd number", repr(value))
    # Beyond 2**53 a float stands for a neighbourhood, so it stays one, and tolerance applies.
    whole = value.is_integer() and abs(value) <= 1 << 53
    return ("number", Rounded(f"{int(value):x}") if whole else value.hex())


def _tagged(tag: str, inner: JSON, depth: int) -> Normal:
    if tag == "$float" and isinstance(inner, str) and inner in _FLOATS:
        return _float(_FLOATS[inner])
    if tag == "$int" and isinstance(inner, str):
        try:
            return ("number", f"{int(inner, 16):x}")
        except ValueError as error:
            raise BadValue("$int must be hexadecimal") from error
    if tag == "$bytes" and isinstance(inner, str):
        return ("bytes", inner.lower())
    if tag in ("$tuple", "$set", "$dict") and isinstance(inner, list | tuple):
        if tag == "$dict":
            if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in inner):
                raise BadValue("$dict must hold pairs")
            pairs = {normal(key, depth + 1): normal(item, depth + 1) for key, item in inner}
            return ("dict", frozenset(pairs.items()))
        items = tuple(normal(item, depth + 1) for item in inner)
        return ("list", items) if tag == "$tuple" else ("set", frozenset(items))
    raise BadValue(f"no value is tagged {tag[:20]!r} like this")


def exact(got: Normal, want: Normal, tolerance: float) -> bool:
    """Return True if both are the same value, with floats equal to the last bit."""
    return got == want


def values(got: Normal, want: Normal, tolerance: float) -> bool:
    """Compare like `exact`, except that a number may differ from a wanted float by `tolerance`,
    absolute or relative, and by less than a half if the wanted float is whole. A wanted whole
    number must match exactly, and so must numbers inside sets and keys."""
    if got == want:
        return True
    if got[0] != want[0]:
        return False
    if want[0] == "number":
        return _close(got[1], want[1], tolerance)
    if want[0] == "list":
        return len(got[1]) == len(want[1]) and all(
            values(ours, theirs, tolerance) for ours, theirs in zip(got[1], want[1], strict=True)
        )
    if want[0] == "dict":
        ours, theirs = dict(got[1]), dict(want[1])
        return ours.keys() == theirs.keys() and all(
            values(ours[key], theirs[key], tolerance) for key in theirs
        )
    return False


def _close(got: str, want: str, tolerance: float) -> bool:
    if "p" not in want and not isinstance(want, Rounded):
        # Only a float beyond 2**53, which stands for a neighbourhood, may be a whole number in other digits.
        return "p" in got and _is_nearest_float(got, want)
    try:
        ours, theirs = (
            float.fromhex(text) if "p" in text else float(int(text, 16)) for text in (got, want)
        )
    except OverflowError:
        return False
    # An approximation must not be paid for the next whole number, however long the wanted one is.
    nearest = "p" in want or abs(ours - theirs) < 0.5
    return nearest and abs(ours - theirs) <= tolerance * max(1.0, abs(theirs))


def _is_nearest_float(got: str, want: str) -> bool:
    """Return True if a float is the nearest to a whole number of more than 53 bits."""
    whole = int(want, 16)
    if abs(whole) <= 1 << 53:
        return False
    try:
        return float.fromhex(got) == float(whole)
    except OverflowError:
        return False


def unordered(got: Normal, want: Normal, tolerance: float) -> bool:
    """Compare like `exact`, with the outermost list in any order; a set may stand for a list."""
    return _bag(got) == _bag(want)


def unordered_deep(got: Normal, want: Normal, tolerance: float) -> bool:
    """Compare like `unordered`, for the inner lists, too."""
    return _deep(got) == _deep(want)


def _bag(value: Normal) -> Normal:
    if value[0] not in ("list", "set"):
        return value
    return ("bag", frozenset(Counter(value[1]).items()))


def _deep(value: Normal) -> Normal:
    if value[0] not in ("list", "set"):
        return value
    return ("bag", frozenset(Counter(map(_deep, value[1])).items()))


VALUE_CHECKERS: dict[str, Callable[[Normal, Normal, float], bool]] = {
    "exact": exact,
    "unordered": unordered,
    "unordered_deep": unordered_deep,
    "values": values,
}
