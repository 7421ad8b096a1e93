"""Exact linear algebra without counting, for generators, and the text of a matrix."""

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


def shown(rows: list[list[int]]) -> str:
    """Return a matrix as text: `[[1, 2], [3, 4]]`."""
    return "[" + ", ".join(f"[{', '.join(map(str, row))}]" for row in rows) + "]"
