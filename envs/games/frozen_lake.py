"""Frozen lake: walk from start to goal without falling into a hole. The ice does not slip."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.paths import shortest
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.rules import LakeState

# Width and height, the share of holes, the shortest way.
SIZES = {
    2: (4, 0.2, range(4, 7)),
    4: (6, 0.3, range(8, 14)),
    6: (9, 0.3, range(13, 41)),
}

_PROMPT = """\
You stand on a frozen lake. @ is you, F is ice, H is a hole, G is the goal, S is where you began.
A step into a hole ends the game. Reach the goal within {turns} moves. Answer with one move: up, down, \
left or right."""


class FrozenLake(ReplayedGame):
    """The environment. An action is `up`, `down`, `left` or `right`; a move off the edge is invalid."""

    id: ClassVar[str] = "verigym/games/frozen-lake-v0"
    game: ClassVar[str] = "lake"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True
    recoverable: ClassVar[bool] = False

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Drawn until the shortest way has the length of the level."""
        size, holes, lengths = SIZES[level]
        while True:
            cells = np.where(rng.random((size, size)) < holes, "H", "F")
            start, goal = (int(i) for i in rng.permutation(size * size)[:2])
            cells.flat[start], cells.flat[goal] = "S", "G"
            rows = tuple("".join(row) for row in cells)
            path = _way(LakeState(rows, *divmod(start, size)))
            if path is not None and len(path) in lengths:
                turns = len(path) + size
                return _PROMPT.format(turns=turns), {"rows": list(rows), "turns": turns}

    @override
    def show(self, board: LakeState) -> str:
        rows = [list(row) for row in board.rows]
        rows[board.row][board.column] = "@"
        return "\n".join(map("".join, rows))

    @override
    def position(self, board: LakeState) -> JSON:
        return [board.row, board.column]

    @override
    def moves(self, board: LakeState) -> list[str]:
        """The moves that stay on the lake."""
        return [name for name, _ in _steps(board)]

    @override
    def lost(self, board: LakeState) -> bool:
        """Return True in a hole."""
        return board.rows[board.row][board.column] == "H"

    @override
    def best(self, board: LakeState) -> str | None:
        path = _way(board)
        return path[0] if path else None


def _steps(board: LakeState) -> list[tuple[str, LakeState]]:
    found = []
    for name, (down, right) in MOVES.items():
        row, column = board.row + down, board.column + right
        if 0 <= row < len(board.rows) and 0 <= column < len(board.rows[0]):
            found.append((name, LakeState(board.rows, row, column)))
    return found


def _way(board: LakeState) -> list[str] | None:
    def moves(at: LakeState) -> list[tuple[str, LakeState]]:
        return [] if at.rows[at.row][at.column] == "H" else _steps(at)

    return shortest(board, moves, lambda at: at.rows[at.row][at.column] == "G")
