"""Finds the sentence of a reply that makes its claim: the last that is neither a check nor a remark without a value."""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.endings import without_rest
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import ORDINALS, STARTS
from verigym.verifiers.math.values_in_prose import plain_sentence, values_in

_MOST_CHARS = 400
_SENTENCES = lazy_pattern(
    r"[.!](?<=[\w$)%}²³°*!π\]][.!])(?<![ .(](?:i\.e|e\.g)[.!])(?<!\bvs[.!])\**\s+(?=[A-Z\d$\\(*\"∫√¿])|\n+"
)
_CHECKS = lazy_pattern(
    r"^\W*(?:(?:quick |sanity |as a |a |to )?(?:check|verify|double[- ]check|confirm|verification|proof|prüfung|probe)\w*\b|substituting back|plugging|indeed\b|\(dividing\b|\(multiplying\b|note that\b(?!.*\b(?:answer|should|must)\b)|notice that\b(?!.*\b(?:answer|should|must)\b)|for comparison\b|(?:because|since) (?:it|this|that) is [a-z ]{3,40}, (?:the|there|it) [^\d]*$|this (?:checks|matches|agrees|works)|we can (?:check|verify|confirm)|it checks)",
    re.IGNORECASE,
)
_FAILS = lazy_pattern(
    r"\b(?:not|fails?|wrong|mistake|incorrect|wait|actually|hmm|however|but|instead|contradict\w*|doubt\w*|unsure|sorry|oops|no)\b|n't\b|≠|\\ne\b|\?",
    re.IGNORECASE,
)
_TAIL_CHARS = 800
_WORK_CHARS = 200
_LETTERS = lazy_pattern(r"[A-Za-z]{2}")
_NUMBERED = lazy_pattern(r"\d[\d,.]*(?<=\d)")
_DIGITS = lazy_pattern(r"\d+")
_NUMBER_WORDS = (STARTS | frozenset(ORDINALS)) - {"a", "an", "one", "first", "second"}
_WHOLE = lazy_pattern(r"(?:[a-zA-Z] ?= ?)?-?(\d+)\.?")
_COMPUTES = lazy_pattern(
    r"[\d)]\s*(?:[-+*/^·×÷!%°]|\\(?:cdot|times|frac))|\\frac|\\sqrt|√|\.\d|[²³]"
)


def may_claim(golds: tuple[str, ...], reply: str) -> bool:
    """Return False if the end of a reply has neither the digits of a reference nor numbers in words or work left to do."""
    end = reply[-_TAIL_CHARS:].replace(",", "")
    for gold in golds:
        runs = _DIGITS.findall(gold)
        if not runs or _LETTERS.search(gold) or any(run in end for run in runs):
            return True
        if not (
            _WHOLE.fullmatch(gold) or _COMPUTES.search(end, max(0, len(end) - _WORK_CHARS)) is None
        ):
            return True
        if gold in ("1", "2") and ("one" in end or "first" in end or "second" in end):
            return True
    return not _NUMBER_WORDS.isdisjoint(re.split(r"[^a-z]+", end.lower()))


@lru_cache(maxsize=64)
def claiming_sentence(reply: str, *, with_value: bool = True) -> str:
    """The last sentence of a reply that is neither a check nor, `with_value`, a remark without one; empty if
    one of these doubts."""
    sentences = [
        s.strip(" *\t") for s in _SENTENCES.split(reply[-4000:].strip()) if s.strip(" *`~$-_>\t")
    ]
    dropped = 0
    while len(sentences) > 1 and dropped < 6:
        last = sentences[-1]
        remark = with_value and not re.search(r"\d", last) and not values_in(plain_sentence(last))
        if not (remark or _CHECKS.match(last)):
            break
        if _FAILS.search(last):
            return ""
        sentences.pop()
        dropped += 1
    if (
        with_value
        and len(sentences) > 1
        and any(_is_same_but_for_numbers(earlier, sentences[-1]) for earlier in sentences[-4:-1])
    ):
        return ""
    last = without_rest(sentences[-1].rstrip(" .!")) if sentences else ""
    return last if len(last) <= _MOST_CHARS else ""


def _is_same_but_for_numbers(earlier: str, later: str) -> bool:
    """Return True for "5 are left" and "6 are left"."""
    return earlier != later and _form(earlier) == _form(later)


def _form(sentence: str) -> str:
    return _NUMBERED.sub("#", sentence).replace("s ", " ").rstrip("s.! ")
