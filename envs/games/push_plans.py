"""Plans for sokoban under house rules: walks and pushes with the least fuel, by A* over pushes."""

from __future__ import annotations

import heapq
from itertools import permutations

from verigym.envs.games.planned import FuelPlan, Way, plan
from verigym.verifiers.games.house_rules import HouseRules
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.sokoban import SokobanState, SokobanWalls, bits

_FAR = 1 << 40

Pushes = list[tuple[str, int, int]]
"""Pushes that are allowed: direction, distance in bits, and fuel."""


def find_push_plan(
    start: SokobanState, rules: HouseRules, fuel: int, most: int = 1 << 30
) -> FuelPlan | None:
    """Return a plan with the least fuel; None if there is none within `fuel`, or `most` pushes were tried.

    The bound is the cheapest way to give each box a goal of its own, with no other box in the way.
    """
    room, pushes = start.room, _pushes(start.room, rules)
    homes = [_costs_to(room, goal, pushes) for goal in bits(room.goals)]
    alive = sum(1 << cell for cell in bits(room.floor) if any(cell in home for home in homes))
    bounds: dict[int, int | None] = {}

    def bound(board: tuple[int, int]) -> int | None:
        boxes = board[0]
        if boxes not in bounds:
            bounds[boxes] = _assignment(boxes, homes)
        return bounds[boxes]

    def ways(board: tuple[int, int], last: tuple[str, ...]) -> list[Way]:
        boxes, at = board
        around = find_rings(room.floor & ~boxes, 1 << at, room.stride)
        reach, free, found = around[-1], alive & ~boxes, []
        for box in bits(boxes):
            for move, step, cost in pushes:
                if reach >> box - step & 1 and free >> box + step & 1:
                    walk = next(n for n, ring in enumerate(around) if ring >> box - step & 1)
                    after = (boxes ^ (1 << box | 1 << box + step), box)
                    found.append(Way((str(box - step), move), after, walk + cost, ()))
        return found

    found = plan((start.boxes, start.at), (), fuel, ways, bound, most)
    return found and FuelPlan(_walked(start, found.moves), found.fuel, found.tried)


def detours(start: SokobanState, rules: HouseRules, moves: tuple[str, ...]) -> int:
    """Return the fuel that the pushes of a plan take beyond those of boxes that are never in each other's way."""
    pushes = _pushes(start.room, rules)
    cost = {move: fuel for move, _, fuel in pushes}
    boxes, at, spent = start.boxes, start.at, 0
    for move in moves:
        step = start.room.step(move)
        at += step
        if boxes >> at & 1:
            boxes ^= 1 << at | 1 << at + step
            spent += cost[move]
    homes = [_costs_to(start.room, goal, pushes) for goal in bits(start.room.goals)]
    return spent - (_assignment(start.boxes, homes) or 0)


def _pushes(room: SokobanWalls, rules: HouseRules) -> Pushes:
    return [
        (move, room.step(move), rules.cost((move, "push", f"push {move}")))
        for move in MOVES
        if f"push {move}" not in rules.forbidden
    ]


def find_rings(free: int, start: int, stride: int) -> list[int]:
    """Return the cells reachable within 0, 1, 2, ... steps; the last entry holds all reachable
    cells."""
    found, now, wider = [], 0, start
    while wider != now:
        now = wider
        found.append(now)
        wider = (now | now << 1 | now >> 1 | now << stride | now >> stride) & free | now
    return found


def _walked(start: SokobanState, pairs: tuple[str, ...]) -> tuple[str, ...]:
    """The moves, with the walk to each place to push from."""
    room, boxes, at = start.room, start.boxes, start.at
    moves: list[str] = []
    for stand, move in zip(map(int, pairs[::2]), pairs[1::2], strict=True):
        around = find_rings(room.floor & ~boxes, 1 << stand, room.stride)
        while at != stand:
            nearer = next(ring for ring in around[::-1] if not ring >> at & 1)
            moves.append(next(m for m in MOVES if nearer >> at + room.step(m) & 1))
            at += room.step(moves[-1])
        moves.append(move)
        at += room.step(move)
        boxes ^= 1 << at | 1 << at + room.step(move)
    return tuple(moves)


def _costs_to(room: SokobanWalls, goal: int, pushes: Pushes) -> dict[int, int]:
    """The least fuel of pushing a box alone from each cell to `goal`; other cells lead to no goal."""
    costs, heap = {goal: 0}, [(0, goal)]
    while heap:
        spent, cell = heapq.heappop(heap)
        if spent > costs[cell]:
            continue
        for _, step, cost in pushes:
            before = cell - step
            if before - step < 0 or not (room.floor >> before & room.floor >> before - step & 1):
                continue
            if spent + cost < costs.get(before, _FAR):
                costs[before] = spent + cost
                heapq.heappush(heap, (spent + cost, before))
    return costs


def _assignment(boxes: int, homes: list[dict[int, int]]) -> int | None:
    """The least sum of fuel if each box goes to a goal of its own; None if there is no such choice."""
    places = list(bits(boxes))
    least = min(
        sum(home.get(box, _FAR) for box, home in zip(places, some, strict=True))
        for some in permutations(homes, len(places))
    )
    return None if least >= _FAR else least
