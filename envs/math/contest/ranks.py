"""Ranks of matrices with a parameter."""

from __future__ import annotations

import numpy as np

from verigym.envs.math.contest.determinants import read_rows
from verigym.envs.math.contest.eigenvalues import interpolate
from verigym.envs.math.contest.exact import shown
from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.elimination import eliminate
from verigym.envs.math.paper import Paper
from verigym.envs.math.polynomials import whole_roots


def ranks_with_a_parameter(rng: np.random.Generator, level: int) -> Problem:
    """The numbers for which a matrix with a parameter has a lower rank, and these ranks."""
    n = {7: 3, 8: 5, 9: 6, 10: 7}[level]
    values = [among(rng, 1, 9) * (1 if rng.integers(2) else -1) for _ in range(n - 1)]
    # The first value comes twice: beside a 1 it takes one from the rank, else two.
    values = [values[0], *values]
    constant = np.diag([-v for v in values]).astype(object)
    is_block = int(rng.integers(2))
    constant[0, 1] = is_block
    left, right = _unimodular(rng, n), _unimodular(rng, n)
    a, b = left.dot(constant).dot(right), left.dot(right)
    drops = {v: values.count(v) for v in values}
    drops[values[0]] -= is_block
    total = sum(v * v * (n - drop) for v, drop in drops.items())
    text = (
        f"Let A = {shown(a.tolist())} and B = {shown(b.tolist())}, written row by row. For all but a few numbers t, the "
        "matrix A + tB has the same rank. For each of the other numbers t, multiply the square of t by the rank of A + tB. "
        "What is the sum of these products?"
    )
    return Problem(text, [a.tolist(), b.tolist()], total)


def _unimodular(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return a matrix of whole numbers with determinant 1."""
    lower = np.identity(n, dtype=object)
    upper = np.identity(n, dtype=object)
    for i in range(n):
        for j in range(i):
            lower[i, j], upper[j, i] = among(rng, -1, 1), among(rng, -1, 1)
    found: np.ndarray = lower.dot(upper)
    return found


def _solve_ranks(paper: Paper, numbers: list[int], text: str) -> int:
    """Interpolate the determinant, find its roots, and the rank at each by elimination."""
    a, b = read_rows(text)
    n = len(a)
    values = []
    for t in range(n + 1):
        grid = _at(paper, a, b, t)
        rank, sign = eliminate(paper, grid, n)
        values.append(sign * grid[-1][-1] if rank == n else 0)
    total = 0
    for root in sorted(set(whole_roots(paper, interpolate(paper, values)))):
        rank, _ = eliminate(paper, _at(paper, a, b, root), n)
        total = paper.add(total, paper.multiply(paper.multiply(root, root), rank))
    return total


def _at(paper: Paper, a: list[list[int]], b: list[list[int]], t: int) -> list[list[int]]:
    return [
        [paper.add(x, paper.multiply(t, y)) for x, y in zip(row, other, strict=True)]
        for row, other in zip(a, b, strict=True)
    ]


KINDS = (Kind(ranks_with_a_parameter, _solve_ranks),)
