"""Determinants with a structure, entries of inverses, and matrices over a finite field."""

from __future__ import annotations

import itertools
import json
import re
from fractions import Fraction

import numpy as np

from verigym.envs.math.contest.exact import determinant, shown, solve
from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.contest.primes import PRIMES
from verigym.envs.math.elimination import eliminate
from verigym.envs.math.paper import Paper

Rows = list[list[int]]


def draw_rows(rng: np.random.Generator, n: int, largest: int) -> Rows:
    """Return a random matrix."""
    rows: Rows = rng.integers(-largest, largest, (n, n), endpoint=True).tolist()
    return rows


def read_rows(text: str) -> list[Rows]:
    """Return the matrices in a text."""
    return [json.loads(rows) for rows in re.findall(r"\[\[.*?\]\]", text)]


def tridiagonal(rng: np.random.Generator, level: int) -> Problem:
    """The determinant of a tridiagonal matrix; from level 9 on its band closes to a ring."""
    n = {7: 7, 8: 22, 9: 38, 10: 66}[level] + among(rng, 0, 1)
    p, q, b, c = among(rng, 1, 9), among(rng, 1, 5), among(rng, 2, 9), among(rng, -9, 9) or 7
    # By transfer matrices (Molinari 2008): their product has the trace of the ring, and the chain in its corner.
    power = np.identity(2, dtype=object)
    for i in range(1, n + 1):
        power = np.array([[p + q * i, -b * c], [1, 0]], dtype=object).dot(power)
    value, corner = int(power[0, 0]), ""
    if level >= 9:
        value = int(power[0, 0] + power[1, 1]) - (-1) ** n * (b**n + c**n)
        corner = f", a_(1,n) = {c} and a_(n,1) = {b}"
    text = (
        f"Let A be the n by n matrix, n = {n}, with a_(i,i) = {p} + {q}i for i = 1, ..., n, with a_(i,i+1) = {b} and "
        f"a_(i+1,i) = {c} for i = 1, ..., n - 1{corner}; all other entries are 0. What is the determinant of A?"
    )
    return Problem(text, [n, p, q, b, c], value)


def _solve_tridiagonal(paper: Paper, numbers: list[int], text: str) -> int:
    """Expand by the last row: each leading minor follows from the two before."""
    found = re.search(
        r"n = (\d+), with a_\(i,i\) = (\d+) \+ (\d+)i .* a_\(i,i\+1\) = (-?\d+) and .* = (-?\d+) for",
        text,
    )
    assert found
    n, p, q, b, c = map(int, found.groups())
    diagonal, value = [], p
    for _ in range(n):
        value = paper.add(value, q)
        diagonal.append(value)
    cross = paper.multiply(b, c)
    total = _continuant(paper, diagonal, cross)
    if "a_(n,1)" not in text:
        return total
    inner = paper.multiply(cross, _continuant(paper, diagonal[1:-1], cross))
    total = paper.subtract(total, inner)
    up = down = 1
    for _ in range(n):
        up, down = paper.multiply(up, b), paper.multiply(down, c)
    ring = paper.add(up, down)
    return paper.add(total, ring) if n % 2 else paper.subtract(total, ring)


def _continuant(paper: Paper, diagonal: list[int], cross: int) -> int:
    before, here = 0, 1
    for value in diagonal:
        before, here = (
            here,
            paper.subtract(paper.multiply(value, here), paper.multiply(cross, before)),
        )
    return here


def powers_of_numbers(rng: np.random.Generator, level: int) -> Problem:
    """The determinant of a matrix of powers in which one power is missing (Vandermonde)."""
    n, size = {7: (5, 9), 8: (12, 9), 9: (15, 20), 10: (19, 40)}[level]
    values = [int(v) - size for v in sorted(rng.permutation(2 * size + 1)[:n])]
    rng.shuffle(values)
    missing = among(rng, 1, n - 1)
    exponents = [e for e in range(n + 1) if e != missing]
    value = determinant([[v**e for e in exponents] for v in values])
    text = (
        f"A matrix has {n} rows and {n} columns. The entries of its row i are the powers x_i^k for k = "
        f"{listed([str(e) for e in exponents])}, in this order, where x_1, ..., x_{n} are "
        f"{listed([str(v) for v in values])}. What is its determinant?"
    )
    return Problem(text, [values, missing], value)


