"""Tower of Hanoi under drawn rules: the rules, and the plan with the least fuel."""

from __future__ import annotations

import itertools
from itertools import compress
from operator import ne

import numpy as np

from verigym.envs.games.planned import FuelPlan, Way, plan
from verigym.verifiers.games.house_rules import HouseRules


def ways_between(pegs: int) -> list[str]:
    """Return the names of all moves from one peg to another."""
    return [f"{a + 1}->{b + 1}" for a, b in itertools.permutations(range(pegs), 2)]


def draw_rules(
    rng: np.random.Generator, pegs: int, disks: int, forbidden: int, heavy: int, pairs: int
) -> HouseRules:
    """Draw house rules with a way from and to each peg."""
    every = ways_between(pegs)
    while True:
        ways = [every[i] for i in rng.permutation(len(every))[:forbidden]]
        left = set(every) - set(ways)
        if len({way[0] for way in left}) == len({way[-1] for way in left}) == pegs:
            break
    extra = {
        f"disk {d + 1}": int(rng.integers(1, 4)) for d in sorted(rng.permutation(disks)[:heavy])
    }
    drawn = [rng.permutation(disks)[:2] + 1 for _ in range(pairs)]
    return HouseRules(
        frozenset(ways),
        frozenset((f"disk {one}", f"disk {other}") for one, other in drawn),
        tuple(extra.items()),
    )


def with_dear_ways(rng: np.random.Generator, rules: HouseRules, dear: int) -> HouseRules:
    """Return the rules, and that so many of the ways that are left take more fuel."""
    left = sorted(set(ways_between(4)) - rules.forbidden)
    some = sorted(left[i] for i in rng.permutation(len(left))[:dear])
    extra = tuple((way, int(rng.integers(1, 4))) for way in some)
    return HouseRules(rules.forbidden, rules.not_after, rules.extra + extra)


def plan_hanoi(
    pegs: int,
    places: tuple[int, ...],
    goal: tuple[int, ...],
    rules: HouseRules,
    fuel: int,
    last: tuple[str, ...],
) -> FuelPlan | None:
    """Return a plan with the least fuel; `places` and `goal` are the pegs of each disk, from the smallest. None if
    there is none within `fuel`."""
    extra = dict(rules.extra)
    free = [
        (name, a, b, extra.get(name, 0))
        for name, (a, b) in zip(
            ways_between(pegs), itertools.permutations(range(pegs), 2), strict=True
        )
        if name not in rules.forbidden
    ]
    costs = [1 + extra.get(f"disk {disk}", 0) for disk in range(1, len(places) + 1)]
    remembered = {one for one, _ in rules.not_after}
    names = [f"disk {disk}" for disk in range(1, len(places) + 1)]
    labels = [(name,) if name in remembered else () for name in names]

    def ways(board: tuple[int, ...], last: tuple[str, ...]) -> list[Way]:
        tops = [board.index(peg) if peg in board else len(board) for peg in range(pegs)]
        found = []
        for name, a, b, more in free:
            disk = tops[a]
            if disk >= tops[b] or (last and (last[0], names[disk]) in rules.not_after):
                continue
            after = (*board[:disk], b, *board[disk + 1 :])
            found.append(Way((name,), after, costs[disk] + more, labels[disk]))
        return found

    def bound(board: tuple[int, ...]) -> int:
        return sum(compress(costs, map(ne, board, goal)))

    kept = tuple(label for label in last if label in remembered)
    return plan(places, kept, fuel, ways, bound)
