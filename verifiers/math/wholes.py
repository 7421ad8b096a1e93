"""Writes bounds on whole numbers as the numbers that they hold: 1 <= n <= 3 is {1, 2, 3}."""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_MOST = 60
_WHOLE = lazy_pattern(
    r"\b(?:integers?|whole|naturals?|counting)\b|\\ZZ|\\NN",
    re.IGNORECASE,
    needs="\\nn|\\zz|counting|integer|natural|whole",
)
_BETWEEN = lazy_pattern(r"(-?\d{1,6}) ?(<=?) ?([a-z]) ?(<=?) ?(-?\d{1,6})(?P<rest>.*)", needs="<")
_WORDS = lazy_pattern(
    r"(?:all |the |any )*(?:positive |natural )?(?:integers?|whole numbers?|numbers)(?: [a-z])? (?:from|between) (-?\d{1,6}) (?:to|through|and) (-?\d{1,6})(?P<ends>,? \(?(?:both )?inclusive\)?)?",
    re.IGNORECASE,
    needs="between|from",
)
_REST = lazy_pattern(
    r"[\s,;()]*(?:(?:with|where|for|and|an?|is|are|[a-z]|integers?|whole|numbers?|natural|\\in|\\ZZ|\\NN)[\s,;()]*)*"
)


def spelled_out(answer: str, question: str) -> str:
    """Bounds on a whole number, said to be one by the answer or the question, as a set; other text as it is."""
    if len(answer) > 120:
        return answer
    words = _WORDS.fullmatch(answer.strip(" ."))
    if words is not None:
        low, high = int(words[1]), int(words[2])
        if "between" in answer and not words["ends"]:
            return answer
        return _listed(low, high) or answer
    match = _BETWEEN.fullmatch(answer)
    if (
        match is None
        or not (_WHOLE.search(answer) or _WHOLE.search(question))
        or not _REST.fullmatch(match["rest"])
    ):
        return answer
    low, high = int(match[1]) + (match[2] == "<"), int(match[5]) - (match[4] == "<")
    return _listed(low, high) or answer


def _listed(low: int, high: int) -> str | None:
    if not 0 <= high - low < _MOST:
        return None
    return rf"\{{{','.join(map(str, range(low, high + 1)))}\}}"
