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
_SMALLEST = 50


@dataclass(frozen=True)
class Problem:
    """A question, the numbers or words that make it, and its answer."""

    text: str
    operands: list[JSON]
    answer: int | Fraction


@dataclass(frozen=True)
class Kind:
    """A kind of question for the levels `first` to `last`. `solve` gets the numbers of the question in their
    order, and its text."""

    draw: Callable[[np.random.Generator, int], Problem]
    solve: Callable[[Paper, list[int], str], int | Fraction]
    first: int = FIRST
    last: int = HIGHEST
    is_whole: bool = True

    @property
    def name(self) -> str:
        """Name of the kind, the first tag of its tasks."""
        return self.draw.__name__


def ask(kinds: tuple[Kind, ...], rng: np.random.Generator, level: int) -> Ask:
    """Return a question of a random kind. Answers that are small or stand in the question are drawn again."""
    some = [kind for kind in kinds if kind.first <= level <= kind.last]
    kind = some[int(rng.integers(len(some)))]
    while True:
        problem = kind.draw(rng, level)
        value = Fraction(problem.answer)
        is_large = max(abs(value.numerator), value.denominator) >= _SMALLEST
        if is_large and value not in map(Fraction, numbers(problem.text)):
            break
    return Ask(
        prompt=f"{problem.text}\n{WHOLE if kind.is_whole else EXACT}",
        answer=str(value),
        answer_form="evaluated" if kind.is_whole else "reduced",
        tags=(kind.name,),
        essence=[kind.name, *problem.operands],
    )


def work_out(kinds: tuple[Kind, ...], paper: Paper, question: str, kind: str) -> str | None:
    """Return the answer to a question of `ask`; None if it is of another kind."""
    found = next((one for one in kinds if one.name == kind), None)
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
    """Return a random whole number from `low` to `high`, both included."""
    return int(rng.integers(low, high + 1))
