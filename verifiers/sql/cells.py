"""The values that columns are filled with: plain ones, and those around the constants of queries."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Mapping, Sequence

from verigym.verifiers.sql.hints import Hints
from verigym.verifiers.sql.near import NUMBER, Value, days_near

Cell = int | float | str | None
Row = tuple[Cell, ...]
Database = Mapping[str, list[Row]]
"""Rows by table."""

_DAYS = ("2020-02-29", "2020-03-01", "2020-02-28", "2020-03-02", "2019-12-31", "2021-03-01")
_TEXTS = ("a", "b", "c", "ab", "")
_NUMERALS = ("1", "2", "10", "9", "2.5", "100", "0", "3", "1", "2", "-1")
_LARGEST = 2**63 - 1
_CLOCKS = ("00:00:00", "12:30:00", "23:59:59", "00:00:01")


def numbered(number: int, kind: str) -> Cell:
    """Return the value of a kind that has this number: all differ."""
    if kind == "text":
        return f"n{number}"
    if kind == "numeral":
        return str(number)
    if kind in ("date", "datetime"):
        day = str(datetime.date(2020, 2, 20) + datetime.timedelta(number))
        return day if kind == "date" else day + " 00:00:00"
    return number


def negative(value: Cell) -> bool:
    return isinstance(value, int | float) and value < 0


def around(value: Value, kind: str) -> list[Cell]:
    """Return a constant of a query and its neighbours, as values of a column; the constant weighs most."""
    if kind in ("int", "real", "bool"):
        if isinstance(value, str):
            try:
                value = float(value) if "." in value else int(value)
            except ValueError:
                return []
        if kind == "bool":
            return [int(bool(value))]
        if abs(value) > _LARGEST - 2 or (isinstance(value, float) and abs(value) > 2**53):
            return []
        if isinstance(value, float) and kind == "int":
            return [int(value), int(value) + 1, int(value) - 1]
        return [value, value, value + 1, value - 1]
    if kind == "numeral":
        numbers = around(value, "real")
        if numbers and isinstance(numbers[0], float) and not numbers[0].is_integer():
            numbers.append(
                round(numbers[0] + 0.2, 6)
            )  # Beyond it, and below the next whole number.
        return [str(one) for one in numbers]
    if kind in ("date", "datetime"):
        days = days_near(str(value))
        if kind == "date":
            return [*days[:1], *days]
        clock = str(value)[11:19]
        moments: list[Cell] = [f"{day} {c}" for day in days[:3] for c in _CLOCKS[:3]]
        if len(clock) in (5, 8) and days:
            moments += [f"{days[0]} {clock if len(clock) == 8 else clock + ':00'}"] * 3
        return moments
    if kind == "time":
        return [str(value)] if ":" in str(value) else []
    text = str(value)
    if near := days_near(text):
        # A day in a column of texts: others there are days too, or casts of them would fail.
        return [text, text, *near]
    return [text, text, text, text + "x", "x" + text, text[:-1]]


_NEAR_NUMBERS = 40
_MAX_COMBINED = 960
_LEAP_YEAR = datetime.date(2020, 1, 1)


def combined(values: Sequence[Cell], kind: str) -> list[Cell]:
    """Return more values, for conditions that none of these meets alone: between them, further off, joined."""
    found: list[Cell] = []
    if kind in ("int", "real", "bool", "numeral"):
        numbers = sorted({float(v) for v in values if v is not None and _is_number(v)})
        found += [(one + other) / 2 for one, other in itertools.pairwise(numbers)]
        for number in numbers[:8]:
            if abs(number) < 2**53:
                whole = int(number)
                found += range(whole - _NEAR_NUMBERS, whole + _NEAR_NUMBERS + 1)
        if kind == "int":
            found = [int(value) for value in found if isinstance(value, int | float)]
        elif kind == "numeral":
            found = [str(value) for value in found]
    elif kind in ("date", "datetime"):
        clock = " 00:00:00" if kind == "datetime" else ""
        found += [str(_LEAP_YEAR + datetime.timedelta(day)) + clock for day in range(366)]
        for value in values[:6]:
            if isinstance(value, str) and days_near(value):
                middle = datetime.date.fromisoformat(days_near(value)[0])
                rest = value[10:] if kind == "datetime" else ""
                for step in range(-45, 46):
                    if 366 < middle.toordinal() + step < datetime.date.max.toordinal():
                        found.append(str(middle + datetime.timedelta(step)) + rest)
    else:
        texts = [v for v in values if isinstance(v, str) and len(v) <= 100][:16]
        lengths = {len(text) for text in texts}
        found += [one + other for one in texts for other in texts if one != other]
        found += [text.ljust(length, "z")[:length] for text in texts for length in lengths]
    return found[:_MAX_COMBINED]


def _is_number(value: Cell) -> bool:
    if isinstance(value, str):
        return NUMBER.fullmatch(value) is not None and len(value) < 19
    return isinstance(value, int | float)


def usual(kind: str, hints: Hints) -> list[Cell]:
    """Return ordinary values of a kind: few, so that they repeat."""
    numbers = [v for v in hints.loose if isinstance(v, int | float) and abs(v) < 10**9]
    if kind == "int":
        return [0, 1, 2, 3, 1, 2, -1, 4, 10, *(int(v) for v in numbers[:6])]
    if kind == "real":
        return [0, 1, 2, 0.5, -1, 2.5, 10, 1.25, *numbers[:6]]
    if kind == "bool":
        return [0, 1]
    if kind in ("date", "datetime"):
        days = list(_DAYS)
        for value in hints.loose:
            if isinstance(value, str):
                days += days_near(value)
            elif isinstance(value, int) and 0 < value < 400:
                days.append(str(datetime.date(2020, 2, 29) + datetime.timedelta(value)))
        if kind == "date":
            return list(days)
        return [f"{day} {_CLOCKS[at % len(_CLOCKS)]}" for at, day in enumerate(days)]
    if kind == "time":
        return list(_CLOCKS)
    if kind == "numeral":
        return [*_NUMERALS, *(str(v) for v in numbers[:6])]
    texts = [v for v in hints.loose if isinstance(v, str) and len(v) < 40]
    # None is another with its case changed: which of two such texts a group shows is chance.
    return [*_TEXTS, *(("dE", "Fg hI", "J") if hints.cased else ()), *texts[:4]]


def fitted(value: Cell, kind: str) -> Cell:
    """Return a value of another column of the class, as this column's kind would hold it."""
    if kind == "int" and isinstance(value, float):
        return int(value)
    if kind in ("int", "real", "bool") and isinstance(value, str):
        if NUMBER.fullmatch(value) and len(value) < 19:
            return int(float(value)) if kind != "real" else float(value)
        return len(value)
    if kind == "bool":
        return int(bool(value))
    if kind in ("text", "numeral", "enum") and isinstance(value, int | float):
        return str(value)
    if kind == "date":
        return value[:10] if isinstance(value, str) and days_near(value) else _DAYS[0]
    if kind == "datetime":
        text = value if isinstance(value, str) and days_near(value) else _DAYS[0]
        return text if len(text) > 10 else text + " 00:00:00"
    return value
