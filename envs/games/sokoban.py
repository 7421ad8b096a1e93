"""Sokoban: push all boxes onto goals. Levels are made by pulling, so that each can be solved."""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.planned import FuelPlan, PlannedGame, say, written
from verigym.envs.games.push_plans import detours, find_push_plan, find_rings
from verigym.envs.games.push_rooms import PushRoom, RoomSize, draw_room
from verigym.verifiers.games.house_rules import MAX_FUEL, HouseRules
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.sokoban import SokobanState, SokobanWalls, bits

# Height and width inside the walls, boxes, pillars, and how far boxes are from goals in all.
SIZES = {
    1: (4, 5, 1, 1, 3),
    2: (5, 5, 1, 2, 4),
    3: (6, 7, 1, 3, 6),
    4: (5, 5, 2, 2, 6),
    5: (6, 6, 2, 4, 8),
    6: (7, 7, 2, 6, 9),
}
# Level 7: the same; moves that a search for the least fuel tries; fuel that boxes in each other's way cost at least.
RULED = (6, 6, 3, 6, 8), range(900, 2500), 1
# From level 8 on: small rooms with a long best way.
ROOMS = {
    8: RoomSize(5, 6, 3, range(17, 25), moves=50, pushes=13, changes=7, tried=1700),
    9: RoomSize(6, 6, 3, range(17, 27), moves=70, pushes=18, changes=9, tried=2200),
    10: RoomSize(6, 6, 4, range(17, 25), moves=70, pushes=20, changes=10, tried=3500),
}
SPARE = {7: 15, 8: 5, 9: 2, 10: 0}
"""Fuel to spare by level, in percent."""

_AWAY = 0.8
_BACKWARDS = [(move, MOVES[move]) for move in ("down", "up", "right", "left")]
"""The directions of pushes, in the order of the pulls up, down, left and right."""

_PROMPT = """\
You push boxes in a warehouse. @ is you, $ a box, . a goal, * a box on a goal, + you on a goal, # a wall. \
You can push one box at a time and never pull, so a box in a corner is stuck.
Bring every box onto a goal within {turns} moves. Answer with one move: up, down, left or right."""
_PROMPT_RULED = """\
You push boxes in a warehouse. @ is you, $ a box, . a goal, * a box on a goal, + you on a goal, # a wall. \
You can push one box at a time and never pull, so a box in a corner is stuck.
Further rules, for this game alone: {rules}
Bring every box onto a goal. You have {turns} turns. Answer with one move: up, down, left or right."""


class Sokoban(PlannedGame):
    """The environment. An action is `up`, `down`, `left` or `right`.

    From level 7 on pushes differ in the fuel that they take, some are forbidden, and there is next to none to spare.
    """

    id: ClassVar[str] = "verigym/games/sokoban-v0"
    game: ClassVar[str] = "sokoban"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    chance: ClassVar[float] = 0.15  # one box is sometimes pushed home by accident

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw a level by pulling boxes in random directions from their goals; the solution is the
        reverse."""
        if level in SPARE:
            return self._draw_ruled(rng, level)
        height, width, count, pillars, far = SIZES[level]
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

    def _draw_ruled(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw rules, and a room that is long or takes a search long enough."""
        if level in ROOMS:
            room = draw_room(rng, ROOMS[level], _house_rules, self.wants)
        else:
            room = self._draw_pulled(rng)
        fuel = room.plan.fuel * (100 + SPARE[level]) // 100
        more = SPARE[level] + (0 if level in ROOMS else 10)
        turns = len(room.plan.moves) * (100 + more) // 100 + 3
        return _PROMPT_RULED.format(rules=say(room.rules, fuel), turns=turns), {
            "rows": _rows(room.start),
            "turns": turns,
            "house_rules": written(room.rules, fuel),
            "essence": room.essence,
        }

    def _draw_pulled(self, rng: np.random.Generator) -> PushRoom:
        """Draw rules, and levels until one takes a search long enough."""
        (height, width, count, pillars, far), tries, in_way = RULED
        while True:
            rules = _house_rules(rng)
            places = (rng.permutation(height * width)).tolist()
            essence = [height, sorted(places[:pillars]), sorted(places[pillars : pillars + count])]
            if not self.wants(essence):
                continue
            drawn = _drawn(rng, places, height, width, count, pillars, far, rules)
            found = drawn and find_push_plan(drawn[0], rules, MAX_FUEL, tries.stop)
            if not drawn or not found or found.tried not in tries:
                continue
            if detours(drawn[0], rules, found.moves) >= in_way:
                return PushRoom(drawn[0], rules, found, essence)

    @override
    def plan_on(
        self, board: SokobanState, rules: HouseRules, fuel: int, last: tuple[str, ...]
    ) -> FuelPlan | None:
        return find_push_plan(board, rules, fuel)

    @override
    def show(self, board: SokobanState) -> str:
        return "\n".join(_rows(board))

    @override
    def position(self, board: SokobanState) -> JSON:
        return [board.at, hex(board.boxes)]

    @override
    def moves(self, board: SokobanState) -> list[str]:
        return [move for move in MOVES if self.rules.legal(board, move)]

    @override
    def best(self, board: SokobanState) -> str | None:
        room, stride = board.room, board.room.stride
        reach = find_rings(room.floor & ~board.boxes, 1 << board.at, stride)[-1]
        push = _push(room, board.boxes, reach)
        if push is None:
            return None
        stand, step = push
        if board.at != stand:
            # Towards where one can walk to in one step less than from here.
            rings = find_rings(room.floor & ~board.boxes, 1 << stand, stride)
            nearer = next(ring for ring in rings[::-1] if not ring >> board.at & 1)
            return next(m for m in MOVES if nearer >> board.at + room.step(m) & 1)
        return next(move for move in MOVES if room.step(move) == step)

    @override
    def operations(self, board: SokobanState) -> int:
        """Count the pushes that a search for the fewest tries."""
        return _tried(board)


