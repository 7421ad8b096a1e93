"""Long exact calculations with an idea: roots, other bases, operations with a rule, differences of powers."""

from __future__ import annotations

import math
import re

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.paper import Paper


def _long(rng: np.random.Generator, digits: int, base: int = 10) -> list[int]:
    return [among(rng, 1, base - 1), *rng.integers(0, base, digits - 1).tolist()]


def _number(digits: list[int], base: int = 10) -> int:
    value = 0
    for digit in digits:
        value = value * base + digit
    return value


def whole_root(rng: np.random.Generator, level: int) -> Problem:
    """The largest number whose square is not above a long number."""
    n = _number(_long(rng, {7: 19, 8: 110, 9: 210, 10: 400}[level] + among(rng, 0, 2)))
    return Problem(
        f"What is the largest whole number whose square is at most {n}?", [n], math.isqrt(n)
    )


def _solve_whole_root(paper: Paper, numbers: list[int], text: str) -> int:
    """Digit by digit, two digits of the number at a time."""
    digits = str(numbers[0])
    digits = digits.zfill(len(digits) + len(digits) % 2)
    root = rest = 0
    for place in range(0, len(digits), 2):
        paper.look()
        rest = 100 * rest + int(digits[place : place + 2])
        # The digit is tried from the quotient of the leading parts, and falls until it fits.
        digit = min(9, rest // (20 * root)) if root else 9
        while paper.multiply(20 * root + digit, digit) > rest:
            digit -= 1
        rest = paper.subtract(rest, (20 * root + digit) * digit)
        root = 10 * root + digit
    return root


def other_base(rng: np.random.Generator, level: int) -> Problem:
    """A product and a sum of numbers in another base."""
    count = {7: 6, 8: 32, 9: 60, 10: 110}[level]
    base = among(rng, 6, 9)
    a, b, c = (_long(rng, some, base) for some in (count, count, 2 * count))
    value = _number(a, base) * _number(b, base) + _number(c, base)
    words = ["".join(map(str, digits)) for digits in (a, b, c)]
    text = (
        f"The digits of these numbers are those of base {base}. What is {words[0]} * {words[1]} + {words[2]}, written in "
        "base ten?"
    )
    return Problem(text, [base, *words], value)


def _solve_other_base(paper: Paper, numbers: list[int], text: str) -> int:
    """Convert to base 10 by Horner's scheme, and calculate."""
    base, *words = numbers
    values = []
    for word in words:
        value = 0
        for digit in str(word):
            value = paper.add(paper.multiply(value, base), int(digit))
        values.append(value)
    return paper.add(paper.multiply(values[0], values[1]), values[2])


_MODULI = {8: (10**4, 10**5), 9: (10**5, 10**6), 10: (10**7, 10**8)}
"""Moduli of `ruled_operation`, by level."""


def ruled_operation(rng: np.random.Generator, level: int) -> Problem:
    """A tree of an operation that is neither commutative nor associative."""
    count = {7: 7, 8: 30, 9: 60, 10: 110}[level] + among(rng, 0, 2)
    p, q, r = among(rng, 2, 9), among(rng, 2, 9), among(rng, 2, 9)
    m = among(rng, 500, 999) if level < 8 else among(rng, *_MODULI[level])
    trees = [(str(n), n) for n in rng.integers(2, 100, count).tolist()]
    while len(trees) > 1:
        place = among(rng, 0, len(trees) - 2)
        (left, a), (right, b) = trees[place : place + 2]
        trees[place : place + 2] = [(f"({left} # {right})", (p * a * a + q * a * b + r * b) % m)]
    shown, value = trees[0]
    text = (
        f"For whole numbers a and b, let a # b be the remainder when {p} * a * a + {q} * a * b + {r} * b is divided by {m}. What "
        f"is {shown[1:-1]}?"
    )
    return Problem(text, [p, q, r, m, shown], value)


def _solve_ruled_operation(paper: Paper, numbers: list[int], text: str) -> int:
    p, q, r, m = numbers[:4]
    stack: list[int] = []
    tokens = re.findall(r"\d+|\)", f"({text.rpartition('What is ')[2]})")
    for token in tokens:
        if token != ")":
            stack.append(int(token))
            continue
        b, a = stack.pop(), stack.pop()
        total = paper.multiply(a, paper.add(paper.multiply(p, a), paper.multiply(q, b)))
        stack.append(paper.divide(paper.add(total, paper.multiply(r, b)), m)[1])
    return stack[0]


def difference_of_powers(rng: np.random.Generator, level: int) -> Problem:
    """The exact difference of two high powers of about the same size."""
    digits = {7: 14, 8: 50, 9: 90, 10: 160}[level]
    a, b = (among(rng, 13, 99) for _ in range(2))
    m, n = (round(digits / math.log10(v)) + among(rng, 0, 1) for v in (a, b))
    return Problem(f"What is {a}^{m} - {b}^{n}?", [a, m, b, n], int(a**m) - int(b**n))


def _solve_difference_of_powers(paper: Paper, numbers: list[int], text: str) -> int:
    values = []
    for base, exponent in (numbers[:2], numbers[2:]):
        value = 1
        for bit in f"{exponent:b}":
            value = paper.multiply(value, value) if value > 1 else value
            if bit == "1":
                value = paper.multiply(value, base) if value > 1 else base
        values.append(value)
    return paper.subtract(*values)


KINDS = (
    Kind(whole_root, _solve_whole_root),
    Kind(other_base, _solve_other_base, free=r"(?<=base )\d+"),
    Kind(ruled_operation, _solve_ruled_operation),
    Kind(difference_of_powers, _solve_difference_of_powers),
)
