"""Days and moments for SQLite as other databases reckon them, for `sqlite3.create_function`.

All give NULL for NULL and for what they cannot read, and never raise for a value.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

Value = int | float | str | bytes | None

_UNITS = {
    "MICROSECOND": 1e-6, "MILLISECOND": 1e-3, "SECOND": 1, "MINUTE": 60, "HOUR": 3600,
    "DAY": 86400, "WEEK": 604800,
}  # fmt: skip
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def _moment(value: Value) -> dt.datetime | None:
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        return dt.datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        pass
    try:
        year, month, day = (int(part) for part in text[:10].split("-"))
        return dt.datetime(year, month, day)
    except ValueError:
        return None


def _written(moment: dt.datetime, like: Value) -> str:
    """A day where `like` is one and no time has come in, else a moment."""
    if (
        isinstance(like, str)
        and len(like.strip()) <= 10
        and not (moment.hour or moment.minute or moment.second)
    ):
        return str(moment.date())
    return moment.strftime("%Y-%m-%d %H:%M:%S") if moment.year >= 1000 else str(moment)


def _unit(unit: Value) -> str:
    return str(unit).upper().removesuffix("S").strip("'")


def date_add(value: Value, amount: Value, unit: Value) -> str | None:
    """Return the day or moment `amount` units later; months end on their last day."""
    moment = _moment(value)
    if moment is None or amount is None:
        return None
    try:
        number, name = float(amount), _unit(unit)
        if name in _MONTHS:
            months = moment.year * 12 + moment.month - 1 + round(number) * _MONTHS[name]
            year, month = divmod(months, 12)
            last = calendar.monthrange(year, month + 1)[1]
            return _written(
                moment.replace(year=year, month=month + 1, day=min(moment.day, last)), value
            )
        return _written(moment + dt.timedelta(seconds=number * _UNITS[name]), value)
    except (ValueError, OverflowError, KeyError, calendar.IllegalMonthError):
        return None


def date_diff(late: Value, early: Value, unit: Value) -> int | None:
    """Return the edges of `unit` that are passed from `early` to `late`: days by the calendar, months by name."""
    one, other = _moment(early), _moment(late)
    name = _unit(unit)
    if other is not None and early == "0000-01-01" and name == "DAY":
        return other.toordinal() + 365  # TO_DAYS, as sqlglot writes it; Python has no year 0.
    if one is None or other is None:
        return None
    if name in _MONTHS:
        months = (other.year - one.year) * 12 + other.month - one.month
        return months if name == "MONTH" else int(months / _MONTHS[name])
    if name in ("DAY", "WEEK"):
        days = (other.date() - one.date()).days
        return days if name == "DAY" else int(days / 7)
    return int((other - one).total_seconds() / _UNITS.get(name, 1))


def timestamp_diff(late: Value, early: Value, unit: Value) -> int | None:
    """Return the whole units between two moments, towards zero (MySQL's TIMESTAMPDIFF)."""
    one, other = _moment(early), _moment(late)
    if one is None or other is None:
        return None
    name = _unit(unit)
    if name in _MONTHS:
        sign = 1 if other >= one else -1
        low, high = (one, other) if sign > 0 else (other, one)
        months = (high.year - low.year) * 12 + high.month - low.month
        months -= (high.day, high.time()) < (low.day, low.time())
        return sign * (months // _MONTHS[name])
    return int((other - one).total_seconds() / _UNITS.get(name, 1))


def extract(part: Value, value: Value) -> int | float | None:
    """Return EXTRACT(part FROM value)."""
    moment = _moment(value)
    if moment is None:
        return None
    name = _unit(part)
    simple: dict[str, Callable[[], int | float]] = {
        "YEAR": lambda: moment.year,
        "MONTH": lambda: moment.month,
        "DAY": lambda: moment.day,
        "HOUR": lambda: moment.hour,
        "MINUTE": lambda: moment.minute,
        "SECOND": lambda: moment.second,
        "QUARTER": lambda: (moment.month + 2) // 3,
        "WEEK": lambda: moment.isocalendar()[1],
        "DOW": lambda: moment.isoweekday() % 7,
        "DAYOFWEEK": lambda: moment.isoweekday() % 7 + 1,
        "ISODOW": lambda: moment.isoweekday(),
        "WEEKDAY": lambda: moment.weekday(),
        "DOY": lambda: moment.timetuple().tm_yday,
        "DAYOFYEAR": lambda: moment.timetuple().tm_yday,
        "YEAR_MONTH": lambda: moment.year * 100 + moment.month,
        "EPOCH": lambda: (moment - dt.datetime(1970, 1, 1)).total_seconds(),
    }
    return simple[name]() if name in simple else None


def trunc_date(unit: Value, value: Value) -> str | None:
    """Return DATE_TRUNC, as a day for units of a day and above."""
    moment = _moment(value)
    if moment is None:
        return None
    name = _unit(unit)
    day = moment.date()
    days = {
        "YEAR": day.replace(month=1, day=1),
        "QUARTER": day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
        "MONTH": day.replace(day=1),
        "DAY": day,
    }
    if name == "WEEK":
        return str(day - dt.timedelta(day.weekday()))
    if name in days:
        return str(days[name])
    if name == "HOUR":
        moment = moment.replace(minute=0)
    return str(moment.replace(microsecond=0, second=0 if name != "SECOND" else moment.second))


def to_day(value: Value) -> str | None:
    """Return CAST(value AS DATE)."""
    moment = _moment(value)
    return str(moment.date()) if moment else None


def to_moment(value: Value) -> str | None:
    """Return CAST(value AS TIMESTAMP)."""
    moment = _moment(value)
    return moment.strftime("%Y-%m-%d %H:%M:%S") if moment and moment.year >= 1000 else None


def last_day(value: Value) -> str | None:
    """Return the last day of a month."""
    moment = _moment(value)
    if moment is None:
        return None
    return str(moment.date().replace(day=calendar.monthrange(moment.year, moment.month)[1]))


_CODES: dict[str, Callable[[dt.datetime], str]] = {
    "Y": lambda m: f"{m.year:04}", "y": lambda m: f"{m.year % 100:02}", "m": lambda m: f"{m.month:02}",
    "c": lambda m: str(m.month), "d": lambda m: f"{m.day:02}", "e": lambda m: str(m.day),
    "H": lambda m: f"{m.hour:02}", "i": lambda m: f"{m.minute:02}", "M": lambda m: f"{m.minute:02}",
    "s": lambda m: f"{m.second:02}", "S": lambda m: f"{m.second:02}",
    "j": lambda m: f"{m.timetuple().tm_yday:03}",
    "B": lambda m: calendar.month_name[m.month], "b": lambda m: calendar.month_abbr[m.month],
    "W": lambda m: calendar.day_name[m.weekday()], "A": lambda m: calendar.day_name[m.weekday()],
    "a": lambda m: calendar.day_abbr[m.weekday()], "w": lambda m: str(m.isoweekday() % 7),
    "u": lambda m: str(m.isoweekday()), "F": lambda m: str(m.date()), "T": lambda m: str(m.time()),
    "h": lambda m: f"{(m.hour + 11) % 12 + 1:02}", "I": lambda m: f"{(m.hour + 11) % 12 + 1:02}",
    "p": lambda m: "AM" if m.hour < 12 else "PM", "%": lambda m: "%",
}  # fmt: skip
_USUAL = 40
"""Length of a text up to which what it says is remembered."""
_CODE = re.compile("%(-?)(.)", re.DOTALL)


def format_date(value: Value, pattern: Value) -> str | None:
    """Return strftime for the codes that differ not from machine to machine; of others the letter stays."""
    if not isinstance(value, str) or not isinstance(pattern, str) or len(pattern) > 100:
        return None
    return _formatted(value, pattern) if len(value) <= _USUAL else _format(value, pattern)


def _format(value: str, pattern: str) -> str | None:
    moment = _moment(value)
    if moment is None:
        return None

    def shown(code: re.Match[str]) -> str:
        of = _CODES.get(code[2])
        text = of(moment) if of else code[2]
        return text.lstrip("0") or "0" if code[1] else text

    return _CODE.sub(shown, pattern)


# A query that looks for each month of a calendar in every row asks for the same days millions of times.
_formatted = lru_cache(maxsize=4096)(_format)


def day_name(value: Value) -> str | None:
    """Return the name of a weekday, such as `Monday`."""
    return format_date(value, "%A")


def month_name(value: Value) -> str | None:
    """Return the name of a month, such as `January`."""
    return format_date(value, "%B")


def from_days(number: Value) -> str | None:
    """Return the day of that number, year 0 being the start."""
    try:
        return str(dt.date.fromordinal(int(number or 0) - 366 + 1))
    except (ValueError, OverflowError):
        return None


def day_of_year(year: Value, number: Value) -> str | None:
    """Return MySQL's MAKEDATE."""
    try:
        first = dt.date(int(year or 0), 1, 1)
        return str(first + dt.timedelta(int(number) - 1)) if number and int(number) > 0 else None
    except (ValueError, OverflowError):
        return None


def period_diff(late: Value, early: Value) -> int | None:
    """Return the months between two numbers like 202401."""
    if not isinstance(late, int) or not isinstance(early, int):
        return None
    return (late // 100 - early // 100) * 12 + late % 100 - early % 100


def digits(value: Value) -> int | None:
    """Return the number that a day is written with, 20240131: what MySQL subtracts."""
    moment = _moment(value)
    return None if moment is None else int(f"{moment:%Y%m%d}")


def seconds(value: Value) -> int | None:
    """Return MySQL's UNIX_TIMESTAMP, in UTC."""
    moment = _moment(value)
    return None if moment is None else int(moment.replace(tzinfo=dt.UTC).timestamp())


def parsed(value: Value, pattern: Value) -> str | None:
    """Return the day or moment in a text, by a pattern of strftime's letters."""
    if not isinstance(value, str) or not isinstance(pattern, str) or len(pattern) > 60:
        return None
    try:
        moment = dt.datetime.strptime(value, pattern)
    except ValueError:
        return None
    if any(mark in pattern for mark in ("%H", "%I", "%M", "%S", "%T")):
        return moment.strftime("%Y-%m-%d %H:%M:%S")
    return str(moment.date())


DATES: dict[str, tuple[int, Callable[..., Any]]] = {
    "vg_date_add": (3, date_add), "vg_date_diff": (3, date_diff), "vg_ts_diff": (3, timestamp_diff),
    "vg_extract": (2, extract), "vg_trunc": (2, trunc_date), "vg_day": (1, to_day),
    "vg_moment": (1, to_moment), "vg_format": (2, format_date), "vg_parsed": (2, parsed),
    "last_day": (1, last_day), "dayname": (1, day_name), "monthname": (1, month_name),
    "from_days": (1, from_days), "makedate": (2, day_of_year), "period_diff": (2, period_diff),
    "vg_digits": (1, digits), "unix_timestamp": (1, seconds),
}  # fmt: skip
