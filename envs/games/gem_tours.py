"""Fewest moves that collect all gems of a keydoor level and reach the goal, taking the keys that pay.

The points of a tour are the gems and the keys. Between two points the walker takes a shortest way through the doors whose keys it
holds, so a table of the fewest moves from each point with each set of points held is enough (Held and Karp, "A
dynamic programming approach to sequencing problems", 1962). A point that is passed on the way to another is held
earlier than the table says, which is never worse. Where arrows turn, a place is a cell at one of four times, and the
walker waits where a move is blocked.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from verigym.verifiers.games.keydoor import (
    MOVES,
    QUARTERS,
    KeydoorLevel,
    KeydoorPlace,
    points,
)

FAR = 1 << 20
"""Moves to what cannot be reached."""

Cell = tuple[int, int]


class Worked(Struct):
    """The table of a tour: the fewest moves to the end from each point and time, by the set held, and the steps that were counted.

    `left[held][point * times + time]` is meant where `held` contains `point`.
    """

    left: list[list[int]]
    tried: int


class GemTours:
    """Shortest tours of one level. Sets of points are bit sets: first the gems, row by row, then the keys, by name.

    A place is a number: that of the cell, row by row, times `times`, and the quarter turns that arrows have made.
    """

    def __init__(self, level: KeydoorLevel) -> None:
        self.level = level
        self.times = QUARTERS if level.is_turning else 1
        self.gems = sorted(level.gems)
        self.keys = sorted(c for c in "".join(level.rows) if c.isascii() and c.islower())
        keys = [level.find(key) for key in self.keys]
        self.points = [self._places(cell) for cell in (*self.gems, *keys)]
        self.start = self._places((level.start.row, level.start.column))[0]
        self.goal = self._places(level.goal)
        self.all_gems = (1 << len(self.gems)) - 1
        self._ways: dict[int, list[list[int]]] = {}

    @cached_property
    def worked(self) -> Worked:
        """The table, computed once."""
        return self.work_out()

    def work_out(self) -> Worked:
        """Compute the table, and count the steps that are looked at and the sums that are compared."""
        count, times, tried = len(self.points), self.times, 0
        between: list[list[list[int]]] = []
        to_goal: list[list[int]] = []
        for keys in range(1 << len(self.keys)):
            rows: list[list[int]] = []
            ends: list[int] = []
            for number, point in enumerate(self.points):
                for place in point:
                    if not self._may_be(number, keys):
                        rows.append([])
                        ends.append(FAR)
                        continue
                    moves, looked = self._search(place, keys)
                    tried += looked
                    rows.append([moves[to] for other in self.points for to in other])
                    ends.append(min(moves[to] for to in self.goal))
            between.append(rows)
            to_goal.append(ends)
        every = (1 << count) - 1
        left = [[FAR] * (count * times) for _ in range(every + 1)]
        for held in range(every, -1, -1):
            keys, rests = held >> len(self.gems), left[held]
            may_end = held & self.all_gems == self.all_gems
            others = [
                (place, left[held | 1 << q][place])
                for q in range(count)
                if not held >> q & 1
                for place in range(q * times, (q + 1) * times)
            ]
            for p in range(count):
                if held >> p & 1:
                    for place in range(p * times, (p + 1) * times):
                        way = between[keys][place]
                        sums = [way[other] + rest for other, rest in others]
                        tried += len(sums)
                        sums.append(to_goal[keys][place] if may_end else FAR)
                        rests[place] = min(sums)
        return Worked(left, tried)

    def is_open(self) -> bool:
        """Return False if something cannot be reached, or left for the goal, even with all keys; seldom True without a tour."""
        every = (1 << len(self.keys)) - 1
        moves, _ = self._search(self.start, every)
        if any(self._soonest(moves, point) >= FAR for point in (*self.points, self.goal)):
            return False
        return all(
            self._soonest(self._search(point[0], every)[0], self.goal) < FAR
            for point in self.points
        )

    def fewest(self, place: KeydoorPlace) -> int:
        """Return the fewest moves from `place` to the end; at least `FAR` if there is no way."""
        if self.level.at_goal(place):
            return 0
        held = self._held(place)
        at = self._places((place.row, place.column))[place.quarters]
        moves, _ = self._search(at, held >> len(self.gems))
        sums = [total for total, _, _, _ in self._next(moves, held)]
        if held & self.all_gems == self.all_gems:
            sums.append(self._soonest(moves, self.goal))
        return min(sums)

    def next_move(self, place: KeydoorPlace) -> str | None:
        """Return the first of the moves that are one nearer to the end; None if there is no way to it, or nothing left."""
        fewest = self.fewest(place)
        if not 0 < fewest < FAR:
            return None
        for move in MOVES:
            there = self.level.move(place, move)
            if there != place and self.fewest(there) == fewest - 1:
                return move
        raise AssertionError("a way of several moves has a first one")

    def tour(self) -> tuple[int, ...]:
        """Return the points of a shortest tour in their order; empty if there is no way or nothing to fetch."""
        order: list[int] = []
        fewest = self.fewest(self.level.start)
        if fewest >= FAR:
            return ()
        at, held, spent = self.start, 0, 0
        while True:
            moves, _ = self._search(at, held >> len(self.gems))
            # The nearest of equals, so that what lies on a way is held when it is passed.
            on = [found[1:] for found in self._next(moves, held) if spent + found[0] == fewest]
            if not on:
                return tuple(order)
            further, point, at = min(on)
            held, spent = held | 1 << point, spent + further
            order.append(point)

    def fewest_in_order(self, gems: Sequence[int]) -> int:
        """Return the fewest moves of a tour that goes for the gems in this order, and fetches the keys that pay for it."""
        at = {(self.start, 0): 0}
        for stop in [*(self.points[gem] for gem in gems), self.goal]:
            reached: dict[tuple[int, int], int] = {}
            # As many keys are fetched on the way as pay; a round for each of them.
            while at:
                fetched: dict[tuple[int, int], int] = {}
                for (place, keys), spent in at.items():
                    moves, _ = self._search(place, keys)
                    for to in stop:
                        _lower(reached, (to, keys), spent + moves[to])
                    for number, key in enumerate(self.points[len(self.gems) :]):
                        if not keys >> number & 1:
                            for to in key:
                                _lower(fetched, (to, keys | 1 << number), spent + moves[to])
                at = fetched
            at = reached
        return min(at.values(), default=FAR)

    def _places(self, cell: Cell) -> range:
        first = (cell[0] * self.level.width + cell[1]) * self.times
        return range(first, first + self.times)

    def _may_be(self, point: int, keys: int) -> bool:
        """Return True if one can stand on a point with these keys: on a key only with itself."""
        return point < len(self.gems) or bool(keys >> (point - len(self.gems)) & 1)

    def _soonest(self, moves: list[int], places: range) -> int:
        return min(moves[place] for place in places)

    def _next(self, moves: list[int], held: int) -> list[tuple[int, int, int, int]]:
        """Return the moves to the end by way of each point that is not held and each time there, those to that point, the point
        and the place."""
        left, times = self.worked.left, self.times
        return [
            (moves[place] + left[held | 1 << q][q * times + time], moves[place], q, place)
            for q, point in enumerate(self.points)
            if not held >> q & 1
            for time, place in enumerate(point)
        ]

    def _held(self, place: KeydoorPlace) -> int:
        held = sum(1 << i for i, gem in enumerate(self.gems) if gem in place.gems)
        keys = sum(1 << i for i, key in enumerate(self.keys) if key in place.keys)
        return held | keys << len(self.gems)

    def _search(self, start: int, keys: int) -> tuple[list[int], int]:
        """Return the fewest moves to each place with these keys, and the number of steps that were looked at."""
        ways = self._ways_with(keys)
        moves = [FAR] * len(ways)
        moves[start], tried, queue = 0, 0, [start]
        for place in queue:
            further = moves[place] + 1
            for there in ways[place]:
                tried += 1
                if moves[there] == FAR:
                    moves[there] = further
                    queue.append(there)
        return moves, tried

    def _ways_with(self, keys: int) -> list[list[int]]:
        if keys not in self._ways:
            opened = {key.upper() for i, key in enumerate(self.keys) if keys >> i & 1}
            self._ways[keys] = [
                self._ways_from(row, column, time, opened)
                for row in range(self.level.height)
                for column in range(self.level.width)
                for time in range(self.times)
            ]
        return self._ways[keys]

    def _ways_from(self, row: int, column: int, time: int, opened: set[str]) -> list[int]:
        found = []
        for move, (down, right) in MOVES.items():
            there = (row + down, column + right)
            inside = 0 <= there[0] < self.level.height and 0 <= there[1] < self.level.width
            if not inside or not _enters(self.level.rows[there[0]][there[1]], move, time, opened):
                there = (row, column)
            found.append(self._places(there)[(time + 1) % self.times])
        return list(dict.fromkeys(found))


def _enters(cell: str, move: str, time: int, opened: set[str]) -> bool:
    if cell == "#" or points(cell, time, move) != move:
        return False
    return not cell.isupper() or cell in opened


def _lower(found: dict[tuple[int, int], int], at: tuple[int, int], moves: int) -> None:
    if moves < found.get(at, FAR):
        found[at] = moves


def straight_order(start: Cell, gems: Sequence[Cell], goal: Cell) -> list[int]:
    """Return the order of the gems that is shortest if walls, arrows and doors are overlooked."""
    count = len(gems)
    best: dict[tuple[int, int], tuple[int, list[int]]] = {
        (1 << i, i): (_apart(start, gem), [i]) for i, gem in enumerate(gems)
    }
    for held in range(1, 1 << count):
        for p in range(count):
            if (held, p) not in best:
                continue
            length, order = best[held, p]
            for q in range(count):
                if held >> q & 1:
                    continue
                total = length + _apart(gems[p], gems[q])
                there = (held | 1 << q, q)
                if there not in best or total < best[there][0]:
                    best[there] = (total, [*order, q])
    every = (1 << count) - 1
    return min(
        (best[every, p][0] + _apart(gems[p], goal), best[every, p][1]) for p in range(count)
    )[1]


def nearest_order(start: Cell, gems: Sequence[Cell]) -> list[int]:
    """Return the order in which the nearest gem comes next if walls, arrows and doors are overlooked."""
    order: list[int] = []
    at = start
    while len(order) < len(gems):
        nearest = min(
            (i for i in range(len(gems)) if i not in order), key=lambda i: _apart(at, gems[i])
        )
        order.append(nearest)
        at = gems[nearest]
    return order


def _apart(one: Cell, other: Cell) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])
