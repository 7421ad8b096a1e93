"""Boards of connect four as bit sets.

A board is a pair of bit sets, of X and of O. Bit `7 * column + row` is a cell, rows from the bottom;
the seventh bit of each column stays empty, so that lines do not run over the edge.
"""

from __future__ import annotations

from verigym.canonical import JSON
from verigym.errors import TaskError

COLUMNS, ROWS = 7, 6
BOTTOM = sum(1 << 7 * column for column in range(COLUMNS))
CELLS = BOTTOM * 63
COLUMN = 63
_FROM_MIDDLE = tuple(COLUMN << 7 * column for column in (3, 2, 4, 1, 5, 0, 6))

Board = tuple[int, int]


def board_of(rows: JSON) -> Board:
    """Return the bit sets of six rows of seven signs, the top one first. Raises TaskError if it is not a
    position of a game that goes on."""
    if (
        not isinstance(rows, list | tuple)
        or len(rows) != ROWS
        or not all(isinstance(row, str) and len(row) == COLUMNS for row in rows)
        or set("".join(map(str, rows))) - set(".XO")
    ):
        raise TaskError("connect-four: rows must be six texts of seven of . X O")
    xs, os = (
        sum(
            1 << 7 * column + ROWS - 1 - r
            for r, row in enumerate(rows)
            for column, cell in enumerate(str(row))
            if cell == sign
        )
        for sign in "XO"
    )
    both = xs | os
    if both + BOTTOM & both or four(xs) or four(os):
        raise TaskError("connect-four: signs must lie on each other, without four in a line")
    return xs, os


def rows_of(board: Board) -> list[str]:
    """Return six rows of seven signs, the top one first."""
    xs, os = board
    return [
        "".join(
            "X" if xs >> (7 * column + row) & 1 else "O" if os >> (7 * column + row) & 1 else "."
            for column in range(COLUMNS)
        )
        for row in range(ROWS - 1, -1, -1)
    ]


def four(signs: int) -> bool:
    """Return True if the signs include four in a line."""
    for step in (1, 6, 7, 8):
        twos = signs & signs >> step
        if twos & twos >> 2 * step:
            return True
    return False


def open_cells(both: int) -> int:
    """Return the lowest empty cell of each column that is not full."""
    return (both + BOTTOM) & CELLS


def completing(signs: int, both: int) -> int:
    """Empty cells that would give `signs` four in a line."""
    found = signs << 1 & signs << 2 & signs << 3
    for step in (6, 7, 8):
        left, right = signs << step, signs >> step
        two_left, two_right = left & signs << 2 * step, right & signs >> 2 * step
        found |= two_left & (signs << 3 * step | right) | two_right & (signs >> 3 * step | left)
    return found & CELLS & ~both


def safe_cells(me: int, you: int) -> int:
    """Return the cells to play after which `you` cannot make four at once; `me` cannot now either."""
    both = me | you
    cells, yours = open_cells(both), completing(you, both)
    must = cells & yours
    if must:
        if must & (must - 1):
            return 0
        cells = must
    return cells & ~(yours >> 1)


def bits(cells: int) -> list[int]:
    """Return the single bits of a set, those of the middle columns first."""
    return [cells & column for column in _FROM_MIDDLE if cells & column]
