"""Search for number grids under drawn rules: what follows is filled in, then numbers are tried.

A cell holds the set of numbers that are left for it, as bits. After each trial numbers are struck out that
clash with another cell, that leave a total out of reach, or that some other number of a unit leaves no place for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from verigym.verifiers.games.number_rules import NumberRules, Total

Relation = tuple[int, ...]
"""Numbers that may stand in the other cell, as bits, for each number in this one."""


class NumberSearch:
    """Search for all grids under `rules`. `trials` counts the numbers tried, `operations` the cells looked at."""

    def __init__(self, rules: NumberRules, given: bytes = b"") -> None:
        self.trials = self.operations = 0
        n = rules.side
        self._all = (1 << n) - 1
        self._start = [1 << v - 1 if v else self._all for v in given or bytes(n * n)]
        self._units = rules.units
        self._units_of: list[list[int]] = [[] for _ in range(n * n)]
        for number, unit in enumerate(rules.units):
            for place in unit:
                self._units_of[place].append(number)
        relations: dict[tuple[int, int], Relation] = {}
        differ = tuple(self._all & ~(1 << v) for v in range(n))
        for unit in rules.units:
            for one in unit:
                for other in unit:
                    if one != other:
                        relations[one, other] = differ
        for one, other, clashes in rules.pairs():
            _narrow(relations, one, other, clashes, self._all)
        self._peers: list[list[int]] = [[] for _ in range(n * n)]
        self._links: list[list[tuple[int, Sequence[int]]]] = [[] for _ in range(n * n)]
        for (one, other), relation in sorted(relations.items()):
            if relation == differ:
                self._peers[one].append(other)
            else:
                self._links[one].append((other, _table(relation)))
        self._totals = rules.totals
        self._totals_of: list[list[int]] = [[] for _ in range(n * n)]
        for number, total in enumerate(rules.totals):
            for place in (*total.plus, *total.minus):
                self._totals_of[place].append(number)

    def solve(
        self, limit: int, most: int, order: Sequence[Sequence[int]] | None = None
    ) -> tuple[list[list[int]], bool]:
        """Return up to `limit` grids, and True if the search ended before `most` trials.

        `order` gives the order in which the numbers of each cell are tried; it is ascending without.
        """
        self.trials = self.operations = 0
        found: list[list[int]] = []
        cells = self._start.copy()
        whole = self._try(cells, range(len(cells)), limit, most, order, found)
        return found, whole

    def _try(
        self,
        cells: list[int],
        changed: Sequence[int],
        limit: int,
        most: int,
        order: Sequence[Sequence[int]] | None,
        found: list[list[int]],
    ) -> bool:
        if not self._follow(cells, changed):
            return True
        least, place = 99, -1
        for i, left in enumerate(cells):
            if left & (left - 1) and (count := left.bit_count()) < least:
                least, place = count, i
                if count == 2:
                    break
        if place < 0:
            found.append([left.bit_length() for left in cells])
            return True
        for number in order[place] if order else range(1, self._all.bit_length() + 1):
            if not cells[place] >> number - 1 & 1:
                continue
            if self.trials >= most:
                return False
            self.trials += 1
            tried = cells.copy()
            tried[place] = 1 << number - 1
            if not self._try(tried, (place,), limit, most, order, found):
                return False
            if len(found) >= limit:
                return True
        return True

    def _follow(self, cells: list[int], changed: Sequence[int]) -> bool:
        """Strike out what the cells in `changed` rule out, and what follows; return False on a contradiction."""
        waiting = list(changed)
        units: set[int] = set()
        totals: set[int] = set()
        operations = 0
        while True:
            while waiting:
                place = waiting.pop()
                mask = cells[place]
                units.update(self._units_of[place])
                totals.update(self._totals_of[place])
                if not mask & (mask - 1):
                    for other in self._peers[place]:
                        if cells[other] & mask:
                            operations += 1
                            left = cells[other] & ~mask
                            if not left:
                                self.operations += operations
                                return False
                            cells[other] = left
                            waiting.append(other)
                for other, table in self._links[place]:
                    left = cells[other] & table[mask]
                    if left != cells[other]:
                        operations += 1
                        if not left:
                            self.operations += operations
                            return False
                        cells[other] = left
                        waiting.append(other)
            if totals:
                total = self._totals[totals.pop()]
                operations += len(total.plus) + len(total.minus)
                keep = _keep_remainder if total.modulus else _keep_bounds
                if not keep(cells, total, waiting):
                    self.operations += operations
                    return False
            elif units:
                unit = self._units[units.pop()]
                operations += len(unit)
                once = twice = 0
                for place in unit:
                    twice |= once & cells[place]
                    once |= cells[place]
                if once != self._all:
                    self.operations += operations
                    return False
                once &= ~twice
                for place in unit if once else ():
                    only = cells[place] & once
                    if only and only != cells[place]:
                        if only & (only - 1):
                            self.operations += operations
                            return False
                        cells[place] = only
                        waiting.append(place)
            else:
                self.operations += operations
                return True


def _keep_bounds(cells: list[int], total: Total, waiting: list[int]) -> bool:
    """Strike out the numbers that leave a total out of reach; return False if it is anyway."""
    plus, minus, least, most = total.plus, total.minus, total.least, total.most
    low = high = 0
    for place in plus:
        mask = cells[place]
        low += (mask & -mask).bit_length()
        high += mask.bit_length()
    for place in minus:
        mask = cells[place]
        low -= mask.bit_length()
        high -= (mask & -mask).bit_length()
    if low > most or high < least:
        return False
    if low >= least and high <= most:
        return True
    above, below = most - low, high - least  # how far a cell may be from its own end
    for place in plus:
        if not _cut(cells, place, above, below, waiting):
            return False
    return all(_cut(cells, place, below, above, waiting) for place in minus)


def _cut(cells: list[int], place: int, up: int, down: int, waiting: list[int]) -> bool:
    """Keep the numbers of a cell at most `up` above its smallest and `down` below its largest; return False if none is."""
    mask = cells[place]
    smallest, largest = (mask & -mask).bit_length(), mask.bit_length()
    if largest - smallest <= up and largest - smallest <= down:
        return True
    left = mask & (1 << smallest + up) - 1 if up < largest - smallest else mask
    if down < largest - smallest:
        left &= -(1 << largest - down - 1)
    if left:
        cells[place] = left
        waiting.append(place)
    return bool(left)


def _keep_remainder(cells: list[int], total: Total, waiting: list[int]) -> bool:
    """Strike out the numbers that leave a remainder out of reach, if at most two cells are open."""
    fixed = 0
    open_cells: list[tuple[int, int]] = []
    for places, sign in ((total.plus, 1), (total.minus, -1)):
        for place in places:
            if cells[place] & (cells[place] - 1):
                if len(open_cells) == 2:
                    return True
                open_cells.append((place, sign))
            else:
                fixed += sign * cells[place].bit_length()
    wanted, modulus = range(total.least, total.most + 1), total.modulus
    if not open_cells:
        return fixed % modulus in wanted
    for number, (place, sign) in enumerate(open_cells):
        reach = {fixed}
        for other, turn in open_cells[:number] + open_cells[number + 1 :]:
            reach = {fixed + turn * v for v in _numbers(cells[other])}
        left = 0
        for v in _numbers(cells[place]):
            if any((v * sign + rest) % modulus in wanted for rest in reach):
                left |= 1 << v - 1
        if not left:
            return False
        if left != cells[place]:
            cells[place] = left
            waiting.append(place)
    return True


@cache
def _numbers(mask: int) -> tuple[int, ...]:
    return tuple(v for v in range(1, mask.bit_length() + 1) if mask >> v - 1 & 1)


def _narrow(
    relations: dict[tuple[int, int], Relation],
    one: int,
    other: int,
    clashes: frozenset[tuple[int, int]],
    every: int,
) -> None:
    """Rule the pairs of numbers in `clashes` out for the cells `one` and `other`."""
    for first, second, turned in ((one, other, False), (other, one, True)):
        allowed = list(relations.get((first, second), (every,) * every.bit_length()))
        for a, b in clashes:
            v, w = (b, a) if turned else (a, b)
            allowed[v - 1] &= ~(1 << w - 1)
        relations[first, second] = tuple(allowed)


@cache
def _table(relation: Relation) -> tuple[int, ...]:
    """Return the numbers that may stand in the other cell, for each set of numbers in this one."""
    table = [0] * (1 << len(relation))
    for mask in range(1, len(table)):
        lowest = mask & -mask
        table[mask] = table[mask ^ lowest] | relation[lowest.bit_length() - 1]
    return tuple(table)
