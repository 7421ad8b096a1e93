"""Tower of Hanoi, from any arrangement to all disks on one peg or, from level 8 on, to any other."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.hanoi_plans import (
    draw_rules,
    plan_hanoi,
    ways_between,
    with_dear_ways,
)
from verigym.envs.games.planned import FuelPlan, PlannedGame, say, written
from verigym.envs.games.replayed import Play
from verigym.verifiers.games.house_rules import MAX_FUEL, HouseRules, Ruled
from verigym.verifiers.games.rules import RULES, HanoiState

# Disks, and the least number of moves.
SIZES = {
    1: (3, range(1, 4)),
    2: (3, range(3, 8)),
    3: (4, range(6, 10)),
    4: (4, range(8, 16)),
    5: (5, range(14, 32)),
    6: (6, range(24, 64)),
}
# At level 7: pegs, disks, the least fuel, forbidden ways between two pegs, heavy disks, pairs of disks that may not be moved
# one directly after the other, and fuel to spare in percent.
RULED = {
    7: (3, 5, range(50, 120), 1, 1, 0, 15),
}


@dataclass(frozen=True)
class FarSize:
    """Four pegs, and disks that start and end on random ones, the best way taking at least `moves`.

    Of the ways between two pegs, `forbidden` are closed and `dear` take more fuel, as do `heavy` disks; `pairs` of disks may not
    be moved one directly after the other. Fuel to `spare` in percent.
    """

    disks: int
    moves: int
    forbidden: int
    dear: int
    heavy: int
    pairs: int
    spare: int


FAR = {
    8: FarSize(5, moves=26, forbidden=5, dear=2, heavy=3, pairs=2, spare=10),
    9: FarSize(6, moves=36, forbidden=5, dear=3, heavy=3, pairs=4, spare=3),
    10: FarSize(7, moves=50, forbidden=6, dear=4, heavy=4, pairs=5, spare=0),
}

_PROMPT = """\
Three pegs hold {disks} disks; 1 is the smallest. The disks of a peg are listed from bottom to top. A move \
takes the top disk of one peg to another peg, never onto a smaller disk.
Bring all disks to peg {target} within {turns} moves. Answer with one move, such as 1->3."""
_PROMPT_RULED = """\
{pegs} pegs hold {disks} disks; 1 is the smallest. The disks of a peg are listed from bottom to top. A move \
takes the top disk of one peg to another peg, never onto a smaller disk.
Further rules, for this game alone: {rules}
Bring all disks to peg {target}. You have {turns} turns. Answer with one move, such as {example}."""
_PROMPT_FAR = """\
Four pegs hold {disks} disks; 1 is the smallest. The disks of a peg are listed from bottom to top. A move \
takes the top disk of one peg to another peg, never onto a smaller disk.
Further rules, for this game alone: {rules}
Bring the disks into this position:
{goal}
You have {turns} turns. Answer with one move, such as {example}."""
_COUNTED = {3: "Three"}


class Hanoi(PlannedGame):
    """The environment. An action is `from->to`, pegs counted from 1.

    From level 7 on some ways between pegs are forbidden, disks differ in the fuel that they take, and there is
    next to none to spare; from level 8 on there are four pegs, any goal, and ways that take more fuel.
    """

    id: ClassVar[str] = "verigym/games/hanoi-v0"
    game: ClassVar[str] = "hanoi"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw disks on random pegs; few enough moves, and not too few."""
        if level in FAR:
            return self._draw_far(rng, FAR[level])
        if level in RULED:
            return self._draw_ruled(rng, level)
        disks, lengths = SIZES[level]
        while True:
            places = [int(p) for p in rng.integers(0, 3, disks)]
            target = int(rng.integers(1, 4))
            start = [[d for d in range(disks, 0, -1) if places[d - 1] == peg] for peg in range(3)]
            state = RULES["hanoi"].start({"start": start, "target": target})
            least = _least(state)
            if least in lengths:
                turns = least + least // 2 + 2
                prompt = _PROMPT.format(disks=disks, target=target, turns=turns)
                return prompt, {"start": start, "target": target, "turns": turns}

    def _draw_ruled(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw rules and a start that they make long enough."""
        pegs, disks, lengths, *counts, spare = RULED[level]
        while True:
            rules = draw_rules(rng, pegs, disks, *counts)
            places = tuple(int(p) for p in rng.integers(0, pegs, disks))
            target = int(rng.integers(pegs))
            found = plan_hanoi(pegs, places, (target,) * disks, rules, lengths.stop, ())
            if found is not None and found.fuel in lengths:
                fuel = found.fuel + found.fuel * spare // 100
                turns = len(found.moves) * (110 + spare) // 100 + 5
                words = say(rules, fuel)
                prompt = _PROMPT_RULED.format(
                    pegs=_COUNTED[pegs],
                    disks=disks,
                    target=target + 1,
                    rules=words,
                    turns=turns,
                    example=min(set(ways_between(pegs)) - rules.forbidden),
                )
                return prompt, {
                    "start": _on_pegs(places, pegs),
                    "target": target + 1,
                    "turns": turns,
                    "house_rules": written(rules, fuel),
                }

    def _draw_far(self, rng: np.random.Generator, size: FarSize) -> tuple[str, dict[str, Any]]:
        """Draw rules, a start and a goal for which the largest disks have to move, and that are far apart."""
        while True:
            rules = draw_rules(rng, 4, size.disks, size.forbidden, size.heavy, size.pairs)
            rules = with_dear_ways(rng, rules, size.dear)
            places, goal = (tuple(rng.integers(0, 4, size.disks).tolist()) for _ in range(2))
            if any(here == there for here, there in zip(places[-2:], goal[-2:], strict=True)):
                continue
            start = {"start": _on_pegs(places), "goal": _on_pegs(goal)}
            essence = [start, written(rules, MAX_FUEL)]
            if not self.wants(essence):
                continue
            found = plan_hanoi(4, places, goal, rules, MAX_FUEL, ())
            if found is None or len(found.moves) < size.moves:
                continue
            fuel = found.fuel + found.fuel * size.spare // 100
            turns = len(found.moves) * (110 + size.spare) // 100 + 5
            shown = RULES["hanoi"].start({"start": start["goal"]})
            prompt = _PROMPT_FAR.format(
                disks=size.disks,
                rules=say(rules, fuel),
                goal=self.show(shown),
                turns=turns,
                example=min(set(ways_between(4)) - rules.forbidden),
            )
            return prompt, {
                **start,
                "turns": turns,
                "house_rules": written(rules, fuel),
                "essence": essence,
            }

    @override
    def plan_on(
        self, board: HanoiState, rules: HouseRules, fuel: int, last: tuple[str, ...]
    ) -> FuelPlan | None:
        places = _places(board.pegs)
        goal = _places(board.goal) if board.goal else (board.target,) * len(places)
        return plan_hanoi(len(board.pegs), places, goal, rules, fuel, last)

    @override
    def show(self, board: HanoiState) -> str:
        """Return the pegs as text, the bottom disc first."""
        return "\n".join(
            f"peg {i}: {' '.join(map(str, peg)) or 'empty'}" for i, peg in enumerate(board.pegs, 1)
        )

    @override
    def position(self, board: HanoiState) -> JSON:
        return [list(peg) for peg in board.pegs]

    @override
    def moves(self, board: HanoiState) -> list[str]:
        pairs = itertools.product(range(len(board.pegs)), repeat=2)
        return [f"{a + 1}->{b + 1}" for a, b in pairs if self.rules.legal(board, (a, b))]

    @override
    def best(self, board: HanoiState) -> str | None:
        """The largest disk out of place decides; the smaller ones make way."""
        where = {disk: peg for peg, disks in enumerate(board.pegs) for disk in disks}
        target, move = board.target, None
        for disk in sorted(where, reverse=True):
            if where[disk] != target:
                move = (where[disk], target)
                target = 3 - where[disk] - target  # the peg that is neither
        return f"{move[0] + 1}->{move[1] + 1}" if move else None

    @override
    def work(self, state: Play) -> int:
        """Count the disks that are looked up, and the pegs that are worked out from them; under house rules, the
        moves that a search for the least fuel tries."""
        if isinstance(state.board, Ruled):
            return super().work(state)
        operations, target = 0, state.board.target
        for disk in range(sum(map(len, state.board.pegs)), 0, -1):
            operations += 1
            peg = next(i for i, disks in enumerate(state.board.pegs) if disk in disks)
            if peg != target:
                target = 3 - peg - target
                operations += 1
        return operations


def _least(state: HanoiState) -> int:
    """The least number of moves: 2^(d-1) for each disk d that has to move."""
    where = {disk: peg for peg, disks in enumerate(state.pegs) for disk in disks}
    target, total = state.target, 0
    for disk in sorted(where, reverse=True):
        if where[disk] != target:
            total += 1 << (disk - 1)
            target = 3 - where[disk] - target
    return total


def _on_pegs(places: tuple[int, ...], pegs: int = 4) -> list[list[int]]:
    """Return the disks of each peg, from the peg of each disk."""
    return [[d for d in range(len(places), 0, -1) if places[d - 1] == peg] for peg in range(pegs)]


def _places(pegs: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return the peg of each disk, from the smallest."""
    where = {disk: peg for peg, disks in enumerate(pegs) for disk in disks}
    return tuple(where[disk] for disk in sorted(where))
