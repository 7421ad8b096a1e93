"""Elimination on paper: on whole numbers without fractions (Bareiss 1968), and on fractions."""

from __future__ import annotations

from fractions import Fraction

from verigym.envs.math.paper import Paper


def eliminate(paper: Paper, grid: list[list[int]], columns: int) -> tuple[int, int]:
    """Bring the first `columns` columns into steps, in place; return the rank and the sign of the swaps."""
    rank, sign, before = 0, 1, 1
    for column in range(columns):
        pivot = next((i for i in range(rank, len(grid)) if grid[i][column]), None)
        if pivot is None:
            continue
        if pivot != rank:
            grid[rank], grid[pivot] = grid[pivot], grid[rank]
            sign = -sign
        top = grid[rank]
        for row in grid[rank + 1 :]:
            first = row[column]
            row[column] = 0
            for j in range(column + 1, len(row)):
                cross = paper.multiply(row[j], top[column])
                if first:
                    cross = paper.subtract(cross, paper.multiply(first, top[j]))
                row[j] = cross if before == 1 else paper.divide_exactly(cross, before)
        before = top[column]
        rank += 1
        if rank == len(grid):
            break
    return rank, sign


def substitute(paper: Paper, grid: list[list[int]], side: int) -> list[int]:
    """Return the whole numbers that solve a square system in steps, whose right side is column `side`."""
    n = len(grid)
    found = [0] * n
    for i in reversed(range(n)):
        left = grid[i][side]
        for j in range(i + 1, n):
            left = paper.subtract(left, paper.multiply(grid[i][j], found[j]))
        found[i] = paper.divide_exactly(left, grid[i][i])
    return found


def solve_fractions(paper: Paper, rows: list[list[Fraction]]) -> list[Fraction]:
    """Solve a square system on paper; the right sides are the last column."""
    n = len(rows)
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            if rows[i][k]:
                share = paper.divide_fractions(rows[i][k], rows[k][k])
                for j in range(k + 1, n + 1):
                    if rows[k][j]:
                        rows[i][j] = paper.subtract_fractions(
                            rows[i][j], paper.multiply_fractions(share, rows[k][j])
                        )
                rows[i][k] = Fraction(0)
    found = [Fraction(0)] * n
    for k in reversed(range(n)):
        left = rows[k][n]
        for j in range(k + 1, n):
            if rows[k][j] and found[j]:
                left = paper.subtract_fractions(
                    left, paper.multiply_fractions(rows[k][j], found[j])
                )
        found[k] = paper.divide_fractions(left, rows[k][k])
    return found
