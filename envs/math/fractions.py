"""Fractions and percentages; one turn."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.math.contest import fraction_sums, quotients
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.expressions import evaluate
from verigym.envs.math.paper import Paper
from verigym.envs.math.worked import Worked
from verigym.question import Ask

# Largest denominator, and number of terms.
LEVELS = {
    1: (5, 2),
    2: (6, 2),
    3: (9, 2),
    4: (12, 2),
    5: (20, 2),
    6: (24, 2),
    7: (24, 3),
}
Drawn = tuple[str, list[JSON], Fraction, int]
"""Question, operands, answer, and steps."""
_EXACT = "Give an exact value: a whole number, a reduced fraction or a terminating decimal."


class Fractions(Worked):
    """Sums, products and quotients of fractions, parts of a whole, percentages and their changes; from level 7 on
    contest questions on closest fractions, telescoping sums, digits of decimals and mixtures."""

    id: ClassVar[str] = "verigym/math/fractions-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    contest_kinds: ClassVar[tuple[Kind, ...]] = quotients.KINDS + fraction_sums.KINDS

    @override
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        size, terms = LEVELS[level]
        kinds = KINDS[:level]
        kind = kinds[int(rng.integers(len(kinds)))]
        text, operands, value, steps = kind(rng, size, terms)
        return Ask(
            prompt=f"{text}\n{_EXACT}",
            answer=str(value),
            answer_form="reduced",
            steps=steps,
            tags=(kind.__name__,),
            essence=[kind.__name__, *operands],
        )

    @override
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        text = question.partition("\n")[0]
        if kind in SOLVERS:
            return str(SOLVERS[kind](paper, text))
        return str(evaluate(paper, text.replace(" of ", " * ")))


def _fraction(rng: np.random.Generator, size: int) -> Fraction:
    while True:
        below = int(rng.integers(2, size + 1))
        value = Fraction(int(rng.integers(1, 2 * below)), below)
        if value.denominator > 1:
            return value


def sum_or_difference(rng: np.random.Generator, size: int, terms: int) -> Drawn:
    """Draw fractions to be added or subtracted."""
    value, *others = (_fraction(rng, size) for _ in range(terms))
    text = str(value)
    for other in others:
        rises = bool(rng.integers(2))
        text += f" {'+' if rises else '-'} {other}"
        value = value + other if rises else value - other
    return f"What is {text}?", [text], value, 2 + len(str(value))


def product_or_quotient(rng: np.random.Generator, size: int, terms: int) -> Drawn:
    """Draw fractions to be multiplied, or divided and multiplied in turn."""
    value, *others = (_fraction(rng, size) for _ in range(terms))
    if rng.integers(2):
        text = " of ".join(map(str, [value, *others]))
        factors = " * ".join(map(str, [value, *others]))
        for other in others:
            value *= other
        return f"What is {text}?", ["product", factors], value, 2 + len(str(value))
    text = f"({value})"
    for place, other in enumerate(others):
        text += f" {'*' if place % 2 else '/'} ({other})"
        value = value * other if place % 2 else value / other
    return f"What is {text}?", [text], value, 3 + len(str(value))


def percent_of(rng: np.random.Generator, size: int, terms: int) -> Drawn:
    """Return a percentage of a number, or of a percentage of it and so on, or the number of which it is one."""
    percents = [5 * int(rng.integers(1, 4 * size)) for _ in range(terms - 1)]
    whole = int(rng.integers(2, 40 * size))
    value = Fraction(whole)
    for percent in percents:
        value = value * percent / 100
    parts = " of ".join(f"{percent}%" for percent in percents)
    if rng.integers(2):
        return f"What is {parts} of {whole}?", ["value", percents, whole], value, 4 + size // 6
    text = f"{_decimal(value)} is {parts} of which number?"
    return text, ["whole", percents, whole], Fraction(whole), 5 + size // 6


def changed_by_percent(rng: np.random.Generator, size: int, terms: int) -> Drawn:
    """Return a price after some changes by percent."""
    price = Fraction(int(rng.integers(2, 10 * size)) * 10)
    value, words, changes = price, [], list[JSON]()
    for _ in range(terms + size // 12):
        percent = 5 * int(rng.integers(1, 11))
        rises = bool(rng.integers(2))
        value = value * (100 + percent if rises else 100 - percent) / 100
        changes.append(percent if rises else -percent)
        words.append(f"{'rises' if rises else 'falls'} by {percent}%")
    text = f"A price of {price} {', then '.join(words)}. What is the final price?"
    return text, [int(price), changes], value, 5 * len(words)


def nested(rng: np.random.Generator, size: int, terms: int) -> Drawn:
    """Draw (a + b + ...) / (c - d - ...), with no division by 0."""
    above = [_fraction(rng, size) for _ in range(terms)]
    below = [_fraction(rng, size) for _ in range(terms)]
    while below[0] == sum(below[1:]):
        below[-1] = _fraction(rng, size)
    value = sum(above, Fraction(0)) / (below[0] - sum(below[1:]))
    over, under = (" + ".join(f"({a})" for a in above), " - ".join(f"({a})" for a in below))
    return f"What is ({over}) / ({under})?", [over, under], value, 8 + len(str(value))


def continued(rng: np.random.Generator, size: int, terms: int) -> Drawn:
    """Return a continued fraction of positive whole numbers."""
    numbers = [int(n) for n in rng.integers(1, 10, 3 + size // 8 + 2 * (terms - 2))]
    text, value = str(numbers[-1]), Fraction(numbers[-1])
    for number in reversed(numbers[:-1]):
        text, value = f"{number} + 1/({text})", number + 1 / value
    return f"What is {text}?", list(numbers), value, 4 * len(numbers)


KINDS: tuple[Callable[[np.random.Generator, int, int], Drawn], ...] = (
    sum_or_difference,
    product_or_quotient,
    percent_of,
    changed_by_percent,
    nested,
    continued,
)


def _decimal(value: Fraction) -> str:
    """A fraction whose denominator divides a power of 100, as a decimal."""
    places = 2
    while 10**places % value.denominator:
        places += 2
    whole, part = divmod(int(value * 10**places), 10**places)
    return f"{whole}.{part:0{places}d}".rstrip("0").rstrip(".")


def _solve_percent_of(paper: Paper, text: str) -> Fraction:
    percents = [int(n) for n in re.findall(r"(\d+)%", text)]
    which = "which" in text
    found = re.search(r"^[\d.]+" if which else r"\d+(?=\?)", text)
    assert found
    value = Fraction(found[0])
    for percent in percents:
        part = paper.reduce(percent, 100)
        join = paper.divide_fractions if which else paper.multiply_fractions
        value = join(value, part)
    return value


def _solve_changed_by_percent(paper: Paper, text: str) -> Fraction:
    value = Fraction(text.split()[3])
    for way, percent in re.findall(r"(rises|falls) by (\d+)%", text):
        join = paper.add if way == "rises" else paper.subtract
        value = paper.multiply_fractions(value, paper.reduce(join(100, int(percent)), 100))
    return value


SOLVERS: dict[str, Callable[[Paper, str], Fraction]] = {
    "percent_of": _solve_percent_of,
    "changed_by_percent": _solve_changed_by_percent,
}
