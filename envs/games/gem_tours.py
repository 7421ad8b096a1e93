"""Fewest moves that collect all gems of a keydoor level and reach the goal, taking the keys that pay.

The points of a tour are the gems and the keys. Between two points the walker takes a shortest way through the doors whose keys it
holds, so a table of the fewest moves from each point with each set of points held is enough (Held and Karp, "A
dynamic programming approach to sequencing problems", 1962). A point that is passed on the way to another is held
earlier than the table says, which is never worse. Where arrows turn, a place is a cell at one of four times, and the
walker waits where a move is blocked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

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
        self.tried = 0  # steps of searches that were looked at, and sums that were compared
        self._known: dict[tuple[int, int], list[int]] = {}
        self._ways: dict[int, list[list[int]]] = {}

    @cached_property
    def left(self) -> list[list[int]]:
        """The fewest moves to the end, by the set held and by point and time; meant where the set contains the point."""
        count, times = len(self.points), self.times
        every = (1 << count) - 1
        left = [[FAR] * (count * times) for _ in range(every + 1)]
        for held in range(every, -1, -1):
            keys, rests = held >> len(self.gems), left[held]
            may_end = held & self.all_gems == self.all_gems
            others = [
                (at, left[held | 1 << q][at])
                for q in range(count)
                if not held >> q & 1
                for at in range(q * times, (q + 1) * times)
            ]
            for p in range(count):
                if held >> p & 1:
                    for time, place in enumerate(self.points[p]):
                        way = self._ahead(place, keys)
                        sums = [way[at] + rest for at, rest in others]
                        self.tried += len(sums)
                        sums.append(way[-1] if may_end else FAR)
                        rests[p * times + time] = min(sums)
        return left

    def is_open(self) -> bool:
        """Return False if something cannot be reached, or left for the goal, even with all keys; seldom True without a tour."""
        every, times = (1 << len(self.keys)) - 1, self.times
        way = self._ahead(self.start, every)
        if any(min(way[at : at + times]) >= FAR for at in range(0, len(way), times)):
            return False
        return all(self._ahead(point[0], every)[-1] < FAR for point in self.points)

    def fewest(self, place: KeydoorPlace) -> int:
        """Return the fewest moves from `place` to the end; at least `FAR` if there is no way."""
        if self.level.at_goal(place):
            return 0
        held = self._held(place)
        at = self._places((place.row, place.column))[place.quarters]
        way = self._points_from(self._search(at, held >> len(self.gems)))
        sums = [total for total, _, _ in self._next(way, held)]
        if held & self.all_gems == self.all_gems:
            sums.append(way[-1])
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
        place, held, spent = self.start, 0, 0
        while True:
            # The nearest of equals, so that what lies on a way is held when it is passed.
            way = self._ahead(place, held >> len(self.gems))
            on = [found[1:] for found in self._next(way, held) if spent + found[0] == fewest]
            if not on:
                return tuple(order)
            further, at = min(on)
            point, time = divmod(at, self.times)
            place, held, spent = self.points[point][time], held | 1 << point, spent + further
            order.append(point)

    def fewest_in_order(self, gems: Sequence[int]) -> int:
        """Return the fewest moves of a tour that goes for the gems in this order, and fetches the keys that pay for it."""
        from_here = {(self.start, 0): 0}
        for gem in gems:
            reached: dict[tuple[int, int], int] = {}
            for keys, way, spent in self._with_keys(from_here):
                for time, place in enumerate(self.points[gem]):
                    _lower(reached, (place, keys), spent + way[gem * self.times + time])
            from_here = reached
        return min((spent + way[-1] for _, way, spent in self._with_keys(from_here)), default=FAR)

    def _with_keys(
        self, from_here: dict[tuple[int, int], int]
    ) -> Iterator[tuple[int, list[int], int]]:
        """Yield keys, ways ahead and moves spent after fetching any keys in any order, none included."""
        while from_here:
            fetched: dict[tuple[int, int], int] = {}
            for (start, keys), spent in from_here.items():
                way = self._ahead(start, keys)
                yield keys, way, spent
                for number in range(len(self.keys)):
                    point = len(self.gems) + number
                    if not keys >> number & 1:
                        for time, place in enumerate(self.points[point]):
                            total = spent + way[point * self.times + time]
                            _lower(fetched, (place, keys | 1 << number), total)
            from_here = fetched

    def _places(self, cell: Cell) -> range:
        first = (cell[0] * self.level.width + cell[1]) * self.times
        return range(first, first + self.times)

    def _next(self, way: list[int], held: int) -> list[tuple[int, int, int]]:
        """Return the moves to the end by way of each point that is not held and each time there, those to that point, and the
        index of both."""
        return [
            (way[at] + self.left[held | 1 << at // self.times][at], way[at], at)
            for at in range(len(way) - 1)
            if not held >> at // self.times & 1
        ]

    def _ahead(self, place: int, keys: int) -> list[int]:
        """Return the fewest moves to each point and time and, last, to the goal; kept for further use."""
        if (place, keys) not in self._known:
            self._known[place, keys] = self._points_from(self._search(place, keys))
        return self._known[place, keys]

    def _points_from(self, moves: list[int]) -> list[int]:
        found = [moves[place] for point in self.points for place in point]
        return [*found, min(moves[place] for place in self.goal)]

    def _held(self, place: KeydoorPlace) -> int:
        held = sum(1 << i for i, gem in enumerate(self.gems) if gem in place.gems)
        keys = sum(1 << i for i, key in enumerate(self.keys) if key in place.keys)
        return held | keys << len(self.gems)

    def _search(self, start: int, keys: int) -> list[int]:
        """Return the fewest moves to each place with these keys."""
        ways = self._ways_with(keys)
        moves = [FAR] * len(ways)
        moves[start], queue = 0, [start]
        for place in queue:
            further = moves[place] + 1
            for there in ways[place]:
                self.tried += 1
                if moves[there] == FAR:
                    moves[there] = further
                    queue.append(there)
        return moves

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
