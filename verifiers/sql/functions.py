"""Functions that other databases have and SQLite lacks, for `sqlite3.create_function`.

All are pure, cheap and bounded, give NULL for NULL and for what they cannot read, and never raise
for a value. Regular expressions are left out on purpose: Python's may hang (DuckDB's do not).
"""

from __future__ import annotations

import calendar
import datetime as dt
import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

Value = int | float | str | bytes | None

MAX_TEXT = 20_000
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
    """The day or moment `amount` units later; months end on their last day."""
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
    """Edges of `unit` that are passed from `early` to `late`: days by the calendar, months by name."""
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
    """Whole units between two moments, towards zero (MySQL's TIMESTAMPDIFF)."""
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
    """EXTRACT(part FROM value)."""
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
    """DATE_TRUNC, as a day for units of a day and above."""
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
    """CAST(value AS DATE)."""
    moment = _moment(value)
    return str(moment.date()) if moment else None


def to_moment(value: Value) -> str | None:
    """CAST(value AS TIMESTAMP)."""
    moment = _moment(value)
    return moment.strftime("%Y-%m-%d %H:%M:%S") if moment and moment.year >= 1000 else None


def last_day(value: Value) -> str | None:
    """The last day of a month."""
    moment = _moment(value)
    if moment is None:
        return None
    return str(moment.date().replace(day=calendar.monthrange(moment.year, moment.month)[1]))


def format_date(value: Value, pattern: Value) -> str | None:
    """strftime for the codes that differ not from machine to machine."""
    moment = _moment(value)
    if moment is None or not isinstance(pattern, str) or len(pattern) > 100:
        return None
    known = {
        "Y": f"{moment.year:04}", "y": f"{moment.year % 100:02}", "m": f"{moment.month:02}",
        "c": str(moment.month), "d": f"{moment.day:02}", "e": str(moment.day),
        "H": f"{moment.hour:02}", "i": f"{moment.minute:02}", "M": f"{moment.minute:02}",
        "s": f"{moment.second:02}", "S": f"{moment.second:02}", "j": f"{moment.timetuple().tm_yday:03}",
        "B": calendar.month_name[moment.month], "b": calendar.month_abbr[moment.month],
        "W": calendar.day_name[moment.weekday()], "A": calendar.day_name[moment.weekday()],
        "a": calendar.day_abbr[moment.weekday()], "w": str(moment.isoweekday() % 7),
        "u": str(moment.isoweekday()), "F": str(moment.date()), "T": str(moment.time()),
        "h": f"{(moment.hour + 11) % 12 + 1:02}", "I": f"{(moment.hour + 11) % 12 + 1:02}",
        "p": "AM" if moment.hour < 12 else "PM", "%": "%",
    }  # fmt: skip
    out, at = [], 0
    while at < len(pattern):
        if pattern[at] == "%" and at + 1 < len(pattern):
            code = pattern[at + 1]
            if code == "-" and at + 2 < len(pattern):
                at += 1
                code = pattern[at + 1]
                out.append(known.get(code, code).lstrip("0") or "0")
            else:
                out.append(known.get(code, code))
            at += 2
        else:
            out.append(pattern[at])
            at += 1
    return "".join(out)


def day_name(value: Value) -> str | None:
    """`Monday` and so on."""
    return format_date(value, "%A")


def month_name(value: Value) -> str | None:
    """`January` and so on."""
    return format_date(value, "%B")


def from_days(number: Value) -> str | None:
    """The day of that number, year 0 being the start."""
    try:
        return str(dt.date.fromordinal(int(number or 0) - 366 + 1))
    except (ValueError, OverflowError):
        return None


def _text(value: Value) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def left(value: Value, count: Value) -> str | None:
    """The first characters."""
    if value is None or not isinstance(count, int):
        return None
    return _text(value)[:count] if count >= 0 else ""


def right(value: Value, count: Value) -> str | None:
    """The last characters."""
    if value is None or not isinstance(count, int):
        return None
    return _text(value)[-count:] if count > 0 else ""


def _padded(value: Value, size: Value, fill: Value, at_left: bool) -> str | None:
    if value is None or fill is None or not isinstance(size, int) or size < 0:
        return None
    text, size = _text(value), min(size, MAX_TEXT)
    pad = (_text(fill) * size)[: max(0, size - len(text))] if len(_text(fill)) <= 100 else ""
    return (pad + text if at_left else text + pad)[:size]


