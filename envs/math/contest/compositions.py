"""Coefficients of polynomials that are put into themselves."""

from __future__ import annotations

import re

import numpy as np

from verigym.envs.math.contest.integrals import coefficients
from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.paper import Paper
from verigym.envs.math.polynomials import polynomial


def composition(rng: np.random.Generator, level: int) -> Problem:
    """A coefficient of the function that is applied several times."""
    n, times = {8: (9, 4), 9: (11, 4), 10: (14, 5)}[level]
    n += among(rng, 0, 1)
    p = [among(rng, 1, 5) * (1 if rng.integers(2) else -1) for _ in range(3)]
    p = [*p, among(rng, 2, 3), 0]
    inner = np.array([0, 1], dtype=object)
    for _ in range(times):
        total = np.zeros(1, dtype=object)
        for c in p:
            total = np.convolve(total, inner)[: n + 1]
            total[0] += c
        inner = total
    name = "x"
    for _ in range(times):
        name = f"f({name})"
    text = f"Let f(x) = {polynomial(p)}. What is the coefficient of x^{n} in {name}, written as a polynomial in x?"
    return Problem(text, [p, n, times], int(inner[n]))


def _solve_composition(paper: Paper, numbers: list[int], text: str) -> int:
    """Put the inner function into f by powers; terms above the one that is asked for are left out."""
    p = coefficients(paper, text.partition("f(x) = ")[2].partition(". What")[0])[::-1]
    n = int(re.findall(r"of x\^(\d+) in", text)[0])
    times = text.partition(" in ")[2].count("f(")
    inner = [0, 1]
    for _ in range(times):
        total, power = [0] * (n + 1), [1]
        for c in p[1:]:
            power = _multiply(paper, power, inner, n)
            for place, value in enumerate(power):
                total[place] = paper.add(total[place], paper.multiply(c, value))
        inner = total
    return inner[n]


def _multiply(paper: Paper, p: list[int], q: list[int], n: int) -> list[int]:
    """Return the product up to x^n, lowest power first."""
    found = [0] * min(n + 1, len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q[: n + 1 - i]):
            if a and b:
                found[i + j] = paper.add(found[i + j], paper.multiply(a, b))
    return found


KINDS = (Kind(composition, _solve_composition, first=8),)
