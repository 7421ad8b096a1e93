"""Values near the constants of queries: what a pattern matches, days at the edges of a month."""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Iterable, Iterator

from sqlglot import exp

Value = int | float | str

DATE = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?%?")
MOMENT = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})[ T](\d{1,2}):(\d{2})(?::(\d{2}))?.*")
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")


def values_of(literal: exp.Literal) -> Iterator[Value]:
    text = literal.name
    if literal.is_string:
        yield text
        return
    try:
        whole = re.fullmatch(r"\d{1,19}", text) and int(text) < 2**63
        yield int(text) if whole else float(text)
    except ValueError:
        return


def matching(pattern: str) -> Iterator[str]:
    """Return the texts that a LIKE pattern matches, and neighbours that it does not."""
    if DATE.fullmatch(pattern) or DATE.fullmatch(pattern.rstrip("%").rstrip("-")):
        yield pattern.rstrip("%").rstrip("-")
        return
    bare = pattern.replace("%", "").replace("_", "x")
    wide = pattern.replace("%", "y").replace("_", "x")
    yield from (bare, wide, "z" + bare, bare + "z", bare[:-1], bare[1:], bare.replace("x", ""))
    for part in pattern.split("%"):
        yield part.replace("_", "x")


def stepping(literal: exp.Literal) -> Iterator[int]:
    """Yield the days that a number may move a day by: of an interval, or compared with a difference."""
    text = literal.name.partition(" ")[0]
    if text.isdigit() and int(text) <= 400:
        interval = literal.find_ancestor(exp.Interval)
        if interval is not None or not literal.is_string:
            yield int(text)


def by_month(literal: exp.Literal) -> bool:
    return "month" in _unit_of(literal)


def by_year(literal: exp.Literal) -> bool:
    return "year" in _unit_of(literal)


def _unit_of(literal: exp.Literal) -> str:
    interval = literal.find_ancestor(exp.Interval)
    return "" if interval is None else (f"{interval.args.get('unit')} {literal.name}").lower()


def stepped(text: str, steps: Iterable[int]) -> Iterator[str]:
    """Yield the days that lie `steps` days away from a day, and their neighbours."""
    days = days_near(text)
    if days:
        middle = datetime.date.fromisoformat(days[0])
        for step in sorted(set(steps))[:4]:
            for off in (step, step - 1, step + 1):
                for sign in (-1, 1):
                    with contextlib.suppress(OverflowError):
                        yield str(middle + datetime.timedelta(sign * off))


def dates(number: int) -> Iterator[str]:
    """Return the days on both sides of the edges of a year or a month."""
    if 1000 <= number <= 2999:
        yield from (
            f"{number}-01-01",
            f"{number}-12-31",
            f"{number - 1}-12-31",
            f"{number + 1}-01-01",
        )
        yield f"{number}-06-15"
    elif 1 <= number <= 12:
        first = datetime.date(2020, number, 1)
        yield from (
            str(first),
            str(first - datetime.timedelta(1)),
            str(first + datetime.timedelta(31)),
        )


def days_near(text: str) -> list[str]:
    """Return the day of a text that is a day, a month or a moment, and the days around it; empty otherwise."""
    match = MOMENT.fullmatch(text) or DATE.fullmatch(text)
    if match is None:
        return []
    year, month, day = int(match[1]), int(match[2]), match[3]
    try:
        middle = datetime.date(year, month, int(day or 1))
        # A month, or a day with the same of other years behind.
        steps = (0, -1, 1, 2, 366, -365) if day else (0, -1, 14, 27, 31, 366, -350)
        return [str(middle + datetime.timedelta(step)) for step in steps]
    except (ValueError, OverflowError):
        return []
