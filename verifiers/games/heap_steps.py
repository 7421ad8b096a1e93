"""Nim by steps: each move takes a fixed number of objects from every heap, such as 2 from one and 1 from another.

No theory of heaps helps: they are not independent of each other, so positions have to be looked at one by one. In the
misère form whoever cannot move wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from verigym.canonical import JSON
from verigym.errors import TaskError

Heaps = tuple[int, ...]
Steps = tuple[Heaps, ...]

_MOST_POSITIONS = 100_000


def steps_of(reference: Mapping[str, JSON], heaps: Heaps) -> Steps:
    """Return the steps of a reference. Raises TaskError if they are invalid or the game is too large to solve."""
    raw = reference["steps"]
    if (
        not isinstance(raw, list | tuple)
        or not 1 <= len(raw) <= 20
        or not all(_is_step(step, len(heaps)) for step in raw)
    ):
        raise TaskError(
            f"nim: steps must be 1 to 20 lists of {len(heaps)} whole numbers, not all 0, got {raw!r}"
        )
    positions = 1
    for heap in heaps:
        positions *= heap + 1
    if positions > _MOST_POSITIONS or sum(heaps) > 500 or max(map(max, raw)) > 500:
        raise TaskError(f"nim: with steps, heaps may have {_MOST_POSITIONS} positions at most")
    return tuple(tuple(step) for step in raw)


def _is_step(step: JSON, count: int) -> bool:
    return (
        isinstance(step, list | tuple)
        and len(step) == count
        and all(type(n) is int and n >= 0 for n in step)
        and any(step)
    )


def after_step(heaps: Heaps, step: Heaps) -> Heaps:
    """Return the heaps after a step."""
    return tuple([n - many for n, many in zip(heaps, step, strict=True)])


def open_steps(heaps: Heaps, steps: Steps) -> list[int]:
    """Return the numbers of the steps that can be made."""
    return [
        number
        for number, step in enumerate(steps)
        if all(many <= n for n, many in zip(heaps, step, strict=True))
    ]


@lru_cache(maxsize=256)
def winning_steps(heaps: Heaps, steps: Steps, misere: bool) -> list[int]:
    """Return the numbers of the steps after which the other side loses."""
    solver = _solver(steps, misere)
    return [
        number
        for number in open_steps(heaps, steps)
        if not solver.wins(_packed(after_step(heaps, steps[number])))
    ]


def hardest_steps(heaps: Heaps, steps: Steps, misere: bool) -> list[int]:
    """Return the steps of an opponent that never errs: those that win, else those with the fewest winning answers."""
    if winning := winning_steps(heaps, steps, misere):
        return winning
    answers = {
        number: len(winning_steps(after_step(heaps, steps[number]), steps, misere))
        for number in open_steps(heaps, steps)
    }
    return [number for number, count in answers.items() if count == min(answers.values())]


_WIDTH = 11
"""Bits of a heap in a packed position: ten for its objects, and one that a step must not borrow from."""


def _packed(heaps: Heaps) -> int:
    return sum(n << _WIDTH * place for place, n in enumerate(heaps))


class _Solver:
    """The positions that were looked at, packed, and True for those that the side to move wins."""

    def __init__(self, steps: Steps, misere: bool) -> None:
        self.steps = [_packed(step) for step in steps]
        self.guard = sum(1 << _WIDTH * place + _WIDTH - 1 for place in range(len(steps[0])))
        self.misere = misere
        self.known: dict[int, bool] = {}

    def wins(self, at: int) -> bool:
        known, guard = self.known, self.guard
        if (found := known.get(at)) is not None:
            return found
        guarded, stuck, found = at | guard, True, False
        for step in self.steps:
            after = guarded - step
            if after & guard == guard:
                stuck = False
                if not self.wins(after ^ guard):
                    found = True
                    break
        known[at] = self.misere if stuck else found
        return known[at]


@lru_cache(maxsize=32)
def _solver(steps: Steps, misere: bool) -> _Solver:
    return _Solver(steps, misere)
