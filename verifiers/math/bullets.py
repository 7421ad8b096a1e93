"""Reads values that stand as items of a list: "- 7" is 7, "1. 7" and "2. 8" are 7, 8."""

from __future__ import annotations

import re

from verigym.verifiers.math.marks import unmarked
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.question_focus import focus_of, roots

_ITEM = lazy_pattern(r"(?:[-*+•–◦▪]|\d{1,2}[.)])\s+(\S.*)")
_MARKED = lazy_pattern(
    r"^(?:[-*+•–◦▪]\s+(?=[A-Z][a-z]{2}|[a-z][a-z ]{2,30}: )|(?:[-*+•–◦▪]\s+)?\**[Ss]tep \d{1,2}(?::\*\*|\*\*:|[:.])\s+(?=\S))"
)
_HEADED = lazy_pattern(r"[-*+•–◦▪]\s+\**([A-Z][a-z]+(?: [a-z]+){0,3})\**\s*[:=]")
_VALUE = lazy_pattern(r"(?:[^A-Za-z]|\\[A-Za-z]+|(?<![A-Za-z])[A-Za-z](?![A-Za-z])){1,60}")
_PROSE = lazy_pattern(r"[^\W\d_]{3}|[\u4e00-\u9fff]")


def last_items(lines: list[str]) -> str | None:
    """The values of the list that ends `lines`, joined by commas; None if they end in no list of values.

    A "- 7" below a formula is its end, and no item.
    """
    values: list[str] = []
    for line in reversed(lines):
        item = _ITEM.fullmatch(line)
        if item is None:
            break
        values.insert(0, unmarked(item[1]))
    if not values or not all(map(_VALUE.fullmatch, values)):
        return None
    if len(values) == 1 and len(lines) > 1 and not _PROSE.search(lines[-2]):
        return None
    first = re.match(r"\d+", lines[-len(values)])
    return None if first and first[0] != "1" else ", ".join(values)


def first_items(text: str) -> str | None:
    """The values of the list that `text` starts with, joined by commas; None if it starts with none."""
    values: list[str] = []
    for line in text.strip().split("\n"):
        item = _ITEM.fullmatch(line.strip())
        if item is None:
            break
        values.append(unmarked(item[1]))
    return ", ".join(values) if values and all(map(_VALUE.fullmatch, values)) else None


def ends_elsewhere(lines: list[str], question: str) -> bool:
    """Return True if the last item of a list is headed by something else, and an earlier one by what is asked for."""
    last = _HEADED.match(lines[-1])
    if last is None:
        return False
    wanted = focus_of(question).words
    heads = [match[1] for line in lines[:-1] if (match := _HEADED.match(line))]
    return wanted.isdisjoint(roots(last[1])) and any(
        not wanted.isdisjoint(roots(head)) for head in heads
    )


def without_mark(line: str) -> str:
    """A line of words, "- Distance: 15/5 = 3", without the mark of a list in front of it."""
    return _MARKED.sub("", line)
