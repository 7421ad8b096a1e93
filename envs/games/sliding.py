"""Sliding tiles: bring the numbers in order through the one hole."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.planned import FuelPlan, PlannedGame, Way, plan, say, written
from verigym.envs.games.sliding_parts import neighbours, way_by_parts
from verigym.verifiers.games.house_rules import MAX_FUEL, HouseRules
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
}
# From level 7 on: rows, columns, length of the walk, moves that a search for the
# least fuel tries, heavy tiles, and fuel to spare in percent. From level 8 on boards are small and walks long: the start
# is as far away as any, and the best way is neither seen nor built part by part.
RULED = {
    7: (3, 3, 40, range(800, 3000), 2, 10),
    8: (3, 3, 150, range(3000, 12_000), 4, 5),
    9: (2, 5, 150, range(8_000, 30_000), 4, 2),
    10: (2, 5, 200, range(25_000, 80_000), 5, 0),
}

_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}

_PROMPT = """\
Tiles slide into the hole, which is shown as _. Put them in order, row by row from the top left, with \
the hole at the bottom right, within {turns} moves.
Answer with the direction in which a tile moves into the hole: up, down, left or right."""
_PROMPT_RULED = """\
Tiles slide into the hole, which is shown as _. Put them in this order:
{goal}
Further rules, for this game alone: {rules} {spare}
You have {turns} turns. Answer with the direction in which a tile moves into the hole: up, down, left or right."""


class Sliding(PlannedGame):
    """The environment. An action is `up`, `down`, `left` or `right`, or the tile's number.

    From level 7 on the order is drawn, tiles differ in the fuel that they take, and there is next to none to spare.
    """

    id: ClassVar[str] = "verigym/games/sliding-v0"
    game: ClassVar[str] = "sliding"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Walk away from the goal without ever turning back, so that there is a way."""
        if level in RULED:
            return self._draw_ruled(rng, level)
        height, width, steps = SIZES[level]
        tiles = (*range(1, height * width), 0)
        while True:
            state = _walk(SlidingState(tiles, tiles, width), rng.random(steps).tolist())
            if _left(state) >= min(steps // 3, 2 * len(tiles)) + 2:
                turns = steps + steps // 2
                start = {"rows": _rows(state.tiles, width), "turns": turns}
                return _PROMPT.format(turns=turns), start

    def _draw_ruled(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw an order, and walk away from it."""
        height, width, steps, tries, heavy, spare = RULED[level]
        while True:
            goal = tuple(rng.permutation(height * width).tolist())
            state = _walk(SlidingState(goal, goal, width), rng.random(steps).tolist())
            essence = [list(goal), list(state.tiles)]
            rules = _house_rules(rng, height * width, heavy)
            if not self.wants(essence):
                continue
            found = _plan(state, rules, MAX_FUEL, tries.stop)
            if found is not None and found.tried in tries:
                fuel = found.fuel + found.fuel * spare // 100
                turns = len(found.moves) * (110 + spare) // 100 + 3
                start = {
                    "rows": _rows(state.tiles, width),
                    "goal": _rows(goal, width),
                    "turns": turns,
                    "house_rules": written(rules, fuel),
                    "essence": essence,
                }
                prompt = _PROMPT_RULED.format(
                    goal=self.show(SlidingState(goal, goal, width)),
                    rules=say(rules, fuel),
                    spare=f"The cheapest way takes {found.fuel} units.",
                    turns=turns,
                )
                return prompt, start

    @override
    def plan_on(
        self, board: SlidingState, rules: HouseRules, fuel: int, last: tuple[str, ...]
    ) -> FuelPlan | None:
        return _plan(board, rules, fuel)

    @override
    def show(self, board: SlidingState) -> str:
        cells = [str(tile) if tile else "_" for tile in board.tiles]
        rows = _rows(cells, board.width)
        return "\n".join(" ".join(row) for row in rows)

    @override
    def position(self, board: SlidingState) -> JSON:
        return list(board.tiles)

    @override
    def moves(self, board: SlidingState) -> list[str]:
        return [m for m in MOVES if self.rules.legal(board, m)]

    @override
    def best(self, board: SlidingState) -> str | None:
        path = _way(board)
        return path[0] if path else None

    @override
    def operations(self, board: SlidingState) -> int:
        """Count the moves that are tried to bring the tiles home part by part."""
        return way_by_parts(board)[1]


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


def _rows(cells: Sequence[Any], width: int) -> list[list[Any]]:
    return [list(cells[i : i + width]) for i in range(0, len(cells), width)]


def _walk(state: SlidingState, draws: list[float]) -> SlidingState:
    """Walk without ever turning back."""
    back = ""
    for draw in draws:
        legal = [m for m in MOVES if m != back and RULES["sliding"].legal(state, m)]
        move = legal[int(draw * len(legal))]
        state, back = RULES["sliding"].apply(state, move), _OPPOSITE[move]
    return state


def _house_rules(rng: np.random.Generator, cells: int, heavy: int) -> HouseRules:
    tiles = sorted((rng.permutation(cells - 1)[:heavy] + 1).tolist())
    extra = tuple((f"tile {tile}", int(rng.integers(1, 4))) for tile in tiles)
    return HouseRules(extra=extra)


def _plan(
    start: SlidingState,
    rules: HouseRules,
    fuel: int,
    most: int = 1 << 30,
) -> FuelPlan | None:
    """A plan with the least fuel. The bound is the way of each tile to its place, others aside."""
    width, cells = start.width, len(start.tiles)
    extra = dict(rules.extra)
    costs = [1 + extra.get(f"tile {tile}", 0) for tile in range(cells)]
    at_goal = [divmod(start.goal.index(tile), width) for tile in range(cells)]
    places = [divmod(i, width) for i in range(cells)]
    left = [
        [tile and costs[tile] * (abs(r - row) + abs(c - column)) for r, c in places]
        for tile, (row, column) in enumerate(at_goal)
    ]
    near = neighbours(cells, width)

    # The sum of `left` goes with the tiles, since a move changes one term.
    def ways(board: tuple[tuple[int, ...], int], last: tuple[str, ...]) -> list[Way]:
        tiles, total = board
        hole, found = tiles.index(0), []
        for move, cell in near[hole]:
            tile, after = tiles[cell], list(tiles)
            after[hole], after[cell] = tile, 0
            rest = total - left[tile][cell] + left[tile][hole]
            found.append(Way((move,), (tuple(after), rest), costs[tile], ()))
        return found

    total = sum(left[tile][cell] for cell, tile in enumerate(start.tiles))
    return plan((start.tiles, total), (), fuel, ways, lambda board: board[1], most)
