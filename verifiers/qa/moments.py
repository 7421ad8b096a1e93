"""Days of the year, days of the week and times of day: "the fourth of July", "on Mondays", "9:00 PM".

Two forms of one moment are equal; an hour without "a.m.", "p.m." or a part of the day is a moment by itself.
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.qa.normalise import plain
from verigym.verifiers.qa.values import MONTHS, words_value

_TENS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()  # noqa: SIM905
_ORDINALS = {
    **{word: n for n, word in enumerate(_TENS, 1)},
    "twentieth": 20,
    "thirtieth": 30,
    **{f"twenty-{word}": 20 + n for n, word in enumerate(_TENS[:9], 1)},
    "thirty-first": 31,
}
_WEEK = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_HOURS = "one two three four five six seven eight nine ten eleven twelve"
_MONTH = "|".join(sorted((name for name in MONTHS if name != "may"), key=len, reverse=True))
_NTH = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"
_PART = r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?|\s(?P<clock>o['’]clock)?\s?(?:in\sthe|at)?\s?(?P<part>morning|afternoon|evening|night)\b)"
_MOMENT = re.compile(
    rf"(?<![\w/.:-])(?:(?:the\s)?(?P<day>{_NTH})\s(?:of\s)?(?P<month>{_MONTH}|may)\b\.?"
    rf"|(?P<month2>{_MONTH}|may)\.?\s(?:the\s)?(?P<day2>{_NTH})(?![\w:])"
    rf"|(?P<week>{'|'.join(_WEEK)})s?\b"
    rf"|(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?!\d)(?:{_PART})?"
    rf"|(?P<hour2>\d{{1,2}}|{_HOURS.replace(' ', '|')}){_PART.replace('?P<half>', '?P<half2>').replace('?P<clock>', '?P<clock2>').replace('?P<part>', '?P<part2>')}"
    r"|(?P<named>noon|midday|midnight)\b)",
    re.IGNORECASE,
)
_YEAR = re.compile(r",?\s(?:of\s)?\d{4}\b")
Moment = tuple[str, int, int]


@lru_cache(maxsize=1024)
def known_moment(text: str) -> Moment | None:
    """Return the moment that a right answer is, whole; None if it is none."""
    text = plain(text).strip()
    found = moments_in(text)
    if len(found) != 1 or found[0][0] or found[0][1] < len(text.rstrip(".")):
        return None
    return found[0][2]


def moments_in(text: str) -> list[tuple[int, int, Moment]]:
    """Return the start, end and value of each moment in `text`; days with a year are left out."""
    return [
        (found.start(), found.end(), value)
        for found in _MOMENT.finditer(text)
        if (value := _read(found)) and not (value[0] == "day" and _YEAR.match(text, found.end()))
    ]


def _read(found: re.Match[str]) -> Moment | None:
    if found["week"]:
        return "weekday", _WEEK.index(found["week"].lower()), 0
    if found["named"]:
        return "time", 0 if found["named"].lower() == "midnight" else 12, 0
    day, month = found["day"] or found["day2"], found["month"] or found["month2"]
    if day:
        digits = re.match(r"\d+", day)
        n = int(digits[0]) if digits else _ORDINALS[day.lower()]
        return ("day", MONTHS[month.lower()], n) if n < 32 else None
    said = found["hour"] or found["hour2"]
    hour = int(said) if said.isdigit() else int(words_value([said.lower()]) or 0)
    half = (found["half"] or found["half2"] or "").lower()
    part = (found["part"] or found["part2"] or "").lower()
    late = half == "p" or part in ("afternoon", "evening", "night")
    if half or part:
        if not 0 < hour < 13:
            return None
        hour = hour % 12 + 12 * late
    minute = int(found["minute"] or 0)
    return ("time", hour, minute) if hour < 24 and minute < 60 else None
