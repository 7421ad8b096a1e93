"""Rules of minesweeper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from verigym.canonical import JSON
from verigym.errors import TaskError

Cell = tuple[int, int]
MAX_SIDE = 40


@dataclass(frozen=True)
class Field:
    """Height, width and mines; what surrounds each cell."""

    height: int
    width: int
    mines: frozenset[Cell]

    def count(self, cell: Cell) -> int:
        """Mines around `cell`."""
        return sum(near in self.mines for near in around(self.height, self.width)[cell])


@dataclass(frozen=True)
class Opened:
    """A field and the cells that are open."""

    field: Field
    cells: frozenset[Cell]


@cache
def around(height: int, width: int) -> Mapping[Cell, tuple[Cell, ...]]:
    """The neighbours of each cell, corners included."""
    return {
        (r, c): tuple(
            (i, j)
            for i in range(max(r - 1, 0), min(r + 2, height))
            for j in range(max(c - 1, 0), min(c + 2, width))
            if (i, j) != (r, c)
        )
        for r in range(height)
        for c in range(width)
    }


def opened_from(field: Field, cells: frozenset[Cell], cell: Cell) -> frozenset[Cell]:
    """`cells` and what opening `cell` opens: with no mine around, its neighbours too."""
    near = around(field.height, field.width)
    found, waiting = set(cells), [cell]
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            if at not in field.mines and not field.count(at):
                waiting.extend(near[at])
    return frozenset(found)


class Minesweeper:
    """`{"rows": ["..*", "..."], "first": [1, 1]}`, `*` a mine: a move `[row, column]`, from 1, opens a cell.

    `first` is open at the start. Won where all cells without a mine are open and none with one.
    """

    def start(self, reference: Mapping[str, JSON]) -> Opened:
        rows, first = reference.get("rows"), reference.get("first")
        if not isinstance(rows, list | tuple) or not all(isinstance(row, str) for row in rows):
            raise TaskError("minesweeper: rows must be a list of texts")
        if not rows or len({len(row) for row in rows}) != 1 or set("".join(rows)) - set(".*"):
            raise TaskError("minesweeper: rows of one width of . and *")
        if not 1 <= len(rows) <= MAX_SIDE or not 1 <= len(rows[0]) <= MAX_SIDE:
            raise TaskError(f"minesweeper: at most {MAX_SIDE} by {MAX_SIDE}")
        mines = frozenset(
            (r, c) for r, row in enumerate(rows) for c, s in enumerate(row) if s == "*"
        )
        field = Field(len(rows), len(rows[0]), mines)
        move = self.read(first)
        if move is None or move not in around(field.height, field.width) or move in mines:
            raise TaskError("minesweeper: first must be a cell without a mine")
        return Opened(field, opened_from(field, frozenset(), move))

    def read(self, move: JSON) -> Cell | None:
        if isinstance(move, str) and len(move) <= 20:
            words = move.replace(",", " ").strip(" ()[]").split()
            move = [int(w) for w in words if w.isdecimal()] if all(map(str.isdecimal, words)) else 0
        if isinstance(move, list | tuple) and len(move) == 2 and all(type(n) is int for n in move):
            return int(str(move[0])) - 1, int(str(move[1])) - 1
        return None

    def legal(self, state: Opened, move: Cell) -> bool:
        inside = 0 <= move[0] < state.field.height and 0 <= move[1] < state.field.width
        return inside and move not in state.cells and not self.lost(state)

    def apply(self, state: Opened, move: Cell) -> Opened:
        return Opened(state.field, opened_from(state.field, state.cells, move))

    def won(self, state: Opened) -> bool:
        field = state.field
        free = field.height * field.width - len(field.mines)
        return len(state.cells) == free and not self.lost(state)

    def lost(self, state: Opened) -> bool:
        """Whether a mine was opened."""
        return not state.field.mines.isdisjoint(state.cells)
