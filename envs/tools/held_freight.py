"""Draws freight with a `Hold` whose best choice no simple plan finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from verigym.envs.tools.dispatch import Dispatcher, Freight, draw_freight, is_told_apart
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.hold import Hold, HoldLoad, draw_pairs
from verigym.envs.tools.hold_search import HoldSearch
from verigym.verifiers.tools.read_calls import ReadCall

_HALF = (45, 55)
"""Percentage of what all that the articles let pass takes that each limit is, least and most."""
_TRIES = 4
"""Limits and pairs that are tried for the same freight."""
_REJECTED = 3
"""Consignments that the articles stop, at least."""


class HeldFreight(NamedTuple):
    """A task with the calls that solve it."""

    freight: Freight
    hold: Hold
    calls: list[ReadCall]


def draw_held_freight(draws: Draws, load: HoldLoad) -> HeldFreight:
    """Draw a task until exactly one choice is best, and it is none of the simple plans nor what these become by adding,
    dropping or exchanging one consignment as long as that brings more, and two for two at last."""
    while True:
        freight = draw_freight(draws, load.consignments, load.articles, limited=True, many=True)
        count = load.consignments
        litres = tuple(draws.between(40, 400) for _ in range(count))
        crates = tuple(draws.between(1, 12) for _ in range(count))
        free = Dispatcher(freight).hold_search(Hold(litres, crates, 0, 0, ()))
        passing = free.passing()
        paid = sum(free.items[place].fee > 0 for place in passing)
        if paid < load.bookable or len(passing) > count - _REJECTED:
            continue
        for _ in range(_TRIES):
            found = _held(draws, freight, free, passing, load)
            if found is not None:
                return found


def _held(
    draws: Draws, freight: Freight, free: HoldSearch, passing: Sequence[int], load: HoldLoad
) -> HeldFreight | None:
    """Return the freight with limits and pairs, for its consignments at the places `passing`; None if the task is not
    hard. `free` is its search without them."""
    most = [
        sum(free.items[place].sizes[k] for place in passing) * draws.between(*_HALF) // 100
        for k in range(3)
    ]
    fees = [
        one.fee if is_possible else None
        for one, is_possible in zip(free.items, free.possible, strict=True)
    ]
    pairs = tuple(draw_pairs(draws, fees, load.pairs))
    _, litres, crates = zip(*(one.sizes for one in free.items), strict=True)
    freight, hold = replace(freight, limit=most[0]), Hold(litres, crates, most[1], most[2], pairs)
    places = _hard_choice(Dispatcher(freight).hold_search(hold))
    if places is None:
        return None
    calls = Dispatcher(freight, hold).calls(places)
    kept = sum(call.name in ("book", "postpone") for call in calls)
    if kept >= load.bookable and is_told_apart(freight, calls, hold, places):
        return HeldFreight(freight, hold, calls)
    return None


def _hard_choice(search: HoldSearch) -> frozenset[int] | None:
    """Return the best choice if it is the only one and no simple plan finds it; None otherwise."""
    mask, known = search.plan()
    found = search.best(known)
    if found is None or found.ways > 1 or found.fees <= known:
        return None
    return found.places if search.doubly_exchanged(mask) < found.fees else None
