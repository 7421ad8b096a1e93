"""Minesweeper, solvable without guessing."""

from __future__ import annotations

from functools import cache
from itertools import compress, islice
from typing import Any, ClassVar

import numpy as np

from verigym.canonical import JSON
from verigym.envs.games.minesweeper_proofs import proved
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.minesweeper import (
    GAP,
    Field,
    Opened,
    every,
    field_of,
    opened_from,
    spread,
)

# Height, width, mines, and turns.
SIZES = {"easy": (5, 5, 4), "medium": (7, 7, 9), "hard": (9, 9, 16)}
_AT_ONCE = 8

_PROMPT = """\
A field of {height} by {width} cells hides {mines} mines. A number says how many of the up to eight cells \
around are mines, # is not opened yet. Open all cells without a mine; opening a mine loses. It can be \
done without guessing.
Answer with row and column, counted from 1, such as 2 3."""


class Minesweeper(ReplayedGame):
    """The environment. An action is `row column`; opening an open cell is invalid."""

    id: ClassVar[str] = "verigym/games/minesweeper-v0"
    game: ClassVar[str] = "minesweeper"
    difficulties: ClassVar[tuple[str, ...]] = tuple(SIZES)
    recoverable: ClassVar[bool] = False

    def draw(self, rng: np.random.Generator, difficulty: str) -> tuple[str, dict[str, Any]]:
        """See `ReplayedGame`. Drawn until reasoning from the first cell opens all."""
        height, width, count = SIZES[difficulty]
        sets = _sets(height, width)
        while True:
            for order in rng.random((_AT_ONCE, height * width)).argsort(axis=1).tolist():
                # No mine at or around the first cell, so that there is something to go by.
                first = sets[order[0]]
                clear = spread(first, width)
                mines = sum(islice((sets[at] for at in order if not sets[at] & clear), count))
                essence = f"{height} {width} {mines:x}"
                if not self.wants(essence):
                    continue
                field = field_of(height, width, mines)
                start = opened_from(field, 0, first)
                left = (field.free & ~start).bit_count()
                if left >= 3 and _solvable(field, start):
                    return _PROMPT.format(height=height, width=width, mines=count), {
                        "rows": _rows(field, mines, _MINES),
                        "first": [order[0] // width + 1, order[0] % width + 1],
                        "turns": left + 5,
                        "essence": essence,
                    }

    def show(self, board: Opened) -> str:
        """See `ReplayedGame`."""
        field, cells = board.field, board.cells
        hidden = every(field.height, field.width) & ~cells
        digits = field.numbers & 15 * cells | 15 * (field.mines & cells) | 14 * hidden
        return "\n".join(_rows(field, digits, _SIGNS, 2))

    def position(self, board: Opened) -> JSON:
        """See `ReplayedGame`. As text: JSON's numbers end at 64 bits."""
        return hex(board.cells)

    def moves(self, board: Opened) -> list[str]:
        """See `ReplayedGame`."""
        field = board.field
        hidden = every(field.height, field.width) & ~board.cells
        chosen = _written(field, hidden).translate(_CHOICE)
        return list(compress(_names(field.height, field.width), chosen))

    def lost(self, board: Opened) -> bool:
        """See `ReplayedGame`."""
        return bool(board.field.mines & board.cells)

    def best(self, board: Opened) -> str | None:
        """See `ReplayedGame`. A cell that reasoning proves free; where none is proved, a free one."""
        if self.lost(board):
            return None
        field = board.field
        safe = proved(field, board.cells, 0)[0] or field.free & ~board.cells
        lowest = (safe & -safe).bit_length() - 1
        return _names(field.height, field.width)[lowest // 4] if safe else None


_SIGNS = bytes.maketrans(b"ef", b"#*")
_MINES = bytes.maketrans(b"01", b".*")
_CHOICE = bytes.maketrans(b"01", b"\0\1")


@cache
def _names(height: int, width: int) -> tuple[str, ...]:
    """Of each digit of a field; those between rows have one too, which is never asked for."""
    return tuple(f"{r + 1} {c + 1}" for r in range(height) for c in range(width + GAP))


@cache
def _sets(height: int, width: int) -> tuple[int, ...]:
    """Each cell as a set, row by row."""
    return tuple(1 << 4 * (r * (width + GAP) + c) for r in range(height) for c in range(width))


def _written(field: Field, digits: int) -> bytes:
    return (b"%0*x" % (field.height * (field.width + GAP), digits))[::-1]


def _rows(field: Field, digits: int, signs: bytes, stride: int = 1) -> list[str]:
    """A row of signs each, `stride` characters from one to the next."""
    wide = bytearray(b" ") * (stride * field.height * (field.width + GAP))
    wide[::stride] = _written(field, digits).translate(signs)
    text = wide.decode()
    end, step = stride * field.width - stride + 1, stride * (field.width + GAP)
    return [text[at : at + end] for at in range(0, len(text), step)]


def _solvable(field: Field, cells: int) -> bool:
    known = 0
    while cells != field.free:
        safe, known = proved(field, cells, known)
        if not safe:
            return False
        cells = opened_from(field, cells, safe)
    return True
