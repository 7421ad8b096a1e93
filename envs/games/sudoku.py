"""Sudoku, with exactly one solution. Up to level 7 it needs no guessing; from level 8 on rules are drawn."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.number_puzzles import PuzzleSize, draw_puzzle, say_rules, written
from verigym.envs.games.number_search import NumberSearch
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.number_rules import NumberRules
from verigym.verifiers.games.sudoku import SIGNS, Grid, units

# Box, and how many cells stay given at most (fewer are taken away where that would need guessing).
SIZES = {
    1: ((2, 2), 10),
    2: ((2, 2), 8),
    3: ((2, 3), 22),
    4: ((2, 3), 16),
    5: ((3, 3), 42),
    6: ((3, 3), 30),
    7: ((3, 4), 100),
}

PUZZLES = {
    8: PuzzleSize(6, 2, (0.2, 0.2, 0.4, 0.2), (10, 25), 14),
    9: PuzzleSize(6, 2, (0.0, 0.6, 0.4, 0.0), (50, 120), 14),
    10: PuzzleSize(7, 2, (0.05, 0.75, 0.2, 0.0), (100, 250), 30),
}

_PROMPT = """\
Fill the grid: each row, each column and each box of {height} rows and {width} columns holds 1 to {n} once. A \
dot is an empty cell; the numbers that are given cannot be changed.
Answer with row, column and number, such as 1 2 {n} for a {n} in row 1, column 2; number 0 empties a cell. You \
have {turns} moves."""

_DRAWN_RULES = """\
Fill the grid: each row, each column and each region holds 1 to {n} once. A dot is an empty cell; no number is given. The \
regions, a letter for each:
{regions}

These rules have to be kept too, where r2c3 is the number in row 2, column 3; there is one solution:
{rules}

Answer with row, column and number, such as 1 2 {n} to write {n} into row 1, column 2; number 0 empties a cell. You \
have {turns} moves."""


class Sudoku(ReplayedGame):
    """The environment. An action is `row column number`; given numbers cannot be changed."""

    id: ClassVar[str] = "verigym/games/sudoku-v0"
    game: ClassVar[str] = "sudoku"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Cells are taken from a full grid as long as each is forced by the rest.

        From level 8 on no number is given, and rules are drawn until there is one solution.
        """
        if level in PUZZLES:
            return self._draw_rules(rng, PUZZLES[level])
        (height, width), givens = SIZES[level]
        n = height * width
        full = _full(rng, height, width)
        while not self.wants(full):
            full = _full(rng, height, width)
        numbers = _dug(rng, list(full), height, width, givens)
        empty = numbers.count(0)
        turns = empty + empty // 2 + 2
        signs = _signs(bytes(numbers))
        rows = " ".join([signs[i : i + n] for i in range(0, n * n, n)])
        prompt = _PROMPT.format(height=height, width=width, n=n, turns=turns)
        return prompt, {
            "rows": rows,
            "box": [height, width],
            "turns": turns,
            "essence": full,  # so that no two splits share a solution
        }

    def _draw_rules(self, rng: np.random.Generator, size: PuzzleSize) -> tuple[str, dict[str, Any]]:
        rules, full = draw_puzzle(rng, size, self.wants)
        n = size.side
        turns = n * n + n * n // 2 + 2
        regions = "\n".join([" ".join(row) for row in rules.regions])
        prompt = _DRAWN_RULES.format(n=n, regions=regions, rules=say_rules(rules), turns=turns)
        rows = " ".join(["." * n] * n)
        return prompt, {"rows": rows, **written(rules), "turns": turns, "essence": full}

    @override
    def show(self, board: Grid) -> str:
        n = board.box[0] * board.box[1]
        if n > 9:
            shown = [f"{number or '.':>2}" for number in board.numbers]
            return "\n".join([" ".join(shown[i : i + n]) for i in range(0, n * n, n)])
        signs = " ".join(_signs(board.numbers))
        return "\n".join([signs[i : i + 2 * n - 1] for i in range(0, 2 * n * n, 2 * n)])

    @override
    def position(self, board: Grid) -> JSON:
        return list(board.numbers)

    @override
    def best(self, board: Grid) -> str | None:
        """Return the first cell that differs from the solution."""
        n = board.box[0] * board.box[1]
        if board.rules is not None:
            solved = _searched(board.given, board.rules)
        else:
            solved = _solved(board.given, board.box)
        for place, number in enumerate(solved):
            if board.numbers[place] != number:
                return f"{place // n + 1} {place % n + 1} {number}"
        return None

    @override
    def operations(self, board: Grid) -> int:
        if board.rules is not None:
            search = NumberSearch(board.rules, board.given)
            search.solve(2, 1 << 30)  # the second one does not exist, as is proven so
            return search.operations
        return _reasoned(board.given, board.box)[1]