def _drawn(
    rng: np.random.Generator,
    order: list[int],
    height: int,
    width: int,
    count: int,
    pillars: int,
    far: int,
    rules: HouseRules = HouseRules(),  # noqa: B008 - frozen
) -> tuple[SokobanState, int] | None:
    """A level, and how many moves a way through it takes; None if too little was pulled.

    `order` names the cells inside: pillars, goals, where one stands.
    """
    # As `SokobanWalls` counts them, walls around included: a search is a few shifts.
    stride = width + 3
    inside = [r * stride + c for r in range(2, height + 2) for c in range(1, width + 1)]
    places = [inside[i] for i in order]
    floor = sum(1 << at for at in places[pillars:])
    goals = places[pillars : pillars + count]
    far_off = {at: min(_distance(at, goal, stride) for goal in goals) for at in places}
    on_goals = sum(1 << goal for goal in goals)
    # A pull is the reverse of a push in the opposite direction.
    steps_by_move = [
        -down * stride - right
        for move, (down, right) in _BACKWARDS
        if f"push {move}" not in rules.forbidden
    ]
    boxes, at = list(goals), places[pillars + count]
    steps = 0
    draws = iter(rng.random(8 * far).tolist())
    for _ in range(4 * far):
        # Where one can walk to, and from where a box can be pulled.
        free = floor & ~sum(1 << box for box in boxes)
        rings = find_rings(free, 1 << at, stride)
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
            room = SokobanWalls(height + 2, width + 2, floor, on_goals)
            return SokobanState(room, sum(1 << box for box in boxes), at), steps
    return None


def _distance(one: int, other: int, stride: int) -> int:
    """Steps between two cells, walls and boxes aside."""
    return abs(one // stride - other // stride) + abs(one % stride - other % stride)


def _rows(store: SokobanState) -> list[str]:
    room, here = store.room, 1 << store.at
    signs = ["#"] * (room.stride * (room.height + 1))
    for at in bits(room.floor):
        signs[at] = " "
    for at in bits(room.goals):
        signs[at] = "."
    for at in bits(store.boxes):
        signs[at] = "*" if room.goals >> at & 1 else "$"
    signs[store.at] = "+" if room.goals & here else "@"
    text = "".join(signs)
    return [text[at : at + room.width] for at in range(room.stride, len(text), room.stride)]


@lru_cache(maxsize=4096)
def _push(room: SokobanWalls, boxes: int, reach: int) -> tuple[int, int] | None:
    """The first push on a way with the fewest: where to stand, and the step. Breadth first.

    `reach` is all that can be walked to, so that one search serves all who stand there.
    """
    stride, alive = room.stride, _alive(room)
    steps = [room.step(move) for move in MOVES]
    firsts: dict[tuple[int, int], tuple[int, int] | None] = {(boxes, reach): None}
    queue = deque(firsts)
    while queue:
        state = queue.popleft()
        now, reach = state
        if not now & ~room.goals:
            return firsts[state]
        for box in bits(now):
            for step in steps:
                if reach >> box - step & 1 and (alive & ~now) >> box + step & 1:
                    moved = now ^ (1 << box | 1 << box + step)
                    after = (moved, find_rings(room.floor & ~moved, 1 << box, stride)[-1])
                    if after not in firsts:
                        firsts[after] = firsts[state] or (box - step, step)
                        queue.append(after)
    return None


def _tried(board: SokobanState) -> int:
    """Search as `_push` does, and count the pushes that are tried."""
    room, operations = board.room, 0
    stride, alive = room.stride, _alive(room)
    steps = [room.step(move) for move in MOVES]
    reach = find_rings(room.floor & ~board.boxes, 1 << board.at, stride)[-1]
    seen = {(board.boxes, reach)}
    queue = deque(seen)
    while queue:
        now, reach = queue.popleft()
        if not now & ~room.goals:
            break
        for box in bits(now):
            for step in steps:
                if reach >> box - step & 1 and (alive & ~now) >> box + step & 1:
                    operations += 1
                    moved = now ^ (1 << box | 1 << box + step)
                    after = (moved, find_rings(room.floor & ~moved, 1 << box, stride)[-1])
                    if after not in seen:
                        seen.add(after)
                        queue.append(after)
    return operations


@lru_cache(maxsize=1024)
def _alive(room: SokobanWalls) -> int:
    """Cells from which a box alone can reach a goal: those that pulls from a goal reach."""
    alive, waiting = room.goals, list(bits(room.goals))
    while waiting:
        cell = waiting.pop()
        for step in map(room.step, MOVES):
            behind = cell + step
            # The second is looked at only where the first is floor, so that it is no place below 0.
            if (room.floor & ~alive) >> behind & 1 and room.floor >> behind + step & 1:
                alive |= 1 << behind
                waiting.append(behind)
    return alive


def _house_rules(rng: np.random.Generator) -> HouseRules:
    """Draw what pushes cost more, in all directions and in one, and one direction without pushes or none."""
    heavy, barred = (list(MOVES)[i] for i in rng.permutation(4)[:2])
    extra = (("push", int(rng.integers(1, 3))), (f"push {heavy}", int(rng.integers(1, 4))))
    forbidden = {f"push {barred}"} if rng.integers(4) == 0 else ()
    return HouseRules(frozenset(forbidden), extra=extra)
