"""Combinatorics and probability; one turn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.question import Ask, Question

SIZES = {2: 5, 4: 8, 6: 12}
_EXACT = "Give a reduced fraction."
_LETTERS = "ABCDEFG"

Count = tuple[str, int | Fraction]


class Counting(Question):
    """Arrangements, selections, paths, distributions, and chances with dice, cards and urns."""

    id: ClassVar[str] = "verigym/math/counting-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        size = SIZES[level]
        kind = KINDS[int(rng.integers(len(KINDS)))]
        text, value = kind(rng, size)
        if isinstance(value, Fraction):
            text = f"{text} {_EXACT}"
        return Ask(
            prompt=text, answer=str(value), answer_form="reduced", steps=size, tags=(kind.__name__,)
        )


def arrangements(rng: np.random.Generator, size: int) -> Count:
    """Number of arrangements of the letters of a word in which some repeat."""
    letters = [_LETTERS[int(i)] for i in rng.integers(0, 2 + size // 3, size)]
    value = math.factorial(size)
    for count in Counter(letters).values():
        value //= math.factorial(count)
    word = "".join(letters)
    return f"In how many different ways can the letters of {word} be arranged in a row?", value


def committees(rng: np.random.Generator, size: int) -> Count:
    """Number of committees with at least a given number of one kind."""
    women, men = int(rng.integers(3, size + 1)), int(rng.integers(3, size + 1))
    seats = int(rng.integers(2, min(5, women, men) + 1))
    least = int(rng.integers(0, seats + 1))
    value = sum(math.comb(women, w) * math.comb(men, seats - w) for w in range(least, seats + 1))
    text = (
        f"A committee of {seats} is chosen from {women} women and {men} men, with at least {least} "
        f"{'woman' if least == 1 else 'women'}. In how many ways?"
    )
    return text, value


def lattice_paths(rng: np.random.Generator, size: int) -> Count:
    """Right and up, past a blocked point."""
    across, up = int(rng.integers(2, size + 1)), int(rng.integers(2, size + 1))
    while True:
        x, y = int(rng.integers(0, across + 1)), int(rng.integers(0, up + 1))
        if (x, y) not in ((0, 0), (across, up)):
            break
    through = math.comb(x + y, x) * math.comb(across - x + up - y, across - x)
    text = (
        f"How many paths lead from (0, 0) to ({across}, {up}) in steps of one to the right or one up, "
        f"without passing through ({x}, {y})?"
    )
    return text, math.comb(across + up, across) - through


def distributions(rng: np.random.Generator, size: int) -> Count:
    """Number of distributions of equal things to people, each with at least a given number."""
    people, least = int(rng.integers(2, 5)), int(rng.integers(0, 3))
    things = people * least + int(rng.integers(2, 2 * size))
    left = things - people * least
    text = (
        f"In how many ways can {things} equal coins be given to {people} children if each gets at "
        f"least {least}?"
    )
    return text, math.comb(left + people - 1, people - 1)


def dice_sum(rng: np.random.Generator, size: int) -> Count:
    """The chance of a sum of fair dice."""
    dice = 2 + size // 5
    ways = Counter({0: 1})
    for _ in range(dice):
        ways = Counter(
            {
                total: sum(ways[total - face] for face in range(1, 7))
                for total in range(min(ways) + 1, max(ways) + 7)
            }
        )
    total = int(rng.integers(dice + 1, 6 * dice))
    atleast = bool(rng.integers(2))
    value = sum(n for t, n in ways.items() if (t >= total if atleast else t == total))
    text = f"{dice} fair dice are thrown. What is the chance that they sum to {'at least ' if atleast else ''}{total}?"
    return text, Fraction(value, 6**dice)


def urn(rng: np.random.Generator, size: int) -> Count:
    """Probability of a given number of red balls, drawn without replacement."""
    red, blue = int(rng.integers(2, size + 1)), int(rng.integers(2, size + 1))
    drawn = int(rng.integers(2, min(4, red + blue - 1) + 1))
    wanted = int(rng.integers(max(0, drawn - blue), min(red, drawn) + 1))
    ways = math.comb(red, wanted) * math.comb(blue, drawn - wanted)
    text = (
        f"An urn holds {red} red and {blue} blue balls. {drawn} are drawn at once. What is the chance "
        f"that exactly {wanted} of them {'is' if wanted == 1 else 'are'} red?"
    )
    return text, Fraction(ways, math.comb(red + blue, drawn))


def bayes(rng: np.random.Generator, size: int) -> Count:
    """Probability that a ball came from one of two bags."""
    bags = [tuple(int(n) for n in rng.integers(1, size + 1, 2)) for _ in range(2)]
    first, second = (Fraction(white, white + black) for white, black in bags)
    text = (
        f"Bag one holds {bags[0][0]} white and {bags[0][1]} black balls, bag two {bags[1][0]} white and "
        f"{bags[1][1]} black. A bag is chosen by a fair coin and a ball drawn from it; it is white. What "
        "is the chance that it came from bag one?"
    )
    return text, first / (first + second)


KINDS: tuple[Callable[[np.random.Generator, int], Count], ...] = (
    arrangements,
    committees,
    lattice_paths,
    distributions,
    dice_sum,
    urn,
    bayes,
)
