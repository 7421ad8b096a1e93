"""Multiplies a number by the words behind it: "5 hundred marbles", "2.5 million", "3 dozen eggs", "5k people"."""

from __future__ import annotations

import re
from fractions import Fraction

from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.spelled import number_of

_POWERS = {
    "hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "lakh": 5, "crore": 7,
}  # fmt: skip
_COUNTS = {"dozen": 12, "score": 20}
_LETTERS = {"k": 3, "K": 3, "M": 6}
_ALL = "|".join((*_POWERS, *_COUNTS))
_SCALE = lazy_pattern(
    rf"(?P<number>(?<![\w./])\d+(?:\.\d+)?|(?<=[\d}})]))[\s-]*"
    rf"(?P<words>\b(?:{_ALL})s?(?:\s+(?:{_ALL})s?)*)\b(?!-)(?:\s+of\b(?! (?:a|an|the)\b))?",
    re.IGNORECASE,
    needs="billion|crore|dozen|hundred|lakh|million|score|thousand|trillion",
)
_SPELLED = lazy_pattern(
    rf"((?:[a-z]+[ -]){{0,8}}(?:{'|'.join(_POWERS)}|dozen))s? (?:of )?([a-z]{{3,20}})",
    re.IGNORECASE,
    needs="billion|crore|dozen|hundred|lakh|million|thousand|trillion",
)
_LETTER = lazy_pattern(
    r"((?:\\dollar|[€£¥])?\s*\d+(?:\.\d+)?)\s?([kKM])(?: ([a-z]{3,20})(?: [a-z]{3,20})?)?",
    needs="K|M|k",
)
_HINT = lazy_pattern(
    rf"\d ?[kKM](?![A-Za-z])|(?:{_ALL})",
    re.IGNORECASE,
    needs="billion|crore|dozen|hundred|k|m|score|thousand|trillion",
)
_NO_NOUN = lazy_pattern(
    r"and|or|for|where|with|when|if|mod|plus|minus|times|over|is|are|being|any|all|but|not|to|than|less|more|"
    r"squared|cubed|factorial|point|integer|percent|per|choose|divided|multiplied"
)
_ASKED = lazy_pattern(
    rf"\b(?:how many|in(?: units of)?|number of|to the nearest) ({_ALL})s?\b(?! years)",
    re.IGNORECASE,
    needs="billion|crore|dozen|hundred|lakh|million|score|thousand|trillion",
)
_COUNTED = lazy_pattern(
    r"\bhow (?:many|much)\b|\bnumber of\b|\bpopulation\b",
    re.IGNORECASE,
    needs="how m|number of|population",
)


def multiplied(text: str) -> str:
    """`text` with its scale words worked out; as it is without them."""
    if not _HINT.search(text):
        return text
    spelled = _SPELLED.fullmatch(text)
    if spelled and not _NO_NOUN.fullmatch(spelled[2].lower()):
        number = number_of(spelled[1])
        if number is not None:
            return f"{number} {spelled[2]}"
    letter = _LETTER.fullmatch(text)
    if letter and (
        not _NO_NOUN.fullmatch(letter[3]) if letter[3] else not letter[1][:1].isdecimal()
    ):
        return f"{letter[1]}*10^{{{_LETTERS[letter[2]]}}}{text[letter.end(2) :]}"
    return _SCALE.sub(_product, text)


def with_letters(text: str, question: str) -> str:
    """An answer that is a number with k or M alone, where the question counts: 5k is 5000."""
    letter = _LETTER.fullmatch(text)
    if letter is None or letter[3] or not _COUNTED.search(question):
        return text
    return f"{letter[1]}*10^{{{_LETTERS[letter[2]]}}}"


def in_asked_scale(text: str, question: str) -> str:
    """`text` without the scale that the question counts in: "how many dozen?", "5 dozen"."""
    asked = _ASKED.search(question) if is_in(_ASKED, question) else None
    if asked is None:
        return text
    return re.sub(rf"(?<=[\d}})])\s*\b{asked[1]}s?\b", "", text, count=1, flags=re.IGNORECASE)


def _product(match: re.Match[str]) -> str:
    power, count = 0, 1
    for word in match["words"].lower().split():
        word = word.removesuffix("s")
        power += _POWERS.get(word, 0)
        count *= _COUNTS.get(word, 1)
    number = match["number"]
    if count != 1 and number:
        whole = Fraction(number) * count
        number = str(whole.numerator) if whole.denominator == 1 else f"{number}*{count}"
    elif count != 1:
        number = f"*{count}"
    return f"{number}*10^{{{power}}}" if power else number
