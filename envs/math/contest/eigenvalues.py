"""Eigenvalues without finding them: power sums, parameters, sums of two spectra, powers modulo a number."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from verigym.envs.math.contest.determinants import Rows, draw_rows, read_rows
from verigym.envs.math.contest.exact import advance, determinant, product, shown, solve
from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.contest.recurrences import power_of_x
from verigym.envs.math.elimination import eliminate
from verigym.envs.math.paper import Paper


def multiply(paper: Paper, a: Rows, b: Rows) -> Rows:
    """Return the matrix product on paper; products with 0 are free."""
    found: Rows = []
    for row in a:
        found.append([])
        for column in zip(*b, strict=True):
            total = 0
            for x, y in zip(row, column, strict=True):
                total = paper.add(total, paper.multiply(x, y)) if x and y else total
            found[-1].append(total)
    return found


def characteristic(paper: Paper, rows: Rows) -> list[int]:
    """Return the characteristic polynomial, highest power first, by the method of Faddeev and LeVerrier."""
    n = len(rows)
    p, power = [1], [list(row) for row in rows]
    for k in range(1, n + 1):
        trace = 0
        for i in range(n):
            trace = paper.add(trace, power[i][i])
        p.append(-paper.divide_exactly(trace, k))
        if k < n:
            for i in range(n):
                power[i][i] = paper.add(power[i][i], p[-1])
            power = multiply(paper, rows, power)
    return p


def eigenvalue_powers(rng: np.random.Generator, level: int) -> Problem:
    """The sum of equal powers of the eigenvalues."""
    n, exponent, largest = {7: (3, 5, 5), 8: (5, 12, 9), 9: (6, 20, 9), 10: (8, 36, 9)}[level]
    rows = draw_rows(rng, n, largest)
    power = rows
    for _ in range(exponent - 1):
        power = product(power, rows)
    text = (
        f"Let A = {shown(rows)}, written row by row. What is the sum of the powers with exponent {exponent} of all "
        f"{n} complex eigenvalues of A, each counted as often as its multiplicity?"
    )
    return Problem(text, [rows, exponent], sum(power[i][i] for i in range(n)))


def _solve_eigenvalue_powers(paper: Paper, numbers: list[int], text: str) -> int:
    """Find the characteristic polynomial, and the power sums by Newton's identities."""
    rows = read_rows(text)[0]
    return power_sums(paper, characteristic(paper, rows), numbers[-2])[-1]


def power_sums(paper: Paper, p: list[int], most: int) -> list[int]:
    """Return the sums of the powers 1 to `most` of the roots of a polynomial with leading coefficient 1."""
    sums: list[int] = []
    for k in range(1, most + 1):
        total = paper.multiply(k, p[k]) if k < len(p) else 0
        for i in range(1, min(k, len(p))):
            total = paper.add(total, paper.multiply(p[i], sums[k - i - 1]))
        sums.append(-total)
    return sums


def singular_parameters(rng: np.random.Generator, level: int) -> Problem:
    """The squares of all parameters for which a pencil of matrices is singular."""
    n, largest = {7: (3, 3), 8: (5, 4), 9: (6, 5), 10: (7, 5)}[level]
    while True:
        a, b = draw_rows(rng, n, largest), draw_rows(rng, n, largest)
        if determinant(b):
            break
    columns = [solve(b, column) for column in zip(*a, strict=True)]
    value = sum((columns[i][j] * columns[j][i] for i in range(n) for j in range(n)), Fraction(0))
    text = (
        f"Let A = {shown(a)} and B = {shown(b)}, written row by row. The determinant of A + tB is a polynomial in t. "
        f"What is the sum of the squares of its {n} complex roots, each counted as often as its multiplicity?"
    )
    return Problem(text, [a, b], value)


