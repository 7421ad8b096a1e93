"""A way through sliding tiles part by part: rows from the top, then columns from the left.

Each part is one tile, or the last two of a row or column together; it comes home by a shortest way that
moves no tile that is home already. The way is not a shortest one, but found quickly on any board.
"""

from __future__ import annotations

from collections import deque
from functools import cache

from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.rules import SlidingState


def way_by_parts(start: SlidingState) -> tuple[list[str], int]:
    """Return the moves to the goal, and the number of moves that were tried to find them."""
    width, goal = start.width, start.goal
    tiles, path, tried = list(start.tiles), [], 0
    locked: set[int] = set()
    for part in _parts(len(goal) // width, width):
        moves, count = _brought(tiles, [goal[cell] for cell in part], part, locked, width)
        tried += count
        for move in moves:
            hole = tiles.index(0)
            cell = hole - _step(move, width)
            tiles[hole], tiles[cell] = tiles[cell], 0
        path += moves
        locked.update(part)
    return path, tried


@cache
def _parts(height: int, width: int) -> list[tuple[int, ...]]:
    """The cells that are filled together, in order; the last part is the two by two cells at the end."""
    parts: list[tuple[int, ...]] = []
    for row in range(height - 2):
        start = row * width
        parts += [(start + column,) for column in range(width - 2)]
        parts.append((start + width - 2, start + width - 1))
    top = (height - 2) * width
    parts += [(top + column, top + width + column) for column in range(width - 2)]
    parts.append((top + width - 2, top + width - 1, top + 2 * width - 2))
    return parts


def _brought(
    tiles: list[int], wanted: list[int], part: tuple[int, ...], locked: set[int], width: int
) -> tuple[list[str], int]:
    """Bring the `wanted` tiles to the cells of `part`, breadth first; return the moves, and how many were
    tried. A state is the place of the hole and of each wanted tile."""
    start = (tiles.index(0), *(tiles.index(tile) for tile in wanted))
    came: dict[tuple[int, ...], tuple[tuple[int, ...], str] | None] = {start: None}
    queue, tried = deque([start]), 0
    near = neighbours(len(tiles), width)
    while queue:
        state = queue.popleft()
        if state[1:] == part:
            path = []
            link = came[state]
            while link is not None:
                path.append(link[1])
                link = came[link[0]]
            return path[::-1], tried
        hole = state[0]
        for move, cell in near[hole]:
            if cell in locked:
                continue
            tried += 1
            after = (cell, *[hole if place == cell else place for place in state[1:]])
            if after not in came:
                came[after] = (state, move)
                queue.append(after)
    raise AssertionError("a board that was drawn can be put in order")


@cache
def neighbours(cells: int, width: int) -> list[list[tuple[str, int]]]:
    """Return, for each place of the hole, the moves and the cells whose tile moves into it."""
    found: list[list[tuple[str, int]]] = []
    for hole in range(cells):
        near = []
        for move in MOVES:
            cell = hole - _step(move, width)
            same_row = cell // width == hole // width
            if 0 <= cell < cells and (same_row or move in ("up", "down")):
                near.append((move, cell))
        found.append(near)
    return found


def _step(move: str, width: int) -> int:
    """The change of a tile's place by a move."""
    down, right = MOVES[move]
    return down * width + right
