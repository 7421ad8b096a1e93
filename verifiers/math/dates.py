"""Reads dates: "July 4, 1776", "the 4th of July", "1776-07-04", "04/07/1776", "1776年7月4日"."""

from __future__ import annotations

import re
from typing import TypeAlias

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import ordinal_of

Date: TypeAlias = tuple[int | None, int, int | None]
"""Year, month and day; None if it is not said."""

_MONTHS = (
    "january janvier januar enero", "february février fevrier februar febrero", "march mars märz maerz marzo",
    "april avril abril", "may mai mayo", "june juin juni junio", "july juillet juli julio",
    "august août aout agosto", "september septembre septiembre", "october octobre oktober octubre",
    "november novembre noviembre", "december décembre decembre dezember diciembre",
)  # fmt: skip
_MONTH = {name: k for k, row in enumerate(_MONTHS, 1) for name in row.split()}
_MONTH |= {name[:3]: value for name, value in list(_MONTH.items()) if name.isascii() and value != 5}
_MONTH["sept"] = 9
_LETTERS = lazy_pattern(r"[^\W\d_]{3,10}")
_NAME = r"([a-zäéûü]{3,10})\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th|\.)?"
_YEAR = r"(\d{3,4})"
_PARTED = lazy_pattern(r"\d\s*[-/.年]\s*\d", needs="-|.|/|年")
_WEEKDAY = lazy_pattern(r"^(?:mon|tues|wednes|thurs|fri|satur|sun)day,? ", needs="day")
_ISO = lazy_pattern(r"(\d{4})\s*[-/.年]\s*(\d{1,2})(?:\s*[-/.月]\s*(\d{1,2})日?|月)?")
_SLASHED = lazy_pattern(r"(\d{1,2})\s*([/.-])\s*(\d{1,2})\s*\2\s*(\d{4})")
_NAME_FIRST = lazy_pattern(rf"{_NAME} (?:the )?{_DAY}(?:,? (?:of )?{_YEAR})?", needs=" ")
_DAY_FIRST = lazy_pattern(
    rf"(?:the )?{_DAY} (?:of |de )?{_NAME}(?:,? (?:of |de )?{_YEAR})?", needs=" "
)
_NO_DAY = lazy_pattern(rf"{_NAME},? (?:of |de )?{_YEAR}", needs=" ")
_STAMP = lazy_pattern(r"\d{4}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])", needs="-")
_ASKS_YEAR = lazy_pattern(r"\b(?:year|ann[ée]e|jahr|año)s?\b", re.IGNORECASE)
_ASKS_DAY = lazy_pattern(r"\b(?:day|date)s?\b", re.IGNORECASE)
MOST_CHARS = 60
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


_SPELLED_DAY = lazy_pattern(
    r"\b(?:twenty[- ]|thirty[- ])?[a-z]{3,8}(?:st|nd|rd|th)\b", needs="nd|rd|st|th"
)


_BRACES = lazy_pattern(r"[{}\\]", needs="{|}|\\")
_BLANKS = lazy_pattern(r"\s+")
_RAISED = lazy_pattern(r"\s*\^\s*(?=st|nd|rd|th)", needs="^")


def date_of(text: str) -> Date | None:
    """The date that all of a cleaned answer says; None if it says none."""
    if len(text) > MOST_CHARS or not (any(map(str.isdigit, text)) or _SPELLED_DAY.search(text)):
        return None
    if not (_PARTED.search(text) or names_month(text)):
        return None
    shown = _BLANKS.sub(" ", _BRACES.sub(" ", text)).strip(" .,").lower()
    shown = _RAISED.sub("", shown)
    shown = _SPELLED_DAY.sub(lambda match: str(ordinal_of(match[0]) or match[0]), shown)
    shown = _WEEKDAY.sub("", shown).removeprefix("on ").replace(" ,", ",")
    match = _ISO.fullmatch(shown)
    if match:
        return _date(match[1], int(match[2]), match[3])
    match = _SLASHED.fullmatch(shown)
    if match:
        first, second = int(match[1]), int(match[3])
        # Month first, as in the United States, unless only the other order is a date.
        return _date(match[4], first, second) or _date(match[4], second, first)
    match = _NAME_FIRST.fullmatch(shown)
    if match and match[1] in _MONTH:
        return _date(match[3], _MONTH[match[1]], match[2])
    match = _DAY_FIRST.fullmatch(shown)
    if match and match[2] in _MONTH:
        return _date(match[3], _MONTH[match[2]], match[1])
    match = _NO_DAY.fullmatch(shown)
    if match and match[1] in _MONTH:
        return _date(match[2], _MONTH[match[1]], None)
    return None


def _date(year: str | None, month: int, day: str | int | None) -> Date | None:
    if not 1 <= month <= 12 or (day is not None and not 1 <= int(day) <= _DAYS[month - 1]):
        return None
    return (
        None if year is None else int(year),
        month,
        None if day is None else int(day),
    )


def names_month(text: str) -> bool:
    """Return True if a text has the name of a month in it, with a number beside."""
    return not _MONTH.keys().isdisjoint(map(str.lower, _LETTERS.findall(text[:200])))


def part_asked(date: Date, question: str) -> int | None:
    """The part of a date that a question asks for by name, its year or its day; None if it asks for neither."""
    year, _, day = date
    if year is not None and _ASKS_YEAR.search(question):
        return year
    return day if _ASKS_DAY.search(question) else None


def is_stamp(text: str) -> bool:
    """Return True if `text` is a date as computers write it, and no difference of numbers: 1776-07-04."""
    return bool(_STAMP.fullmatch(text.strip()))
