"""One more database for the judge: crowded, so that what cuts rows or breaks ties wrongly shows.

The databases that `sql/query` makes are small, and few of their rows meet two conditions over joins: in them
a needless LIMIT 3 cuts nothing. Here every kind, region and price stands in several rows, and totals tie. For
questions in which order matters, many events share each day and amounts change from one to the next,
and an owner has things at many prices.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache

from verigym.canonical import JSON
from verigym.envs.sql.domains import DOMAINS, Domain

_N_THINGS = 48
_STRIDE = 37
_A_DAY = 24
_APART = timedelta(130)
_FIRST_DAY = date(2019, 6, 1)


def crowded(domain: Domain, *, in_order: bool = False) -> dict[str, JSON]:
    """Return rows by table, the same whenever it is asked for; keys hold. `in_order` if the order of events matters."""
    return {table: list(rows) for table, rows in _crowded(DOMAINS.index(domain), in_order).items()}


@lru_cache(maxsize=2 * len(DOMAINS))
def _crowded(number: int, in_order: bool) -> dict[str, list[JSON]]:
    d = DOMAINS[number]
    n_regions = 2 if in_order else len(d.regions)
    # Two owners or more in each region, and one in none that has nothing.
    owners: list[JSON] = [[i + 1, f"{d.owner} {i}", d.regions[i % n_regions]] for i in range(8)]
    owners.append([9, f"{d.owner} 9", None])
    low, high = d.prices
    things: list[JSON] = []
    happened: list[tuple[int, int]] = []
    for i in range(3 * _N_THINGS if in_order else _N_THINGS):
        step, kind = _drawn(i) if in_order else (i // 12 * 3, i)
        price = low + (high - low) * step // 9
        things.append([i + 1, i % 8 + 1, d.kinds[kind % len(d.kinds)], price])
        happened += [(i + 1, amount) for amount in _amounts(i % _N_THINGS, *d.amounts)]
    events = _mixed(happened) if in_order else _one_by_one(happened)
    return {d.owner: owners, d.thing: things, d.event: events}


def _drawn(i: int) -> tuple[int, int]:
    """Ten prices and any kind at random; owners 1 and 5, and 2 and 6, have equal things, so that ranks are shared."""
    round_, owner = divmod(i, 8)
    rng = random.Random(8 * round_ + (owner - 4 if owner in (4, 5) else owner))
    return rng.randrange(10), rng.randrange(12)


def _one_by_one(happened: Sequence[tuple[int, int]]) -> list[JSON]:
    """Events of the things and amounts, each on a day of its own."""
    return [
        [at + 1, thing, amount, str(_FIRST_DAY + timedelta(20 * at))]
        for at, (thing, amount) in enumerate(happened)
    ]


def _mixed(happened: Sequence[tuple[int, int]]) -> list[JSON]:
    """Many events on each of a few days, no longer thing by thing, and every other one with the amount of another."""
    n = len(happened)
    days = [_FIRST_DAY + _APART * (_STRIDE * at % n // _A_DAY) for at in range(n)]
    return [
        [at + 1, thing, happened[at if at % 2 else -at][1], str(days[at])]
        for at, (thing, _) in enumerate(happened)
    ]


def _amounts(i: int, low: int, high: int) -> list[int]:
    """Amounts of the events of a thing: many and high for the first four owners, few and low for the next three, none for the last.

    Six things of each kind, or more, have the same total on either side of any bound.
    """
    if i % 8 < 4:
        return [high] * (4 + i // 32)
    return [] if i % 8 == 7 else [low] * (1 + i // 24)
