"""Numbers, dates and yes or no, as people write them in short answers.

Each reader gives one value or None; where a text holds two values it gives None, so that nobody is
paid for listing them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

_NUMBER = re.compile(
    r"(?<![\w.,])([-+−]?)\s?((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)"
    r"(?:\s?[eE]([-+]?\d{1,3})|\s?[×x*]\s?10\s?\^\s?\{?([-+−]?\d{1,3})\}?)?(?![\d])",
    re.ASCII,
)
_SCALES = {
    "hundred": 2,
    "thousand": 3,
    "k": 3,
    "million": 6,
    "millions": 6,
    "m": 6,
    "mn": 6,
    "billion": 9,
    "billions": 9,
    "bn": 9,
    "b": 9,
    "trillion": 12,
    "tn": 12,
}
_LETTER_SCALES = frozenset({"k", "m", "b"})
_UNITS_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = _TENS_WORDS.split()
_WORDS = {word: i for i, word in enumerate(_UNITS_WORDS.split())}
_WORDS.update({word: 10 * i for i, word in enumerate(_TENS, 2)})

_MONTHS = {
    name: i
    for i, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
_WEEKDAYS = re.compile(
    r"^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?,?\s*"
)
_ISO = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?", re.ASCII)
_NUMERIC = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})", re.ASCII)
_DAY_MONTH = re.compile(
    r"(?:the\s)?(\d{1,2})(?:st|nd|rd|th)?\s(?:of\s)?([a-z]{3,9})\.?,?\s(\d{4})", re.ASCII
)
_MONTH_DAY = re.compile(
    r"([a-z]{3,9})\.?\s(?:the\s)?(\d{1,2})(?:st|nd|rd|th)?,?\s(\d{4})", re.ASCII
)
_MONTH_YEAR = re.compile(r"([a-z]{3,9})\.?,?\s(?:of\s)?(\d{4})", re.ASCII)


@dataclass(frozen=True)
class Number:
    """A number and the words that stand around it."""

    value: Decimal
    percent: bool
    around: tuple[str, ...]


def read_number(text: str) -> Number | None:
    """The one number in `text`, with thousands commas, exponents, scale words and percent read."""
    text = text.replace("−", "-")
    matches = list(_NUMBER.finditer(text))
    if len(matches) > 1:
        return None
    if not matches:
        return _in_words(text)
    match = matches[0]
    sign, digits, exponent, power = match.groups()
    try:
        value = Decimal(digits.replace(",", "")).scaleb(int(exponent or power or 0))
    except (InvalidOperation, ValueError):
        return None
    before = re.findall(r"[^\W\d_]+|[^\s\w.,;:()]", text[: match.start()])
    after = re.findall(r"[^\W_]+|[^\s\w.,;:()]", text[match.end() :])
    if after and after[0].lower() in _SCALES:
        letter = after[0].lower() in _LETTER_SCALES
        # "5 m" is metres, "5M" and "5 million" are not.
        if not letter or text[match.end() : match.end() + 1].isalpha():
            value = value.scaleb(_SCALES[after[0].lower()])
            after = after[1:]
    if after and after[0].isdigit():
        return None
    percent = bool(after) and after[0].lower() in ("%", "percent")
    if percent:
        after = after[1:]
    if sign == "-" or sign == "−":
        value = -value
    return Number(value, percent, tuple(word.lower() for word in (*before, *after)))


def _in_words(text: str) -> Number | None:
    """A number below a thousand in English words."""
    words = re.findall(r"[^\W\d_]+|[^\s\w.,;:()-]", text.lower())
    at = next((i for i, word in enumerate(words) if word in _WORDS), None)
    if at is None:
        return None
    end = at
    value = 0
    while end < len(words):
        word = words[end]
        if word in _WORDS:
            step = _WORDS[word]
            last = words[end - 1] if end > at else ""
            follows = last in _TENS and step < 10
            if end > at and not (follows or last in ("hundred", "and")):
                return None  # "five six": two numbers
            value += step
        elif word == "hundred" and 0 < value < 10:
            value *= 100
        elif not (word == "and" and words[end - 1] == "hundred" and words[end + 1 : end + 2]):
            break
        end += 1
    scale = 0
    if end < len(words) and words[end] in _SCALES and words[end] not in _LETTER_SCALES:
        scale = _SCALES[words[end]]
        end += 1
    rest = (*words[:at], *words[end:])
    if any(word in _WORDS for word in rest):
        return None
    percent = bool(words[end:]) and words[end] in ("%", "percent")
    return Number(Decimal(value).scaleb(scale), percent, tuple(w for w in rest if w != "%"))


def read_date(text: str, day_first: bool | None) -> tuple[int, ...] | None:
    """Year, perhaps month, perhaps day; None where `text` is no date or may be two.

    `03/04/2020` is read only where `day_first` says how, or where one number cannot be a month.
    """
    text = " ".join(text.lower().replace(",", ", ").split()).rstrip(".")
    text = _WEEKDAYS.sub("", text)
    text = re.sub(r"^(?:on|in|since|during)\s", "", text).replace(" ,", ",")
    if match := _ISO.fullmatch(text):
        return _checked(*(int(part) for part in match.groups() if part))
    if match := _NUMERIC.fullmatch(text):
        first, second, year = map(int, match.groups())
        if first == second or second > 12:
            return _checked(year, first, second)
        if first > 12 or day_first is True:
            return _checked(year, second, first)
        return _checked(year, first, second) if day_first is False else None
    if match := _DAY_MONTH.fullmatch(text):
        return _named(match[3], match[2], match[1])
    if match := _MONTH_DAY.fullmatch(text):
        return _named(match[3], match[1], match[2])
    if match := _MONTH_YEAR.fullmatch(text):
        return _named(match[2], match[1], None)
    return None


def _named(year: str, month: str, day: str | None) -> tuple[int, ...] | None:
    if month not in _MONTHS:
        return None
    return _checked(int(year), _MONTHS[month], *([int(day)] if day else []))


def _checked(year: int, month: int | None = None, day: int | None = None) -> tuple[int, ...] | None:
    parts = tuple(part for part in (year, month, day) if part is not None)
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return None
    return parts


_YES = frozenset({"yes", "yeah", "yep", "true", "correct", "y"})
_NO = frozenset({"no", "nope", "false", "incorrect", "n"})
_LINKS = frozenset({"is", "isnt", "was", "would", "wasnt"})
_DENIALS = frozenset({"not", "wrong", "incorrect", "false", "right", "correct", "true", "untrue"})


def read_yes_no(words: Sequence[str]) -> bool | None:
    """True or False by the first word, where no other word says the contrary; else None.

    What denies the first word itself ("yes is wrong", "no is not right") is neither.
    """
    if not words or words[0] not in _YES | _NO:
        return None
    yes = words[0] in _YES
    if len(words) > 2 and words[1] in _LINKS and _DENIALS.intersection(words[2:]):
        return None
    return None if set(words[1:]) & (_NO if yes else _YES) else yes
