"""Starts of nim by steps: one step alone wins, and for several turns on; and the count of looking at positions."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from verigym.verifiers.games.heap_steps import (
    Heaps,
    Steps,
    after_step,
    hardest_steps,
    open_steps,
    winning_steps,
)

_SEVERAL = 4


class StepGame(Struct, frozen=True, gc=False):
    """Number of heaps, smallest and largest heap, number of steps, most objects that a step takes from a heap; at least
    so many steps that a search tries, and turns on which one step alone wins."""

    count: int
    heaps: tuple[int, int]
    steps: int
    most: int
    tries: int
    narrow: int


def draw_start(rng: np.random.Generator, game: StepGame) -> tuple[Heaps, Steps, bool]:
    """Return heaps, steps, and True if whoever cannot move wins."""
    low, high = game.heaps
    while True:
        heaps = tuple(rng.integers(low, high + 1, game.count).tolist())
        drawn = rng.integers(0, game.most + 1, (3 * game.steps, game.count)).tolist()
        found = sorted({tuple(step) for step in drawn if any(step)})
        if len(found) < game.steps:
            continue
        order = rng.permutation(len(found))[: game.steps].tolist()
        steps: Steps = tuple(found[i] for i in order)
        # One step in one heap alone at most, so that heaps depend on each other.
        if sum(sum(map(bool, step)) == 1 for step in steps) > 1:
            continue
        misere = bool(rng.integers(2))
        if len(winning_steps(heaps, steps, misere)) != 1:
            continue
        if narrow_turns(heaps, steps, misere) < game.narrow:
            continue
        if count_steps(heaps, steps, misere) >= game.tries:
            return heaps, steps, misere


def narrow_turns(heaps: Heaps, steps: Steps, misere: bool) -> int:
    """Return the number of turns on which one step alone of at least four wins, if both sides play well."""
    narrow = 0
    while open_steps(heaps, steps):
        winning = winning_steps(heaps, steps, misere)
        if not winning:
            break
        narrow += len(winning) == 1 and len(open_steps(heaps, steps)) >= _SEVERAL
        heaps = after_step(heaps, steps[winning[0]])
        if answers := hardest_steps(heaps, steps, misere):
            heaps = after_step(heaps, steps[answers[0]])
    return narrow


def count_steps(heaps: Heaps, steps: Steps, misere: bool) -> int:
    """Count the steps that are tried to find one that wins: depth first, every position once, up to the first that wins."""
    operations = 0
    known: dict[Heaps, bool] = {}

    def wins(heaps: Heaps) -> bool:
        nonlocal operations
        if heaps not in known:
            can_move, known[heaps] = False, False
            for step in steps:
                operations += 1
                if all(many <= n for n, many in zip(heaps, step, strict=True)):
                    can_move = True
                    if not wins(after_step(heaps, step)):
                        known[heaps] = True
                        break
            if not can_move:
                known[heaps] = misere
        return known[heaps]

    wins(heaps)
    return operations


def say_steps(steps: Steps) -> str:
    """Return steps in words, a line each."""
    lines = []
    for number, step in enumerate(steps, 1):
        parts = [f"{many} from heap {heap}" for heap, many in enumerate(step, 1) if many]
        lines.append(f"{number}: {' and '.join(parts)}")
    return "\n".join(lines)
