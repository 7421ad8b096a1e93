"""Records for `code/repo` that lie at the edges of a repository's numbers, drawn in bulk."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

_NAMES = ("Ann", "ann", "Bob Low", "bob low ", " Cy", "cy", "Dee", "Deb")
_FEW = (1, 2, 3, len(_NAMES), len(_NAMES))
"""Maximum number of names in a call."""
_DAYS = range(17)
_AMOUNTS = range(1, 111)
_LONG: tuple[int, ...] = (5, 6, 7, 8, 9, 12)
_SHORT: tuple[int, ...] = (1, 2, 2, 3, 3, 4, 5, 6, 8, 12)
"""Numbers of records in the first calls, and in the later ones."""
_AT_ONCE = 8
_DRAWN = 6
"""Numbers drawn for each record."""


def calls(
    rng: np.random.Generator, numbers: tuple[Mapping[str, int], ...]
) -> Iterator[list[dict[str, Any]]]:
    """Return the lists of 1 to 12 records without end, for parts with these numbers.

    Half of the days and amounts lie at or beside a number of some part, or a week's end, or where a fee
    is just another, half of these at the call's own such place; a third of the records follow one before:
    the same name, a day that is about the pause away, and an amount that is the same or makes up such a
    number together with it. Few names and few records in many calls, so that little is hidden by later parts.
    """
    drawn = {name: number for one in numbers for name, number in one.items()}
    day_edges = [5, 6, 7, 8, 12, 13, 14, 15]
    if "SINCE" in drawn:
        day_edges += [drawn["SINCE"] + off for off in (-1, -1, 0, 0, 1)]
    tops = [drawn[name] for name in ("CAP", "FREE") if name in drawn] or [40]
    amount_edges = [top + off for top in tops for off in (-1, 0, 0, 1, 1, 2)] + [1, 2, 3]
    if "FEE" in drawn:
        amount_edges += _fee_edges(drawn["FEE"], drawn["FREE"], drawn.get("CAP", 0))
    pause = drawn.get("PAUSE", 2)
    gaps = (0, 0, 1, pause - 1, pause, pause, pause + 1, 1 - pause, -pause)
    lengths = _LONG
    while True:
        block = rng.integers(1 << 30, size=(_AT_ONCE, max(_LONG) + 1, _DRAWN)).tolist()
        for head, *rows in block:
            made: list[dict[str, Any]] = []
            some = _FEW[head[1] % len(_FEW)]
            day_edge = day_edges[head[3] % len(day_edges)]
            amount_edge = amount_edges[head[4] % len(amount_edges)]
            for who, kind, group, which, what, when in rows[: lengths[head[0] % len(lengths)]]:
                name = _NAMES[(head[2] + who % some) % len(_NAMES)]
                day = _of(when, day_edge, day_edges, _DAYS)
                amount = _of(what, amount_edge, amount_edges, _AMOUNTS)
                if made and kind % 3 == 0:
                    last = made[which % len(made)]
                    name = last["name"]
                    day = max(last["day"] + gaps[when % len(gaps)], 0)
                    rest = amount - last["amount"]
                    amount = rest if rest > 0 and kind % 2 else last["amount"]
                made.append({"name": name, "group": "xy"[group % 2], "amount": amount, "day": day})
            yield made
        lengths = _SHORT


@functools.cache
def _fee_edges(fee: int, free: int, cap: int) -> list[int]:
    """The first amounts whose fee is another when a little more or less than 100 is divided by, and those
    of which a fee leaves the cap or one more."""
    amounts = range(free, _AMOUNTS.stop)
    more = [a for a in amounts if a * fee // 99 != a * fee // 100]
    less = [a for a in amounts if a * fee // 101 != a * fee // 100]
    capped = [a for a in amounts if cap and a - a * fee // 100 - cap in (0, 1)]
    return more[:3] + less[:3] + capped


def _of(drawn: int, edge: int, edges: list[int], others: range) -> int:
    which, rest = drawn % 4, drawn >> 2
    if which == 0:
        return edge
    return edges[rest % len(edges)] if which == 1 else others[rest % len(others)]
