"""Numbers with a unit or a currency, as right answers of kind text have them: "3 hours", "$5 million".

"three hours", "180 minutes" and "5 million dollars" say the same: a unit of the same dimension counts where the conversion is
exact, by the table of `math/units.py`. Another unit, or none where the question names none, does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from verigym.verifiers.math.units import Unit, unit_of
from verigym.verifiers.qa.asked import QuestionWords
from verigym.verifiers.qa.digits import with_minus
from verigym.verifiers.qa.normalise import plain
from verigym.verifiers.qa.sentence_words import ANSWER, without_marks
from verigym.verifiers.qa.values import numbers_in

CURRENCIES = {
    "$": "$",
    "dollar": "$",
    "€": "€",
    "euro": "€",
    "£": "£",
    "pound": "£",
    "¥": "¥",
    "yen": "¥",
    "usd": "$",
    "eur": "€",
    "gbp": "£",
    "jpy": "¥",
}
CURRENCY_SIGNS = frozenset("$€£¥")
_BEFORE = re.compile(r"(?:\bUS\s?)?([$€£¥])\s?$|\b(USD|EUR|GBP|JPY)\s$")
_BEHIND = re.compile(r"[\s-](?:US\s)?([^\W\d_]+)\b(?!['’-])|\s?([$€£¥])")
_PHRASE = re.compile(r"[\s-]?(?:[°º]\s?)?[A-Za-zµΩ²³/^°]+\.?(?:[\s-](?:[A-Za-z²³/^]+\d?)){0,3}")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d\b(?![.,]\d)")
_DEGREES = re.compile(
    r"(?:degrees?\s|deg\.?\s?|[°º]\s?)(c|f)(?:elsius|entigrade|ahrenheit)?\b|\b(c|f)(?:elsius|ahrenheit)\b",
    re.IGNORECASE,
)
_LETTER_SCALE = re.compile(r"([kmb])\b", re.IGNORECASE)
_LETTERS = {"k": 3, "m": 6, "b": 9}
_NO_UNITS = frozenset(
    [
        "and",
        "or",
        "of",
        "in",
        "to",
        "at",
        "on",
        "by",
        "for",
        "from",
        "is",
        "was",
        "with",
        "as",
        "but",
        "not",
        "the",
        "a",
        "an",
        "ad",
        "bc",
        "ce",
        "bce",
    ]
)
_PERCENT = frozenset(["percent", "percentage", "%"])
_PAYING = frozenset(
    ["cost", "costs", "price", "pay", "paid", "worth", "budget", "earn", "spend", "spent"]
)


def one_unit(word: str) -> str:
    """Return a unit in one form: the sign of a currency, else a word in the singular."""
    low = word.lower()
    short = low[:-1] if len(low) > 3 and low.endswith("s") and not low.endswith("ss") else low
    return CURRENCIES.get(short, CURRENCIES.get(low, short))


def currency_of(word: str | None) -> str:
    """Return the sign of a currency, from its sign, name or code."""
    return CURRENCIES.get((word or "").lower().rstrip("s"), "") or CURRENCIES.get(word or "", "")


def currencies_in(text: str) -> frozenset[str]:
    """Return the signs of the currencies that a text names."""
    words = re.findall(r"[a-z]+|[$€£¥]", text.lower())
    return frozenset(map(one_unit, words)) & frozenset(CURRENCIES.values())


def money_words(asked: QuestionWords, named: frozenset[str]) -> frozenset[str]:
    """Return the words for money that may stand beside the number that a question wants.

    `named`: the currencies of the reference. Where neither it nor the question names one, any may
    stand there, if the question is about money.
    """
    named = named or currencies_in(" ".join(asked.row))
    if not named and (not _PAYING.intersection(asked.row) or "many" in asked.row):
        return frozenset()
    words = {word for word, sign in CURRENCIES.items() if sign in named or not named}
    return frozenset(words | {f"{word}s" for word in words})


def mark_amount(answer: str, aliases: Sequence[str], asked: QuestionWords) -> str | None:
    """Return `answer` with a mark for the one amount in it, if that is one of `aliases`; else None."""
    wanted = [found for found in map(_known_amount, aliases) if found]
    if not wanted:
        return None
    text = with_minus(without_marks(plain(answer)))
    mentions = _amounts_in(text)
    hits = [one for one in mentions if any(_is_same(one, right, asked) for right in wanted)]
    if not hits:
        return None
    first = hits[0]
    for other in mentions:  # "324 m (1,063 ft)"
        if other is not first and not (
            _is_gloss(text, first, other) or _is_gloss(text, other, first)
        ):
            return None
    for other in sorted(mentions, key=lambda one: -one.start):
        if other is first:
            text = text[: first.start] + ANSWER + text[first.end :]
        else:
            start, end = _brackets(text, other)
            text = text[:start] + text[end:]
    return text


def mark_amounts(
    answer: str, aliases: Sequence[str], asked: QuestionWords, given: str, other: str
) -> str | None:
    """Return `answer` with `ANSWER` for each amount that is one of `aliases`, `given` for those whose number the
    question has, and `other` for the rest.

    None if it has none of `aliases`.
    """
    wanted = [found for found in map(_known_amount, aliases) if found]
    text = with_minus(without_marks(plain(answer)))
    mentions = _amounts_in(text)
    hits = [one for one in mentions if any(_is_same(one, right, asked) for right in wanted)]
    if not hits:
        return None
    known = {one.value for _, _, one in numbers_in(" ".join(asked.row)) if one}
    asked_again = [one for one in hits if one.value in known]
    hits = (
        hits if len(asked_again) == len(hits) else [one for one in hits if one not in asked_again]
    )
    for one in sorted(mentions, key=lambda one: -one.start):
        start, end = one.start, one.end
        if one not in hits and any(
            _is_gloss(text, hit, one) or _is_gloss(text, one, hit) for hit in hits
        ):
            start, end = _brackets(text, one)
            text = text[:start] + text[end:]
        else:
            is_given = (
                one.value in known
                or re.fullmatch(r"\([12]\d{3}\)", text[start - 1 : end + 1])
                or any(_is_near(hit, one) for hit in hits)
                or (not one.unit and any(hit.unit for hit in hits) and _YEAR.match(text, start))
            )
            mark = ANSWER if one in hits else given if is_given else other
            text = text[:start] + mark + text[end:]
    return text


@dataclass(frozen=True)
class _Amount:
    """A number with what it is a number of: a unit of measure, else the word or sign of a unit, else nothing."""

    start: int
    end: int
    value: Fraction
    unit: Unit | None
    word: str

    def base(self) -> Fraction:
        """The value in the base unit of its dimension."""
        return (self.value + self.unit.offset) * self.unit.factor if self.unit else self.value


@lru_cache(maxsize=1024)
def _known_amount(alias: str) -> _Amount | None:
    """The amount that a right answer is, whole; None if it is none."""
    text = plain(alias).strip()
    found = _amounts_in(text)
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(text.rstrip("."))):
        return None
    return found[0]


def _amounts_in(text: str) -> list[_Amount]:
    """Every number in `text` with the unit before or behind it; "5 ft 3 in" is one amount."""
    found: list[_Amount] = []
    for start, end, number in numbers_in(text, letter_scales=False):
        if number is None:
            return []
        value, unit, word = Fraction(number.value), None, "%" if number.percent else ""
        before = _BEFORE.search(text[:start])
        if before:
            start, word = before.start(), currency_of(before[1] or before[2])
        if not number.percent:
            phrase = _unit_behind(text, end)
            if phrase and not before:
                unit, word = _measure(phrase[0]), phrase[0]
                end = phrase[1]
            else:
                scale = _LETTER_SCALE.match(text, end)
                if scale:
                    value, end = value * 10 ** _LETTERS[scale[1].lower()], scale.end()
                behind = _BEHIND.match(text, end)
                named = one_unit(behind[1] or behind[2]) if behind else ""
                if behind and (named == word or (not before and named not in _NO_UNITS)):
                    word, end = named, behind.end()
        one = _Amount(start, end, value, unit, word)
        last = found[-1] if found else None
        if last and last.unit and one.unit and _continues(text, last, one):
            found[-1] = _Amount(
                last.start,
                end,
                last.value + value * one.unit.factor / last.unit.factor,
                last.unit,
                last.word,
            )
        else:
            found.append(one)
    return found


def _continues(text: str, first: _Amount, second: _Amount) -> bool:
    """Return True if two amounts are one: "1 hour and 30 minutes"."""
    between = text[first.end : second.start]
    if first.unit is None or second.unit is None or not re.fullmatch(r",?\s?(?:and\s)?", between):
        return False
    smaller = second.unit.factor < first.unit.factor and second.base() < first.unit.factor
    return first.unit.dims == second.unit.dims and smaller and not first.unit.offset


def _unit_behind(text: str, at: int) -> tuple[str, int] | None:
    """The longest phrase behind a number that is a unit of measure, as `unit_of` reads it, and its end."""
    match = _PHRASE.match(text, at)
    if match is None:
        return None
    ends = [word.end() for word in re.finditer(r"[^\s-]+", match[0])]
    for end in reversed(ends):
        phrase = match[0][:end].strip(" -")
        if phrase.endswith((".", ",")):
            phrase, end = phrase[:-1], end - 1
        spelled = _spelled(phrase)
        if spelled.startswith("US") or spelled.endswith((" in", " a")):
            continue  # "US dollars", no microseconds; "50 m in length"
        if _measure(spelled):
            return spelled, at + end
    return None


def _spelled(phrase: str) -> str:
    """A unit in the letters of `unit_of`: "°C" is degC, "m²" is m^2."""
    spelled = _DEGREES.sub(lambda found: f"deg{(found[1] or found[2]).upper()}", phrase)
    return spelled.replace("²", "^2").replace("³", "^3").replace("µ", "u").replace("Ω", "ohm")


@lru_cache(maxsize=4096)
def _measure(phrase: str) -> Unit | None:
    """The unit of measure that a phrase names, in any case; None for counts and money."""
    unit = unit_of(phrase) or (unit_of(phrase.lower()) if len(phrase) > 1 else None)
    if unit is None or not unit.dims or {"usd", "u"}.intersection(dict(unit.dims)):
        return None
    return unit


def _is_same(given: _Amount, wanted: _Amount, asked: QuestionWords) -> bool:
    """Return True if two amounts are equal, in the same unit or in one of the same dimension."""
    if wanted.unit:
        unit = given.unit
        if wanted.unit.offset and given.word in ("C", "F"):  # "78 C" is no charge
            unit = unit_of(f"deg{given.word}")
        if unit is None:
            return False
        other = _Amount(0, 0, given.value, unit, given.word)
        return unit.dims == wanted.unit.dims and other.base() == wanted.base()
    if given.value != wanted.value:
        return False
    if given.word == wanted.word and not given.unit:
        return True
    money = money_words(asked, frozenset())
    if not wanted.word:
        return given.word in {currency_of(word) for word in money}
    return wanted.word == "%" and not given.word and not _PERCENT.isdisjoint(asked.row)


def _is_gloss(text: str, main: _Amount, other: _Amount) -> bool:
    """Return True if an amount stands in brackets behind another and is the same in another unit, within rounding."""
    if (
        other.start < main.end
        or text[main.end : _brackets(text, other)[0]].strip()
        or not main.unit
        or not other.unit
    ):
        return False
    start, end = _brackets(text, other)
    if text[start:end].strip()[:1] != "(" or main.unit.dims != other.unit.dims:
        return False
    return abs(main.base() - other.base()) <= abs(main.base()) / 100


def converted(text: str, wanted: AbstractSet[Decimal]) -> frozenset[int]:
    """Return the starts of the numbers in `text` that are one of `wanted` in another unit: "32 °F (0 °C)"."""
    found = _amounts_in(text)
    hits = [one for one in found if one.unit and one.value in {Fraction(value) for value in wanted}]
    return frozenset(one.start for one in found if any(_is_near(hit, one) for hit in hits))


def _is_near(main: _Amount, other: _Amount) -> bool:
    """Return True if an amount is another in another unit, within rounding."""
    if main.unit is None or other.unit is None or main.unit.dims != other.unit.dims:
        return False
    return main.unit != other.unit and abs(main.base() - other.base()) <= abs(main.base()) / 100


def _brackets(text: str, amount: _Amount) -> tuple[int, int]:
    """Start and end of an amount with the brackets around it."""
    before = re.search(
        r"\s*\((?:(?:about|approximately|approx\.?|around|roughly|or|~|≈)\s?)?$",
        text[: amount.start],
    )
    behind = re.match(r"\s?\)", text[amount.end :])
    if before and behind:
        return before.start(), amount.end + behind.end()
    return amount.start, amount.end


_IN_UNIT = re.compile(
    r"\bin ((?:(?:square|cubic|degrees) )?[a-z]+(?: per [a-z]+)?)\b", re.IGNORECASE
)


@lru_cache(maxsize=256)
def units_asked(question: str) -> tuple[Unit, ...]:
    """Return the units of measure that a question asks for: "in kilometres", "in degrees Celsius"."""
    found = (_measure(_spelled(match[1])) for match in _IN_UNIT.finditer(question[-2000:]))
    return tuple(unit for unit in found if unit)


def measure_behind(text: str, at: int) -> tuple[Unit | None, int]:
    """Return the unit of measure behind a number that ends at `at`, and its end; None and `at` if there is none."""
    phrase = _unit_behind(text, at)
    return (_measure(phrase[0]), phrase[1]) if phrase else (None, at)


def is_asked_unit(phrase: str, prompt: str) -> bool:
    """Return True if a phrase names the very unit that a question asks for: "km" for "in kilometres"."""
    return _measure(_spelled(phrase)) in units_asked(prompt)
