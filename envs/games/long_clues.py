"""Long clues of zebra puzzles: drawn so that they are true, and said in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from verigym.envs.games.clues import Clue, link
from verigym.envs.games.group_clues import GroupClue

_SAYINGS = {
    "far": "the house numbers of {} and {} differ by at least {}.",
    "gap": "the house numbers of {} and {} differ by exactly {}.",
    "less": "the house numbers of {} and {} add up to less than those of {} and {}.",
    "equal": "the house numbers of {} and {} add up to the same as those of {} and {}.",
    "if": "if {} lives somewhere to the left of {}, then {} lives somewhere to the left of {}.",
}


def draw_long_clues(
    rng: np.random.Generator, places: list[int], houses: int, count: int
) -> list[Clue]:
    """Return different true clues. `places` is the house of each word, from 0."""
    found: dict[tuple[str, tuple[int, ...]], Clue] = {}
    while len(found) < count:
        words = [int(i) for i in rng.permutation(len(places))[:5]]
        kind = _KINDS[int(rng.integers(len(_KINDS)))]
        if (one := kind(rng, words, places, houses)) is not None:
            named = tuple(sorted(one.words if isinstance(one, GroupClue) else (one.a, one.b)))
            found.setdefault((one.kind, named), one)
    return list(found.values())


def _distance(
    rng: np.random.Generator, words: list[int], places: list[int], houses: int
) -> Clue | None:
    a, b = words[:2]
    distance = abs(places[a] - places[b])
    if distance < 2:
        return None
    if rng.integers(3):
        return link("far", a, b, houses, True, (int(rng.integers(2, distance + 1)),))
    return link("gap", a, b, houses, True, (distance,))


def _either(
    rng: np.random.Generator, words: list[int], places: list[int], houses: int
) -> Clue | None:
    a, b = words[:2]
    other = int(rng.integers(houses))
    if other == places[b] or a // houses == b // houses:
        return None
    numbers = (places[a] + 1, other + 1)
    if rng.integers(2):
        return link("either", a, b, houses, True, numbers)
    return link("either", b, a, houses, True, numbers[::-1])


def _count(
    rng: np.random.Generator, words: list[int], places: list[int], houses: int
) -> Clue | None:
    some = words[: int(rng.integers(2, 6))]
    low = int(rng.integers(houses - 1))
    high = int(rng.integers(low + 1, min(houses, low + houses - 2)))
    inside = sum(low <= places[word] <= high for word in some)
    # None of two is said with "neither"; none of more would tell too much.
    if inside == len(some) or (not inside and len(some) > 2):
        return None
    return GroupClue("count", tuple(some), (inside, low + 1, high + 1))


def _sums(
    rng: np.random.Generator, words: list[int], places: list[int], houses: int
) -> Clue | None:
    left, right = words[:2], words[2:4]
    before, after = (places[one[0]] + places[one[1]] for one in (left, right))
    if before > after:
        left, right = right, left
    return GroupClue("equal" if before == after else "less", (*left, *right))


def _condition(
    rng: np.random.Generator, words: list[int], places: list[int], houses: int
) -> Clue | None:
    one = GroupClue("if", tuple(words[:4]))
    return one if one.holds(places) else None


_KINDS: tuple[Callable[[np.random.Generator, list[int], list[int], int], Clue | None], ...] = (
    _distance,
    _either,
    _count,
    _sums,
    _condition,
)


def say_long_clue(kind: str, names: Sequence[str], numbers: Sequence[int]) -> str:
    """Return a clue in words."""
    if kind == "either":
        first, second = (
            f"{name} lives in house {house}" for name, house in zip(names, numbers, strict=True)
        )
        return f"either {first} or {second}, but not both."
    if kind == "count":
        wanted, low, high = numbers
        if not wanted:
            return f"neither {names[0]} nor {names[1]} lives in one of the houses {low} to {high}."
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        return f"exactly {wanted} of these live in the houses {low} to {high}: {listed}."
    return _SAYINGS[kind].format(*names, *numbers)
