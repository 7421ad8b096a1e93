"""Reads times of the day: "3.45 pm", "15h45", "1545 hours", "a quarter to four in the afternoon"."""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import number_of

_HALF = r"(?P<half>[ap]\.? ?m\.?|in the (?:morning|afternoon|evening)|at night|noon|midnight)"
_COLON = lazy_pattern(
    rf"(?P<h>\d{{1,2}}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d))?\s*(?:{_HALF}|h|hrs?|hours|uhr|o'clock)?",
    re.IGNORECASE,
    needs=":",
)
_PLAIN = lazy_pattern(
    rf"(?P<h>\d{{1,2}})\s*(?:o'clock)?\s*{_HALF}", re.IGNORECASE, needs="at night|in the |m|noon"
)
_DOTTED = lazy_pattern(
    rf"(?P<h>\d{{1,2}})[.h](?P<m>[0-5]\d)\s*(?:{_HALF}|uhr)", re.IGNORECASE, needs=".|h"
)
_LOOSE = lazy_pattern(
    r"(?P<h>\d{1,2})(?:\.| ?h ?|u)(?P<m>[0-5]\d)(?: ?(?:h|min|m|hrs))?",
    re.IGNORECASE,
    needs="0|1|2|3|4|5",
)
_MILITARY = lazy_pattern(
    r"(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d)\s*(?:h|hrs?|hours)", re.IGNORECASE, needs="h"
)
_WORDED = lazy_pattern(
    rf"(?:(?P<part>half|(?:a )?quarter|[a-z]+(?:[- ][a-z]+)?|\d{{1,2}})(?: minutes?)? (?P<side>past|to|after|before|till|of) )?(?P<hour>[a-z]+|\d{{1,2}})(?: (?!in |at |[ap]\.?m|o')(?P<minute>[a-z]+(?:[- ][a-z]+)?))?(?: o'?clock)?(?: {_HALF})?",
    re.IGNORECASE,
)
_LEAD = lazy_pattern(
    r"^(?:(?:it (?:arrives|leaves|starts|ends|is|was|will be)|at|exactly|the time is|by) )+",
    re.IGNORECASE,
    needs="at|by|exactly|it |the time is",
)
_SECONDS_OF_A_DAY = 86400


_MAY_BE = lazy_pattern(r"\d|[a-z]{3}")
_NAMED = lazy_pattern(r"(?:at )?(?:12 )?(noon|midnight)", re.IGNORECASE, needs="midnight|noon")


def time_of(text: str, *, loose: bool = False) -> int | None:
    """Seconds since midnight of the time that a text says; None if it says none.

    `loose`: what may be another number is read as well: 15.45, 15h45, 1545 hours, "half past seven".
    """
    if len(text) > 60 or not _MAY_BE.search(text):
        return None
    text = text.replace("\\", "").strip(" .")
    named = _NAMED.fullmatch(text)
    if named:
        return 43200 if named[1].lower() == "noon" else 0
    shown = _LEAD.sub("", text) if loose else text
    for pattern in (_COLON, _PLAIN, _DOTTED, *((_MILITARY, _LOOSE) if loose else ())):
        match = pattern.fullmatch(shown)
        if match:
            groups = match.groupdict()
            return _seconds(
                int(match["h"]),
                int(groups.get("m") or 0),
                int(groups.get("s") or 0),
                groups.get("half"),
            )
    return _worded(shown) if loose else None


_DURATION = lazy_pattern(r"(\d{1,3}):([0-5]\d)", needs=":")


def as_duration(text: str, gold: str) -> str:
    """2:15 in the units of a reference of hours and minutes, or of minutes and seconds; other text as it is."""
    match = _DURATION.fullmatch(text)
    if match is None:
        return text
    for first, second in (("h", "min"), ("min", "s")):
        if re.search(rf"\d ?{first}[a-z]*,? (?:and )?\d+ ?{second}[a-z]*$", gold):
            return f"{match[1]} {first} {match[2]} {second}"
    return text


def _worded(text: str) -> int | None:
    """Return the seconds of "half past seven" or "seven thirty"; None for other words."""
    match = _WORDED.fullmatch(text)
    if match is None or not (match["part"] or match["minute"] or match["half"]):
        return None
    hour = _count(match["hour"])
    if hour is None or hour > 24:
        return None
    minutes = 0
    if match["part"]:
        part = match["part"].lower().removeprefix("a ")
        minute = {"half": 30, "quarter": 15}.get(part, _count(part))
        if minute is None or minute > 59 or match["minute"]:
            return None
        minutes = minute if match["side"].lower() in ("past", "after") else -minute
    elif match["minute"]:
        minute = _count(match["minute"])
        if minute is None or not 5 <= minute <= 59:
            return None
        minutes = minute
    found = _seconds(hour, 0, 0, match["half"])
    return None if found is None else (found + 60 * minutes) % _SECONDS_OF_A_DAY


def _count(word: str) -> int | None:
    found = word if word.isdecimal() else number_of(word)
    return int(found) if found is not None and found.isdecimal() else None


def _seconds(hour: int, minute: int, second: int, half: str | None) -> int | None:
    if half:
        if not 1 <= hour <= 12:
            return (
                hour * 3600 + minute * 60 + second
                if hour > 12 and half[:1] in "pP" and hour < 24
                else None
            )
        late = half.lower().replace(".", "").replace(" ", "")
        hour = hour % 12 + (
            12
            if late in ("pm", "intheafternoon", "intheevening", "noon")
            or (late == "atnight" and hour >= 5)
            else 0
        )
    return hour * 3600 + minute * 60 + second if hour <= 24 else None
