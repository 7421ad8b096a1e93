"""Limits at infinity of differences of roots."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from verigym.envs.math.contest.integrals import coefficients
from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.paper import Paper
from verigym.envs.math.polynomials import polynomial


def difference_of_roots(rng: np.random.Generator, level: int) -> Problem:
    """A coefficient of the expansion of a difference of two roots of polynomials for large x."""
    p, q, k, largest = {7: (2, 2, 2, 9), 8: (4, 3, 5, 12), 9: (5, 3, 7, 12), 10: (5, 4, 9, 12)}[
        level
    ]
    first, second = ([1, *(among(rng, -largest, largest) for _ in range(n))] for n in (p, q))
    value = _coefficient(first, p, k + 1) - _coefficient(second, q, k + 1)
    ends = " - ".join(f"c_{i}/x^{i}" for i in range(1, k + 1))
    text = (
        f"For certain numbers c_0, ..., c_{k}, the expression x^{k} * (({polynomial(first)})^(1/{p}) - "
        f"({polynomial(second)})^(1/{q}) - c_0 - {ends}) tends to 0 as x grows beyond all bounds. What is c_{k}?"
    )
    return Problem(text, [first, second, k], value)


def _coefficient(p: list[int], root: int, n: int) -> Fraction:
    """Return the coefficient of t^n in the root of 1 + p_1 t + p_2 t^2 + ..., by the binomial series."""
    term, total = [Fraction(1)] + [Fraction(0)] * n, Fraction(0)
    for j in range(1, n + 1):
        factor = (Fraction(1, root) - j + 1) / j
        longer = [Fraction(0)] * (n + 1)
        for i, a in enumerate(p[1:], 1):
            if a:
                for place in range(n + 1 - i):
                    longer[place + i] += factor * a * term[place]
        term = longer
        total += term[n]
    return total


def _solve_difference_of_roots(paper: Paper, numbers: list[int], text: str) -> Fraction:
    k = numbers[-1]
    values = []
    for shown, root in re.findall(r"\(([^()]+)\)\^\(1/(\d+)\)", text):
        values.append(_root_series(paper, coefficients(paper, shown), int(root), k + 1)[-1])
    return paper.subtract_fractions(*values)


def _root_series(paper: Paper, p: list[int], root: int, n: int) -> list[Fraction]:
    """Return the series of the root up to t^n, by the rule that comes from its derivative (Miller)."""
    series = [Fraction(1)]
    for k in range(1, n + 1):
        total = Fraction(0)
        for i in range(1, min(k, len(p) - 1) + 1):
            weight = paper.multiply(p[i], paper.subtract(i * (root + 1), paper.multiply(k, root)))
            total = paper.add_fractions(
                total, paper.multiply_fractions(Fraction(weight), series[k - i])
            )
        series.append(paper.divide_fractions(total, Fraction(paper.multiply(k, root))))
    return series


KINDS = (Kind(difference_of_roots, _solve_difference_of_roots, is_whole=False),)
