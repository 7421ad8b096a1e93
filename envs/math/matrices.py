"""Linear algebra on small matrices of whole numbers; one turn."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.math.contest import determinants, eigenvalues, permanents, ranks
from verigym.envs.math.contest.eigenvalues import characteristic, multiply
from verigym.envs.math.contest.exact import determinant, product, shown
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.elimination import eliminate, substitute
from verigym.envs.math.paper import Paper
from verigym.envs.math.polynomials import whole_roots
from verigym.envs.math.worked import Worked
from verigym.question import Ask

# Rows, and how large entries are.
LEVELS = {
    1: (2, 9),
    2: (2, 6),
    3: (2, 25),
    4: (3, 5),
    5: (4, 2),
    6: (4, 4),
    7: (5, 5),
}

Rows = list[list[int]]
Drawn = tuple[str, list[Rows], str]
"""Question, given matrices, and answer."""
_FORM = "Give it row by row, in the form [[..., ...], [..., ...]]."


class Matrices(Worked):
    """Determinants, products, inverses, ranks and eigenvalues; from level 7 on contest questions on determinants
    with a structure, on eigenvalues that need not be found, and on matrices modulo a number."""

    id: ClassVar[str] = "verigym/math/matrices-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    contest_kinds: ClassVar[tuple[Kind, ...]] = (
        determinants.KINDS + eigenvalues.KINDS + ranks.KINDS + permanents.KINDS
    )

    @override
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        n, largest = LEVELS[level]
        kinds = KINDS[:1] if level == 1 else KINDS
        kind = kinds[int(rng.integers(len(kinds)))]
        text, given, answer = kind(rng, n, largest)
        return Ask(
            prompt=text,
            answer=answer,
            answer_form="evaluated",
            steps=n**3,
            tags=(kind.__name__,),
            essence=[kind.__name__, *given],
        )

    @override
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        given = re.findall(r"\[\[[^.]*?\]\]", question)
        return SOLVERS[kind](paper, *(json.loads(rows) for rows in given))


def the_determinant(rng: np.random.Generator, n: int, largest: int) -> Drawn:
    """Ask for the determinant of a random matrix."""
    rows = _random(rng, n, largest)
    return f"What is the determinant of {shown(rows)}?", [rows], str(determinant(rows))


def the_product(rng: np.random.Generator, n: int, largest: int) -> Drawn:
    """Ask for the product of two matrices, as a matrix."""
    a, b = _random(rng, n, largest), _random(rng, n, largest)
    text = f"Let A = {shown(a)} and B = {shown(b)}. What is the product AB? {_FORM}"
    return text, [a, b], shown(product(a, b))


def the_inverse(rng: np.random.Generator, n: int, largest: int) -> Drawn:
    """Ask for the inverse of a matrix with determinant 1 or -1: its entries are whole."""
    lower = [[1 if i == j else 0 for j in range(n)] for i in range(n)]
    upper = [[1 if i == j else 0 for j in range(n)] for i in range(n)]
    for i in range(n):
        for j in range(i):
            lower[i][j] = int(rng.integers(-2, 3))
            upper[j][i] = int(rng.integers(-2, 3))
    if rng.integers(2):
        lower[0] = [-v for v in lower[0]]
    rows = product(lower, upper)
    text = f"What is the inverse of {shown(rows)}? {_FORM}"
    return text, [rows], shown([[int(v) for v in row] for row in inverse(rows)])


def the_rank(rng: np.random.Generator, n: int, largest: int) -> Drawn:
    """Ask for the rank of a product of random matrices, which bounds it."""
    while True:
        wanted = int(rng.integers(1, n + 1))
        tall = rng.integers(-2, 3, (n, wanted)).tolist()
        wide = rng.integers(-2, 3, (wanted, n + 1)).tolist()
        rows = product(tall, wide)
        if any(map(any, rows)):
            return f"What is the rank of {shown(rows)}?", [rows], str(rank(rows))


def the_eigenvalues(rng: np.random.Generator, n: int, largest: int) -> Drawn:
    """Ask for the eigenvalues of a matrix built from them by a change of basis with determinant 1."""
    values = [int(v) for v in rng.integers(-largest, largest, n, endpoint=True)]
    rows = [[values[i] if i == j else 0 for j in range(n)] for i in range(n)]
    for _ in range(n if n < 5 else 2 * n):
        i, j = (int(v) for v in rng.permutation(n)[:2])
        factor = 1 if rng.integers(2) else -1
        # Row i gains factor times row j, column j loses factor times column i: a similarity.
        rows[i] = [a + factor * b for a, b in zip(rows[i], rows[j], strict=True)]
        for row in rows:
            row[j] -= factor * row[i]
    distinct = ", ".join(map(str, sorted(set(values))))
    text = f"What are the eigenvalues of {shown(rows)}? Give each once, as a set such as {{1, 2}}."
    return text, [rows], f"{{{distinct}}}"


KINDS: tuple[Callable[[np.random.Generator, int, int], Drawn], ...] = (
    the_determinant,
    the_product,
    the_inverse,
    the_rank,
    the_eigenvalues,
)


def _find_determinant(paper: Paper, rows: Rows) -> str:
    rank, sign = eliminate(paper, rows, len(rows))
    return str(sign * rows[-1][-1] if rank == len(rows) else 0)


def _find_product(paper: Paper, a: Rows, b: Rows) -> str:
    return shown(multiply(paper, a, b))


def _find_inverse(paper: Paper, rows: Rows) -> str:
    n = len(rows)
    grid = [[*row, *(int(i == j) for j in range(n))] for i, row in enumerate(rows)]
    eliminate(paper, grid, n)
    columns = [substitute(paper, grid, n + j) for j in range(n)]
    return shown([list(row) for row in zip(*columns, strict=True)])


def _find_rank(paper: Paper, rows: Rows) -> str:
    return str(eliminate(paper, rows, len(rows[0]))[0])


def _find_eigenvalues(paper: Paper, rows: Rows) -> str:
    roots = sorted(set(whole_roots(paper, characteristic(paper, rows))))
    return f"{{{', '.join(map(str, roots))}}}"


SOLVERS: dict[str, Callable[..., str]] = {
    "the_determinant": _find_determinant,
    "the_product": _find_product,
    "the_inverse": _find_inverse,
    "the_rank": _find_rank,
    "the_eigenvalues": _find_eigenvalues,
}


def _random(rng: np.random.Generator, n: int, largest: int) -> Rows:
    rows: Rows = rng.integers(-largest, largest, (n, n), endpoint=True).tolist()
    return rows


def inverse(rows: Rows) -> list[list[Fraction]]:
    """Return the exact inverse by Gauss-Jordan elimination. Raises ZeroDivisionError for a
    singular matrix."""
    n = len(rows)
    grid = [
        [Fraction(v) for v in row] + [Fraction(i == j) for j in range(n)]
        for i, row in enumerate(rows)
    ]
    for k in range(n):
        pivot = next((i for i in range(k, n) if grid[i][k]), k)
        grid[k], grid[pivot] = grid[pivot], grid[k]
        grid[k] = [v / grid[k][k] for v in grid[k]]
        for i in range(n):
            if i != k:
                grid[i] = [v - grid[i][k] * w for v, w in zip(grid[i], grid[k], strict=True)]
    return [row[n:] for row in grid]


def rank(rows: Rows) -> int:
    """Return the exact rank by elimination."""
    grid = [[Fraction(v) for v in row] for row in rows]
    found = 0
    for column in range(len(grid[0])):
        pivot = next((i for i in range(found, len(grid)) if grid[i][column]), None)
        if pivot is None:
            continue
        grid[found], grid[pivot] = grid[pivot], grid[found]
        for i in range(found + 1, len(grid)):
            factor = grid[i][column] / grid[found][column]
            grid[i] = [v - factor * w for v, w in zip(grid[i], grid[found], strict=True)]
        found += 1
        if found == len(grid):
            break
    return found
