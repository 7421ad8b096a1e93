"""A kind of contest question: how it is drawn, and a solver that works it out on paper from its text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from verigym.canonical import JSON
from verigym.envs.math.paper import Paper
from verigym.levels import HIGHEST
from verigym.question import Ask

FIRST = 7
"""Lowest level of contest questions."""
WHOLE = "Give the answer as one whole number."
EXACT = "Give the exact answer: a whole number or a reduced fraction."
_NUMBER = re.compile(r"(?<![\w)^])-\d+|\d+")
_BITS = 60
SMALLEST = 50
"""No answer is a smaller number."""


@dataclass(frozen=True)
class Problem:
    """A question, the numbers or words that make it, and its answer."""

    text: str
    operands: list[JSON]
    answer: int | Fraction


@dataclass(frozen=True)
class Kind:
    """A kind of question for the levels `first` to `last`. `solve` gets the numbers of the question in their
    order, and its text. `free` is a pattern of the numbers of the text that a question in parts may link to other
    parts (`linked.py`); without it, a rule finds them."""

    draw: Callable[[np.random.Generator, int], Problem]
    solve: Callable[[Paper, list[int], str], int | Fraction]
    first: int = FIRST
    last: int = HIGHEST
    is_whole: bool = True
    title: str = ""
    free: str = ""

    @property
    def name(self) -> str:
        """Name of the kind, a tag of its tasks: the title, by default the name of `draw`."""
        return self.title or self.draw.__name__


def ask(kinds: tuple[Kind, ...], rng: np.random.Generator, level: int) -> Ask:
    """Return a question of a random kind."""
    some = of_level(kinds, level)
    kind = some[int(rng.integers(len(some)))]
    problem = draw_problem(kind, rng, level)
    return Ask(
        prompt=f"{problem.text}\n{WHOLE if kind.is_whole else EXACT}",
        answer=str(problem.answer),
        answer_form="evaluated" if kind.is_whole else "reduced",
        tags=(kind.name,),
        essence=[kind.name, *problem.operands],
    )


def of_level(kinds: tuple[Kind, ...], level: int) -> list[Kind]:
    """Return the kinds that `level` has."""
    return [kind for kind in kinds if kind.first <= level <= kind.last]


def draw_problem(kind: Kind, rng: np.random.Generator, level: int) -> Problem:
    """Return a problem whose answer is neither small nor in the question."""
    while True:
        problem = kind.draw(rng, level)
        value = Fraction(problem.answer)
        is_large = max(abs(value.numerator), value.denominator) >= SMALLEST
        if is_large and (value.denominator > 1 or value.numerator not in numbers(problem.text)):
            return problem


def find(kinds: tuple[Kind, ...], name: str) -> Kind | None:
    """Return the kind with that name; None if there is none."""
    return next((kind for kind in kinds if kind.name == name), None)


def work_out(kinds: tuple[Kind, ...], paper: Paper, question: str, kind: str) -> str | None:
    """Return the answer to a question of `ask`; None if it is of another kind."""
    found = find(kinds, kind)
    if found is None:
        return None
    text = question.rpartition("\n")[0]
    return str(found.solve(paper, numbers(text), text))


def numbers(text: str) -> list[int]:
    """Return the whole numbers in a text; a minus sign counts where it is no subtraction."""
    return [int(n) for n in _NUMBER.findall(text)]


def listed(items: list[str], word: str = "and") -> str:
    """Return items as a list in a sentence: `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {word} {items[-1]}"


def among(rng: np.random.Generator, low: int, high: int) -> int:
    """Return a random whole number from `low` to `high`, both included; they may have any size."""
    count = high - low + 1
    if high.bit_length() <= _BITS:
        return int(rng.integers(low, high + 1))
    value = 0
    # With that many bits to spare all remainders come up equally often.
    for _ in range(count.bit_length() // _BITS + 2):
        value = value << _BITS | int(rng.integers(1 << _BITS))
    return low + value % count
