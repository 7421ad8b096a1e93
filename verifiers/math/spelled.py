"""Reads numbers in English words: "one hundred and five", "two and a half", "three quarters", "twenty-first"."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import names

_ONES = {
    word: value
    for value, word in enumerate(
        names(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
            "sixteen seventeen eighteen nineteen"
        )
    )
}
_TENS = {
    word: value * 10
    for value, word in enumerate(names("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
ORDINALS = {
    word: value
    for value, word in enumerate(
        names(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth"
        ),
        1,
    )
} | {f"{word[:-1]}ieth": value for word, value in _TENS.items()}
_PARTS = {
    "half": 2, "halve": 2, "quarter": 4, "hundredth": 100, "thousandth": 1000, "millionth": 10**6,
    **{word: value for word, value in ORDINALS.items() if value > 2},
}  # fmt: skip
_DIGITS = lazy_pattern(r"(\d{1,6})\s*(?:\^?\{?\s*)(?:st|nd|rd|th)\s*\}?", needs="nd|rd|st|th")
STARTS = frozenset(
    (*_ONES, *_TENS, *_SCALES, "half", "hundred", "dozen", "minus", "negative", "a", "an")
)
"""Words that a number in words starts with."""
_PLACE = lazy_pattern(
    r"\s*(?:place|position|term|day|floor|row|one|time|number)\s*$",
    needs="day|floor|number|one|place|position|row|term|time",
)


_OTHER = lazy_pattern(r"[^A-Za-z\s-]")
_LETTERS = lazy_pattern("[a-z]+")


def number_of(text: str) -> str | None:
    """The number that words say, as digits or as a fraction of digits; None if they say none."""
    return None if len(text) > 120 or not text[:1].isalpha() else _number_of(text)


@lru_cache(maxsize=4096)
def _number_of(text: str) -> str | None:
    if _OTHER.search(text):
        return None
    words = _LETTERS.findall(text.lower())
    if not words or len(words) > 16:
        return None
    negative = words[0] in ("minus", "negative")
    found = _number(words[negative:])
    return None if found is None else f"{'-' * negative}{found}"


def _number(words: list[str]) -> str | None:
    if "point" in words:
        at = words.index("point")
        whole = _value(words[:at])
        places = [_ONES.get(word, 10) for word in words[at + 1 :]]
        if whole is None or not places or max(places) > 9:
            return None
        return f"{whole}.{''.join(map(str, places))}"
    last = words[-1].removesuffix("s") if words else ""
    if last in _PARTS and not (len(words) > 1 and words[-1] in ORDINALS and words[-2] in _TENS):
        if "and" in words[:-1] and words[-2] != "and":
            at = len(words) - 1 - words[::-1].index("and")
            whole, part = _value(words[:at]), _fraction(words[at + 1 :])
            if whole is not None and part is not None and part < 1:
                total = whole + part
                return f"{total.numerator}/{total.denominator}"
        part = _fraction(words)
        return None if part is None else f"{part.numerator}/{part.denominator}"
    value = _value(words)
    return None if value is None else str(value)


def _fraction(words: list[str]) -> Fraction | None:
    """Three quarters, a half, one hundredth."""
    below = _PARTS[words[-1].removesuffix("s")]
    if len(words) == 1:
        return Fraction(1, 2) if words[0] == "half" else None
    above = 1 if words[:-1] in (["a"], ["an"]) else _value(words[:-1])
    return None if not above else Fraction(above, below)


def _value(words: list[str]) -> int | None:
    """The whole number that `words` spell by the rules of English; None otherwise."""
    if words[-1:] == ["dozen"]:
        count = 1 if words[:-1] == ["a"] else 12 if len(words) == 1 else _value(words[:-1])
        if words == ["half", "a", "dozen"]:
            return 6
        return None if count is None or len(words) == 1 else 12 * count
    if words == ["zero"]:
        return 0
    if words[:1] == ["a"]:
        if len(words) < 2 or not (words[1] == "hundred" or words[1] in _SCALES):
            return None
        words = ["one", *words[1:]]
    total = part = 0
    limit = 10**15
    before = ""
    for word in words:
        value = _ONES.get(word)
        if word == "and":
            if before != "hundred" and before not in _SCALES:
                return None
        elif value:
            low = part % 100
            if low and (value > 9 or low % 10 or low < 20):
                return None
            part += value
        elif word in _TENS:
            if part % 100:
                return None
            part += _TENS[word]
        elif word == "hundred":
            if not 0 < part < 100 or before == "and":
                return None
            part *= 100
        elif word in _SCALES:
            if not part or _SCALES[word] >= limit or before == "and":
                return None
            limit = _SCALES[word]
            total, part = total + part * limit, 0
        else:
            return None
        before = word
    return None if not before or before == "and" else total + part


def ordinal_of(text: str) -> int | None:
    """The place in a row that `text` says: "3rd", "twenty-first", "the fifth place"; None if it says none."""
    if len(text) > 60:
        return None
    shown = _PLACE.sub("", text.lower().strip(" .").removeprefix("the ")).strip()
    match = _DIGITS.fullmatch(shown)
    if match:
        return int(match[1])
    words = _LETTERS.findall(shown)
    if not words or words[-1] not in ORDINALS or re.search(r"[^a-z\s-]", shown):
        return None
    if len(words) == 1:
        return ORDINALS[words[0]]
    tens = _value(words[:-1])
    below = ORDINALS[words[-1]]
    if tens is None or tens % 10 or below > 99 or (below > 9 and tens % 100) or tens < 20:
        return None
    return tens + below
