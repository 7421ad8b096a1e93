"""Minesweeper, solvable without guessing."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from verigym.canonical import JSON
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.minesweeper import Cell, Field, Opened, around, opened_from

# Height, width, mines, and turns.
SIZES = {"easy": (5, 5, 4), "medium": (7, 7, 9), "hard": (9, 9, 16)}

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
        cells = list(near)
        while True:
            first = cells[int(rng.integers(len(cells)))]
            # No mine at or around the first cell, so that there is something to go by.
            free = [cell for cell in cells if cell != first and cell not in near[first]]
            chosen = rng.permutation(len(free))[:count].tolist()
            field = Field(height, width, frozenset(free[i] for i in chosen))
            start = opened_from(field, frozenset(), first)
            left = len(cells) - count - len(start)
            if left >= 3 and _solvable(field, start):
                rows = [
                    "".join("*" if (r, c) in field.mines else "." for c in range(width))
                    for r in range(height)
                ]
                turns = left + 5
                prompt = _PROMPT.format(height=height, width=width, mines=count)
                return prompt, {"rows": rows, "first": [first[0] + 1, first[1] + 1], "turns": turns}

    def show(self, board: Opened) -> str:
        """See `ReplayedGame`."""
        field = board.field
        lines = []
        for r in range(field.height):
            cells = [(r, c) for c in range(field.width)]
            lines.append(
                " ".join(
                    "#"
                    if cell not in board.cells
                    else "*"
                    if cell in field.mines
                    else str(field.count(cell))
                    for cell in cells
                )
            )
        return "\n".join(lines)

    def position(self, board: Opened) -> JSON:
        """See `ReplayedGame`."""
        return sorted([list(cell) for cell in board.cells])

    def moves(self, board: Opened) -> list[str]:
        """See `ReplayedGame`."""
        cells = around(board.field.height, board.field.width)
        return [f"{r + 1} {c + 1}" for r, c in cells if (r, c) not in board.cells]

    def lost(self, board: Opened) -> bool:
        """See `ReplayedGame`."""
        return not board.field.mines.isdisjoint(board.cells)

    def best(self, board: Opened) -> str | None:
        """See `ReplayedGame`. A cell that reasoning proves free; where none is proved, a free one."""
        if self.lost(board):
            return None
        safe = sorted(_safe(board.field, board.cells))
        hidden = [c for c in around(board.field.height, board.field.width) if c not in board.cells]
        safe = safe or [cell for cell in hidden if cell not in board.field.mines]
        return f"{safe[0][0] + 1} {safe[0][1] + 1}" if safe else None


def _solvable(field: Field, cells: frozenset[Cell]) -> bool:
    free = field.height * field.width - len(field.mines)
    while len(cells) < free:
        safe = _safe(field, cells)
        if not safe:
            return False
        for cell in safe:
            cells = opened_from(field, cells, cell)
    return True


def _safe(field: Field, cells: frozenset[Cell]) -> set[Cell]:
    """Hidden cells that hold no mine: by each number alone, and by pairs of numbers.

    A number gives a set of hidden cells and how many mines are in it; where one set lies within
    another, the rest holds the difference. Applied until nothing new follows.
    """
    near = around(field.height, field.width)
    facts: dict[frozenset[Cell], int] = {}
    for cell in cells:
        hidden = frozenset(other for other in near[cell] if other not in cells)
        if hidden:
            facts[hidden] = field.count(cell)
    safe: set[Cell] = set()
    while True:
        for hidden, mines in facts.items():
            if not mines:
                safe |= hidden
        if safe:
            return safe
        fresh: dict[frozenset[Cell], int] = {}
        for small, few in facts.items():
            for large, many in facts.items():
                if small < large and large - small not in facts:
                    fresh[large - small] = many - few
        if not fresh or len(facts) > 400:
            return safe
        facts |= fresh
