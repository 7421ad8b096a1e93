"""One more database for the judge: crowded, so that what cuts rows or breaks ties wrongly shows.

The databases that `sql/query` makes are small, and few of their rows meet two conditions over joins: in them
a needless LIMIT 3 cuts nothing. Here every kind, region and price stands in several rows, and totals tie.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache

from verigym.canonical import JSON
from verigym.envs.sql.domains import DOMAINS, Domain

_N_THINGS = 48
_FIRST_DAY = date(2019, 6, 1)


def crowded(domain: Domain) -> dict[str, JSON]:
    """Return rows by table, the same whenever it is asked for; keys hold."""
    return {table: list(rows) for table, rows in _crowded(DOMAINS.index(domain)).items()}


@lru_cache(maxsize=len(DOMAINS))
def _crowded(number: int) -> dict[str, list[JSON]]:
    d = DOMAINS[number]
    n_regions = len(d.regions)
    # Two owners in each region, and one in none that has nothing.
    owners: list[JSON] = [[i + 1, f"{d.owner} {i}", d.regions[i % n_regions]] for i in range(8)]
    owners.append([9, f"{d.owner} 9", None])
    low, high = d.prices
    things: list[JSON] = []
    events: list[JSON] = []
    for i in range(_N_THINGS):
        price = low + (high - low) * (i // 12) // 3
        things.append([i + 1, i % 8 + 1, d.kinds[i % len(d.kinds)], price])
        for amount in _amounts(i, *d.amounts):
            day = _FIRST_DAY + timedelta(20 * len(events))
            events.append([len(events) + 1, i + 1, amount, str(day)])
    return {d.owner: owners, d.thing: things, d.event: events}


def _amounts(i: int, low: int, high: int) -> list[int]:
    """Amounts of the events of a thing: many and high for the first four owners, few and low for the next three, none for the last.

    Six things of each kind, or more, have the same total on either side of any bound.
    """
    if i % 8 < 4:
        return [high] * (4 + i // 32)
    return [] if i % 8 == 7 else [low] * (1 + i // 24)
