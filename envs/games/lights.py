"""Lights out: a press turns a light and its neighbours; turn all of them off."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.rules import RULES

# Rows and columns, and presses that made the start.
SIZES = {2: (3, 2), 4: (4, 4), 6: (5, 8)}

_PROMPT = """\
A grid of lights: # is on, . is off. A press turns that light and its neighbours above, below, left and \
right.
Turn all lights off within {turns} presses. Answer with row and column, counted from 1, such as 2 3."""

Board = tuple[str, ...]


class Lights(ReplayedGame):
    """The environment. An action is `row column`, both from 1."""

    id: ClassVar[str] = "verigym/games/lights-v0"
    game: ClassVar[str] = "lights"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Presses of different lights, from all off."""
        size, presses = SIZES[level]
        rules = RULES["lights"]
        while True:
            board: Board = ("." * size,) * size
            for cell in rng.permutation(size * size)[:presses]:
                board = rules.apply(board, divmod(int(cell), size))
            if not rules.won(board) and len(_presses(board)) >= presses // 2 + 1:
                turns = 2 * presses + 2
                return _PROMPT.format(turns=turns), {"rows": list(board), "turns": turns}

    @override
    def show(self, board: Board) -> str:
        return "\n".join(board)

    @override
    def position(self, board: Board) -> JSON:
        return list(board)

    @override
    def moves(self, board: Board) -> list[str]:
        n = len(board)
        return [f"{row} {column}" for row in range(1, n + 1) for column in range(1, n + 1)]

    @override
    def best(self, board: Board) -> str | None:
        found = _presses(board)
        return f"{found[0][0] + 1} {found[0][1] + 1}" if found else None


def _presses(board: Board) -> list[tuple[int, int]]:
    """The fewest presses that turn all off: what the first row presses decides the rest."""
    n = len(board)
    lit = [[cell == "#" for cell in row] for row in board]
    best: list[tuple[int, int]] | None = None
    for first in range(1 << n):
        grid = [row[:] for row in lit]
        chosen = []
        for row in range(n):
            for column in range(n):
                # Below the first row, only a press here can still turn off the light above.
                if (first >> column & 1) if row == 0 else grid[row - 1][column]:
                    chosen.append((row, column))
                    for r, c in ((row, column), (row + 1, column), (row - 1, column)):
                        if 0 <= r < n:
                            grid[r][c] ^= True
                    for c in (column - 1, column + 1):
                        if 0 <= c < n:
                            grid[row][c] ^= True
        if not any(grid[-1]) and (best is None or len(chosen) < len(best)):
            best = chosen
    return best or []
