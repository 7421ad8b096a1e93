"""Equality of JSON values: the rules that calls and states are compared by.

- Numbers by value: `1` is `1.0`. Where either is not whole, they may differ by `tolerance`, relative
  to the larger; whole numbers are compared exactly, so long ids never blur. Booleans are not numbers,
  and texts are never numbers.
- Texts: `exact`; `trimmed` (default): canonical Unicode (NFC), runs of white space are one space, none
  at the ends; `loose`: also small letters, and without space, quotes and ``,./-_*^`` except a point or
  comma between digits and a minus before one (`-5` is not `5`, `1.5` is not `15`).
- Lists in order; objects by key; null only null.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, TypeAlias

from verigym.canonical import JSON

Strings: TypeAlias = Literal["exact", "trimmed", "loose"]

_LOOSE = re.compile(r"[\s,./\-_*^'\"‘’“”]")


@dataclass(frozen=True)
class Sameness:
    """Strictness of value comparison; the module docstring states the rules."""

    strings: Strings = "trimmed"
    tolerance: float = 1e-9

    def same(self, left: JSON, right: JSON) -> bool:
        """Return True if two values are the same."""
        if isinstance(left, str) or isinstance(right, str):
            if not (isinstance(left, str) and isinstance(right, str)):
                return False
            return left == right or self.text(left) == self.text(right)
        if isinstance(left, bool | None) or isinstance(right, bool | None):
            return left is right
        if isinstance(left, int | float) and isinstance(right, int | float):
            return self._same_number(left, right)
        if isinstance(left, dict) and isinstance(right, dict):
            return left.keys() == right.keys() and all(
                self.same(value, right[key]) for key, value in left.items()
            )
        if isinstance(left, list | tuple) and isinstance(right, list | tuple):
            return len(left) == len(right) and all(map(self.same, left, right))
        return False

    def text(self, value: str) -> str:
        """Return the form in which two texts are compared."""
        if self.strings == "exact":
            return value
        plain = " ".join(unicodedata.normalize("NFC", value).split())
        if self.strings == "trimmed":
            return plain
        return _LOOSE.sub(_kept, plain).casefold()

    def _same_number(self, left: int | float, right: int | float) -> bool:
        if left == right:
            return True
        try:
            near, far = float(left), float(right)
        except OverflowError:
            return False
        if near.is_integer() and far.is_integer():
            return False
        return abs(near - far) <= self.tolerance * max(abs(near), abs(far))


def _kept(match: re.Match[str]) -> str:
    text = match.string
    at = match.start()
    sign = match[0]
    after = text[at + 1 : at + 2]
    before = text[at - 1 : at] if at else ""
    if sign in ".," and before.isdigit() and after.isdigit():
        return sign
    if sign == "-" and (after.isdigit() or after == ".") and not before.isalnum():
        return sign
    return ""
