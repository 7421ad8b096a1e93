"""Rules of minesweeper.

Fields are whole numbers of one hexadecimal digit a cell: cell (r, c) is digit `r * (width + 3) + c` from the
lowest. Sets hold 1 at their cells, counts hold up to 8, and a whole field is counted by a few shifts and
sums; the three digits between rows stay 0, so that what is shifted by up to three columns meets no cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.counted_cells import CountedCells, counted, counting_of

Cell = tuple[int, int]
MAX_SIDE = 40
GAP = 3
"""Number of digits between two rows."""
_DIGITS = str.maketrans(".o*", "001")
_OPEN = str.maketrans(".o*", "010")


class Field(Struct, frozen=True, gc=False):
    """Height, width, the set of mines, the other cells, and the number of each cell.

    That is how many mines are around it, or what `counting` says.
    """

    height: int
    width: int
    mines: int
    free: int
    numbers: int
    counting: CountedCells | None = None


class Opened(Struct, frozen=True, gc=False):
    """A field and the set of cells that are open."""

    field: Field
    cells: int


@cache
def every(height: int, width: int) -> int:
    """Return the set of all cells."""
    row = sum(1 << 4 * c for c in range(width))
    return sum(row << 4 * (width + GAP) * r for r in range(height))


def field_of(height: int, width: int, mines: int) -> Field:
    """Return the field with these mines."""
    cells = every(height, width)
    return Field(height, width, mines, cells ^ mines, around(mines, width) & 15 * cells)


def counted_field(height: int, width: int, mines: int, counting: CountedCells) -> Field:
    """Return the field with these mines, and numbers that count other cells than those around."""
    numbers = counted(counting, height, width, width + GAP, mines)
    return Field(height, width, mines, every(height, width) ^ mines, numbers, counting)


def number_at(field: Field, cell: int) -> int:
    """Return the number of a cell."""
    return field.numbers // cell & 15


# These few lines are where the time of a field goes: drawing one that needs no guess counts some ten times.


def around(cells: int, width: int) -> int:
    """Return, for each cell, the number of `cells` around it; also between the rows."""
    row = 4 * (width + GAP)
    three = (cells << 4) + cells + (cells >> 4)
    return three + (three << row) + (three >> row) - cells


def spread(cells: int, width: int) -> int:
    """Return `cells` and the cells around them; between the rows too."""
    row = 4 * (width + GAP)
    three = cells << 4 | cells | cells >> 4
    return three << row | three | three >> row


def some(counts: int, cells: int) -> int:
    """Return the members of `cells` whose count in `counts` is not 0."""
    half = counts | counts >> 2
    return (half | half >> 1) & cells


def opened_from(field: Field, cells: int, new: int) -> int:
    """Return `cells` and what opening `new` opens: with no mine around, the cells around too; nothing else in a field
    whose numbers count other cells."""
    if field.counting is not None:
        return cells | new
    new &= ~cells
    cells |= new
    numbers, free = field.numbers, field.free
    new &= ~some(numbers & 15 * new, new) & free
    if not new:
        return cells
    wide = free & ~some(numbers, free)
    while new:
        new = spread(new, field.width) & free & ~cells
        cells |= new
        new &= wide
    return cells


class MinesweeperRules:
    """`{"rows": ["..*", "..."], "first": [1, 1]}`, `*` a mine: a move `[row, column]`, from 1, opens a cell.

    `rows` may be one text with spaces between them. `first` is open at the start. Won if all cells
    without a mine are open and none with one.

    With `"counted": [[-2, 1], ...]` a number counts the mines in the cells so many rows down and columns to the right
    of it, around the edges too if `wrapped`; it is a remainder if there is a `modulus`. Nothing opens by itself, and
    the cells `o` of `rows` are open at the start in place of `first`.
    """

    def start(self, reference: Mapping[str, JSON]) -> Opened:
        rows, first = reference.get("rows"), reference.get("first")
        if isinstance(rows, str):
            rows = rows.split()
        elif not isinstance(rows, list | tuple) or not all(isinstance(row, str) for row in rows):
            raise TaskError("minesweeper: rows must be a list of texts, or one text")
        lines: list[str] = rows  # type: ignore[assignment]
        signs = ".*" if reference.get("counted") is None else ".*o"
        if len(set(map(len, lines))) != 1 or "".join(lines).strip(signs):
            raise TaskError(f"minesweeper: rows of one width of {' and '.join(signs)}")
        height, width = len(lines), len(lines[0])
        if not (height <= MAX_SIDE and 1 <= width <= MAX_SIDE):
            raise TaskError(f"minesweeper: at most {MAX_SIDE} by {MAX_SIDE}")
        if counting := counting_of(reference, height, width):
            if first is not None:
                raise TaskError(
                    "minesweeper: with counted, cells o of the rows take the place of first"
                )
            field = counted_field(height, width, _cells(lines, _DIGITS), counting)
            return Opened(field, _cells(lines, _OPEN))
        field = field_of(height, width, _cells(lines, _DIGITS))
        move = self.read(first)
        bit = 0 if move is None else _at(field, move)
        if not bit & field.free:
            raise TaskError("minesweeper: first must be a cell without a mine")
        return Opened(field, opened_from(field, 0, bit))

    def read(self, move: JSON) -> Cell | None:
        if isinstance(move, str):
            return _read(move) if len(move) <= 20 else None
        if isinstance(move, list | tuple) and len(move) == 2 and all(type(n) is int for n in move):
            return int(str(move[0])) - 1, int(str(move[1])) - 1
        return None

    def legal(self, state: Opened, move: Cell) -> bool:
        field = state.field
        bit = _at(field, move)
        return bit != 0 and not (bit | field.mines) & state.cells

    def apply(self, state: Opened, move: Cell) -> Opened:
        return Opened(state.field, opened_from(state.field, state.cells, _at(state.field, move)))

    def won(self, state: Opened) -> bool:
        return state.cells == state.field.free

    def lost(self, state: Opened) -> bool:
        """Return True if a mine was opened."""
        return bool(state.field.mines & state.cells)


@lru_cache(maxsize=1 << 12)
def _read(text: str) -> Cell | None:
    words = text.replace(",", " ").strip(" ()[]").split()
    if len(words) != 2 or not all(map(str.isdecimal, words)):
        return None
    return int(words[0]) - 1, int(words[1]) - 1


def _at(field: Field, cell: Cell) -> int:
    """Return the set of that cell; empty if it lies outside the field."""
    row, column = cell
    inside = 0 <= row < field.height and 0 <= column < field.width
    return 1 << 4 * (row * (field.width + GAP) + column) if inside else 0


def _cells(rows: Sequence[str], which: dict[int, int]) -> int:
    digits = ("0" * GAP).join(rows).translate(which)
    return int(digits[::-1], 16)