def _solve_powers_of_numbers(paper: Paper, numbers: list[int], text: str) -> int:
    """Multiply Vandermonde's product by the elementary symmetric polynomial of the missing power."""
    n = numbers[0]
    values = numbers[-n:]
    exponents = [
        int(e) for e in re.findall(r"\d+", text.partition("for k = ")[2].partition(", in this")[0])
    ]
    missing = next(e for e in range(n) if e not in exponents)
    total = 1
    for a, b in itertools.combinations(values, 2):
        total = paper.multiply(total, paper.subtract(b, a))
    symmetric = [1] + [0] * n
    for value in values:
        for k in range(n, 0, -1):
            if symmetric[k - 1]:
                symmetric[k] = paper.add(symmetric[k], paper.multiply(value, symmetric[k - 1]))
    return paper.multiply(total, symmetric[n - missing])


def circulant(rng: np.random.Generator, level: int) -> Problem:
    """The determinant of a matrix whose rows are shifted copies of the first."""
    n, largest = {7: (4, 20), 8: (7, 9), 9: (9, 9), 10: (11, 12)}[level]
    first = [among(rng, -largest, largest) for _ in range(n)]
    rows = [first[-k:] + first[:-k] if k else first for k in range(n)]
    text = (
        f"A matrix has {n} rows. The first is {json.dumps(first)}, and each further row is the row above it shifted by "
        "one place to the right, where the last entry comes to the front. What is its determinant?"
    )
    return Problem(text, [first], determinant(rows))


def _solve_circulant(paper: Paper, numbers: list[int], text: str) -> int:
    n, *first = numbers
    rows = [first[-k:] + first[:-k] if k else list(first) for k in range(n)]
    rank, sign = eliminate(paper, rows, n)
    return sign * rows[-1][-1] if rank == n else 0


def inverse_entry(rng: np.random.Generator, level: int) -> Problem:
    """An entry of the inverse of a matrix."""
    n, largest = {7: (4, 6), 8: (7, 7), 9: (9, 7), 10: (11, 9)}[level]
    while True:
        rows = draw_rows(rng, n, largest)
        if determinant(rows):
            break
    i, j = among(rng, 1, n), among(rng, 1, n)
    value = solve(rows, [int(k == j - 1) for k in range(n)])[i - 1]
    text = f"Let A = {shown(rows)}, written row by row. What is the entry in row {i} and column {j} of the inverse of A?"
    return Problem(text, [rows, i, j], value)


def _solve_inverse_entry(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Solve a system for one column of the inverse, the unknown that is asked for last."""
    rows = read_rows(text)[0]
    i, j = numbers[-2:]
    grid = [[*row[: i - 1], *row[i:], row[i - 1], int(k == j)] for k, row in enumerate(rows, 1)]
    eliminate(paper, grid, len(rows))
    return paper.reduce(grid[-1][-1], grid[-1][-2])


def matrices_of_rank(rng: np.random.Generator, level: int) -> Problem:
    """The number of matrices of a rank over a finite field."""
    least = {7: 3, 8: 4, 9: 6, 10: 9}[level]
    m, n = least + among(rng, 0, 2), least + among(rng, 0, 3)
    rank = among(rng, least - 1 - (level > 8), least)
    q = PRIMES[among(rng, 0, 12)]
    counts = [1]
    for _ in range(n):
        # A new column lies in the span of those before, or makes the rank larger.
        longer = [*counts, 0]
        counts = [
            longer[r] * q**r + (longer[r - 1] * (q**m - q ** (r - 1)) if r else 0)
            for r in range(len(longer))
        ]
    text = (
        f"How many matrices with {m} rows and {n} columns, whose entries are whole numbers from 0 to {q - 1}, have "
        f"rank {rank} over the field of the remainders modulo {q}?"
    )
    return Problem(text, [m, n, rank, q], counts[rank])


def _solve_matrices_of_rank(paper: Paper, numbers: list[int], text: str) -> int:
    """Choose the column space, and independent rows for it."""
    m, n, _, _, rank, q = numbers
    powers = [1]
    for _ in range(max(m, n)):
        powers.append(paper.multiply(powers[-1], q))
    above = below = 1
    for i in range(rank):
        both = paper.multiply(
            paper.subtract(powers[m], powers[i]), paper.subtract(powers[n], powers[i])
        )
        above = paper.multiply(above, both)
        below = paper.multiply(below, paper.subtract(powers[rank], powers[i]))
    return paper.divide_exactly(above, below)


KINDS = (
    Kind(tridiagonal, _solve_tridiagonal),
    Kind(powers_of_numbers, _solve_powers_of_numbers, free=r"(?<=are )-?\d+(?=, )"),
    Kind(circulant, _solve_circulant),
    Kind(inverse_entry, _solve_inverse_entry, is_whole=False),
    Kind(matrices_of_rank, _solve_matrices_of_rank, free=r"\d+(?= rows)|\d+(?= columns)"),
)
