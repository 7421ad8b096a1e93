"""Sliding tiles: bring the numbers in order through the one hole."""

from __future__ import annotations

import heapq
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import ReplayedGame
from verigym.envs.games.sliding_parts import way_by_parts
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.rules import RULES, SlidingState

# Rows, columns, and how long the walk from the goal to the start is.
SIZES = {
    1: (2, 3, 6),
    2: (2, 3, 9),
    3: (2, 3, 16),
    4: (3, 3, 16),
    5: (3, 3, 26),
    6: (3, 3, 30),
    7: (3, 4, 60),
    8: (3, 5, 90),
    9: (4, 4, 140),
    10: (4, 5, 200),
}
_SMALL = 9
"""Cells of the largest board of which a shortest way is looked for."""
_MOST_KNOWN = 50_000


_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}

_PROMPT = """\
Tiles slide into the hole, which is shown as _. Put them in order, row by row from the top left, with \
the hole at the bottom right, within {turns} moves.
Answer with the direction in which a tile moves into the hole: up, down, left or right."""


class Sliding(ReplayedGame):
    """The environment. An action is `up`, `down`, `left` or `right`, or the tile's number."""

    id: ClassVar[str] = "verigym/games/sliding-v0"
    game: ClassVar[str] = "sliding"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Walk away from the goal without ever turning back, so that there is a way."""
        height, width, steps = SIZES[level]
        tiles = (*range(1, height * width), 0)
        while True:
            state, back = SlidingState(tiles, tiles, width), ""
            for draw in rng.random(steps).tolist():
                legal = [m for m in MOVES if m != back and RULES["sliding"].legal(state, m)]
                move = legal[int(draw * len(legal))]
                state, back = RULES["sliding"].apply(state, move), _OPPOSITE[move]
            if _left(state) >= min(steps // 3, 2 * len(tiles)) + 2:
                if len(tiles) > _SMALL and not self.wants(list(state.tiles)):
                    continue
                turns = steps + steps // 2
                if len(tiles) > _SMALL:
                    turns = max(turns, len(way_by_parts(state)[0]) * 3 // 2)
                rows = [list(state.tiles[i : i + width]) for i in range(0, len(tiles), width)]
                start: dict[str, Any] = {"rows": rows, "turns": turns}
                if len(tiles) > _SMALL:
                    start["essence"] = list(state.tiles)
                return _PROMPT.format(turns=turns), start

    @override
    def show(self, board: SlidingState) -> str:
        cells = [str(tile) if tile else "_" for tile in board.tiles]
        rows = [cells[i : i + board.width] for i in range(0, len(cells), board.width)]
        return "\n".join(" ".join(row) for row in rows)

    @override
    def position(self, board: SlidingState) -> JSON:
        return list(board.tiles)

    @override
    def moves(self, board: SlidingState) -> list[str]:
        return [m for m in MOVES if self.rules.legal(board, m)]

    @override
    def best(self, board: SlidingState) -> str | None:
        if len(board.tiles) > _SMALL:
            tiles, known = board.tiles, _known(board.goal)
            if len(known) > _MOST_KNOWN:
                known.clear()
            if tiles not in known:
                for move in way_by_parts(board)[0]:
                    known[board.tiles] = move
                    board = self.rules.apply(board, move)
            return known.get(tiles)
        path = _way(board)
        return path[0] if path else None

    @override
    def operations(self, board: SlidingState) -> int:
        """Count the moves that are tried to bring the tiles home part by part."""
        return way_by_parts(board)[1]


@lru_cache(maxsize=8)
def _known(goal: tuple[int, ...]) -> dict[tuple[int, ...], str]:
    """The next moves that were found. The end of a way by parts is a way by parts itself, so that it does not
    matter from where a move was found."""
    return {}


@lru_cache(maxsize=4096)
def _way(start: SlidingState) -> tuple[str, ...]:
    """A shortest way, by A* with the distance of each tile from its place (Hart et al. 1968)."""
    rules, width = RULES["sliding"], start.width
    heap = [(_left(start), 0, start.tiles)]
    came: dict[tuple[int, ...], tuple[tuple[int, ...], str] | None] = {start.tiles: None}
    cost = {start.tiles: 0}
    while heap:
        _, spent, tiles = heapq.heappop(heap)
        if tiles == start.goal:
            break
        state = SlidingState(tiles, start.goal, width)
        for move in MOVES:
            if rules.legal(state, move):
                after = rules.apply(state, move)
                if spent + 1 < cost.get(after.tiles, 1 << 30):
                    cost[after.tiles] = spent + 1
                    came[after.tiles] = (tiles, move)
                    heapq.heappush(heap, (spent + 1 + _left(after), spent + 1, after.tiles))
    path, step = [], came[start.goal]
    while step is not None:
        path.append(step[1])
        step = came[step[0]]
    return tuple(path[::-1])


def _left(state: SlidingState) -> int:
    """The steps of each tile to its place, others aside: at least so many moves are left."""
    width, total = state.width, 0
    for place, tile in enumerate(state.tiles):
        if tile:
            goal = state.goal.index(tile)
            total += abs(goal // width - place // width) + abs(goal % width - place % width)
    return total
