"""Sokoban: push all boxes onto goals. Levels are made by pulling, so that each can be solved."""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from verigym.canonical import JSON
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.sokoban import Cell, Room, Store

# Height and width inside the walls, boxes, pillars, and how far boxes are from goals in all.
SIZES = {"easy": (5, 5, 1, 2, 4), "medium": (5, 5, 2, 2, 6), "hard": (7, 7, 2, 6, 9)}

_AWAY = 0.8

_PROMPT = """\
You push boxes in a store. @ is you, $ a box, . a goal, * a box on a goal, + you on a goal, # a wall. \
You can push one box at a time, never pull; a box in a corner is stuck.
Bring every box onto a goal within {turns} moves. Answer with one move: up, down, left or right."""


class Sokoban(ReplayedGame):
    """The environment. An action is `up`, `down`, `left` or `right`."""

    id: ClassVar[str] = "verigym/games/sokoban-v0"
    game: ClassVar[str] = "sokoban"
    difficulties: ClassVar[tuple[str, ...]] = tuple(SIZES)
    recoverable: ClassVar[bool] = False
    chance: ClassVar[float] = 0.15  # one box is sometimes pushed home by accident

    def draw(self, rng: np.random.Generator, difficulty: str) -> tuple[str, dict[str, Any]]:
        """See `ReplayedGame`. From all boxes on goals, pulls in random directions, retold backwards."""
        height, width, count, pillars, far = SIZES[difficulty]
        while True:
            places = (rng.permutation(height * width)).tolist()
            # No two splits share a room with its goals.
            essence = [height, sorted(places[:pillars]), sorted(places[pillars : pillars + count])]
            if not self.wants(essence):
                continue
            drawn = _drawn(rng, places, height, width, count, pillars, far)
            if drawn is not None:
                store, moves = drawn
                turns = 2 * moves + 10
                start = {"rows": _rows(store), "turns": turns, "essence": essence}
                return _PROMPT.format(turns=turns), start

    def show(self, board: Store) -> str:
        """See `ReplayedGame`."""
        return "\n".join(_rows(board))

    def position(self, board: Store) -> JSON:
        """See `ReplayedGame`."""
        return [list(board.at), sorted(map(list, board.boxes))]

    def moves(self, board: Store) -> list[str]:
        """See `ReplayedGame`."""
        return [move for move in MOVES if self.rules.legal(board, move)]

    def best(self, board: Store) -> str | None:
        """See `ReplayedGame`."""
        walls = board.room.walls
        push = _push(board.room, board.boxes, min(_walk(walls, board.boxes, board.at)))
        if push is None:
            return None
        box, ahead = push
        stand = (2 * box[0] - ahead[0], 2 * box[1] - ahead[1])
        if board.at == stand:
            return _direction(box, ahead)
        return _path(walls, board.boxes, board.at, stand)[0]


def _drawn(
    rng: np.random.Generator,
    order: list[int],
    height: int,
    width: int,
    count: int,
    pillars: int,
    far: int,
) -> tuple[Store, int] | None:
    """A level, and how many moves a way through it takes; None where too little was pulled.

    `order` names the cells inside: pillars, goals, where one stands.
    """
    # Sets of cells are bits here, row by row, walls around included: a search is a few shifts.
    stride = width + 2
    inside = [r * stride + c for r in range(1, height + 1) for c in range(1, width + 1)]
    places = [inside[i] for i in order]
    floor = sum(1 << at for at in places[pillars:])
    goals = places[pillars : pillars + count]
    far_off = {at: min(_distance(at, goal, stride) for goal in goals) for at in places}
    on_goals = sum(1 << goal for goal in goals)
    steps_by_move = [down * stride + right for down, right in MOVES.values()]
    boxes, at = list(goals), places[pillars + count]
    steps = 0
    draws = iter(rng.random(8 * far).tolist())
    for _ in range(4 * far):
        # Where one can walk to, and from where a box can be pulled.
        free = floor & ~sum(1 << box for box in boxes)
        rings = _rings(free, 1 << at, stride)
        options = []
        for box in sorted(boxes):
            for step in steps_by_move:
                behind, after = box + step, box + 2 * step
                if rings[-1] >> behind & 1 and free >> after & 1:
                    options.append((box, behind, after))
        if not options:
            return None
        # Mostly away from the goals: a walk at random would hardly get far.
        away = [one for one in options if far_off[one[1]] > far_off[one[0]]]
        chosen = away if away and next(draws) < _AWAY else options
        box, behind, at = chosen[int(next(draws) * len(chosen))]
        steps += next(n for n, ring in enumerate(rings) if ring >> behind & 1) + 1
        boxes[boxes.index(box)] = behind
        if sum(far_off[box] for box in boxes) >= far and not any(on_goals >> b & 1 for b in boxes):
            return _store(height, width, floor, goals, boxes, at), steps
    return None


