"""Lights out: a press turns a light and its neighbours; turn all of them off."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.rules import RULES

# Rows and columns, and presses that made the start.
SIZES = {
    1: (3, 1),
    2: (3, 2),
    3: (3, 5),
    4: (4, 4),
    5: (5, 5),
    6: (5, 8),
    7: (6, 14),
    8: (7, 20),
    9: (8, 28),
    10: (10, 44),
}

_PROMPT = """\
A grid of lights: # is on, . is off. Pressing a light switches it and its neighbours above, below, left and \
right.
Turn all lights off within {turns} presses. Answer with row and column, counted from 1, such as 2 3."""

Board = tuple[str, ...]


class Lights(ReplayedGame):
    """The environment. An action is `row column`, both from 1."""

    id: ClassVar[str] = "verigym/games/lights-v0"
    game: ClassVar[str] = "lights"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw presses of different lights, from all off."""
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

    @override
    def operations(self, board: Board) -> int:
        return _count(board)


def _presses(board: Board) -> list[tuple[int, int]]:
    """The fewest presses that turn all off; of as few, those whose first row is the lowest number."""
    n = len(board)
    chased = [_chased(board, first) for first in _first_rows(board)]
    found = min(chased, key=lambda one: sum(row.bit_count() for row in one[0]), default=None)
    if found is None:
        return []
    return [(row, c) for row, chosen in enumerate(found[0]) for c in range(n) if chosen >> c & 1]


def _chased(board: Board, first: int) -> tuple[list[int], int]:
    """The presses row by row if the first row presses `first`, and the lights that stay on in the last.

    Below the first row, only a press can still turn off the light above.
    """
    n = len(board)
    full = (1 << n) - 1
    above, presses = 0, first
    chosen, left = [], 0
    for row in board:
        lit = sum((cell == "#") << c for c, cell in enumerate(row))
        left = lit ^ above ^ presses ^ (presses << 1 & full) ^ presses >> 1
        chosen.append(presses)
        above, presses = presses, left
    return chosen, left


def _first_rows(board: Board) -> list[int]:
    """All first rows of presses that turn all off, in order: what stays on in the last row is a sum of what
    each press of the first row leaves (Gauss over two elements)."""
    n = len(board)
    dark: Board = ("." * n,) * n
    rows = [(_chased(dark, 1 << c)[1], 1 << c) for c in range(n)]
    wanted, chosen = _chased(board, 0)[1], 0
    free = []
    while rows:
        left, presses = rows.pop()
        if not left:
            free.append(presses)
            continue
        lead = 1 << left.bit_length() - 1
        rows = [(a ^ left, b ^ presses) if a & lead else (a, b) for a, b in rows]
        if wanted & lead:
            wanted, chosen = wanted ^ left, chosen ^ presses
    if wanted:
        return []
    found = [chosen]
    for presses in free:
        found += [one ^ presses for one in found]
    return sorted(found)


def _count(board: Board) -> int:
    """Count what a solver does: to look at a light or turn it, and to add two rows of lights.

    It chases the lights down for each press of the first row, solves for the first row, and chases
    once more.
    """
    n = len(board)
    operations = 0

    def chase(lit: list[list[bool]], first: list[bool]) -> list[bool]:
        nonlocal operations
        grid = [row[:] for row in lit]
        for row in range(n):
            for column in range(n):
                operations += 1
                if first[column] if row == 0 else grid[row - 1][column]:
                    for r, c in _CROSS:
                        if 0 <= row + r < n and 0 <= column + c < n:
                            grid[row + r][column + c] ^= True
                            operations += 1
        return grid[-1]

    dark = [[False] * n for _ in range(n)]
    rows = []
    for c in range(n):
        first = [c == other for other in range(n)]
        rows.append((chase(dark, first), first))
    lit = [[cell == "#" for cell in row] for row in board]
    wanted, chosen = chase(lit, [False] * n), [False] * n
    while rows:
        left, presses = rows.pop()
        if True not in left:
            continue
        lead = left.index(True)
        for a, b in [*rows, (wanted, chosen)]:
            if a[lead]:
                operations += 1
                for c in range(n):
                    a[c] ^= left[c]
                    b[c] ^= presses[c]
    chase(lit, chosen)
    return operations


_CROSS = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
