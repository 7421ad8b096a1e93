"""Minesweeper, solvable without guessing."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np

from verigym.canonical import JSON
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.minesweeper import Field, Opened, around, bits, opened_from

# Height, width, mines, and turns.
SIZES = {"easy": (5, 5, 4), "medium": (7, 7, 9), "hard": (9, 9, 16)}
_MOST_FACTS = 400

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
        near = around(height, width)
        cells = height * width
        while True:
            draws = rng.random(cells + 1).tolist()
            first = int(draws.pop() * cells)
            # No mine at or around the first cell, so that there is something to go by.
            clear = near[first] | 1 << first
            free = [at for at in range(cells) if not clear >> at & 1]
            free.sort(key=draws.__getitem__)
            field = Field(height, width, sum(1 << at for at in free[:count]))
            essence = f"{height} {width} {field.mines:x}"
            if not self.wants(essence):
                continue
            start = opened_from(field, 0, 1 << first)
            left = (field.free & ~start).bit_count()
            if left >= 3 and _solvable(field, start):
                signs = ["*" if field.mines >> at & 1 else "." for at in range(cells)]
                rows = ["".join(signs[at : at + width]) for at in range(0, cells, width)]
                prompt = _PROMPT.format(height=height, width=width, mines=count)
                place = [first // width + 1, first % width + 1]
                return prompt, {
                    "rows": rows,
                    "first": place,
                    "turns": left + 5,
                    "essence": essence,
                }

    def show(self, board: Opened) -> str:
        """See `ReplayedGame`."""
        field = board.field
        signs = ["#"] * (field.height * field.width)
        for at in bits(board.cells):
            signs[at] = "*" if field.mines >> at & 1 else str(field.numbers[at])
        width = field.width
        return "\n".join(" ".join(signs[at : at + width]) for at in range(0, len(signs), width))

    def position(self, board: Opened) -> JSON:
        """See `ReplayedGame`. Bits, as text: JSON's numbers end at 64 of them."""
        return hex(board.cells)

    def moves(self, board: Opened) -> list[str]:
        """See `ReplayedGame`."""
        field = board.field
        names = _names(field.height, field.width)
        return [name for at, name in enumerate(names) if not board.cells >> at & 1]

    def lost(self, board: Opened) -> bool:
        """See `ReplayedGame`."""
        return bool(board.field.mines & board.cells)

    def best(self, board: Opened) -> str | None:
        """See `ReplayedGame`. A cell that reasoning proves free; where none is proved, a free one."""
        if self.lost(board):
            return None
        field = board.field
        safe = _safe(field, board.cells) or field.free & ~board.cells
        return _names(field.height, field.width)[next(bits(safe))] if safe else None


@cache
def _names(height: int, width: int) -> tuple[str, ...]:
    return tuple(f"{r + 1} {c + 1}" for r in range(height) for c in range(width))


def _solvable(field: Field, cells: int) -> bool:
    while cells != field.free:
        safe = _safe(field, cells)
        if not safe:
            return False
        cells = opened_from(field, cells, safe)
    return True


def _safe(field: Field, cells: int) -> int:
    """Hidden cells that hold no mine: by each number alone, and by pairs of numbers.

    A number gives a set of hidden cells and how many mines are in it; where one set lies within
    another, the rest holds the difference. Applied until nothing new follows.
    """
    near, numbers = around(field.height, field.width), field.numbers
    safe = mines = 0
    facts: dict[int, int] = {}
    for at in bits(cells):
        hidden = near[at] & ~cells
        if hidden:
            count = facts[hidden] = numbers[at]
            if not count:
                safe |= hidden
            elif count == hidden.bit_count():
                mines |= hidden
    # Mines that a number proves alone are taken off the others, which is quick and mostly enough.
    for hidden, count in facts.items():
        if count == (hidden & mines).bit_count():
            safe |= hidden & ~mines
    if safe:
        return safe
    fresh = facts
    while fresh and len(facts) <= _MOST_FACTS:
        news: dict[int, int] = {}
        for one, few in fresh.items():
            for other, many in facts.items():
                shared = one & other
                if shared == one != other:
                    rest, count = other ^ one, many - few
                elif shared == other != one:
                    rest, count = one ^ other, few - many
                else:
                    continue
                if not count:
                    safe |= rest
                elif rest not in facts:
                    news[rest] = count
        if safe:
            return safe
        facts |= news
        fresh = news
    return 0
