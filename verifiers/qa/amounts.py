"""Numbers with a unit or a currency, as right answers of kind text have them: "3 hours", "$5 million".

"three hours" and "5 million dollars" say the same. Another unit, or none where the question names none, does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from verigym.verifiers.qa.asked import Asked
from verigym.verifiers.qa.normalise import plain
from verigym.verifiers.qa.sentence_words import ANSWER, without_marks
from verigym.verifiers.qa.values import numbers_in, read_number

CURRENCIES = {
    "$": "$",
    "dollar": "$",
    "€": "€",
    "euro": "€",
    "£": "£",
    "pound": "£",
    "¥": "¥",
    "yen": "¥",
}
_BEFORE = re.compile(r"(?:\bUS\s?)?([$€£¥])\s?$")
_BEHIND = re.compile(r"[\s-](?:US\s)?([^\W\d_]+)\b(?!['’-])|\s?([$€£¥])")
_PAYING = frozenset(
    ["cost", "costs", "price", "pay", "paid", "worth", "budget", "earn", "spend", "spent"]
)


def one_unit(word: str) -> str:
    """A unit in one form: the sign of a currency, else a word in the singular."""
    low = word.lower()
    short = low[:-1] if len(low) > 3 and low.endswith("s") and not low.endswith("ss") else low
    return CURRENCIES.get(short, CURRENCIES.get(low, short))


def currencies_in(text: str) -> frozenset[str]:
    """The signs of the currencies that a text names."""
    words = re.findall(r"[a-z]+|[$€£¥]", text.lower())
    return frozenset(map(one_unit, words)) & frozenset(CURRENCIES.values())


def money_words(asked: Asked, named: frozenset[str]) -> frozenset[str]:
    """The words for money that may stand beside the number that a question wants.

    `named`: the currencies of the reference. Where neither it nor the question names one, any may
    stand there, if the question is about money.
    """
    named = named or currencies_in(" ".join(asked.row))
    if not named and (not _PAYING.intersection(asked.row) or "many" in asked.row):
        return frozenset()
    words = {word for word, sign in CURRENCIES.items() if sign in named or not named}
    return frozenset(words | {f"{word}s" for word in words})


def mark_amount(answer: str, aliases: Sequence[str], asked: Asked) -> str | None:
    """`answer` with a mark for the one amount in it, if that is one of `aliases`; else None."""
    if not any(map(_amount, aliases)):
        return None
    text = without_marks(plain(answer))
    mentions = numbers_in(text)
    if len(mentions) != 1:
        return None
    start, end, number = mentions[0]
    if number is None or number.percent:
        return None
    before, behind = _BEFORE.search(text[:start]), _BEHIND.match(text, end)
    for alias in aliases:
        wanted = _amount(alias)
        if wanted is None or wanted[0] != number.value:
            continue
        if before and one_unit(before[1]) == wanted[1]:
            last = end
            if behind and one_unit(behind[1] or behind[2]) == wanted[1]:
                last = behind.end()
            return text[: before.start()] + ANSWER + text[last:]
        if behind and not before and one_unit(behind[1] or behind[2]) == wanted[1]:
            return text[:start] + ANSWER + text[behind.end() :]
        if (
            behind
            and not wanted[1]
            and not before
            and (behind[1] or "").lower() in money_words(asked, frozenset())
        ):
            return text[:start] + ANSWER + text[behind.end() :]
    return None


@lru_cache(maxsize=1024)
def _amount(alias: str) -> tuple[Decimal, str] | None:
    """Value and unit of a right answer that is a number with at most one unit."""
    number = read_number(plain(alias))
    if number is None or number.percent:
        return None
    around = [word for word in number.around if word != "us"]
    if len(around) > 1:
        return None
    return number.value, one_unit(around[0]) if around else ""
