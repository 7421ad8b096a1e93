"""Compares what a program printed with what was wanted; pure functions on bytes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable

# Plain decimal only: float() also reads "nan", "infinity" and "1_000". A point before more digits, or
# a word of a million digits and a letter would take hours.
_NUMBER = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(rb"[+-]?\d+")


def same_tokens(printed: bytes, wanted: bytes, tolerance: float) -> bool:
    """Whether both hold the same words; the amount and kind of white space do not matter."""
    return printed.split() == wanted.split()


def same_bytes(printed: bytes, wanted: bytes, tolerance: float) -> bool:
    """Whether both are the same, line ends at the very end aside."""
    return printed.rstrip(b"\r\n") == wanted.rstrip(b"\r\n")


def close_floats(printed: bytes, wanted: bytes, tolerance: float) -> bool:
    """As `same_tokens`, but numbers may differ by `tolerance`, absolute or relative to the wanted
    one, whichever is more. Two different whole numbers are not close, nor are NaN and infinities."""
    ours, theirs = wanted.split(), printed.split()
    return len(ours) == len(theirs) and all(
        _close(their, our, tolerance) for their, our in zip(theirs, ours, strict=True)
    )


def same_lines(printed: bytes, wanted: bytes, tolerance: float) -> bool:
    """Whether both hold the same lines in any order, each as often; white space at the end of lines
    and empty lines do not matter."""
    return _lines(printed) == _lines(wanted)


def _lines(text: bytes) -> Counter[bytes]:
    return Counter(line.rstrip() for line in text.split(b"\n") if line.strip())


def _close(printed: bytes, wanted: bytes, tolerance: float) -> bool:
    if printed == wanted:
        return True
    if not (_NUMBER.fullmatch(printed) and _NUMBER.fullmatch(wanted)):
        return False
    if _WHOLE.fullmatch(printed) and _WHOLE.fullmatch(wanted):
        return _same_whole(printed, wanted)
    got, want = float(printed), float(wanted)
    if not (math.isfinite(got) and math.isfinite(want)):
        return False
    return abs(got - want) <= tolerance * max(1.0, abs(want))


def _same_whole(printed: bytes, wanted: bytes) -> bool:
    """Whether two texts of digits are one number: a sign and leading zeros aside, without reading
    a million digits."""
    ours, theirs = (text.lstrip(b"+-").lstrip(b"0") for text in (printed, wanted))
    minus = printed.startswith(b"-") == wanted.startswith(b"-")
    return ours == theirs and (minus or not ours)


CHECKERS: dict[str, Callable[[bytes, bytes, float], bool]] = {
    "exact": same_bytes,
    "floats": close_floats,
    "lines": same_lines,
    "tokens": same_tokens,
}