def lpad(value: Value, size: Value, fill: Value = " ") -> str | None:
    """Filled from the left, cut to size."""
    text = _padded(value, size, fill, True)
    return _text(value)[: len(text)] if text is not None and len(_text(value)) > len(text) else text


def rpad(value: Value, size: Value, fill: Value = " ") -> str | None:
    """Filled from the right, cut to size."""
    return _padded(value, size, fill, False)


def reverse(value: Value) -> str | None:
    """Backwards."""
    return None if value is None else _text(value)[::-1]


def repeat(value: Value, count: Value) -> str | None:
    """Repeated, up to a bound."""
    if value is None or not isinstance(count, int):
        return None
    text = _text(value)
    return text * max(0, min(count, MAX_TEXT // max(1, len(text))))


def initcap(value: Value) -> str | None:
    """Each word with a capital."""
    return None if value is None else _text(value).title()


def substring_index(value: Value, mark: Value, count: Value) -> str | None:
    """MySQL's SUBSTRING_INDEX."""
    if value is None or mark is None or not isinstance(count, int):
        return None
    if not mark:
        return ""
    parts = _text(value).split(_text(mark))
    return _text(mark).join(parts[:count] if count >= 0 else parts[count:]) if count else ""


def split_part(value: Value, mark: Value, count: Value) -> str | None:
    """PostgreSQL's SPLIT_PART."""
    if value is None or not mark or not isinstance(count, int):
        return None
    parts = _text(value).split(_text(mark))
    return parts[count - 1] if 1 <= count <= len(parts) else ""


def printf(pattern: Value, *values: Value) -> str | None:
    """SQLite's own, without widths beyond 999: those cost it seconds even where the result is refused."""
    if not isinstance(pattern, str) or "*" in pattern or re.search(r"\d{4}", pattern):
        return None
    try:
        return pattern % tuple("" if value is None else value for value in values)
    except (TypeError, ValueError, OverflowError):
        return None


def concat_ws(mark: Value, *values: Value) -> str | None:
    """Joined with a mark; nulls left out."""
    return None if mark is None else _text(mark).join(_text(v) for v in values if v is not None)


def concat(*values: Value) -> str | None:
    """Joined; NULL if any is."""
    return None if None in values else "".join(map(_text, values))


def field(value: Value, *values: Value) -> int:
    """MySQL's FIELD."""
    return next(
        (at for at, other in enumerate(values, 1) if value == other and value is not None), 0
    )


def find_in_set(value: Value, values: Value) -> int | None:
    """MySQL's FIND_IN_SET."""
    if value is None or values is None:
        return None
    parts = _text(values).split(",")
    return parts.index(_text(value)) + 1 if _text(value) in parts else 0


def packed(*values: Value) -> str | None:
    """Several values as one that is equal where all are; NULL if any is."""
    if None in values:
        return None
    return repr([float(v) if isinstance(v, int | float) else v for v in values])


def to_decimal(value: Value, scale: Value) -> float | None:
    """CAST(value AS DECIMAL(p, scale))."""
    if value is None or not isinstance(scale, int) or not 0 <= scale <= 30:
        return None
    try:
        return float(Decimal(str(value)).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP))
    except InvalidOperation:
        return 0.0


def to_integer(value: Value) -> int | None:
    """CAST(value AS INTEGER) where that rounds, halves away from zero; of a text its first number."""
    if isinstance(value, str):
        found = re.match(r"\s*[+-]?\d+(\.\d+)?", value)
        value = Decimal(found[0].strip()) if found else 0
    try:
        return (
            None if value is None else int(Decimal(str(value)).quantize(Decimal(1), ROUND_HALF_UP))
        )
    except (InvalidOperation, ValueError):
        return 0


def mid(value: Value, start: Value, count: Value = None) -> str | None:
    """MySQL's MID: characters from a place, counted from 1 or from the end."""
    if value is None or not isinstance(start, int):
        return None
    text = _text(value)
    if start == 0 or abs(start) > len(text):
        return ""
    text = text[start - 1 if start > 0 else start :]
    return text if count is None else text[: max(0, int(count))]


def truncate(value: Value, digits: Value = 0) -> float | None:
    """Cut after so many decimals."""
    if not isinstance(value, int | float) or not isinstance(digits, int) or abs(digits) > 30:
        return None
    factor = 10.0**digits
    cut: float = math.trunc(value * factor) / factor
    return cut


def _real(function: Callable[..., float]) -> Callable[..., float | None]:
    def call(*values: Value) -> float | None:
        try:
            return (
                function(*(float(v) for v in values if v is not None))
                if None not in values
                else None
            )
        except (ValueError, OverflowError, ZeroDivisionError, TypeError):
            return None

    return call


def _mod(a: float, b: float) -> float:
    return math.fmod(a, b)


def _log(base: float, value: float) -> float:
    return math.log(value, base)


SCALARS: dict[str, tuple[int, Callable[..., Any]]] = {
    "printf": (-1, printf), "format": (-1, printf), "vg_date_add": (3, date_add), "vg_date_diff": (3, date_diff), "vg_ts_diff": (3, timestamp_diff),
    "vg_extract": (2, extract), "vg_trunc": (2, trunc_date), "vg_day": (1, to_day),
    "vg_moment": (1, to_moment), "vg_format": (2, format_date), "vg_packed": (-1, packed),
    "vg_decimal": (2, to_decimal), "vg_integer": (1, to_integer), "mid": (-1, mid), "vg_left": (2, left), "vg_right": (2, right),
    "last_day": (1, last_day), "dayname": (1, day_name), "monthname": (1, month_name),
    "from_days": (1, from_days), "lpad": (-1, lpad), "rpad": (-1, rpad), "reverse": (1, reverse),
    "repeat": (2, repeat), "initcap": (1, initcap), "substring_index": (3, substring_index),
    "split_part": (3, split_part), "concat_ws": (-1, concat_ws), "concat": (-1, concat),
    "field": (-1, field), "find_in_set": (2, find_in_set), "vg_truncate": (2, truncate),
    "power": (2, _real(math.pow)), "pow": (2, _real(math.pow)), "sqrt": (1, _real(math.sqrt)),
    "exp": (1, _real(math.exp)), "ln": (1, _real(math.log)), "log10": (1, _real(math.log10)),
    "log2": (1, _real(math.log2)), "log": (2, _real(_log)), "mod": (2, _real(_mod)),
    "ceil": (1, _real(math.ceil)), "ceiling": (1, _real(math.ceil)), "floor": (1, _real(math.floor)),
}  # fmt: skip


class _Moments:
    """Variance and its kin over numbers that are not null."""

    sample, root = True, False

    def __init__(self) -> None:
        self.values: list[float] = []

    def step(self, value: Value) -> None:
        if isinstance(value, int | float):
            self.values.append(float(value))

    def finalize(self) -> float | None:
        count = len(self.values)
        if count == 0 or (self.sample and count == 1):
            return None
        middle = math.fsum(self.values) / count
        found = math.fsum((v - middle) ** 2 for v in self.values) / (count - self.sample)
        return math.sqrt(found) if self.root else found


class _VarPop(_Moments):
    sample = False


class _Std(_Moments):
    root = True


class _StdPop(_Moments):
    sample, root = False, True


class _Joined:
    """`(value, mark, distinct, ways, keys...)`: texts in the order of the keys, then of themselves."""

    def __init__(self) -> None:
        self.items: list[tuple[tuple[Value, ...], str]] = []
        self.mark, self.distinct, self.ways, self.size = ",", 0, "", 0

    def step(self, value: Value, mark: Value, distinct: int, ways: str, *keys: Value) -> None:
        if value is None or self.size > MAX_TEXT:
            return
        self.mark, self.distinct, self.ways = _text(mark or ""), distinct, ways
        self.size += len(_text(value)) + 1
        self.items.append((keys, _text(value)))

    def finalize(self) -> str | None:
        if not self.items:
            return None
        items = sorted(self.items, key=lambda item: item[1])
        for at in reversed(range(len(self.ways))):
            items.sort(key=lambda item: _rank(item[0][at]), reverse=self.ways[at] == "d")
        texts = [text for _, text in items]
        return self.mark.join(dict.fromkeys(texts) if self.distinct else texts)


def _rank(value: Value) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    return (1, value) if isinstance(value, int | float) else (2, _text(value))


AGGREGATES: dict[str, tuple[int, type]] = {
    "stddev": (1, _Std), "stddev_samp": (1, _Std), "stddev_pop": (1, _StdPop), "std": (1, _StdPop),
    "variance": (1, _Moments), "var_samp": (1, _Moments), "var_pop": (1, _VarPop),
    "variance_pop": (1, _VarPop), "vg_joined": (-1, _Joined),
}  # fmt: skip
