"""A store's book of movements to be played through, with rules for reading it; for the highest levels of `sql/tables`.

The movements are drawn clean and in order, and the answer is computed from them. Then they are written down as
a careless clerk would: twice, corrected, in crates, under several spellings. A reader has to find the way back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np


@dataclass(frozen=True)
class Movement:
    """`quantity` units of an item that come `in`, go `out` or are put together on a day of the year, counted from 0. An order
    with a `value` is for as many units as that pays for, and `quantity` does not matter; nor does it if what an earlier
    movement, the number `back`, handed out comes in again."""

    no: int
    day: int
    item: int
    way: str
    quantity: int
    value: int = 0
    back: int = 0


@dataclass(frozen=True, kw_only=True)
class StoreBook:
    """A store: its items with their groups and crates, their prices by first day, and what happened, in order.

    `enough` is the stock that a run needs. If `averaged`, units are handed out at the moving average of what they
    cost as they came in, otherwise at the price of the day. `recipes` has the parts of each kit, with the number of units of each
    that a kit takes.
    """

    items: list[str]
    groups: list[str]
    crates: list[int]
    prices: list[list[tuple[int, int]]]
    capacity: int
    enough: int
    averaged: bool
    moved: list[Movement]
    recipes: Mapping[int, Sequence[tuple[int, int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class LedgerSize:
    """Movements, items and groups of a level, and the ideas that it brings in.

    `scale` multiplies all quantities; prices are from the first of `prices` on and below the second; `by_value` is the
    share of the orders that are for an amount of money, and `returned` that of the deliveries that come back. The last
    `kits` of the items are put together from others.
    """

    movements: int
    items: int
    groups: int
    priced: bool = False
    averaged: bool = False
    ranked: bool = False
    scale: int = 1
    prices: tuple[int, int] = (2, 30)
    by_value: float = 0.0
    returned: float = 0.0
    kits: int = 0


_RANKED = LedgerSize(
    *(150, 8, 3),
    priced=True,
    averaged=True,
    ranked=True,
    scale=12,
    prices=(20_323, 299_874),
    by_value=0.3,
)
SIZES = {
    8: LedgerSize(78, 5, 2),
    9: _RANKED,
    10: replace(_RANKED, movements=280, items=12, returned=0.25, kits=3),
}
"""Sizes of a book by level."""

MEASURES = {
    "left": "units left at the end",
    "missing": "units missing",
    "turned": "units turned away",
    "handed": "units handed out",
    "peak": "highest stock",
    "worth": "worth of the units handed out",
    "run": "longest run",
}
"""Figures of an item, and the words for them in questions."""

CLIPPED = 0.08
"""Least share of the deliveries that do not fit, and of the orders that cannot be filled."""
_WORKING = 0.4
"""Least share of the returns that bring something back, and of the kits that are put together."""


def draw_ledger(rng: np.random.Generator, size: LedgerSize, same_day: str) -> StoreBook:
    """Return a store in which both limits bind; movements of a day are in the order that `same_day` names."""
    while True:
        ledger = _drawn(rng, size, same_day)
        figures = play(ledger)
        turned, missing = figures["clipped_in"], figures["clipped_out"]
        if min(turned[0], missing[0]) < CLIPPED * size.movements / 2:
            continue
        special = [one for one in ledger.moved if one.back or one.way == "make"]
        if figures["idle"][0] <= (1 - _WORKING) * len(special):
            return ledger


def _drawn(rng: np.random.Generator, size: LedgerSize, same_day: str) -> StoreBook:
    n = size.items
    codes = rng.choice(26 * 9, n, replace=False).tolist()
    crates = rng.integers(3 * size.scale, 10 * size.scale, n).tolist()
    prices = [_prices(rng, size) for _ in range(n)]
    moved = _movements(rng, size, crates)
    recipes = _recipes(rng, size)
    for kit, parts in recipes.items():
        # A kit has no price of its own; these are what an order for an amount is about.
        prices[kit] = [(0, sum(number * prices[part][0][1] for part, number in parts))]
    if size.kits:
        moved = [_with_kits(one, one.item in recipes) for one in moved]
    if size.by_value:
        moved = [_by_value(rng, size, one, prices[one.item]) for one in moved]
    ledger = StoreBook(
        items=[f"{chr(65 + code // 9)}{1 + code % 9}" for code in codes],
        groups=[GROUPS[i % size.groups] for i in rng.permutation(n).tolist()],
        crates=crates,
        prices=[[] if i in recipes else held for i, held in enumerate(prices)],
        recipes=recipes,
        capacity=int(rng.integers(20 * size.scale, 26 * size.scale)) * n * (2 if size.kits else 1),
        enough=int(rng.integers(10 * size.scale, 16 * size.scale)),
        averaged=size.averaged,
        moved=in_order(moved, same_day),
    )
    return _with_returns(rng, size, ledger) if size.returned else ledger


def _movements(rng: np.random.Generator, size: LedgerSize, crates: list[int]) -> list[Movement]:
    n = size.movements
    first = int(rng.integers(30, 90))
    days = np.sort(first + rng.integers(0, n // 2, n))
    if size.ranked:
        days = rng.permutation(days)
    numbers = 101 + np.sort(rng.choice(n + 40, n, replace=False))
    rows = zip(
        *(numbers.tolist(), days.tolist(), rng.integers(0, size.items, n).tolist()),
        rng.integers(0, 2, n).tolist(),
        rng.integers(6 * size.scale, 50 * size.scale, n).tolist(),
        rng.random(n).tolist(),
        strict=True,
    )
    return [
        # A third of the quantities are whole crates, which may be written as such.
        Movement(
            no, day, item, WAYS[way],
            crates[item] * (1 + q // (8 * size.scale)) if size.priced and part < 0.35 else q,
        )
        for no, day, item, way, q, part in rows
    ]  # fmt: skip


def _prices(rng: np.random.Generator, size: LedgerSize) -> list[tuple[int, int]]:
    """Return two to four prices with their first days; the first may come after some movements."""
    days = np.arange(25, 95 + size.movements // 2)
    chosen = rng.choice(days, int(rng.integers(2, 5)), replace=False)
    low, high = size.prices
    values = low + rng.choice(high - low, len(chosen), replace=False)
    return list(zip(sorted(chosen.tolist()), values.tolist(), strict=True))


def _by_value(
    rng: np.random.Generator, size: LedgerSize, one: Movement, prices: list[tuple[int, int]]
) -> Movement:
    """Return some of the orders as orders for an amount of money, which pays for about as many units."""
    if one.way != "out" or rng.random() >= size.by_value:
        return one
    price = prices[int(rng.integers(len(prices)))][1]
    return replace(one, value=one.quantity * price + int(rng.integers(price)))


def _recipes(rng: np.random.Generator, size: LedgerSize) -> dict[int, list[tuple[int, int]]]:
    """Return two parts of each kit, with one to three units of each."""
    n_parts = size.items - size.kits
    found = {}
    for kit in range(n_parts, size.items):
        parts = sorted(rng.choice(n_parts, 2, replace=False).tolist())
        found[kit] = [(part, int(rng.integers(1, 4))) for part in parts]
    return found


def _with_kits(one: Movement, is_kit: bool) -> Movement:
    """Return a delivery of a kit as one that is put together; with fewer units, and all orders too, so that stocks last."""
    if not is_kit:
        return replace(one, quantity=1 + one.quantity // 3) if one.way == "out" else one
    way = "make" if one.way == "in" else one.way
    return replace(one, quantity=1 + one.quantity // 4, way=way)


def _with_returns(rng: np.random.Generator, size: LedgerSize, ledger: StoreBook) -> StoreBook:
    """Return the store with some deliveries that bring back what an earlier order took, each order at most once; most
    of these orders handed out something before there were returns."""
    served = set(play(ledger)["served"])
    out: list[Movement] = []
    found = []
    for one in ledger.moved:
        if one.way == "in" and out and rng.random() < size.returned:
            source = out.pop(int(rng.integers(len(out))))
            one = replace(one, item=source.item, back=source.no)
        found.append(one)
        if one.way == "out" and (one.no in served or rng.random() < 0.1):
            out.append(one)
    return replace(ledger, moved=found)


WAYS = ("in", "out")
GROUPS = ("dry", "cold", "fine")


def in_order(moved: Iterable[Movement], same_day: str) -> list[Movement]:
    """Return movements in the order in which they take effect: `same_day` is `in`, `out` or `no`, which comes
    first on a day; what is put together comes between the two."""
    ways = {"in": ("in", "make", "out"), "out": ("out", "make", "in")}.get(same_day)
    return sorted(moved, key=lambda one: (one.day, ways.index(one.way) if ways else 0, one.no))


def play(ledger: StoreBook, early: str = "first") -> dict[str, list[int]]:
    """Return the figures of each item, by measure; with the numbers of limited movements in all.

    `early` says what holds before an item's first price: its `first` price, or nothing.
    """
    n = len(ledger.items)
    found = {name: [0] * n for name in MEASURES}
    stock, run, average = ([0] * n for _ in range(3))
    clipped = {"in": 0, "make": 0, "out": 0}
    handed: dict[int, tuple[int, int]] = {}
    """Units that each movement handed out, and their average cost."""
    idle = 0
    for one in ledger.moved:
        i = one.item
        back, cost = handed.get(one.back, (0, 0))
        wanted = units_for(one.value, average[i]) if one.value else one.quantity
        wanted = back if one.back else wanted
        parts = ledger.recipes.get(i, ())
        room = {
            "in": ledger.capacity - sum(stock),
            "make": min((stock[part] // number for part, number in parts), default=0),
            "out": stock[i],
        }[one.way]
        done = min(wanted, room)
        rest = wanted - done
        clipped[one.way] += rest > 0
        idle += done == 0 and (one.back > 0 or one.way == "make")
        if one.way == "out":
            stock[i] -= done
            found["missing"][i] += rest
            found["handed"][i] += done
            worth = average[i] if ledger.averaged else price_on(ledger.prices[i], one.day, early)
            found["worth"][i] += done * worth
            handed[one.no] = done, worth
        elif one.way == "make":
            cost = sum(number * average[part] for part, number in parts)
            for part, number in parts:
                stock[part] -= number * done
            average[i] = averaged(stock[i], average[i], done, cost)
            stock[i] += done
            found["missing"][i] += rest
        else:
            price = cost if one.back else price_on(ledger.prices[i], one.day, early)
            average[i] = averaged(stock[i], average[i], done, price)
            stock[i] += done
            found["turned"][i] += rest
        run[i] = run[i] + 1 if stock[i] >= ledger.enough else 0
        found["run"][i] = max(found["run"][i], run[i])
        found["peak"][i] = max(found["peak"][i], stock[i])
    found["left"] = stock
    found["served"] = [no for no, (units, _) in handed.items() if units]
    counts = {"clipped_in": clipped["in"], "clipped_out": clipped["out"], "idle": idle}
    return found | {name: [count] for name, count in counts.items()}


def averaged(stock: int, average: int, taken: int, price: int) -> int:
    """Return the average cost of a unit after `taken` more came in at `price`, rounded to a whole number, halves up."""
    after = stock + taken
    return (2 * (stock * average + taken * price) + after) // (2 * after) if taken else average


def units_for(value: int, average: int) -> int:
    """Return how many whole units an amount pays for at an average cost; none if they have not cost anything yet."""
    return value // average if average else 0


def price_on(prices: list[tuple[int, int]], day: int, early: str) -> int:
    """Return the latest price from `day` or before."""
    held = [price for start, price in prices if start <= day]
    if held:
        return held[-1]
    return prices[0][1] if early == "first" else 0


def best_of_groups(ledger: StoreBook, by: list[int], what: list[int]) -> int:
    """Return the sum of `what` over the first item of each group with the highest `by`."""
    best: dict[str, int] = {}
    for i, group in enumerate(ledger.groups):
        if group not in best or by[i] > by[best[group]]:
            best[group] = i
    return sum(what[i] for i in best.values())


def ranked_sum(ledger: StoreBook, by: list[int], what: list[int], ties: str) -> int:
    """Return the sum of rank times `what` over all items; ranks within groups, `dense` or with `gaps`."""
    total = 0
    for i, group in enumerate(ledger.groups):
        higher = [v for v, g in zip(by, ledger.groups, strict=True) if g == group and v > by[i]]
        total += (1 + len(set(higher) if ties == "dense" else higher)) * what[i]
    return total