def _rings(free: int, start: int, stride: int) -> list[int]:
    """What can be reached in 0, 1, 2, ... steps, each with all before it; at last, everything."""
    rings, now, wider = [], 0, start
    while wider != now:
        now = wider
        rings.append(now)
        wider = (now | now << 1 | now >> 1 | now << stride | now >> stride) & free | now
    return rings


def _distance(one: int, other: int, stride: int) -> int:
    """Steps between two cells, walls and boxes aside."""
    return abs(one // stride - other // stride) + abs(one % stride - other % stride)


def _store(
    height: int, width: int, floor: int, goals: list[int], boxes: list[int], at: int
) -> Store:
    stride = width + 2
    cells = [(r, c) for r in range(height + 2) for c in range(stride)]
    walls = frozenset(cell for n, cell in enumerate(cells) if not floor >> n & 1)
    room = Room(height + 2, stride, walls, frozenset(cells[goal] for goal in goals))
    return Store(room, frozenset(cells[box] for box in boxes), cells[at])


def _walk(walls: frozenset[Cell], boxes: set[Cell] | frozenset[Cell], at: Cell) -> dict[Cell, int]:
    """Every cell that can be reached without a push, with its distance."""
    seen = {at: 0}
    queue = deque([at])
    while queue:
        cell = queue.popleft()
        for down, right in MOVES.values():
            near = (cell[0] + down, cell[1] + right)
            if near not in seen and near not in walls and near not in boxes:
                seen[near] = seen[cell] + 1
                queue.append(near)
    return seen


def _rows(store: Store) -> list[str]:
    signs = dict.fromkeys(store.room.walls, "#") | dict.fromkeys(store.room.goals, ".")
    signs |= {box: "*" if box in store.room.goals else "$" for box in store.boxes}
    signs[store.at] = "+" if store.at in store.room.goals else "@"
    return [
        "".join(signs.get((r, c), " ") for c in range(store.room.width))
        for r in range(store.room.height)
    ]


@lru_cache(maxsize=4096)
def _push(room: Room, boxes: frozenset[Cell], region: Cell) -> tuple[Cell, Cell] | None:
    """The first push on a way with the fewest: the box, and where it goes. Breadth first.

    `region` is the least of the cells that can be walked to, so that one search serves all of them.
    """
    walls, goals, dead = room.walls, room.goals, _dead(room)
    firsts: dict[tuple[frozenset[Cell], Cell], tuple[Cell, Cell] | None] = {(boxes, region): None}
    queue = deque(firsts)
    while queue:
        state = queue.popleft()
        now, at = state
        if now <= goals:
            return firsts[state]
        reach = _walk(walls, now, at)
        for box in sorted(now):
            for down, right in MOVES.values():
                stand, ahead = (box[0] - down, box[1] - right), (box[0] + down, box[1] + right)
                if stand in reach and not (ahead in walls or ahead in now or ahead in dead):
                    moved = now - {box} | {ahead}
                    after = (moved, min(_walk(walls, moved, box)))
                    if after not in firsts:
                        firsts[after] = firsts[state] or (box, ahead)
                        queue.append(after)
    return None


@lru_cache(maxsize=1024)
def _dead(room: Room) -> frozenset[Cell]:
    """Cells from which a box alone can reach no goal: those that no pull from a goal reaches."""
    alive, waiting = set(room.goals), list(room.goals)
    while waiting:
        cell = waiting.pop()
        for down, right in MOVES.values():
            behind, after = (
                (cell[0] + down, cell[1] + right),
                (cell[0] + 2 * down, cell[1] + 2 * right),
            )
            if behind not in alive and behind not in room.walls and after not in room.walls:
                alive.add(behind)
                waiting.append(behind)
    floor = {(r, c) for r in range(room.height) for c in range(room.width)} - room.walls
    return frozenset(floor - alive)


def _path(walls: frozenset[Cell], boxes: frozenset[Cell], at: Cell, to: Cell) -> list[str]:
    distance = _walk(walls, boxes, to)
    path = []
    while at != to:
        for name, (down, right) in MOVES.items():
            near = (at[0] + down, at[1] + right)
            if distance.get(near, 1 << 30) < distance[at]:
                path.append(name)
                at = near
                break
    return path


def _direction(source: Cell, target: Cell) -> str:
    step = (target[0] - source[0], target[1] - source[1])
    return next(name for name, delta in MOVES.items() if delta == step)
