"""Exact linear algebra without counting, for generators."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def solve(
    rows: Sequence[Sequence[int | Fraction]], side: Sequence[int | Fraction]
) -> list[Fraction]:
    """Return the solution of a square system by Gauss and Jordan. Raises StopIteration for a singular one."""
    grid = [[Fraction(v) for v in (*row, s)] for row, s in zip(rows, side, strict=True)]
    for k in range(len(grid)):
        pivot = next(i for i in range(k, len(grid)) if grid[i][k])
        grid[k], grid[pivot] = grid[pivot], grid[k]
        head = grid[k][k]
        grid[k] = [v / head for v in grid[k]]
        for i, row in enumerate(grid):
            if i != k and row[k]:
                grid[i] = [v - row[k] * w for v, w in zip(row, grid[k], strict=True)]
    return [row[-1] for row in grid]
