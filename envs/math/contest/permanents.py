"""Permanents of matrices: no elimination helps, so subsets of columns have to be gone through."""

from __future__ import annotations

import math

import numpy as np

from verigym.envs.math.contest.determinants import draw_rows, read_rows
from verigym.envs.math.contest.exact import shown
from verigym.envs.math.contest.kind import Kind, Problem
from verigym.envs.math.paper import Paper


def permanent(rng: np.random.Generator, level: int) -> Problem:
    """The sum of the products of a determinant, all with a plus sign."""
    n, largest = {8: (7, 5), 9: (8, 9), 10: (10, 9)}[level]
    rows = draw_rows(rng, n, largest)
    # Glynn 2010: products of the sums of all columns with signs, the first one fixed; each sign changes in turn.
    sums = [sum(row) for row in rows]
    signs, total = [1] * n, math.prod(sums)
    for step in range(1, 1 << (n - 1)):
        column = (step & -step).bit_length()
        signs[column] = -signs[column]
        sums = [v + 2 * signs[column] * row[column] for v, row in zip(sums, rows, strict=True)]
        total += math.prod(sums) * (-1) ** step
    text = (
        f"Let A = {shown(rows)}, written row by row. Take all products of {n} entries of A of which no two stand in the same row "
        "or in the same column. What is the sum of these products, without any change of signs (the permanent of A)?"
    )
    return Problem(text, [rows], total >> (n - 1))


def _solve_permanent(paper: Paper, numbers: list[int], text: str) -> int:
    """Go down row by row, with a sum for each set of columns that are used."""
    (rows,) = read_rows(text)
    sums = {0: 1}
    for row in rows:
        more: dict[int, int] = {}
        for used, value in sums.items():
            for column, entry in enumerate(row):
                if entry and value and not used >> column & 1:
                    taken = used | 1 << column
                    more[taken] = paper.add(more.get(taken, 0), paper.multiply(value, entry))
        sums = more
    return sums.get((1 << len(rows)) - 1, 0)


KINDS = (Kind(permanent, _solve_permanent, first=8),)
