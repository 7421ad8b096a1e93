"""`HoldSearch`: the choice of consignments that brings most within several limits, by branch and bound.

All states that are left after a consignment are columns of one array, so that each step is done for all of them at
once. A state is dropped if no way on from it can bring as much as the best choice known: its limits and pairs are
priced, and with these prices the best way through the rest is known for each kind of goods booked last. Prices are whole
thousandths, so that the same states are dropped on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from verigym.envs.tools.cases.rulebook import Article, Facts, RuleCondition, Tariff
from verigym.envs.tools.hold import ConsignmentPair

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST_STATES = 30_000
"""States after a consignment at which a search gives up."""
_SCALE = 1000
_ROUNDS = 60
_FEES, _MASK, _LAST, _COUNT, _USED = 0, 1, 2, 3, 4
_LIMITS = 3


class HoldItem(NamedTuple):
    """A consignment as the search sees it."""

    client: int
    goods: str
    fee: int
    """Price without what the goods before it and pairs add."""
    sizes: tuple[int, int, int]
    """Kilograms, litres and crates."""
    facts: Facts
    """Facts that do not depend on what is booked."""


class _Clause(NamedTuple):
    """Rest of an article for one consignment: conditions about bookings, each with its wanted outcome."""

    allows: bool
    when: list[RuleCondition]
    excepted: list[tuple[RuleCondition, bool]] | None
    """The exception holds if all of these are so; None if it never holds."""


class HoldFound(NamedTuple):
    """Best choice, its sum of prices, and the number of choices that bring as much."""

    places: frozenset[int]
    fees: int
    ways: int


class HoldSearch:
    """Finds the best choice; bit `place` of a mask stands for the consignment at a place."""

    def __init__(
        self,
        items: Sequence[HoldItem],
        articles: Sequence[Article],
        tariff: Tariff,
        limits: tuple[int, int, int],
        pairs: Sequence[ConsignmentPair],
    ) -> None:
        self.items, self.limits, self.pairs = items, limits, pairs
        self.operations = 0
        self._clients = 1 + max(one.client for one in items)
        self._goods = sorted({one.goods for one in items})
        self._kinds = [self._goods.index(one.goods) for one in items]
        none = [0] * len(self._goods)
        rows = [[tariff.more(a, b) for b in self._goods] for a in self._goods]
        self._follows = np.array([*rows, none], dtype=np.int64)
        self._clauses = [_left_of(articles, one.facts) for one in items]
        self.possible = [
            not (left and left[-1] == _Clause(False, [], None) and not any(c.allows for c in left))
            for left in self._clauses
        ]
        self._firsts: list[list[int]] = [[] for _ in items]
        self._seconds: list[list[int]] = [[] for _ in items]
        for number, pair in enumerate(pairs):
            self._firsts[pair.first - 1].append(number)
            self._seconds[pair.second - 1].append(number)

    # States.

    def _start(self, n: int) -> Ints:
        states = np.zeros((_USED + _LIMITS + 2 * self._clients, n), dtype=np.int64)
        states[_LAST] = len(self._goods)
        return states

    def _passes(self, states: Ints, place: int) -> Bools:
        """Return where the articles let a consignment pass."""
        client = _USED + _LIMITS + 2 * self.items[place].client
        rows = {"all": _COUNT, "total": _USED, "earlier": client, "sum": client + 1}
        n = states.shape[1]
        passed, undecided = np.zeros(n, dtype=np.bool_), np.ones(n, dtype=np.bool_)

        def holds(condition: RuleCondition) -> Bools:
            above: Bools = states[rows[condition.trait]] > int(condition.value)
            return above if condition.sign == "is above" else ~above

        for clause in self._clauses[place]:
            applies = undecided
            for condition in clause.when:
                applies = applies & holds(condition)
            if clause.excepted is not None:
                excepted = np.ones(n, dtype=np.bool_)
                for condition, wanted in clause.excepted:
                    excepted &= holds(condition) == wanted
                applies = applies & ~excepted
            if clause.allows:
                passed |= applies
            undecided = undecided & ~applies
        return passed | undecided

    def _fits(self, states: Ints, place: int) -> Bools:
        """Return where limits and pairs leave room for a consignment."""
        fits = np.ones(states.shape[1], dtype=np.bool_)
        for k, size in enumerate(self.items[place].sizes):
            fits &= states[_USED + k] <= self.limits[k] - size
        for number in self._seconds[place]:
            if self.pairs[number].more is None:
                fits &= states[_MASK] >> (self.pairs[number].first - 1) & 1 == 0
        return fits

    def _take(self, states: Ints, place: int, by: Ints | int = 1) -> None:
        """Book a consignment in the states at which `by` is 1."""
        item, kind = self.items[place], self._kinds[place]
        gain = item.fee + self._follows[states[_LAST], kind]
        for number in self._seconds[place]:
            pair = self.pairs[number]
            gain += (pair.more or 0) * (states[_MASK] >> (pair.first - 1) & 1)
        states[_FEES] += gain * by
        states[_MASK] += (1 << place) * by
        states[_LAST] += (kind - states[_LAST]) * by
        states[_COUNT] += by
        for k, size in enumerate(item.sizes):
            states[_USED + k] += size * by
        client = _USED + _LIMITS + 2 * item.client
        states[client] += by
        states[client + 1] += item.sizes[0] * by

    # Choices.

    def fees(self, wanted: Bools) -> tuple[Ints, Ints]:
        """Return what choices (rows) bring, below 0 where they exceed a limit or break a pair, and what they book: a
        consignment that the articles refuse is not booked."""
        states = self._start(len(wanted))
        broken = np.zeros(len(wanted), dtype=np.bool_)
        for place in range(len(self.items)):
            takes = wanted[:, place] & self._passes(states, place)
            broken |= takes & ~self._fits(states, place)
            self._take(states, place, takes.astype(np.int64))
        return np.where(broken, -1, states[_FEES]), states[_MASK]

    def exchanged(self, masks: Sequence[int]) -> tuple[int, int]:
        """Return the best choice, and what it brings, that some choices become by adding, dropping or exchanging one
        consignment as long as that brings more."""
        n = len(self.items)
        places = [place for place in range(n) if self.possible[place]]
        steps = np.array(list(_steps(n, places)), dtype=np.bool_)
        best, found = 0, -1
        seen: set[int] = set()
        now = sorted(set(masks))
        while now:
            wanted = np.array([[mask >> i & 1 for i in range(n)] for mask in now], dtype=np.bool_)
            near = (wanted[:, None, :] ^ steps[None, :, :]).reshape(-1, n)
            values, booked = self.fees(near)
            seen.update(now)
            then: list[int] = []
            for row in range(len(now)):
                mine = values[row * len(steps) : (row + 1) * len(steps)]
                place = int(mine.argmax())
                mask, value = int(booked[row * len(steps) + place]), int(mine[place])
                if value > found:
                    best, found = mask, value
                if value > max(int(mine[0]), 0) and mask not in seen and mask not in then:
                    then.append(mask)
            now = then
        return best, found

    def doubly_exchanged(self, mask: int) -> int:
        """Return the most that a choice brings after two of its consignments are exchanged for two others."""
        n = len(self.items)
        inside = [i for i in range(n) if mask >> i & 1]
        outside = [i for i in range(n) if not mask >> i & 1 and self.possible[i]]
        steps = [
            mask ^ (1 << a | 1 << b | 1 << c | 1 << d)
            for a, b in combinations(inside, 2)
            for c, d in combinations(outside, 2)
        ]
        if not steps:
            return -1
        wanted = np.array(steps, dtype=np.int64)[:, None] >> np.arange(n) & 1 == 1
        return int(self.fees(wanted)[0].max())

    def passing(self) -> list[int]:
        """Return the places of the consignments that the articles let pass if nothing is postponed."""
        booked = self.fees(np.ones((1, len(self.items)), dtype=np.bool_))[1]
        return self._places(int(booked[0]))

    def plan(self) -> tuple[int, int]:
        """Return the best choice that the simple plans become by exchanges, and what it brings."""
        return self.exchanged(self.simple_plans(self.passing()))

    def _places(self, mask: int) -> list[int]:
        return [place for place in range(len(self.items)) if mask >> place & 1]

    def simple_plans(self, passing: Sequence[int]) -> list[int]:
        """Return choices of the consignments at some places, whose own prices are taken for granted: what fits in order,
        the dearest first, the best price for what it takes of the limits first; and all, without the cheapest, or the worst
        for what they take, until the rest fits."""
        items = self.items

        def share(place: int) -> float:
            sizes = zip(items[place].sizes, self.limits, strict=True)
            return sum(size / limit for size, limit in sizes)

        def by_share(place: int) -> float:
            return -items[place].fee / share(place)

        def by_weight(place: int) -> float:
            return -items[place].fee / items[place].sizes[0]

        def by_fee(place: int) -> float:
            return -items[place].fee

        found = [self._filled(passing)]
        for key in (by_fee, by_weight, by_share):
            order = sorted(passing, key=key)
            found.append(self._filled(order))
            left = list(order)
            while left and not self._is_allowed(left):
                left.pop()
            found.append(sum(1 << place for place in left))
        return found

    def _filled(self, order: Sequence[int]) -> int:
        taken: list[int] = []
        for place in order:
            if self._is_allowed([*taken, place]):
                taken.append(place)
        return sum(1 << place for place in taken)

    def _is_allowed(self, places: Sequence[int]) -> bool:
        for k, limit in enumerate(self.limits):
            if sum(self.items[place].sizes[k] for place in places) > limit:
                return False
        return not any(
            pair.more is None and pair.first - 1 in places and pair.second - 1 in places
            for pair in self.pairs
        )

    # The search.

    def best(self, known: int) -> HoldFound | None:
        """Return the best choice, which is known to bring at least `known`; None if there are too many states."""
        limits, bonds = self._prices(known)
        ahead, waiting = self._ahead(limits, bonds)
        room = sum(price * most for price, most in zip(limits, self.limits, strict=True))
        states = self._start(1)
        pending = np.zeros(1, dtype=np.int64)
        self.operations = 0
        for place in range(len(self.items)):
            self.operations += states.shape[1]
            can = self._passes(states, place) & self._fits(states, place)
            taken, held = states[:, can].copy(), pending[can]
            self._take(taken, place)
            skipped = self._after(states, pending, place, bonds, is_taken=False)
            held = self._after(taken, held, place, bonds, is_taken=True)
            states, pending = np.concatenate([states, taken], 1), np.concatenate([skipped, held])
            bound = states[_FEES] * _SCALE + pending + (room + waiting[place + 1])
            for k, price in enumerate(limits):
                bound -= price * states[_USED + k]
            bound += ahead[place + 1][states[_LAST]]
            keep = bound >= known * _SCALE
            states, pending = states[:, keep], pending[keep]
            if states.shape[1] > MOST_STATES:
                return None
        fees = states[_FEES]
        column = int(fees.argmax())
        most = int(fees[column])
        places = frozenset(self._places(int(states[_MASK][column])))
        return HoldFound(places, most, int((fees == most).sum()))

    def _after(
        self, states: Ints, pending: Ints, place: int, bonds: Sequence[int], *, is_taken: bool
    ) -> Ints:
        """Return what pairs that are decided by half count for, after a consignment is booked or not."""
        for number in self._firsts[place]:
            is_bonus = (self.pairs[number].more or 0) > 0
            if is_taken == is_bonus:
                pending = pending + bonds[number]
        for number in self._seconds[place]:
            pair = self.pairs[number]
            has = states[_MASK] >> (pair.first - 1) & 1
            pending = pending - bonds[number] * (has if (pair.more or 0) > 0 else 1 - has)
        return pending

    def _own(self, limits: Sequence[float], bonds: Sequence[float], scale: int) -> list[float]:
        """Return what each consignment brings at the prices of limits and pairs."""
        own = [
            scale * one.fee - sum(p * size for p, size in zip(limits, one.sizes, strict=True))
            for one in self.items
        ]
        for pair, bond in zip(self.pairs, bonds, strict=True):
            first, second, more = pair.first - 1, pair.second - 1, pair.more or 0
            own[first] += bond if more > 0 else -bond
            own[second] += scale * more - bond if more > 0 else -bond
        return own

    def _prices(self, known: int) -> tuple[list[int], list[int]]:
        """Return prices of limits and pairs, in thousandths, at which the bound of all choices is low.

        A pair that adds is shared out between its two; one that costs, or excludes, is priced as if its cost were due for
        each of both that is booked, less one. Source: subgradient steps of Held and Karp 1971.
        """
        limits, bonds = (
            [0.0] * _LIMITS,
            [(pair.more or 0) / 2 if (pair.more or 0) > 0 else 0.0 for pair in self.pairs],
        )
        best, found = None, (limits, bonds)
        pace = 1.0
        for number in range(_ROUNDS):
            value, taken = self._relaxed(limits, bonds)
            if best is None or value < best:
                best, found = value, (limits, bonds)
            elif number % 5 == 4:
                pace *= 0.7
            slack = [
                (most - sum(self.items[i].sizes[k] for i in taken)) / most
                for k, most in enumerate(self.limits)
            ]
            lean = [
                float((pair.first - 1 in taken) - (pair.second - 1 in taken))
                if (pair.more or 0) > 0
                else 1.0 - (pair.first - 1 in taken) - (pair.second - 1 in taken)
                for pair in self.pairs
            ]
            norm = sum(one * one for one in slack) + sum(one * one for one in lean) / 100
            if norm == 0 or value <= known:
                break
            step = pace * (value - known) / norm
            limits = [
                max(0.0, price - step * one / most)
                for price, one, most in zip(limits, slack, self.limits, strict=True)
            ]
            bonds = [
                min(_most_bond(pair), max(0.0, bond - step * one / 100))
                for pair, bond, one in zip(self.pairs, bonds, lean, strict=True)
            ]
        return [int(_SCALE * p) for p in found[0]], [int(_SCALE * b) for b in found[1]]

    def _relaxed(self, limits: Sequence[float], bonds: Sequence[float]) -> tuple[float, set[int]]:
        """Return the bound of all choices at some prices, and the places that it books."""
        own = self._own(limits, bonds, 1)
        kinds = range(len(self._goods) + 1)
        after = [0.0] * len(kinds)
        takes: list[list[bool]] = []
        follows = self._follows.tolist()
        for place in reversed(range(len(self.items))):
            kind = self._kinds[place]
            now, taking = list(after), [False] * len(kinds)
            if self.possible[place]:
                for last in kinds:
                    more = own[place] + follows[last][kind] + after[kind]
                    if more > after[last]:
                        now[last], taking[last] = more, True
            takes.append(taking)
            after = now
        last, taken = len(self._goods), set[int]()
        for place, taking in enumerate(reversed(takes)):
            if taking[last]:
                taken.add(place)
                last = self._kinds[place]
        value = after[-1] + sum(p * most for p, most in zip(limits, self.limits, strict=True))
        for pair, bond in zip(self.pairs, bonds, strict=True):
            value += 0.0 if (pair.more or 0) > 0 else bond
        return value, taken

    def _ahead(self, limits: Sequence[int], bonds: Sequence[int]) -> tuple[list[Ints], list[int]]:
        """Return, from each place on, the most that the rest brings by the goods booked last, and what pairs that are not
        begun count for."""
        own = [int(one) for one in self._own(limits, bonds, _SCALE)]
        after = np.zeros(len(self._goods) + 1, dtype=np.int64)
        ahead, waiting = [after], [0]
        for place in reversed(range(len(self.items))):
            kind = self._kinds[place]
            if self.possible[place]:
                more = own[place] + _SCALE * self._follows[:, kind] + after[kind]
                after = np.maximum(after, more)
            ahead.append(after)
            begun = [n for n in self._firsts[place] if (self.pairs[n].more or 0) <= 0]
            waiting.append(waiting[-1] + sum(bonds[n] for n in begun))
        return ahead[::-1], waiting[::-1]


def _most_bond(pair: ConsignmentPair) -> float:
    return 1000.0 if pair.more is None else float(abs(pair.more))


def _steps(n: int, places: Sequence[int]) -> Iterator[list[bool]]:
    """Yield what changes in a choice of `n`: nothing, or one or two of some places."""
    yield [False] * n
    for one, two in combinations_with_replacement(places, 2):
        yield [place in (one, two) for place in range(n)]


def _left_of(articles: Sequence[Article], facts: Facts) -> list[_Clause]:
    """Return what is left of the articles for a consignment, up to one that applies in any case."""
    found: list[_Clause] = []
    for article in articles:
        whens = [one for one in article.when if one.trait not in facts]
        if not all(one.holds(facts) for one in article.when if one.trait in facts):
            continue
        excepted: list[tuple[RuleCondition, bool]] | None = []
        for condition, wanted in ((article.unless, True), (article.but, False)):
            if condition is None:
                excepted = None if wanted else excepted
            elif excepted is None:
                continue
            elif condition.trait not in facts:
                excepted.append((condition, wanted))
            elif condition.holds(facts) != wanted:
                excepted = None
        if excepted == []:
            continue
        found.append(_Clause(article.allows, whens, excepted))
        if not whens and excepted is None:
            break
    return found
