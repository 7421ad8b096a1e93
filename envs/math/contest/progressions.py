"""Sequences with exact terms: convolutions, polynomials through values, fractions, sums of squares."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.contest.recurrences import read_rule, rule
from verigym.envs.math.paper import Paper


def convolved(rng: np.random.Generator, level: int) -> Problem:
    """A term of a sequence whose terms are sums of products of all terms before."""
    n = {7: 7, 8: 12, 9: 17, 10: 24}[level] + among(rng, 0, 1)
    first, factor, more = among(rng, 1, 9), among(rng, 2, 12), among(rng, 2, 5)
    terms = [first]
    while len(terms) <= n:
        terms.append(factor * terms[-1] + more * sum(map(int.__mul__, terms, reversed(terms))))
    text = (
        f"A sequence has c_0 = {first}, and c_(k+1) = {factor} * c_k + {more} * (c_0 * c_k + c_1 * c_(k-1) + ... + "
        f"c_k * c_0) for all k >= 0, where the bracket holds one product for each index from 0 to k. What is c_{n}?"
    )
    return Problem(text, [first, factor, more, n], terms[n])


def _solve_convolved(paper: Paper, numbers: list[int], text: str) -> int:
    """Each product of two different terms comes twice."""
    first, factor, more, n = numbers[1], numbers[3], numbers[4], numbers[-1]
    terms = [first]
    for k in range(n):
        total = 0
        for i in range((k + 1) // 2):
            total = paper.add(total, paper.multiply(terms[i], terms[k - i]))
        total = paper.add(total, total)
        if k % 2 == 0:
            total = paper.add(total, paper.multiply(terms[k // 2], terms[k // 2]))
        terms.append(paper.add(paper.multiply(factor, terms[k]), paper.multiply(more, total)))
    return terms[n]


def polynomial_and_power(rng: np.random.Generator, level: int) -> Problem:
    """A far term of a polynomial plus a multiple of a power, given by its first terms."""
    degree, low, high = {7: (3, 12, 20), 8: (14, 80, 120), 9: (22, 120, 180), 10: (36, 200, 300)}[
        level
    ]
    n = among(rng, low, high)
    basis = [among(rng, -20, 20) for _ in range(degree)] + [among(rng, 1, 9)]
    scale = among(rng, 2, 9) * (1 if rng.integers(2) else -1)

    def term(k: int) -> int:
        return sum(c * comb(k, i) for i, c in enumerate(basis)) + scale * (1 << k)

    values = [term(k) for k in range(degree + 2)]
    given = listed([f"a_{k} = {value}" for k, value in enumerate(values)])
    text = (
        f"For all whole numbers k >= 0, a_k = p(k) + c * 2^k, where p is a polynomial of degree at most {degree} and c "
        f"is a number. The first terms are {given}. What is a_{n}?"
    )
    return Problem(text, [*values, n], term(n))


def _solve_polynomial_and_power(paper: Paper, numbers: list[int], text: str) -> int:
    """Differences of the power are the power again, so the last difference of all is c."""
    values = [
        int(part.partition(" ")[0].rstrip(".,"))
        for part in text.partition("terms are ")[2].split("= ")[1:]
    ]
    row, heads = values, list[int]()
    while row:
        heads.append(row[0])
        row = [paper.subtract(b, a) for a, b in pairwise(row)]
    *heads, scale = heads
    n, total, ways = numbers[-1], 0, 1
    for i, head in enumerate(heads):
        total = paper.add(total, paper.multiply(paper.subtract(head, scale), ways))
        ways = paper.divide_exactly(paper.multiply(ways, n - i), i + 1)
    power = 1
    for bit in f"{n:b}":
        power = paper.multiply(power, power)
        power = paper.add(power, power) if bit == "1" else power
    return paper.add(total, paper.multiply(scale, power))


def fractional(rng: np.random.Generator, level: int) -> Problem:
    """A term of a recurrence that divides one linear form by another."""
    n = {7: 6, 8: 26, 9: 44, 10: 80}[level] + among(rng, 0, 2)
    while True:
        a, b, c, d = (among(rng, 1, 9) for _ in range(4))
        if a * d != b * c:
            break
    first = Fraction(among(rng, 1, 9), among(rng, 2, 9))
    x = first
    for _ in range(n - 1):
        x = (a * x + b) / (c * x + d)
    text = (
        f"A sequence has x_1 = {first}, and x_(k+1) = ({a} * x_k + {b}) / ({c} * x_k + {d}) for all k >= 1. What is "
        f"x_{n}?"
    )
    return Problem(text, [a, b, c, d, str(first), n], x)


def _solve_fractional(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Keep numerator and denominator apart, and reduce at the end."""
    first = Fraction(text.partition("x_1 = ")[2].partition(",")[0])
    above, below = first.numerator, first.denominator
    rest = [
        int(n)
        for n in text.partition("= (")[2].replace("(", " ").replace(")", " ").split()
        if n.isdigit()
    ]
    a, b, c, d = rest[:4]
    for _ in range(numbers[-1] - 1):
        above, below = (
            paper.add(paper.multiply(p, above), paper.multiply(q, below))
            for p, q in ((a, b), (c, d))
        )
    return paper.reduce(above, below)


def sum_of_squares(rng: np.random.Generator, level: int) -> Problem:
    """The sum of the squares of the first terms of a recurrence, or of products of neighbours."""
    n = {7: 8, 8: 22, 9: 38}[level] + among(rng, 0, 2)
    factors = [among(rng, 2, 5), among(rng, 2, 5) * (1 if rng.integers(2) else -1)]
    terms = [among(rng, 1, 9), among(rng, 1, 9)]
    firsts = list(terms)
    while len(terms) <= n:
        terms.append(factors[0] * terms[-1] + factors[1] * terms[-2])
    squares = bool(rng.integers(2))
    value = sum(a * (a if squares else b) for a, b in pairwise(terms[: n + 1]))
    what = (
        f"a_1 * a_1 + a_2 * a_2 + ... + a_{n} * a_{n}"
        if squares
        else f"a_1 * a_2 + a_2 * a_3 + ... + a_{n} * a_{n + 1}"
    )
    text = f"A sequence has a_1 = {firsts[0]} and a_2 = {firsts[1]}, and {rule(factors)} for all k > 2. What is {what}?"
    return Problem(text, [factors, firsts, n, squares], value)


def _solve_sum_of_squares(paper: Paper, numbers: list[int], text: str) -> int:
    factors = read_rule(text)
    terms = [numbers[1], numbers[3]]
    squares = "a_1 * a_1" in text
    n = numbers[-1] if squares else numbers[-2]
    total = 0
    for k in range(n):
        while len(terms) < k + 2:
            parts = (paper.multiply(f, t) for f, t in zip(factors, terms[:-3:-1], strict=True))
            terms.append(paper.add(*parts))
        total = paper.add(total, paper.multiply(terms[k], terms[k] if squares else terms[k + 1]))
    return total


KINDS = (
    Kind(convolved, _solve_convolved),
    Kind(polynomial_and_power, _solve_polynomial_and_power),
    Kind(fractional, _solve_fractional, is_whole=False),
    Kind(sum_of_squares, _solve_sum_of_squares, last=9),
)
