"""Rules of minesweeper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from verigym.canonical import JSON
from verigym.errors import TaskError

Cell = tuple[int, int]
MAX_SIDE = 40


@dataclass(frozen=True)
class Field:
    """Height, width and mines. Sets of cells are bits: cell (r, c) is bit `r * width + c`."""

    height: int
    width: int
    mines: int

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Mines around each cell."""
        return tuple((near & self.mines).bit_count() for near in around(self.height, self.width))

    @property
    def free(self) -> int:
        """The cells without a mine."""
        return ~self.mines & ((1 << self.height * self.width) - 1)


@dataclass(frozen=True)
class Opened:
    """A field and the cells that are open, as bits."""

    field: Field
    cells: int


@cache
def around(height: int, width: int) -> tuple[int, ...]:
    """The neighbours of each cell, corners included, as bits."""
    return tuple(
        sum(
            1 << i * width + j
            for i in range(max(r - 1, 0), min(r + 2, height))
            for j in range(max(c - 1, 0), min(c + 2, width))
            if (i, j) != (r, c)
        )
        for r in range(height)
        for c in range(width)
    )


def bits(cells: int) -> Iterator[int]:
    """The places of the bits that are set, from the lowest."""
    while cells:
        low = cells & -cells
        yield low.bit_length() - 1
        cells ^= low


def opened_from(field: Field, cells: int, new: int) -> int:
    """`cells` and what opening `new` opens: with no mine around, the neighbours too."""
    near, numbers = around(field.height, field.width), field.numbers
    new &= ~cells
    while new:
        cells |= new
        wide = 0
        for at in bits(new & ~field.mines):
            if not numbers[at]:
                wide |= near[at]
        new = wide & ~cells
    return cells


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
        mines = sum(1 << at for at, sign in enumerate("".join(rows)) if sign == "*")
        field = Field(len(rows), len(rows[0]), mines)
        move = self.read(first)
        if move is None or not _inside(field, move) or _bit(field, move) & mines:
            raise TaskError("minesweeper: first must be a cell without a mine")
        return Opened(field, opened_from(field, 0, _bit(field, move)))

    def read(self, move: JSON) -> Cell | None:
        if isinstance(move, str) and len(move) <= 20:
            words = move.replace(",", " ").strip(" ()[]").split()
            move = [int(w) for w in words if w.isdecimal()] if all(map(str.isdecimal, words)) else 0
        if isinstance(move, list | tuple) and len(move) == 2 and all(type(n) is int for n in move):
            return int(str(move[0])) - 1, int(str(move[1])) - 1
        return None

    def legal(self, state: Opened, move: Cell) -> bool:
        if not _inside(state.field, move) or self.lost(state):
            return False
        return not state.cells & _bit(state.field, move)

    def apply(self, state: Opened, move: Cell) -> Opened:
        return Opened(state.field, opened_from(state.field, state.cells, _bit(state.field, move)))

    def won(self, state: Opened) -> bool:
        return state.cells == state.field.free

    def lost(self, state: Opened) -> bool:
        """Whether a mine was opened."""
        return bool(state.field.mines & state.cells)


def _inside(field: Field, cell: Cell) -> bool:
    return 0 <= cell[0] < field.height and 0 <= cell[1] < field.width


def _bit(field: Field, cell: Cell) -> int:
    return 1 << cell[0] * field.width + cell[1]
