"""Small sokoban rooms in which the best way is long: walls and goals are changed as long as that makes it longer.

The start is the state from which the best way takes the most fuel of all (`pull_tables.py`). In such a room boxes have to leave
goals again and to make way for each other. Rooms are climbed to by steps at random; the first that is long enough is taken, so
that all are about as long.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from verigym.canonical import JSON
from verigym.envs.games.planned import FuelPlan
from verigym.envs.games.pull_tables import find_pull_table
from verigym.envs.games.push_plans import find_push_plan
from verigym.verifiers.games.house_rules import MAX_FUEL, HouseRules
from verigym.verifiers.games.sokoban import SokobanState, SokobanWalls

Cells = frozenset[int]
"""Cells inside the outer walls, numbered row by row."""

_CHANGE = 5
"""Fuel that a change of the box is worth when rooms are compared."""
_STALE = 80
"""Rooms that may be tried without a better one before the search starts anew."""


class RoomSize(Struct, frozen=True):
    """Height and width inside the outer walls, boxes, cells that are no wall, and what the best way has at least."""

    height: int
    width: int
    boxes: int
    cells: range
    moves: int
    pushes: int
    changes: int
    """Number of times that the box pushed is another one than before, the first included."""
    tried: int
    """Pushes that a search for the best way tries."""


class PushRoom(Struct, frozen=True):
    """A start under house rules, and a best way from it."""

    start: SokobanState
    rules: HouseRules
    plan: FuelPlan
    essence: JSON


def draw_room(
    rng: np.random.Generator,
    size: RoomSize,
    draw_rules: Callable[[np.random.Generator], HouseRules],
    wants: Callable[[JSON], bool],
) -> PushRoom:
    """Draw rules and rooms until the best way in one is as long as `size` asks; `wants` says which essences may be drawn."""
    while True:
        rules = draw_rules(rng)
        now, best, stale = _first(rng, size), -1, 0
        while stale < _STALE:
            floor, goals = _changed(rng, size, *now)
            if len(floor) not in size.cells or not _is_joined(floor, size):
                continue
            essence = _essence(size, floor, goals)
            if not wants(essence):
                continue
            stale += 1
            score, room = _judged(size, floor, goals, rules, essence)
            if room:
                return room
            if score >= best:
                stale = stale if score == best else 0
                now, best = (floor, goals), score


def count_pushes(start: SokobanState, moves: tuple[str, ...]) -> tuple[int, int]:
    """Return how many moves are pushes, and how many of these are of another box than the push before."""
    boxes, at, pushes, changes, last = start.boxes, start.at, 0, 0, -1
    for move in moves:
        step = start.room.step(move)
        at += step
        if boxes >> at & 1:
            boxes ^= 1 << at | 1 << at + step
            pushes += 1
            changes += at != last
            last = at + step
    return pushes, changes


def _judged(
    size: RoomSize, floor: Cells, goals: Cells, rules: HouseRules, essence: JSON
) -> tuple[int, PushRoom | None]:
    """Return how long the best way is, and the room if it is long enough."""
    stride = size.width + 3
    on_floor, on_goals = (
        sum(1 << (cell // size.width + 2) * stride + cell % size.width + 1 for cell in cells)
        for cells in (floor, goals)
    )
    walls = SokobanWalls(size.height + 2, size.width + 2, on_floor, on_goals)
    table = find_pull_table(walls, rules)
    start = table.farthest()
    if start is None:
        return 0, None
    moves = table.moves_from(start, rules)
    pushes, changes = count_pushes(start, moves)
    score = table.fuel(start.boxes, start.at) + _CHANGE * changes
    if len(moves) < size.moves or pushes < size.pushes or changes < size.changes:
        return score, None
    found = find_push_plan(start, rules, MAX_FUEL)
    if found is None or found.tried < size.tried:
        return score, None
    return score, PushRoom(start, rules, found, essence)


def _first(rng: np.random.Generator, size: RoomSize) -> tuple[Cells, Cells]:
    """Draw a room with as many cells as it may have, and goals."""
    floor = frozenset(range(size.height * size.width))
    for cell in rng.permutation(size.height * size.width).tolist():
        if len(floor) < size.cells.stop:
            break
        if _is_joined(floor - {cell}, size):
            floor -= {cell}
    return floor, frozenset(rng.permutation(sorted(floor))[: size.boxes].tolist())


def _changed(
    rng: np.random.Generator, size: RoomSize, floor: Cells, goals: Cells
) -> tuple[Cells, Cells]:
    """Return a room after one to three changes: a cell becomes a wall or floor, two cells swap, or a goal is moved."""
    area = size.height * size.width
    for draw in rng.integers(4, size=int(rng.integers(1, 4))).tolist():
        cell = int(rng.integers(area))
        if draw == 0:
            goals -= {sorted(goals)[int(rng.integers(len(goals)))]} if goals else set()
            continue
        floor ^= {cell}
        if draw > 1:
            others = [one for one in range(area) if (one in floor) == (cell in floor)]
            floor ^= {others[int(rng.integers(len(others)))]}
        goals &= floor
    free = rng.permutation(sorted(floor - goals)).tolist()
    return floor, goals | frozenset(free[: size.boxes - len(goals)])


def _is_joined(floor: Cells, size: RoomSize) -> bool:
    """Return True if one can walk from each cell to each other."""
    width, waiting = size.width, [min(floor)]
    seen = set(waiting)
    while waiting:
        cell = waiting.pop()
        sides = (cell - 1,) * (cell % width > 0) + (cell + 1,) * (cell % width < width - 1)
        for near in (cell - width, cell + width, *sides):
            if near in floor and near not in seen:
                seen.add(near)
                waiting.append(near)
    return len(seen) == len(floor)


def _essence(size: RoomSize, floor: Cells, goals: Cells) -> JSON:
    """Return the room with its goals, the same whichever way it is turned or mirrored."""
    signs = [
        "." if cell in goals else " " if cell in floor else "#"
        for cell in range(size.height * size.width)
    ]
    rows = ["".join(signs[at : at + size.width]) for at in range(0, len(signs), size.width)]
    turned = []
    for one in (rows, ["".join(column) for column in zip(*rows, strict=True)]):
        for flipped in (one, one[::-1]):
            turned += [flipped, [row[::-1] for row in flipped]]
    return list(min(turned))
