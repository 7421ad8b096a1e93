"""Answers in words: numbers spelled out, yes and no, names, "no solution", sentences of conditions."""

from __future__ import annotations

import re

from verigym.verifiers.math.grammar import FUNCTIONS
from verigym.verifiers.math.trees import names

_ONES = names(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_NUMBERS = {word: value for value, word in enumerate(_ONES)}
_NUMBERS |= {
    word: value * 10
    for value, word in enumerate(names("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_SCALES = {
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10,
}  # fmt: skip

_SAME = {
    **dict.fromkeys(("yes", "true", "correct", "y", "t"), "yes"),
    **dict.fromkeys(("no", "false", "incorrect", "n", "f"), "no"),
}
_NONE = re.compile(
    r"(?:there (?:is|are|exists?) )?(?:no|none|zero)(?: such| real| integer| valid| possible| positive| other)*"
    r"(?: (?:solutions?|roots?|values?|answers?|integers?|numbers?|functions?|pairs?|x|n))?(?: exists?| found)?"
    r"|the empty set|empty set|null set|none|dne|(?:it |the limit |this )?does not exist|doesn't exist|"
    r"(?:do|does) not exist|not? exists?|has no solutions?"
)
_REALS = re.compile(
    r"(?:all|any|every|the set of(?: all)?)?(?: of)?(?: the)? ?real(?: numbers?| values?| x)*s?"
)
_STOP = frozenset(
    names(
        "a an the is are all any every each be that of for such to it its this as set numbers number where with "
        "and only if then equals equal value values wins win winner winning strategy has have always can will"
    )
)


def number_of(text: str) -> str | None:
    """What number words say, as digits or as a fraction of digits; None where they say none."""
    words = re.findall(r"[a-z]+", text.lower())
    if not words or len(words) > 14 or re.search(r"[^A-Za-z\s-]", text):
        return None
    negative = words[0] in ("minus", "negative")
    words = [word for word in words[negative:] if word != "and"]
    if not words:
        return None
    last = words[-1].removesuffix("s")
    if last in _PARTS and (len(words) == 1 or words[-2] not in _SCALES):
        if len(words) == 1:
            above: int | None = 1 if words[0] == "half" else None
        else:
            above = 1 if words[:-1] == ["a"] else _value(words[:-1])
        return None if above is None else f"{'-' * negative}{above}/{_PARTS[last]}"
    value = _value(words)
    return None if value is None else f"{'-' * negative}{value}"


def _value(words: list[str]) -> int | None:
    total = part = 0
    for word in words:
        if word in _NUMBERS:
            part += _NUMBERS[word]
        elif word == "hundred":
            part = (part or 1) * 100
        elif word in _SCALES:
            total, part = total + (part or 1) * _SCALES[word], 0
        else:
            return None
    return total + part


def plain(text: str) -> str:
    """Words in lower case, without marks."""
    text = re.sub(r"\\[a-zA-Z]+|[{}$\\]", " ", text.lower())
    return re.sub(r"\s+", " ", re.sub(r"[.,;:!?\"()*_]+", " ", text)).strip()


def kind_of(text: str) -> str | None:
    """The class of a conventional answer in words: yes, no, none, undefined, reals, infinite."""
    shown = plain(text)
    if shown in _SAME:
        return _SAME[shown]
    if shown in (
        "undefined",
        "not defined",
        "is undefined",
        "indeterminate",
        "dne",
        "does not exist",
    ):
        return "undefined" if "defin" in shown or "indet" in shown else "none"
    if _NONE.fullmatch(shown) and shown not in ("zero", "no"):
        return "none"
    if shown and _REALS.fullmatch(shown):
        return "reals"
    if shown in ("infinity", "infinitely many", "infinite", "infinitely many solutions"):
        return "infinite"
    return None


def same_words(gold: str, answer: str) -> bool:
    """Whether two answers in words say the same: the same words in the same order, but for articles,
    plural endings and the like. A real word must be among them."""
    first, second = _content(gold), _content(answer)
    real = (len(word) > 2 and word.isalpha() and word not in FUNCTIONS for word in first)
    return bool(first) and first == second and any(real)


def begins_with_verdict(gold: str, answer: str) -> bool | None:
    """For a gold of yes or no: whether the answer starts with it; None where it starts with neither."""
    wanted = kind_of(gold)
    first = plain(answer).split(" ", 1)[0]
    if wanted in ("yes", "no") and _SAME.get(first) and len(first) > 1:
        return _SAME[first] == wanted
    return None


def _content(text: str) -> list[str]:
    shown = re.sub(r"\\(?:text|mathrm|mathbf|textbf)\b", " ", text)
    shown = re.sub(r"[{}$]|\\(?![A-Za-z])", " ", shown.replace("^", " ^ "))
    found = re.findall(
        r"\\[A-Za-z]+|[A-Za-z']+|\d+(?:\.\d+)?|[^\sA-Za-z\d.,;:!?\"'()*_\[\]]", shown
    )
    words = [word.lower() if len(word) > 1 else word for word in found]
    return [
        _stem(word)
        for word in words
        if word.lower() not in _STOP or (len(word) == 1 and word != "a")
    ]


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
