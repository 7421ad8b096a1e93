"""Factorisation of polynomials over the whole numbers."""

from __future__ import annotations

import math

import numpy as np

from verigym.envs.math.contest.integrals import coefficients
from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.paper import Paper
from verigym.envs.math.polynomials import horner, polynomial

SHAPES = {7: (2, 2), 8: (2, 2, 3), 9: (2, 2, 2, 3)}
"""Degrees of the factors, by level."""


def factorisation(rng: np.random.Generator, level: int) -> Problem:
    """A polynomial that is a product of polynomials of degree 2 and 3, none of which can be split."""
    factors = [_draw_irreducible(rng, degree, level + 2) for degree in SHAPES[level]]
    product = np.array([1], dtype=object)
    for factor in factors:
        product = np.convolve(product, np.array(factor, dtype=object))
    weight = among(rng, 2, 9)
    text = (
        f"Over the whole numbers, {polynomial(product.tolist())} is a product of {len(factors)} polynomials of degree 2 or 3 "
        "with leading coefficient 1, none of which can be split further. Take the squares of all coefficients of these "
        f"polynomials, and add {weight} times the sum of all their values at x = {weight}. What is the total?"
    )
    value = sum(c * c for factor in factors for c in factor)
    value += weight * sum(int(np.polyval(factor, weight)) for factor in factors)
    return Problem(text, [[*map(list, factors)], weight], value)


def _draw_irreducible(rng: np.random.Generator, degree: int, largest: int) -> list[int]:
    """Return a polynomial of degree 2 or 3 without a root that is a fraction."""
    while True:
        p = [1, *(among(rng, -largest, largest) for _ in range(degree))]
        constant = abs(p[-1])
        roots = [r for r in range(1, constant + 1) if constant % r == 0]
        if constant > 1 and all(np.polyval(p, sign * r) for r in roots for sign in (1, -1)):
            return p


def _solve_factorisation(paper: Paper, numbers: list[int], text: str) -> int:
    """Find the quadratic factors by their values at 0, 1 and -1 (Kronecker); what is left is a factor itself."""
    p = coefficients(paper, text.partition("numbers, ")[2].partition(" is a product")[0])
    weight = numbers[-1]
    total, values = 0, 0
    for factor in _split(paper, p):
        for c in factor:
            total = paper.add(total, paper.multiply(c, c))
        values = paper.add(values, horner(paper, factor, weight)[-1])
    return paper.add(total, paper.multiply(weight, values))


def _split(paper: Paper, p: list[int]) -> list[list[int]]:
    found: list[list[int]] = []
    while len(p) > 4:
        at_one, at_minus_one = (horner(paper, p, x)[-1] for x in (1, -1))
        factor, p = next(
            (factor, rest)
            for c in _divisors(paper, p[-1])
            for value in _divisors(paper, at_one)
            if (rest := _divide(paper, p, factor := [1, value - 1 - c, c], at_minus_one))
        )
        found.append(factor)
    return [*found, p]


def _divisors(paper: Paper, n: int) -> list[int]:
    """Return the divisors of both signs, the smallest first."""
    some = []
    for d in range(1, math.isqrt(abs(n)) + 1):
        paper.look()
        if n % d == 0:
            some += [d, abs(n) // d]
    return [sign * d for d in sorted(set(some)) for sign in (1, -1)]


def _divide(paper: Paper, p: list[int], factor: list[int], at_minus_one: int) -> list[int]:
    """Return the quotient by a quadratic factor; empty if it does not divide."""
    _, b, c = factor
    paper.look()
    value = 1 - b + c
    if not value or at_minus_one % value:
        return []
    quotient = [p[0], paper.subtract(p[1], b)]
    for a in p[2:]:
        last = paper.add(paper.multiply(b, quotient[-1]), paper.multiply(c, quotient[-2]))
        quotient.append(paper.subtract(a, last))
    # The last two entries are the remainder: that of x, and the constant with b times it too much.
    rest = paper.add(quotient[-1], paper.multiply(b, quotient[-2]))
    return [] if quotient[-2] or rest else quotient[:-2]


KINDS = (Kind(factorisation, _solve_factorisation, last=9),)
