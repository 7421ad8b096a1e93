"""Minesweeper, solvable without guessing."""

from __future__ import annotations

from functools import cache
from itertools import compress
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.counted_fields import SIZES as COUNTED
from verigym.envs.games.counted_fields import count_proof, draw_counted, prove
from verigym.envs.games.minesweeper_proofs import count_reasoning, proved
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.verifiers.games.minesweeper import (
    GAP,
    Field,
    Opened,
    field_of,
    opened_from,
    spread,
)

# Height, width and mines; `counted_fields.py` has higher levels.
SIZES = {
    1: (4, 4, 2),
    2: (5, 5, 4),
    3: (6, 6, 6),
    4: (7, 7, 9),
    5: (8, 8, 12),
    6: (9, 9, 16),
    7: (10, 10, 20),
}
_AT_ONCE = 8

_PROMPT = """\
A field of {height} by {width} cells hides {mines} mines. # is a cell that is not open yet. A number is an open \
cell and counts the mines among the up to eight cells around it; if a 0 is opened, all cells around it open too. \
Open all cells without a mine; opening a mine loses. It can be done without guessing.
Answer with row and column, counted from 1, such as 2 3. Opening an open cell uses up a turn, and you have only \
five turns more than there are cells to open."""


class Minesweeper(ReplayedGame):
    """The environment. An action is `row column`; opening an open cell is invalid."""

    id: ClassVar[str] = "verigym/games/minesweeper-v0"
    game: ClassVar[str] = "minesweeper"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw until reasoning from the first cell, or from those open at the start, opens all."""
        if level in COUNTED:
            return draw_counted(rng, level, self.wants)
        height, width, count = SIZES[level]
        while True:
            for at, *shares in rng.random((_AT_ONCE, count + 1)).tolist():
                # No mine at or around the first cell, so that there is something to go by.
                first, others = _firsts(height, width)[int(at * height * width)]
                mines = _chosen(others, shares)
                essence = f"{height} {width} {mines:x}"
                if not self.wants(essence):
                    continue
                field = field_of(height, width, mines)
                start = opened_from(field, 0, first)
                left = (field.free & ~start).bit_count()
                if left >= 3 and _solvable(field, start):
                    place = int(at * height * width)
                    return _prompt(level), {
                        "rows": _written(field, mines).translate(_MINES, b"c").decode().rstrip(),
                        "first": f"{place // width + 1} {place % width + 1}",
                        "turns": left + 5,
                        "essence": essence,
                    }

    @override
    def show(self, board: Opened) -> str:
        field, cells = board.field, board.cells
        mines = field.mines
        digits = field.numbers & 15 * cells | 14 * ((field.free | mines) & ~cells)
        if mines & cells:
            digits |= 15 * (mines & cells)
        text = " ".join(_written(field, digits).translate(_SIGNS, b"c").decode())
        return text.replace(" \n ", "\n")[:-2]

    @override
    def position(self, board: Opened) -> JSON:
        """Return the position as text, because JSON's numbers end at 64 bits."""
        return hex(board.cells)

    @override
    def moves(self, board: Opened) -> list[str]:
        field = board.field
        chosen = _written(field, (field.free | field.mines) & ~board.cells).translate(_CHOICE)
        return list(compress(_names(field.height, field.width), chosen))

    @override
    def lost(self, board: Opened) -> bool:
        return bool(board.field.mines & board.cells)

    @override
    def best(self, board: Opened) -> str | None:
        """Return a cell that reasoning proves free; if none is proved, any free one."""
        if self.lost(board):
            return None
        field = board.field
        counted = field.counting is not None
        safe = prove(field, board.cells) if counted else proved(field, board.cells, 0)[0]
        safe = safe or field.free & ~board.cells
        lowest = (safe & -safe).bit_length() - 1
        return _names(field.height, field.width)[lowest // 4] if safe else None

    @override
    def work(self, state: Play) -> int:
        """Count the cells that are looked at until one is proved free, or the terms that are added in an elimination."""
        if state.board.field.counting is not None:
            return count_proof(state.board)
        return count_reasoning(state.board)


# What `_written` gives as signs: c between rows is left out, and d ends a row.
_SIGNS = bytes.maketrans(b"def", b"\n#*")
_MINES = bytes.maketrans(b"01d", b".* ")
_CHOICE = bytes.maketrans(b"01cd", b"\0\1\0\0")


@cache
def _prompt(level: int) -> str:
    height, width, count = SIZES[level]
    return _PROMPT.format(height=height, width=width, mines=count)


@cache
def _names(height: int, width: int) -> tuple[str, ...]:
    """Return the name of each digit's cell in a field; digits between rows have one too, which is
    never used."""
    return tuple(f"{r + 1} {c + 1}" for r in range(height) for c in range(width + GAP))


@cache
def _firsts(height: int, width: int) -> list[tuple[int, list[int]]]:
    """Each cell as a set, row by row, with the cells that are neither it nor around it."""
    cells = [1 << 4 * (r * (width + GAP) + c) for r in range(height) for c in range(width)]
    return [(one, [other for other in cells if not other & spread(one, width)]) for one in cells]


def _chosen(cells: list[int], shares: list[float]) -> int:
    """Choose as many of `cells` as there are `shares`, by a partial Fisher-Yates shuffle."""
    cells, left, chosen = cells.copy(), len(cells), 0
    for share in shares:
        at = int(share * left)
        left -= 1
        chosen |= cells[at]
        cells[at] = cells[left]
    return chosen


@cache
def _gaps(height: int, width: int) -> int:
    """The digit d after each row, and c up to the next."""
    gap = sum(digit << 4 * (width + n) for n, digit in enumerate((13, *(12,) * (GAP - 1))))
    return sum(gap << 4 * (width + GAP) * r for r in range(height))


def _written(field: Field, digits: int) -> bytes:
    """The digits of the cells row by row, with those of `_gaps`."""
    height, width = field.height, field.width
    return (b"%x" % (digits | _gaps(height, width)))[::-1]


def _solvable(field: Field, cells: int) -> bool:
    known = 0
    while cells != field.free:
        safe, known = proved(field, cells, known)
        if not safe:
            return False
        cells = opened_from(field, cells, safe)
    return True
