"""Finds the one point in a sentence: "They meet at P(3,-1).", "(3,-1), in the fourth quadrant"."""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_NUMBER = r"\s*-?(?:\d[\d.]*|\\frac ?\{-?\d+\} ?\{\d+\}|\\sqrt ?\{\d+\}|\\pi)(?:\s*/\s*\d+|\s*\\sqrt ?\{\d+\}|\\pi)?\s*"
_POINT = lazy_pattern(rf"\((?:{_NUMBER})(?:[,;](?:{_NUMBER})){{1,3}}\)")
_NAME = lazy_pattern(r"(?:^|(?<=[\s:]))[A-Z](?:_\{?\w\}?|')?\s*(?:=\s*)?$")
_OTHER = lazy_pattern(
    r"\b(?:or|not|no|never|isn't|aren't|doesn't|don't|cannot|can't|maybe|perhaps|possibly|might|may|could|if|unless|near|except|instead|wrong|incorrect|"
    r"about|around|approximately|between|reflected|reflection|from|opposite|probably|likely|guess|excluding|without|swapped|reversed|reverse|negative|minus|twice|half|times|plus|gcd|lcm|hcf|gcf|max|min|sum|product|choose|binom)\b|n't\b",
    re.IGNORECASE,
    needs="about|approximately|around|between|choose|could|except|excluding|from|gcd|gcf|guess|half|hcf|if|instead|lcm|likely|max|may|might|min|n't|near|negative|never|no|opposite|or|perhaps|plus|possibly|probably|product|reflected|reflection|reverse|sum|swapped|times|twice|unless|without|wrong",
)


_ALTERED = lazy_pattern(
    r"\b(?:close to|near|reflected|reflection|rotated|not (?:at|on)|does not|doesn't|never)\b",
    re.IGNORECASE,
    needs="close to|does not|doesn't|near|never|not |reflected|reflection|rotated",
)


def sole_point(text: str) -> str | None:
    """The point that a text in words holds; None without words, with another number, or with a doubt.

    Empty if the words deny or move the point: "the reflection of (4, 0)".
    """
    if len(text) > 200 or "(" not in text:
        return None
    found = list(_POINT.finditer(text))
    if len(found) != 1:
        return None
    before, after = text[: found[0].start()], text[found[0].end() :]
    before = _NAME.sub("", before)
    if before and not before[-1:].isspace() and before[-1:] not in ":=":
        return None  # an operation: gcd(4, 6)
    rest = f"{before} {after}"
    if _ALTERED.search(rest):
        return ""
    if re.search(r"[\d=<>\\+*/^?]", rest) or _OTHER.search(rest):
        return None
    return found[0][0]
