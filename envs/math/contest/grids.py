"""Best ways through a grid of numbers: a table that is filled in cell by cell."""

from __future__ import annotations

import re

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.paper import Paper


def best_way(rng: np.random.Generator, level: int) -> Problem:
    """The largest sum along a way through a grid whose entries follow a formula."""
    size = {7: 4, 8: 10, 9: 16, 10: 29}[level]
    rows, columns = (size + among(rng, 0, 2) for _ in range(2))
    a, b, c = (among(rng, 2, 40) for _ in range(3))
    m = among(rng, 50, 99)
    best = [0] * (columns + 1)
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            best[j] = max(best[j - 1], best[j]) + (a * i * i + b * i * j + c * j * j) % m
    text = (
        f"A grid has {rows} rows and {columns} columns. The entry in row i and column j is the remainder when "
        f"{a} * i * i + {b} * i * j + {c} * j * j is divided by {m}. A way starts in row 1 and column 1, moves one row down or "
        "one column to the right in each step, and ends in the last row and the last column. What is the largest possible "
        "sum of the entries along a way, both ends included?"
    )
    return Problem(text, [rows, columns, a, b, c, m], best[columns])


def _solve_best_way(paper: Paper, numbers: list[int], text: str) -> int:
    """Work from the end: the best sum from a cell on."""
    rows, columns = numbers[:2]
    a, b, c = (int(n) for n in re.findall(r"(-?\d+) \* [ij] \* [ij]", text))
    m = int(re.findall(r"divided by (\d+)", text)[0])
    below = [0] * (columns + 2)
    for i in range(rows, 0, -1):
        here = [0] * (columns + 2)
        for j in range(columns, 0, -1):
            inner = paper.add(paper.multiply(b, i), paper.multiply(c, j))
            total = paper.add(paper.multiply(a, i * i), paper.multiply(j, inner))
            _, entry = paper.divide(total, m)
            paper.look()
            here[j] = paper.add(max(here[j + 1], below[j]), entry)
        below = here
    return below[1]


KINDS = (Kind(best_way, _solve_best_way),)
