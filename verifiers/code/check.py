"""Compares what a program printed with what was wanted; pure functions on bytes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable

# Plain decimal only: float() also reads "nan", "infinity" and "1_000".
_NUMBER = re.compile(
    rb"[+-]?(?=\.?\d)(?P<whole>\d*)(?:\.(?P<fraction>\d*))?(?:[eE](?P<exponent>[+-]?\d+))?"
)
_WHOLE = re.compile(rb"[+-]?\d+")
_MAX_EXPONENT_DIGITS = 18


def same_tokens(printed: bytes, wanted: bytes, tolerance: float) -> bool:
    """Return True if both hold the same words; the amount and kind of white space do not matter."""
    return printed.split() == wanted.split()


def same_bytes(printed: bytes, wanted: bytes, tolerance: float) -> bool:
    """Return True if both are byte-equal, apart from newlines at the very end."""
    return printed.rstrip(b"\r\n") == wanted.rstrip(b"\r\n")


def close_floats(printed: bytes, wanted: bytes, tolerance: float) -> bool:
    """Return True if both hold the same words and close numbers.

    A wanted number with a point or an exponent allows a difference of `tolerance`, absolute or
    relative to it, whichever is more. A wanted number without them is an integer and must match
    exactly, however it is written: 1000000007.0 is 1000000007, and 1000000006.6 is not. NaN and
    infinities are not close.
    """
    ours, theirs = wanted.split(), printed.split()
    return len(ours) == len(theirs) and all(
        _close(their, our, tolerance) for their, our in zip(theirs, ours, strict=True)
    )


def same_lines(printed: bytes, wanted: bytes, tolerance: float) -> bool:
    """Return True if both hold the same lines equally often, in any order; white space at the end
    of lines and empty lines do not matter."""
    return _lines(printed) == _lines(wanted)


def _lines(text: bytes) -> Counter[bytes]:
    return Counter(line.rstrip() for line in text.split(b"\n") if line.strip())


def _close(printed: bytes, wanted: bytes, tolerance: float) -> bool:
    if printed == wanted:
        return True
    if not (_NUMBER.fullmatch(printed) and _NUMBER.fullmatch(wanted)):
        return False
    if _WHOLE.fullmatch(wanted):
        return _exact(printed) == _exact(wanted)
    got, want = float(printed), float(wanted)
    if not (math.isfinite(got) and math.isfinite(want)):
        return False
    return abs(got - want) <= tolerance * max(1.0, abs(want))


def _exact(number: bytes) -> tuple[bool, bytes, int] | None:
    """Return the sign, digits and power of ten of a number's text, the same for equal numbers;
    None if it is too long.

    It does not convert the text to a number, which would take hours for a million digits.
    """
    match = _NUMBER.fullmatch(number)
    assert match is not None
    fraction, exponent = match["fraction"] or b"", match["exponent"] or b"0"
    digits = (match["whole"] + fraction).lstrip(b"0")
    if not digits:
        return False, b"", 0
    if len(exponent) > _MAX_EXPONENT_DIGITS:
        return None
    short = digits.rstrip(b"0")
    power = int(exponent) - len(fraction) + len(digits) - len(short)
    return number.startswith(b"-"), short, power


CHECKERS: dict[str, Callable[[bytes, bytes, float], bool]] = {
    "exact": same_bytes,
    "floats": close_floats,
    "lines": same_lines,
    "tokens": same_tokens,
}
