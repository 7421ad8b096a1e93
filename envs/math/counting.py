"""Combinatorics and probability; one turn."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.math.contest.arrangements import KINDS as ARRANGEMENTS
from verigym.envs.math.contest.chances import KINDS as CHANCES
from verigym.envs.math.contest.drawn_graphs import KINDS as GRAPHS
from verigym.envs.math.contest.grids import KINDS as GRIDS
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.contest.paths import KINDS as PATHS
from verigym.envs.math.paper import Paper
from verigym.envs.math.worked import Worked
from verigym.question import Ask

# How large numbers are; how many more people, balls drawn, seats and bags there may be; how many kinds.
LEVELS = {
    1: (4, 0, 4),
    2: (5, 0, 7),
    3: (6, 0, 6),
    4: (8, 0, 7),
    5: (10, 0, 7),
    6: (12, 0, 7),
    7: (15, 1, 7),
}
_EXACT = "Give a reduced fraction."
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven")

Count = tuple[str, list[JSON], int | Fraction]
"""Question, operands, and answer."""


class Counting(Worked):
    """Arrangements, selections, paths, distributions, and chances with dice, cards and urns; from level 7 on
    contest questions on symmetry, barriers, forbidden words, best ways and random processes that stop."""

    id: ClassVar[str] = "verigym/math/counting-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    contest_kinds: ClassVar[tuple[Kind, ...]] = ARRANGEMENTS + PATHS + GRIDS + CHANCES + GRAPHS

    @override
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        size, more, some = LEVELS[level]
        kind = KINDS[int(rng.integers(some))]
        text, operands, value = kind(rng, size, more)
        if isinstance(value, Fraction):
            text = f"{text} {_EXACT}"
        return Ask(
            prompt=text,
            answer=str(value),
            answer_form="reduced",
            steps=size,
            tags=(kind.__name__,),
            essence=[kind.__name__, *operands],
        )

    @override
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        numbers = [int(n) for n in re.findall(r"\d+", question)]
        return str(SOLVERS[kind](paper, numbers, question))


def arrangements(rng: np.random.Generator, size: int, more: int) -> Count:
    """Return the number of arrangements of the letters of a word in which some repeat."""
    letters = [_LETTERS[int(i)] for i in rng.integers(0, 2 + size // 3, size)]
    value = math.factorial(size)
    for count in Counter(letters).values():
        value //= math.factorial(count)
    word = "".join(letters)
    text = f"In how many different ways can the letters of {word} be arranged in a row?"
    return text, [word], value


def committees(rng: np.random.Generator, size: int, more: int) -> Count:
    """Return the number of committees with at least a given number of one kind."""
    women, men = (int(rng.integers(3 + 2 * more, size + 1)) for _ in range(2))
    seats = int(rng.integers(2 + more, min(5 + more, women, men) + 1))
    least = int(rng.integers(0, seats + 1))
    value = sum(math.comb(women, w) * math.comb(men, seats - w) for w in range(least, seats + 1))
    text = f"In how many ways can a committee of {seats} people be chosen from {women} women and {men} men"
    if least:
        text += f" if it must have at least {least} {'woman' if least == 1 else 'women'}"
    return f"{text}?", [seats, women, men, least], value


def lattice_paths(rng: np.random.Generator, size: int, more: int) -> Count:
    """Draw paths right and up, past a blocked point."""
    across, up = (int(rng.integers(2 + 2 * more, size + 1)) for _ in range(2))
    while True:
        x, y = int(rng.integers(0, across + 1)), int(rng.integers(0, up + 1))
        if (x, y) not in ((0, 0), (across, up)):
            break
    through = math.comb(x + y, x) * math.comb(across - x + up - y, across - x)
    text = (
        f"How many paths lead from (0, 0) to ({across}, {up}) if each step goes one unit right or one unit up "
        f"and the path must not pass through ({x}, {y})?"
    )
    return text, [across, up, x, y], math.comb(across + up, across) - through


def distributions(rng: np.random.Generator, size: int, more: int) -> Count:
    """Return the number of distributions of equal things to people, each with at least a given number."""
    people, least = int(rng.integers(2, 5)) + more, int(rng.integers(0, 3))
    things = people * least + int(rng.integers(2, 2 * size))
    left = things - people * least
    text = (
        f"In how many ways can {things} identical coins be shared among {people} children if each child must "
        f"get at least {least} {'coin' if least == 1 else 'coins'}?"
        if least
        else f"In how many ways can {things} identical coins be shared among {people} children? A child may "
        "get none."
    )
    return text, [things, people, least], math.comb(left + people - 1, people - 1)


def dice_sum(rng: np.random.Generator, size: int, more: int) -> Count:
    """Return the chance of a sum of fair dice."""
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
    text = (
        f"{dice} fair six-sided dice are rolled. What is the probability that their sum is "
        f"{'at least' if atleast else 'exactly'} {total}?"
    )
    return text, [dice, atleast, total], Fraction(value, 6**dice)


def urn(rng: np.random.Generator, size: int, more: int) -> Count:
    """Draw an urn: the probability of a given number of red balls, drawn without replacement."""
    red, blue = (int(rng.integers(2 + 2 * more, size + 1)) for _ in range(2))
    drawn = int(rng.integers(2 + 2 * more, min(4 + 2 * more, red + blue - 1) + 1))
    wanted = int(rng.integers(max(0, drawn - blue), min(red, drawn) + 1))
    ways = math.comb(red, wanted) * math.comb(blue, drawn - wanted)
    text = (
        f"An urn contains {red} red and {blue} blue balls. {drawn} balls are drawn at random, without "
        f"replacement. What is the probability that exactly {wanted} of them {'is' if wanted == 1 else 'are'} "
        "red?"
    )
    return text, [red, blue, drawn, wanted], Fraction(ways, math.comb(red + blue, drawn))


def bayes(rng: np.random.Generator, size: int, more: int) -> Count:
    """Draw bags: the probability that a ball came from the first of them."""
    bags = [tuple(int(n) for n in rng.integers(1, size + 1, 2)) for _ in range(2 + more)]
    chances = [Fraction(white, white + black) for white, black in bags]
    holds = " ".join(
        f"Bag {number} contains {white} white and {black} black balls."
        for number, (white, black) in zip(_NUMBERS, bags, strict=False)
    )
    text = (
        f"There are {_NUMBERS[len(bags) - 1]} bags. {holds} A bag is chosen at random, each with the same "
        "probability, and a ball is drawn from it at random. The ball is white. What is the probability that "
        "it came from bag one?"
    )
    return text, [list(bag) for bag in bags], chances[0] / sum(chances)


KINDS: tuple[Callable[[np.random.Generator, int, int], Count], ...] = (
    arrangements,
    committees,
    lattice_paths,
    distributions,
    dice_sum,
    urn,
    bayes,
)


def _choose(paper: Paper, n: int, k: int) -> int:
    """Return the number of ways to choose k of n, by multiplying and dividing in turn."""
    if k > n:
        return 0
    value = 1
    for i in range(1, min(k, n - k) + 1):
        value = paper.divide_exactly(paper.multiply(value, n + 1 - i), i)
    return value


def _count_arrangements(paper: Paper, numbers: list[int], question: str) -> int:
    """Place the letters one after the other among those before."""
    word = re.search(r"letters of ([A-Z]+)", question)
    assert word
    value, seen = 1, Counter[str]()
    for place, letter in enumerate(word[1], 1):
        paper.look()
        seen[letter] += 1
        value = paper.divide_exactly(paper.multiply(value, place), seen[letter])
    return value


def _count_committees(paper: Paper, numbers: list[int], question: str) -> int:
    seats, women, men, *condition = numbers
    least = condition[0] if condition else 0
    total = 0
    for some in range(least, seats + 1):
        ways = paper.multiply(_choose(paper, women, some), _choose(paper, men, seats - some))
        total = paper.add(total, ways)
    return total


def _count_paths(paper: Paper, numbers: list[int], question: str) -> int:
    _, _, across, up, x, y = numbers
    before = _choose(paper, x + y, x)
    through = paper.multiply(before, _choose(paper, across - x + up - y, across - x))
    return paper.subtract(_choose(paper, across + up, across), through)


def _count_distributions(paper: Paper, numbers: list[int], question: str) -> int:
    coins, children, *condition = numbers
    least = condition[0] if condition else 0
    left = paper.subtract(coins, paper.multiply(children, least))
    return _choose(paper, left + children - 1, children - 1)


def _find_chance_of_sum(paper: Paper, numbers: list[int], question: str) -> Fraction:
    """Add up the ways to reach each sum, die by die."""
    dice, wanted = numbers
    ways, outcomes = [1], 1
    for _ in range(dice):
        # The sums begin with 1 for each die; a new sum has up to six ways, which slide along.
        more, window = [], 0
        for place in range(len(ways) + 5):
            if place < len(ways):
                window = paper.add(window, ways[place])
            if place >= 6:
                window = paper.subtract(window, ways[place - 6])
            more.append(window)
        ways = more
        outcomes = paper.multiply(outcomes, 6)
    good = ways[wanted - dice]
    if "at least" in question:
        for count in ways[wanted - dice + 1 :]:
            good = paper.add(good, count)
    return paper.reduce(good, outcomes)


def _find_chance_of_red(paper: Paper, numbers: list[int], question: str) -> Fraction:
    red, blue, drawn, wanted = numbers
    ways = paper.multiply(_choose(paper, red, wanted), _choose(paper, blue, drawn - wanted))
    return paper.reduce(ways, _choose(paper, paper.add(red, blue), drawn))


def _find_chance_of_bag(paper: Paper, numbers: list[int], question: str) -> Fraction:
    chances = [
        paper.reduce(white, paper.add(white, black))
        for white, black in zip(numbers[::2], numbers[1::2], strict=True)
    ]
    total = chances[0]
    for chance in chances[1:]:
        total = paper.add_fractions(total, chance)
    return paper.divide_fractions(chances[0], total)


SOLVERS: dict[str, Callable[[Paper, list[int], str], int | Fraction]] = {
    "arrangements": _count_arrangements,
    "committees": _count_committees,
    "lattice_paths": _count_paths,
    "distributions": _count_distributions,
    "dice_sum": _find_chance_of_sum,
    "urn": _find_chance_of_red,
    "bayes": _find_chance_of_bag,
}
