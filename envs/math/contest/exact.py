"""Exact linear algebra without counting, for generators, and the text of a matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def solve(
    rows: Sequence[Sequence[int | Fraction]], side: Sequence[int | Fraction]
) -> list[Fraction]:
    """Return the solution of a square system by fraction-free Gauss-Jordan elimination (Bareiss 1968). Raises
    StopIteration for a singular one."""
    grid = [_cleared([*row, s]) for row, s in zip(rows, side, strict=True)]
    before = 1
    for k in range(len(grid)):
        pivot = next(i for i in range(k, len(grid)) if grid[i][k])
        grid[k], grid[pivot] = grid[pivot], grid[k]
        line, head = grid[k], grid[k][k]
        for i, row in enumerate(grid):
            if i != k:
                factor = row[k]
                grid[i] = [
                    (v * head - factor * w) // before for v, w in zip(row, line, strict=True)
                ]
        before = head
    return [Fraction(row[-1], row[k]) for k, row in enumerate(grid)]


def _cleared(row: Sequence[int | Fraction]) -> list[int]:
    """Return the row times its common denominator."""
    below = math.lcm(*(v.denominator for v in row))
    return [v.numerator * (below // v.denominator) for v in row]


def advance(rows: list[list[int]], state: list[int], steps: int, m: int) -> list[int]:
    """Return the power of the matrix with exponent `steps` times the column `state`, modulo m."""
    while steps:
        if steps & 1:
            state = [sum(map(int.__mul__, row, state)) % m for row in rows]
        columns = list(zip(*rows, strict=True))
        rows = [[sum(map(int.__mul__, row, column)) % m for column in columns] for row in rows]
        steps >>= 1
    return state


def determinant(rows: list[list[int]]) -> int:
    """Return the determinant, exact, by fraction-free elimination (Bareiss 1968)."""
    grid = [list(row) for row in rows]
    sign, before, n = 1, 1, len(grid)
    for k in range(n - 1):
        if not grid[k][k]:
            swap = next((i for i in range(k + 1, n) if grid[i][k]), None)
            if swap is None:
                return 0
            grid[k], grid[swap] = grid[swap], grid[k]
            sign = -sign
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                grid[i][j] = (grid[i][j] * grid[k][k] - grid[i][k] * grid[k][j]) // before
        before = grid[k][k]
    return sign * grid[-1][-1]


def product(a: list[list[int]], b: list[list[int]]) -> list[list[int]]:
    """Return the matrix product."""
    columns = list(zip(*b, strict=True))
    return [[sum(map(int.__mul__, row, column)) for column in columns] for row in a]


def shown(rows: list[list[int]]) -> str:
    """Return a matrix as text: `[[1, 2], [3, 4]]`."""
    return "[" + ", ".join(f"[{', '.join(map(str, row))}]" for row in rows) + "]"
