"""Reads "none" as the number 0 where a question counts: "None, as x^4 + 3 is positive", "so there are no real roots".

Not covered: other words for nothing, and "no" in front of another noun than the one that is counted.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.question_focus import WORD, focus_of, root

_ASKS = lazy_pattern(r"\bhow many\b|\bnumber of\b", re.IGNORECASE, needs="how many|number of")
_NOTHING = lazy_pattern(
    r"\W*(?:none|zero|0|nought)\b(?=\s*(?:$|[,;:.!–—-]|\((?:the|as|since|because)\b|because\b|since\b|as\b))",
    re.IGNORECASE,
)
_NO_SUCH = lazy_pattern(
    r"\b(?:there (?:is|are|exists?|can be)|has|have|we (?:get|find|have)) (?:therefore |thus |hence )?(?:no|zero) (?P<noun>(?:[a-z]+ ){0,3}?[a-z]+)(?: (?:at all|exists?))?$"
    r"|^no (?P<such>(?:[a-z]+ ){0,3}?[a-z]+) (?:exists?|is possible|are possible)$",
    re.IGNORECASE,
    needs="no|zero",
)
_TURNS = lazy_pattern(
    r"\b(?:but|except|only|other|besides|more|fewer|less|than one|unless|maybe|perhaps|might|may|could|would|if|wrong|either|or|not|neither|apart|repeated|further|integer|rational)\b|n't\b|\?",
    re.IGNORECASE,
)
_OTHER = lazy_pattern(
    r"^\W*\d|(?:^|[,;:–—-])\s*(?:[a-z.]+ ){0,3}\d+(?: [a-z]+)?\W*$"
    r"|\b(?:there (?:is|are)|has|have|get|gives?|makes?|answer (?:is|was)|total(?: is| of)?) (?:exactly |only |just |then )?\d"
    r"|\b(?:but|except|only|besides|wait|actually|unless|maybe|perhaps|wrong|apart|or)\b|\?",
    re.IGNORECASE,
)
_CLAUSE = lazy_pattern(r"[,;:]\s+|\b(?:so|thus|hence|therefore|and)\b\s+")
_SENTENCE = lazy_pattern(r"(?<=[\w)!])[.!]\s+|\n+")


def says_none(reply: str, question: str) -> bool:
    """Return True if a reply says that there is none of what a question counts."""
    if not question or _ASKS.search(question) is None:
        return False
    text = reply.replace("**", "").strip(" .!")
    sentences = [one.strip(" .!") for one in _SENTENCE.split(text) if one.strip(" .!")]
    if not sentences:
        return False
    begun = _NOTHING.match(sentences[0])
    if begun is not None:
        reasons = [sentences[0][begun.end() :], *sentences[1:]]
        return len(reasons) < 3 and all(map(_is_reason, reasons))
    last = _CLAUSE.split(sentences[-1])[-1].strip()
    none = _NO_SUCH.search(last)
    if none is None or _is_turned(last, question):
        return False
    noun = root(WORD.findall(none["noun"] or none["such"])[-1])
    focus = focus_of(question)
    return noun in focus.words and (not focus.counted or noun in focus.counted)


def _is_reason(rest: str) -> bool:
    """Return True if what follows "none" only gives a reason for it: words, and no other count ("0, 17", "none, so 17")."""
    return _OTHER.search(rest) is None


def _is_turned(clause: str, question: str) -> bool:
    asked = set(map(str.lower, WORD.findall(question)))
    return any(match[0].lower() not in asked for match in _TURNS.finditer(clause))