def _solve_singular_parameters(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Interpolate the determinant; its three highest coefficients decide."""
    a, b = read_rows(text)
    n = len(a)
    values = []
    for t in range(n + 1):
        grid = [
            [paper.add(x, paper.multiply(t, y)) for x, y in zip(row, other, strict=True)]
            for row, other in zip(a, b, strict=True)
        ]
        rank, sign = eliminate(paper, grid, n)
        values.append(sign * grid[-1][-1] if rank == n else 0)
    p = interpolate(paper, values)
    # (c1 / c0)^2 - 2 c2 / c0, over one denominator.
    above = paper.subtract(paper.multiply(p[1], p[1]), 2 * paper.multiply(p[0], p[2]))
    return paper.reduce(above, paper.multiply(p[0], p[0]))


def interpolate(paper: Paper, values: list[int]) -> list[int]:
    """Return a multiple of the polynomial through the values at 0, 1, ..., highest power first."""
    n = len(values) - 1
    heads, row = [], values
    while row:
        heads.append(row[0])
        row = [paper.subtract(row[i + 1], row[i]) for i in range(len(row) - 1)]
    total, basis, scale = [0] * (n + 1), [1], 1
    for k in range(2, n + 1):
        scale = paper.multiply(scale, k)
    for k, head in enumerate(heads):
        if k:
            basis = [
                paper.add(x, -(k - 1) * y) for x, y in zip([*basis, 0], [0, *basis], strict=True)
            ]
            scale = paper.divide_exactly(scale, k)
        share = paper.multiply(head, scale)
        for i, c in enumerate(basis):
            place = n - k + i
            total[place] = paper.add(total[place], paper.multiply(share, c))
    return total


def sums_of_eigenvalues(rng: np.random.Generator, level: int) -> Problem:
    """The product of all sums of an eigenvalue of one matrix and one of another."""
    n, m, largest = {7: (2, 2, 20), 8: (5, 3, 9), 9: (6, 4, 9), 10: (8, 4, 9)}[level]
    a, b = draw_rows(rng, n, largest), draw_rows(rng, m, largest)
    big = np.kron(np.array(a, dtype=object), np.identity(m, dtype=object))
    big = big + np.kron(np.identity(n, dtype=object), np.array(b, dtype=object))
    text = (
        f"Let A = {shown(a)} and B = {shown(b)}, written row by row. Take all sums u + v of a complex eigenvalue u of A and a "
        "complex eigenvalue v of B, where eigenvalues are counted as often as their multiplicity. What is the product of "
        f"these {n * m} sums?"
    )
    return Problem(text, [a, b], determinant(big.tolist()))


def _solve_sums_of_eigenvalues(paper: Paper, numbers: list[int], text: str) -> int:
    """Put -B into the characteristic polynomial of A: its determinant is the product, up to a sign."""
    a, b = read_rows(text)
    m = len(b)
    minus = [[-v for v in row] for row in b]
    grid = [[0] * m for _ in range(m)]
    for c in characteristic(paper, a):
        grid = multiply(paper, grid, minus)
        for i in range(m):
            grid[i][i] = paper.add(grid[i][i], c)
    rank, sign = eliminate(paper, grid, m)
    value = sign * grid[-1][-1] if rank == m else 0
    return -value if len(a) * m % 2 else value


def power_entry(rng: np.random.Generator, level: int) -> Problem:
    """An entry of a high power of a matrix, modulo a number."""
    n, low, high = {
        7: (2, 20, 60),
        8: (3, 5000, 99_999),
        9: (4, 10**5, 10**6),
        10: (6, 10**6, 10**7),
    }[level]
    rows: Rows = rng.integers(0, 10, (n, n)).tolist()
    exponent, m = among(rng, low, high), among(rng, 100, 200 if level == 7 else 1000)
    i, j = among(rng, 1, n), among(rng, 1, n)
    column = advance(rows, [int(k == j - 1) for k in range(n)], exponent, m)
    text = (
        f"Let A = {shown(rows)}, written row by row, and let B be the power of A with exponent {exponent}. What is the "
        f"remainder when the entry in row {i} and column {j} of B is divided by {m}?"
    )
    return Problem(text, [rows, exponent, i, j, m], column[i - 1])


def _solve_power_entry(paper: Paper, numbers: list[int], text: str) -> int:
    """Reduce the power by the characteristic polynomial (Cayley and Hamilton)."""
    rows = read_rows(text)[0]
    exponent, i, j, m = numbers[-4:]
    factors = [-c for c in characteristic(paper, rows)[1:]]
    row = [int(k == i - 1) for k in range(len(rows))]
    total = 0
    for c in power_of_x(paper, exponent, factors, m):
        total = paper.add(total, paper.multiply(c, row[j - 1]))
        row = multiply(paper, [row], rows)[0]
    return paper.divide(total, m)[1]


KINDS = (
    Kind(eigenvalue_powers, _solve_eigenvalue_powers),
    Kind(singular_parameters, _solve_singular_parameters, is_whole=False),
    Kind(sums_of_eigenvalues, _solve_sums_of_eigenvalues),
    Kind(power_entry, _solve_power_entry),
)
