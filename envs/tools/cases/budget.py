"""Choosing the cases that a budget pays for, by a search over the ways through them that cannot be ruled out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from verigym.envs.tools.draws import Draws

LONGEST = 4000
"""Operations after which a search gives up."""
_SHARE = (7, 10)
"""Part of what all cases would cost that a budget is at most."""


class BudgetWay(NamedTuple):
    """A choice of the cases that are carried out; of two ways the larger is better.

    More fees are better, then a smaller cost, then the way that carries out the first case at which two ways differ:
    its bits in `mask` stand for the cases, the first case highest.
    """

    fees: int
    less: int
    """Cost of the cases that are carried out, below 0."""
    mask: int

    def has(self, place: int, count: int) -> bool:
        """Return True if the case at a place, of `count`, is carried out."""
        return bool(self.mask >> (count - 1 - place) & 1)


NOTHING = BudgetWay(0, 0, 0)
"""The way that carries nothing out."""

Offer = tuple[int, int]
"""Cost and fee of a case that may be carried out."""


class Cases(Protocol):
    """Cases, by their places, whose offers depend on which of those before are carried out."""

    def offer(self, place: int) -> Offer | None:
        """Return what a case costs and brings now; None if it cannot be carried out."""

    def limits(self, place: int) -> Offer | None:
        """Return the least that a case may cost and the most that it may bring, but for what its kind adds; None if it
        is never carried out."""

    def kind(self, place: int) -> str:
        """Return the kind of a case; of place -1, the kind that was carried out last before all."""

    def more(self, before: str, kind: str) -> int:
        """Return what is added for a kind that is carried out right after another."""

    def take(self, place: int) -> Callable[[], None]:
        """Carry out a case that has an offer, and return a function that undoes this."""


class WaySearch:
    """Finds the best way through some cases; `operations` counts the cases looked at."""

    def __init__(self, cases: Cases, count: int) -> None:
        self.cases, self.count = cases, count
        self.operations = 0
        self._best = NOTHING
        self._bounds: list[dict[str, list[int]]] = []

    def best(self, budget: int) -> BudgetWay | None:
        """Return the best way that a budget pays for; None if the search takes more than `LONGEST` operations."""
        self.operations, self._best = 0, NOTHING
        self._bounds = self._bounded(budget)
        self._walk(0, NOTHING, budget, self.cases.kind(-1))
        return None if self.operations > LONGEST else self._best

    def _bounded(self, budget: int) -> list[dict[str, list[int]]]:
        """Return, for the cases from each place on and each kind before them, the most fees that each sum may bring."""
        cases = self.cases
        kinds = {cases.kind(place) for place in range(-1, self.count)}
        bounds = [{kind: [0] * (budget + 1) for kind in kinds}]
        for place in reversed(range(self.count)):
            after, limits, kind = bounds[-1], cases.limits(place), cases.kind(place)
            if limits is None or limits[0] > budget:
                bounds.append(after)
                continue
            cost, fee = limits
            taken, found = after[kind][: budget + 1 - cost], {}
            for before, rest in after.items():
                own = fee + cases.more(before, kind)
                both = map(max, rest[cost:], [most + own for most in taken])
                found[before] = [*rest[:cost], *both]
            bounds.append(found)
        return bounds[::-1]

    def _walk(self, place: int, way: BudgetWay, left: int, last: str) -> None:
        while place < self.count and self.operations <= LONGEST:
            if way.fees + self._bounds[place][last][left] < self._best.fees:
                return
            self.operations += 1
            offered = self.cases.offer(place)
            if offered is not None and offered[0] <= left:
                cost, fee = offered
                undo = self.cases.take(place)
                bit = 1 << (self.count - 1 - place)
                more = BudgetWay(way.fees + fee, way.less - cost, way.mask | bit)
                self._walk(place + 1, more, left - cost, self.cases.kind(place))
                undo()
            place += 1
        self._best = max(self._best, way)

    def offers(self) -> tuple[list[Offer | None], list[Offer | None]]:
        """Return the offers if nothing else is carried out, and if whatever can be is."""
        places = range(self.count)
        alone = [self.cases.offer(place) for place in places]
        return alone, self._in_order(None)[1]

    def in_order(self, budget: int) -> int:
        """Return the mask of the way that carries out what fits, one case after the other."""
        return self._in_order(budget)[0]

    def _in_order(self, left: int | None) -> tuple[int, list[Offer | None]]:
        mask, found, undone = 0, [], []
        for place in range(self.count):
            found.append(offered := self.cases.offer(place))
            if offered is None or (left is not None and offered[0] > left):
                continue
            undone.append(self.cases.take(place))
            mask |= 1 << (self.count - 1 - place)
            left = left if left is None else left - offered[0]
        for undo in reversed(undone):
            undo()
        return mask, found


def best_fixed(offers: Iterable[tuple[int, Offer]], budget: int) -> BudgetWay:
    """Return the best way of a budget through cases whose offers, each with its bit, do not change.

    A way that brings no more than a cheaper one is not gone on with.
    """
    best = [NOTHING]
    for bit, (cost, fee) in offers:
        more = [
            BudgetWay(one.fees + fee, one.less - cost, one.mask | bit)
            for one in best
            if cost - one.less <= budget
        ]
        found: list[BudgetWay] = []
        for way in sorted([*best, *more], key=lambda one: (-one.less, -one.fees, -one.mask)):
            if not found or way.fees > found[-1].fees:
                found.append(way)
        best = found
    return max(best)


def simple_plans(offers: Sequence[Offer | None], budget: int) -> list[int]:
    """Return the masks of plans that take the same offer for granted whatever else is done.

    They take what fits in order, the dearest fees first, the best fee for a euro first, or the best choice of all.
    """
    known = [(i, one) for i, one in enumerate(offers) if one is not None]
    bits = {i: 1 << (len(offers) - 1 - i) for i, _ in known}
    found = [best_fixed([(bits[i], one) for i, one in known], budget).mask]
    for key in (
        lambda pair: pair[0],
        lambda pair: -pair[1][1],
        lambda pair: -pair[1][1] / max(1, pair[1][0]),
    ):
        mask, left = 0, budget
        for i, (cost, _) in sorted(known, key=key):
            if cost <= left:
                mask, left = mask | bits[i], left - cost
        found.append(mask)
    return found


class DrawnBudget(NamedTuple):
    """A budget, the best way that it pays for, and True if no simple plan finds it; no way if that is not known."""

    budget: int
    way: BudgetWay | None
    is_hard: bool


def draw_budget(draws: Draws, search: WaySearch) -> DrawnBudget:
    """Draw a budget for cases."""
    alone, full = search.offers()
    part, whole = _SHARE
    most = part * sum(one[0] for one in full if one is not None) // whole
    budget = draws.between(2 * most // 3, most)
    way = search.best(budget)
    if way is None:
        return DrawnBudget(budget, None, is_hard=False)
    plans = [*simple_plans(alone, budget), *simple_plans(full, budget), search.in_order(budget)]
    return DrawnBudget(budget, way, way.mask not in plans)
