"""Rules of number grids that a task may draw: regions of any shape, clashes at a distance, and totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from verigym.canonical import JSON
from verigym.errors import TaskError

LEAST_SIDE, MOST_SIDE = 4, 9

Numbers = Sequence[int] | bytes


class Total(Struct, frozen=True, gc=False):
    """The sum of the cells in `plus` less that of the cells in `minus` is `least` to `most`.

    With a `modulus` above 0 this is said of the remainder when the difference is divided by it.
    """

    plus: tuple[int, ...]
    minus: tuple[int, ...]
    least: int
    most: int
    modulus: int = 0

    def value(self, numbers: Numbers) -> int:
        """Return the sum of `plus` less that of `minus`, or its remainder."""
        value = sum([numbers[i] for i in self.plus]) - sum([numbers[i] for i in self.minus])
        return value % self.modulus if self.modulus else value

    def holds(self, numbers: Numbers) -> bool:
        return self.least <= self.value(numbers) <= self.most


class Apart(Struct, frozen=True, gc=False):
    """Two cells at such a distance, rows down and columns to the right, have no such difference and no such sum.

    If `joined`, the row below the last one is the first, and the column to the right of the last one too.
    """

    steps: tuple[tuple[int, int], ...]
    joined: bool
    differences: tuple[int, ...]
    sums: tuple[int, ...]


class NumberRules(Struct, frozen=True, gc=False):
    """A grid of `side` rows and columns; each row, column and region holds 1 to `side` once."""

    side: int
    regions: tuple[str, ...]
    apart: tuple[Apart, ...] = ()
    totals: tuple[Total, ...] = ()

    @property
    def units(self) -> tuple[tuple[int, ...], ...]:
        """Places of each row, column and region."""
        return _units(self.side, self.regions)

    def pairs(self) -> Iterator[tuple[int, int, frozenset[tuple[int, int]]]]:
        """Yield two places, and the pairs of numbers that they may not hold."""
        n = self.side
        for rule in self.apart:
            clashes = frozenset(
                (a, b)
                for a in range(1, n + 1)
                for b in range(1, n + 1)
                if abs(a - b) in rule.differences or a + b in rule.sums
            )
            for row in range(n):
                for column in range(n):
                    for down, right in rule.steps:
                        below, beside = row + down, column + right
                        if rule.joined:
                            below, beside = below % n, beside % n
                        if 0 <= below < n and 0 <= beside < n and (below, beside) != (row, column):
                            yield n * row + column, n * below + beside, clashes

    def hold(self, numbers: Numbers) -> bool:
        """Return True if a full grid keeps all rules."""
        if any(len({numbers[i] for i in unit}) != len(unit) for unit in self.units):
            return False
        if not all(total.holds(numbers) for total in self.totals):
            return False
        return not any((numbers[a], numbers[b]) in clashes for a, b, clashes in self.pairs())


@lru_cache(maxsize=256)
def _units(side: int, regions: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    cells: dict[str, list[int]] = {}
    for place, letter in enumerate("".join(regions)):
        cells.setdefault(letter, []).append(place)
    rows = [tuple(range(side * r, side * r + side)) for r in range(side)]
    columns = [tuple(range(c, side * side, side)) for c in range(side)]
    return (*rows, *columns, *(tuple(some) for _, some in sorted(cells.items())))


def read_number_rules(reference: Mapping[str, JSON]) -> NumberRules:
    """Return the rules of `regions`, `apart` and `totals`; raise TaskError if they are malformed."""
    regions = reference.get("regions")
    if isinstance(regions, str):
        regions = regions.split()
    if not isinstance(regions, list | tuple) or not LEAST_SIDE <= len(regions) <= MOST_SIDE:
        raise TaskError(f"sudoku: regions must be {LEAST_SIDE} to {MOST_SIDE} rows of letters")
    side, letters = len(regions), "".join(map(str, regions))
    if any(not isinstance(row, str) or len(row) != side for row in regions) or set(
        Counter(letters).values()
    ) != {side}:
        raise TaskError(f"sudoku: each of {side} regions needs {side} cells in {side} rows")
    apart = tuple(_apart(raw, side) for raw in _items(reference.get("apart", []), "apart"))
    totals = tuple(_total(raw, side) for raw in _items(reference.get("totals", []), "totals"))
    return NumberRules(side, tuple(map(str, regions)), apart, totals)


def _apart(raw: JSON, side: int) -> Apart:
    if not isinstance(raw, Mapping) or type(raw.get("joined", False)) is not bool:
        raise TaskError(f"sudoku: a rule in apart needs steps, and joined true or false: {raw!r}")
    steps = tuple(_pair(step, -side + 1, side - 1) for step in _items(raw.get("steps"), "steps"))
    differences = tuple(_whole(n) for n in _items(raw.get("differences", []), "differences"))
    sums = tuple(_whole(n) for n in _items(raw.get("sums", []), "sums"))
    if not steps or (0, 0) in steps or not differences + sums or min(differences + sums) < 0:
        raise TaskError(f"sudoku: a rule in apart forbids a difference or sum at a step: {raw!r}")
    return Apart(steps, bool(raw.get("joined", False)), differences, sums)


def _total(raw: JSON, side: int) -> Total:
    if not isinstance(raw, Mapping):
        raise TaskError(f"sudoku: a total needs plus, minus, least and most: {raw!r}")
    plus, minus = (
        tuple(
            (row - 1) * side + column - 1
            for row, column in (_pair(cell, 1, side) for cell in _items(raw.get(name, []), name))
        )
        for name in ("plus", "minus")
    )
    least, most = _whole(raw.get("least")), _whole(raw.get("most"))
    modulus = _whole(raw.get("modulus", 0))
    if modulus < 0 or modulus == 1:
        raise TaskError(f"sudoku: modulus must be 2 or more, or 0 for none, got {modulus}")
    if not plus or len({*plus, *minus}) < len(plus) + len(minus) or least > most:
        raise TaskError(f"sudoku: a total has cells, each once, and least is at most most: {raw!r}")
    return Total(plus, minus, least, most, modulus)


def _items(raw: JSON, name: str) -> Sequence[JSON]:
    if not isinstance(raw, list | tuple):
        raise TaskError(f"sudoku: {name} must be a list, got {raw!r}")
    return raw


def _pair(raw: JSON, least: int, most: int) -> tuple[int, int]:
    if not isinstance(raw, list | tuple) or len(raw) != 2:
        raise TaskError(f"sudoku: [rows, columns] expected, got {raw!r}")
    one, other = _whole(raw[0]), _whole(raw[1])
    if not (least <= one <= most and least <= other <= most):
        raise TaskError(f"sudoku: {raw!r} must be from {least} to {most}")
    return one, other


def _whole(raw: JSON) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise TaskError(f"sudoku: a whole number expected, got {raw!r}")
    return raw
