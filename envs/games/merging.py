"""2048: push tiles together until one reaches the target."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.merging import MergingBoard, pushed, pushes, with_new_tile

# The tile to reach, turns, and tiles that are on the grid from the start.
SIZES: dict[int, tuple[int, int, tuple[int, ...]]] = {
    1: (32, 30, ()),
    2: (64, 50, ()),
    3: (128, 65, (32,)),
    4: (128, 78, ()),
    5: (256, 115, (64,)),
    6: (256, 145, ()),
    7: (512, 190, (128, 64)),
    8: (512, 220, (128,)),
    9: (1024, 380, (256, 128)),
    10: (1024, 530, ()),
}

_PROMPT = """\
2048 on a grid of 4 by 4. A push slides all tiles as far as they go in one direction; two equal tiles that \
meet merge into one with their sum, which does not merge again in the same push. After each push a new tile, \
2 or 4, appears on an empty cell. A push that moves no tile only uses up a turn.
Make a tile of {target} within {turns} pushes. Answer with one push: up, down, left or right."""

_DEPTH = 3
# Weights of places for the oracle: a snake from one corner.
_SNAKE = (15, 14, 13, 12, 8, 9, 10, 11, 7, 6, 5, 4, 0, 1, 2, 3)
_WEIGHTS = tuple(2.0**w for w in _SNAKE)


_GRID = "\n".join(["{}{}{}{}"] * 4)
_CELLS = {tile: str(tile or ".").rjust(4) for tile in (0, *(1 << n for n in range(1, 20)))}


@cache
def _prompt(target: int, turns: int) -> str:
    return _PROMPT.format(target=target, turns=turns)


class Merging(ReplayedGame):
    """The environment. An action is a direction; a push that moves nothing is invalid.

    The seed and the board decide the new tile, so that a state has one future. A large tile that is on the
    grid from the start makes a game shorter; it stands in the corner.
    """

    id: ClassVar[str] = "verigym/games/2048-v0"
    game: ClassVar[str] = "2048"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False
    chance: ClassVar[float] = 0.5  # random pushes often reach the tile of the easiest setting

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        target, turns, large = SIZES[level]
        while not self.wants(seed := int(rng.integers(1 << 31))):
            pass
        start: dict[str, Any] = {"target": target, "seed": seed, "turns": turns}
        if large:
            tiles = (*large, *[0] * (16 - len(large)))
            start["tiles"] = list(with_new_tile(with_new_tile(tiles, seed), seed))
        return _prompt(target, turns), {**start, "essence": seed}

    @override
    def show(self, board: MergingBoard) -> str:
        return _GRID.format(*map(_CELLS.__getitem__, board.tiles))

    @override
    def position(self, board: MergingBoard) -> JSON:
        return list(board.tiles)

    @override
    def moves(self, board: MergingBoard) -> list[str]:
        return pushes(board.tiles)

    @override
    def lost(self, board: MergingBoard) -> bool:
        """Return True if no push moves anything."""
        return 0 not in board.tiles and not self.moves(board)

    @override
    def best(self, board: MergingBoard) -> str | None:
        """Look three pushes ahead; new tiles are known."""
        return _ahead(board, _DEPTH)[1]

    @override
    def work(self, state: Play) -> int:
        """Count the pushes that are looked at, three deep, in each turn."""
        return _ahead(state.board, _DEPTH)[2]


def _ahead(board: MergingBoard, depth: int) -> tuple[float, str | None, int]:
    """The best value within `depth` pushes, the first of them, and how many pushes were looked at."""
    tiles = board.tiles
    if max(tiles) >= board.target:
        return 1e12 * (depth + 1), None, 0
    if not depth:
        value = sum(t * w for t, w in zip(tiles, _WEIGHTS, strict=True)) + 1e4 * tiles.count(0)
        return value, None, 0
    best, first, operations = -1.0, None, 0
    for move in MOVES:
        operations += 1
        after = pushed(tiles, move)
        if after != tiles:
            after = with_new_tile(after, board.seed)
            value, _, more = _ahead(MergingBoard(after, board.target, board.seed), depth - 1)
            operations += more
            if value > best:
                best, first = value, move
    return best, first, operations