@lru_cache(maxsize=256)
def _searched(given: bytes, rules: NumberRules) -> bytes:
    """Return the solution under drawn rules."""
    grids, _ = NumberSearch(rules, given).solve(1, 1 << 30)
    assert grids, "a drawn sudoku has a solution"
    return bytes(grids[0])


_SIGNS = bytes.maketrans(bytes(range(17)), SIGNS.encode())


def _signs(numbers: bytes) -> str:
    return numbers.translate(_SIGNS).decode()


def _full(rng: np.random.Generator, height: int, width: int) -> list[int]:
    """A full grid: a cyclic pattern with numbers, rows, columns, bands and stacks shuffled."""
    n = height * width
    rows = [band * height + r for band in rng.permutation(width) for r in rng.permutation(height)]
    columns = [
        stack * width + c for stack in rng.permutation(height) for c in rng.permutation(width)
    ]
    numbers = [int(v) + 1 for v in rng.permutation(n)]
    turned = bool(rng.integers(2)) and height == width
    grid = [numbers[int(width * (r % height) + r // height + c) % n] for r in rows for c in columns]
    return [grid[(i % n) * n + i // n] for i in range(n * n)] if turned else grid


def _dug(
    rng: np.random.Generator, full: list[int], height: int, width: int, givens: int
) -> list[int]:
    """`full` with cells emptied, each of which the others force by then.

    A cell is emptied where it is the only number left for its place, or the only place left for its
    number in a row, column or box. Filling them in again in the reverse order needs no guess, so
    there is one solution.
    """
    n = height * width
    numbers = list(full)
    all_units = units(height, width)
    of: list[list[tuple[int, ...]]] = [[u for u in all_units if i in u] for i in range(n * n)]
    order = rng.permutation(n * n).tolist()
    left = n * n
    for place in order:
        if left <= givens:
            break
        number = numbers[place]
        numbers[place] = 0
        if _forced(numbers, place, number, of):
            left -= 1
        else:
            numbers[place] = number
    return numbers


def _forced(numbers: list[int], place: int, number: int, of: list[list[tuple[int, ...]]]) -> bool:
    seen = {numbers[i] for unit in of[place] for i in unit}
    if len(seen - {0}) == len(of[place][0]) - 1:
        return True
    for unit in of[place]:
        # Is there another empty cell of this unit that could hold the number?
        for other in unit:
            empty = other != place and not numbers[other]
            if empty and not any(numbers[i] == number for near in of[other] for i in near):
                break
        else:
            return True
    return False


@lru_cache(maxsize=256)
def _solved(given: bytes, box: tuple[int, int]) -> bytes:
    """The solution: what is forced, then by trying the cell with the fewest numbers left."""
    n = box[0] * box[1]
    near = _near(box)
    numbers = _reasoned(given, box)[0]

    def fill() -> bool:
        best: tuple[int, list[int]] | None = None
        for place, number in enumerate(numbers):
            if not number:
                taken = {numbers[j] for j in near[place]}
                free = [v for v in range(1, n + 1) if v not in taken]
                if best is None or len(free) < len(best[1]):
                    best = place, free
                    if len(free) <= 1:
                        break
        if best is None:
            return True
        for number in best[1]:
            numbers[best[0]] = number
            if fill():
                return True
        numbers[best[0]] = 0
        return False

    fill()
    return bytes(numbers)


def _reasoned(given: bytes, box: tuple[int, int]) -> tuple[list[int], int]:
    """Fill in what is forced, and count the operations: to look at a cell, or to strike a number from it.

    A cell is forced where one number is left for it, or where it is the only one of a row, column or box
    that is left for a number.
    """
    n, near = box[0] * box[1], _near(box)
    numbers, operations = list(given), 0
    left: dict[int, set[int]] = {}
    for place, number in enumerate(numbers):
        if not number:
            left[place] = set(range(1, n + 1))
            for other in near[place]:
                operations += 1
                left[place].discard(numbers[other])
    forced = [(place, min(some)) for place, some in left.items() if len(some) == 1]
    while left:
        if not forced:
            for unit in units(*box):
                seen: dict[int, list[int]] = {}
                for place in unit:
                    operations += 1
                    for number in left.get(place, ()):
                        seen.setdefault(number, []).append(place)
                forced += [(some[0], number) for number, some in seen.items() if len(some) == 1]
            if not forced:
                break
        place, number = forced.pop()
        if place not in left:
            continue
        del left[place]
        numbers[place] = number
        for other in near[place]:
            if other in left:
                operations += 1
                left[other].discard(number)
                if len(left[other]) == 1:
                    forced.append((other, min(left[other])))
                elif not left[other]:
                    return list(given), operations  # no solution
    return numbers, operations


@cache
def _near(box: tuple[int, int]) -> list[list[int]]:
    """The other cells of each cell's row, column and box."""
    all_units = units(*box)
    cells = range((box[0] * box[1]) ** 2)
    return [sorted({j for u in all_units if i in u for j in u} - {i}) for i in cells]
