"""Frozen lake: walk from start to goal without falling into a hole. The ice does not slip."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.paths import count_tried, shortest
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.rules import LakeState

# Width and height, the share of holes, the shortest way.
SIZES = {
    1: (3, 0.2, range(2, 5)),
    2: (4, 0.2, range(4, 7)),
    3: (5, 0.25, range(6, 10)),
    4: (6, 0.3, range(8, 14)),
    5: (8, 0.3, range(10, 25)),
    6: (9, 0.3, range(13, 41)),
    7: (11, 0.3, range(13, 60)),
    8: (14, 0.3, range(17, 80)),
    9: (18, 0.3, range(22, 99)),
    10: (22, 0.3, range(27, 120)),
}

_PROMPT = """\
You walk on a frozen lake. @ is you, F is ice, H is a hole, G is the goal, S is where you began. You do not \
slip; a move off the edge leaves you where you are.
A step into a hole ends the game. Reach the goal within {turns} moves. Answer with one move: up, down, \
left or right."""


class FrozenLake(ReplayedGame):
    """The environment. An action is `up`, `down`, `left` or `right`; a move off the edge is invalid."""

    id: ClassVar[str] = "verigym/games/frozen-lake-v0"
    game: ClassVar[str] = "lake"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw until the shortest way has the length of the level."""
        size, holes, lengths = SIZES[level]
        while True:
            cells = np.where(rng.random((size, size)) < holes, "H", "F")
            if level > 6:  # from the first row to the last, so that the way is long
                start, goal = (int(i) for i in rng.integers(size, size=2))
                goal += size * (size - 1)
            else:
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
        """Return the moves that stay on the lake."""
        return [name for name, _ in _steps(board)]

    @override
    def lost(self, board: LakeState) -> bool:
        """Return True in a hole."""
        return board.rows[board.row][board.column] == "H"

    @override
    def best(self, board: LakeState) -> str | None:
        return _next_move(board)

    @override
    def operations(self, board: LakeState) -> int:
        """Count the cells that a search from the start looks at."""
        return count_tried(board, _legs, _at_goal)


def _steps(board: LakeState) -> list[tuple[str, LakeState]]:
    found = []
    for name, (down, right) in MOVES.items():
        row, column = board.row + down, board.column + right
        if 0 <= row < len(board.rows) and 0 <= column < len(board.rows[0]):
            found.append((name, LakeState(board.rows, row, column)))
    return found


def _legs(at: LakeState) -> list[tuple[str, LakeState]]:
    return [] if at.rows[at.row][at.column] == "H" else _steps(at)


def _at_goal(at: LakeState) -> bool:
    return at.rows[at.row][at.column] == "G"


@lru_cache(maxsize=4096)
def _next_move(board: LakeState) -> str | None:
    path = _way(board)
    return path[0] if path else None


def _way(board: LakeState) -> list[str] | None:
    return shortest(board, _legs, _at_goal)
