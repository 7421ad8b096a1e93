"""Pairs of days at which a comparison of two day columns turns: `back_d > date(out_d, '+1 month')`.

One column takes days in months of 28, 29, 30 and 31 days and at the ends of months and years, the other one days
near it and further off, and the engine says on which of these the comparison holds. Between two that differ it
is searched for the exact day (of moments: the second). So every way to compute with days is covered: shifts by any
unit, differences, parts, starts of months, weekdays; and two that differ anywhere near differ on such a pair.
"""

from __future__ import annotations

import datetime
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from verigym.verifiers.sql.cells import Cell
from verigym.verifiers.sql.scopes import Cell as Place

Values = Mapping[Place, Cell]
Truths = Callable[[Sequence[Values]], list[dict[int, bool | None]]]
"""Tells the truth of each condition under each assignment."""

_ANCHORS = ((0, 1, 15), (-1, 2, 10), (0, 2, 10), (0, 4, 10), (0, 1, 31), (0, 2, 29), (-1, 12, 31), (0, 3, 31))  # fmt: skip
"""Years after a leap year, months and days."""
_LEAP_YEAR = 2020
_NEAR = range(-35, 36)
_FAR = (45, 59, 60, 61, 75, 90, 91, 92, 120, 150, 181, 183, 270, 300, 365, 366, 367, 500, 731, 1096, 1500, 4000)  # fmt: skip
_UNITS = (1.0, 7.0, 30.44, 91.3, 365.25)
_MAX_NUMBERS = 4
_MAX_TURNS = 3
_DAY = 86_400
_EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True)
class TurningDay:
    """Two pairs of days beside each other; the comparison holds on the first only."""

    holds: Values
    fails: Values


def turning_days(
    number: int,
    text: str,
    pair: tuple[Place, Place],
    moments: bool,
    years: Sequence[int],
    truths: Truths,
) -> list[list[TurningDay]]:
    """Return the turns of a condition by the day that the first class of `pair` takes.

    `number`: of the condition in what `truths` returns. `text`: the condition, for its numbers. `years`: more
    years to take days of.
    """
    one, other = pair
    offsets = [day * _DAY for day in _offsets(text)]
    anchors = list(_anchors(years, moments))

    def values(anchor: int, offset: int) -> dict[Place, Cell]:
        return {one: _written(anchor, moments), other: _written(anchor + offset, moments)}

    def holds(tried: Sequence[tuple[int, int]]) -> list[bool]:
        return [found.get(number) is True for found in truths([values(*at) for at in tried])]

    tried = [(anchor, offset) for anchor in anchors for offset in offsets]
    found = dict(zip(tried, holds(tried), strict=True))
    gaps: list[tuple[int, int, int]] = []
    for anchor in anchors:
        own = [
            (anchor, low, high)
            for low, high in itertools.pairwise(offsets)
            if found[anchor, low] != found[anchor, high]
        ]
        gaps += sorted(own, key=lambda gap: abs(gap[1]))[:_MAX_TURNS]
    step = 1 if moments else _DAY
    while any(high - low > step for _, low, high in gaps):
        middles = [(anchor, (low + high) // (2 * step) * step) for anchor, low, high in gaps]
        found.update(zip(middles, holds(middles), strict=True))
        gaps = [
            gap
            if high - low <= step
            else (anchor, low, middle)
            if found[anchor, middle] != found[anchor, low]
            else (anchor, middle, high)
            for gap, (anchor, middle) in zip(gaps, middles, strict=True)
            for _, low, high in [gap]
        ]
    turns: dict[int, list[TurningDay]] = {}
    for anchor, low, high in gaps:
        first, second = (low, high) if found[anchor, low] else (high, low)
        turns.setdefault(anchor, []).append(
            TurningDay(values(anchor, first), values(anchor, second))
        )
    return list(turns.values())


def _anchors(years: Sequence[int], moments: bool) -> Iterator[int]:
    clock = datetime.time(12, 30) if moments else datetime.time()
    for leap in dict.fromkeys((_LEAP_YEAR, *years)):
        for more, month, day in _ANCHORS:
            if not 2 <= leap + more <= 9900:
                continue
            try:
                date = datetime.date(leap + (more if leap == _LEAP_YEAR else 0), month, day)
            except ValueError:
                continue  # no leap year
            yield int((datetime.datetime.combine(date, clock) - _EPOCH).total_seconds())


def _offsets(text: str) -> list[int]:
    """Days between the two columns, in order: near ones, far ones, and those that the numbers of a condition may be."""
    days = {*_NEAR, *_FAR, *(-day for day in _FAR)}
    for number in list(dict.fromkeys(re.findall(r"\d{1,5}", text)))[:_MAX_NUMBERS]:
        for unit in _UNITS:
            middle = round(int(number) * unit)
            if middle < 20_000:
                days.update(sign * (middle + off) for sign in (-1, 1) for off in range(-2, 3))
    return sorted(days)


def _written(seconds: int, moments: bool) -> str:
    moment = _EPOCH + datetime.timedelta(seconds=seconds)
    return str(moment) if moments else str(moment.date())
