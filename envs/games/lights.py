"""Lights out: a press turns a light and its neighbours; turn all of them off."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.lamps import count_elimination, pressed
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.lights import Lamps
from verigym.verifiers.games.rules import RULES

# Rows and columns, and presses that made the start.
SIZES = {
    1: (3, 1),
    2: (3, 2),
    3: (3, 5),
    4: (4, 4),
    5: (5, 5),
    6: (5, 8),
}
# From level 7 on: rows and columns, shades, further lights that a press turns, how far away they are at most, least
# operations to solve it, and presses to spare in percent. The edges meet.
RULED = {
    7: (5, 2, 4, 2, 700, 20),
    8: (6, 3, 4, 2, 2500, 10),
    9: (7, 5, 5, 3, 9000, 5),
    10: (9, 7, 7, 4, 50000, 0),
}

_PROMPT = """\
A grid of lights: # is on, . is off. Pressing a light switches it and its neighbours above, below, left and \
right.
Turn all lights off within {turns} presses. Answer with row and column, counted from 1, such as 2 3."""
_PROMPT_RULED = """\
A grid of {size} by {size} lights. Each shows its shade: 0 is off, {top} the brightest. Pressing a light raises the shade of \
some lights by one each ({top} becomes 0): {flips}. The edges meet: below the last \
row comes the first, and right of the last column the first; likewise upwards and to the left.
Turn all lights off within {turns} presses. Answer with row and column, counted from 1, such as 2 3."""

Board = tuple[str, ...]


class Lights(ReplayedGame):
    """The environment. An action is `row column`, both from 1.

    From level 7 on it is drawn which lights a press turns, most have more than two shades, and presses are as few
    as can be.
    """

    id: ClassVar[str] = "verigym/games/lights-v0"
    game: ClassVar[str] = "lights"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw presses of different lights, from all off."""
        if level in RULED:
            return _draw_ruled(rng, level)
        size, presses = SIZES[level]
        rules: Any = RULES["lights"]
        while True:
            board: Board = ("." * size,) * size
            for cell in rng.permutation(size * size)[:presses]:
                board = rules.apply(board, divmod(int(cell), size))
            if not rules.won(board) and len(_presses(board)) >= presses // 2 + 1:
                turns = 2 * presses + 2
                return _PROMPT.format(turns=turns), {"rows": list(board), "turns": turns}

    @override
    def show(self, board: Board | Lamps) -> str:
        return "\n".join(_lines(board))

    @override
    def position(self, board: Board | Lamps) -> JSON:
        return list(_lines(board))

    @override
    def moves(self, board: Board | Lamps) -> list[str]:
        n = len(_lines(board))
        return [f"{row} {column}" for row in range(1, n + 1) for column in range(1, n + 1)]

    @override
    def best(self, board: Board | Lamps) -> str | None:
        found = pressed(board) if isinstance(board, Lamps) else _presses(board)
        return f"{found[0][0] + 1} {found[0][1] + 1}" if found else None

    @override
    def operations(self, board: Board | Lamps) -> int:
        return count_elimination(board) if isinstance(board, Lamps) else _count(board)


def _lines(board: Board | Lamps) -> tuple[str, ...]:
    return (
        tuple("".join(map(str, row)) for row in board.rows) if isinstance(board, Lamps) else board
    )


def _draw_ruled(rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
    """Draw what a press turns until each start has one set of presses, then a start."""
    size, shades, others, far, least, spare = RULED[level]
    near = range(-far, far + 1)
    steps = [(r, c) for r in near for c in near if (r, c) != (0, 0)]
    while True:
        chosen = sorted(rng.permutation(len(steps))[:others].tolist())
        flips = ((0, 0), *(steps[i] for i in chosen))
        rows = tuple(map(tuple, rng.integers(0, shades, (size, size)).tolist()))
        lamps = Lamps(rows, shades, flips, wraps=True)
        presses = pressed(lamps)
        if presses and count_elimination(lamps) >= least:
            break
    turns = len(presses) + len(presses) * spare // 100
    prompt = _PROMPT_RULED.format(
        size=size,
        top=shades - 1,
        flips=", ".join(map(_said, flips)),
        turns=turns,
    )
    return prompt, {
        "rows": list(_lines(lamps)),
        "shades": shades,
        "flips": [list(step) for step in flips],
        "wraps": True,
        "turns": turns,
        "max_moves": turns,
    }


def _said(step: tuple[int, int]) -> str:
    """A light in words."""
    down, right = step
    parts = []
    if down:
        parts.append(f"{abs(down)} {'down' if down > 0 else 'up'}")
    if right:
        parts.append(f"{abs(right)} {'right' if right > 0 else 'left'}")
    return "the one " + " and ".join(parts) if parts else "itself"


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
