"""Fractions and percentages; one turn."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.question import Ask, Question

SIZES = {2: 6, 4: 12, 6: 24}
_EXACT = "Give an exact value: a whole number, a reduced fraction or a terminating decimal."


class Fractions(Question):
    """Sums, products and quotients of fractions, parts of a whole, percentages and their changes."""

    id: ClassVar[str] = "verigym/math/fractions-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        size = SIZES[level]
        kinds = KINDS[:level]
        kind = kinds[int(rng.integers(len(kinds)))]
        text, value, steps = kind(rng, size)
        return Ask(
            prompt=f"{text}\n{_EXACT}",
            answer=str(value),
            answer_form="reduced",
            steps=steps,
            tags=(kind.__name__,),
        )


def _fraction(rng: np.random.Generator, size: int) -> Fraction:
    while True:
        below = int(rng.integers(2, size + 1))
        value = Fraction(int(rng.integers(1, 2 * below)), below)
        if value.denominator > 1:
            return value


def sum_or_difference(rng: np.random.Generator, size: int) -> tuple[str, Fraction, int]:
    """Two fractions added or subtracted."""
    a, b = _fraction(rng, size), _fraction(rng, size)
    if rng.integers(2):
        return f"What is {a} + {b}?", a + b, 2 + len(str(a + b))
    return f"What is {a} - {b}?", a - b, 2 + len(str(a - b))


def product_or_quotient(rng: np.random.Generator, size: int) -> tuple[str, Fraction, int]:
    """Two fractions multiplied or divided."""
    a, b = _fraction(rng, size), _fraction(rng, size)
    if rng.integers(2):
        return f"What is {a} of {b}?", a * b, 2 + len(str(a * b))
    return f"What is ({a}) / ({b})?", a / b, 3 + len(str(a / b))


def percent_of(rng: np.random.Generator, size: int) -> tuple[str, Fraction, int]:
    """A percentage of a number, or the number of which it is one."""
    percent = 5 * int(rng.integers(1, 4 * size))
    whole = int(rng.integers(2, 40 * size))
    value = Fraction(percent * whole, 100)
    if rng.integers(2):
        return f"What is {percent}% of {whole}?", value, 4 + size // 6
    text = f"{_decimal(value)} is {percent}% of which number?"
    return text, Fraction(whole), 5 + size // 6


def changed_by_percent(rng: np.random.Generator, size: int) -> tuple[str, Fraction, int]:
    """A price after some changes by percent."""
    price = Fraction(int(rng.integers(2, 10 * size)) * 10)
    value, words = price, []
    for _ in range(2 + size // 12):
        percent = 5 * int(rng.integers(1, 11))
        rises = bool(rng.integers(2))
        value = value * (100 + percent if rises else 100 - percent) / 100
        words.append(f"{'rises' if rises else 'falls'} by {percent}%")
    text = f"A price of {price} {', then '.join(words)}. What is the price in the end?"
    return text, value, 5 * len(words)


def nested(rng: np.random.Generator, size: int) -> tuple[str, Fraction, int]:
    """(a op b) op (c op d), with no division by nothing."""
    a, b, c, d = (_fraction(rng, size) for _ in range(4))
    while c == d:
        d = _fraction(rng, size)
    text, value = f"(({a}) + ({b})) / (({c}) - ({d}))", (a + b) / (c - d)
    return f"What is {text}?", value, 8 + len(str(value))


def continued(rng: np.random.Generator, size: int) -> tuple[str, Fraction, int]:
    """A continued fraction of positive whole terms."""
    terms = [int(n) for n in rng.integers(1, 10, 3 + size // 8)]
    text, value = str(terms[-1]), Fraction(terms[-1])
    for term in reversed(terms[:-1]):
        text, value = f"{term} + 1/({text})", term + 1 / value
    return f"What is {text}?", value, 4 * len(terms)


KINDS: tuple[Callable[[np.random.Generator, int], tuple[str, Fraction, int]], ...] = (
    sum_or_difference,
    product_or_quotient,
    percent_of,
    changed_by_percent,
    nested,
    continued,
)


def _decimal(value: Fraction) -> str:
    """A fraction of hundredths as a decimal."""
    whole, hundredths = divmod(int(value * 100), 100)
    return f"{whole}.{hundredths:02d}".rstrip("0").rstrip(".")
