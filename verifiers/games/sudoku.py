"""Rules of sudoku, on boxes of any size or on regions of any shape."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from msgspec import Struct

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.number_rules import NumberRules, read_number_rules

SIGNS = ".123456789ABCDEFG"
"""Characters for the numbers from 0 to 16 in `rows`."""


class Grid(Struct, frozen=True, gc=False):
    """Numbers row by row, 0 for none; which of them are given; the height and width of a box.

    If the task draws rules of its own, its regions stand in place of boxes, and `box` is a row.
    """

    numbers: bytes
    given: bytes
    box: tuple[int, int]
    rules: NumberRules | None = None


@cache
def units(height: int, width: int) -> tuple[tuple[int, ...], ...]:
    """Return the places of each row, column and box."""
    n = height * width
    rows = [tuple(range(n * r, n * r + n)) for r in range(n)]
    columns = [tuple(range(c, n * n, n)) for c in range(n)]
    boxes = [
        tuple((r + i) * n + c + j for i in range(height) for j in range(width))
        for r in range(0, n, height)
        for c in range(0, n, width)
    ]
    return (*rows, *columns, *boxes)


class SudokuRules:
    """`{"rows": ["1..4", ...], "box": [2, 2]}`: a move `[row, column, number]`, from 1, fills a cell.

    `rows` may be one text with spaces between them. Given numbers stay; other cells may be filled anew,
    and 0 empties one; A to G stand for 10 to 16. Won if every row, column and box holds every number.

    `regions` in place of `box` are rows of letters, a letter for each region. `apart` and `totals` may follow, which
    have to hold as well: `{"steps": [[2, 1]], "joined": false, "differences": [0], "sums": [9]}` forbids that a cell
    and the one 2 rows down and 1 column to the right have that difference or that sum, and `{"plus": [[1, 1], [1, 2]],
    "minus": [[3, 3]], "least": 1, "most": 5}` bounds a sum of cells less another, with `modulus` the remainder when it is divided by that.
    """

    def start(self, reference: Mapping[str, JSON]) -> Grid:
        if "regions" in reference:
            if "box" in reference:
                raise TaskError("sudoku: either box or regions")
            rules = read_number_rules(reference)
            given = _given(reference.get("rows"), rules.side, rules.units)
            return Grid(given, given, (1, rules.side), rules)
        if "apart" in reference or "totals" in reference:
            raise TaskError("sudoku: apart and totals need regions")
        box = reference.get("box")
        if (
            not isinstance(box, list | tuple)
            or len(box) != 2
            or not all(type(b) is int for b in box)
        ):
            raise TaskError("sudoku: box must be [height, width]")
        height, width = (int(str(side)) for side in box)
        n = height * width
        if not (1 <= height <= 4 and 1 <= width <= 4 and n >= 4):
            raise TaskError("sudoku: boxes of 2x2 to 4x4")
        given = _given(reference.get("rows"), n, units(height, width))
        return Grid(given, given, (height, width))

    def read(self, move: JSON) -> tuple[int, int, int] | None:
        if isinstance(move, str):
            return _read(move) if len(move) <= 20 else None
        if isinstance(move, list | tuple) and len(move) == 3 and all(type(n) is int for n in move):
            row, column, number = (int(str(n)) for n in move)
            return row - 1, column - 1, number
        return None

    def legal(self, state: Grid, move: tuple[int, int, int]) -> bool:
        n = state.box[0] * state.box[1]
        row, column, number = move
        inside = 0 <= row < n and 0 <= column < n and 0 <= number <= n
        return inside and not state.given[row * n + column]

    def apply(self, state: Grid, move: tuple[int, int, int]) -> Grid:
        n = state.box[0] * state.box[1]
        place = move[0] * n + move[1]
        numbers = state.numbers[:place] + bytes((move[2],)) + state.numbers[place + 1 :]
        return Grid(numbers, state.given, state.box, state.rules)

    def won(self, state: Grid) -> bool:
        if 0 in state.numbers:
            return False
        if state.rules is not None:
            return state.rules.hold(state.numbers)
        return all(len({state.numbers[i] for i in unit}) == len(unit) for unit in units(*state.box))


def _given(rows: JSON, n: int, all_units: tuple[tuple[int, ...], ...]) -> bytes:
    """Return the given numbers that `rows` tell; raise TaskError if they are malformed or clash."""
    if isinstance(rows, str):
        rows = rows.split()
    if not isinstance(rows, list | tuple) or len(rows) != n:
        raise TaskError(f"sudoku: {n} rows are needed")
    for row in rows:
        if not isinstance(row, str) or len(row) != n or row.strip(SIGNS[: n + 1]):
            raise TaskError(f"sudoku: a row is {n} of {SIGNS[: n + 1]}, got {row!r}")
    given = "".join(map(str, rows)).encode().translate(_NUMBERS)
    for unit in all_units:
        filled = [given[i] for i in unit if given[i]]
        if len(set(filled)) != len(filled):
            raise TaskError("sudoku: the given numbers repeat in a row, column or box")
    return given


_NUMBERS = bytes.maketrans(SIGNS.encode(), bytes(range(17)))


@lru_cache(maxsize=1 << 12)
def _read(text: str) -> tuple[int, int, int] | None:
    words = text.replace(",", " ").replace("=", " ").strip(" ()[]").split()
    if len(words) != 3 or not all(map(str.isdecimal, words)):
        return None
    row, column, number = map(int, words)
    return row - 1, column - 1, number
