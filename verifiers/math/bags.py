"""Lists whose order does not count, under any sense of "same"."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

MOST_DISTINCT = 60
_MOST_UNORDERED = 30
_Member = TypeVar("_Member")


def distinct(items: list[_Member], same: Callable[[_Member, _Member], bool]) -> list[_Member]:
    """The members without repetitions, among the first `MOST_DISTINCT`; what follows stays."""
    found: list[_Member] = []
    for item in items[:MOST_DISTINCT]:
        if not any(same(item, other) for other in found):
            found.append(item)
    return found + items[MOST_DISTINCT:]


def same_bag(
    left: list[_Member], right: list[_Member], same: Callable[[_Member, _Member], bool]
) -> bool:
    """Return True if two lists hold the same members, in any order (in the same order if they are long)."""
    if len(left) != len(right):
        return False
    if len(left) > _MOST_UNORDERED:
        return all(map(same, left, right))
    rest = list(right)
    for item in left:
        for k, other in enumerate(rest):
            if same(item, other):
                del rest[k]
                break
        else:
            return False
    return True
