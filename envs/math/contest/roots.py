"""Functions of all roots of a polynomial, remainders of high powers, and a least value."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from verigym.envs.math.contest.eigenvalues import power_sums
from verigym.envs.math.contest.exact import advance, determinant, solve
from verigym.envs.math.contest.integrals import coefficients
from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.contest.recurrences import power_of_x
from verigym.envs.math.elimination import eliminate
from verigym.envs.math.paper import Paper
from verigym.envs.math.polynomials import horner, polynomial

_NAMES = "xyzwvutsr"
_COUNTED = "counted as often as its multiplicity"


def _draw(rng: np.random.Generator, degree: int, largest: int) -> list[int]:
    """Return a polynomial with leading coefficient 1 and a constant that is not 0, highest power first."""
    return [1, *(among(rng, -largest, largest) for _ in range(degree - 1)), among(rng, 1, largest)]


def _companion(p: list[int]) -> list[list[int]]:
    """Return a matrix whose characteristic polynomial is p."""
    n = len(p) - 1
    return [[-c for c in p[1:]], *([int(i == j) for j in range(n)] for i in range(n - 1))]


def powers_of_roots(rng: np.random.Generator, level: int) -> Problem:
    """The sum of equal powers of all roots."""
    degree, exponent, largest = {7: (4, 8, 9), 8: (6, 20, 30), 9: (7, 32, 30), 10: (8, 54, 40)}[
        level
    ]
    p = _draw(rng, degree, largest)
    grid = np.array(_companion(p), dtype=object)
    power = grid
    for _ in range(exponent - 1):
        power = power.dot(grid)
    text = (
        f"What is the sum of the powers with exponent {exponent} of all {degree} complex roots of {polynomial(p)}, "
        f"each {_COUNTED}?"
    )
    return Problem(text, [p, exponent], int(np.trace(power)))


def _solve_powers_of_roots(paper: Paper, numbers: list[int], text: str) -> int:
    p = coefficients(paper, text.partition("roots of ")[2].partition(",")[0])
    return power_sums(paper, p, numbers[0])[-1]


def product_over_roots(rng: np.random.Generator, level: int) -> Problem:
    """The product of the values of a quadratic polynomial at all roots."""
    degree, largest = {7: (8, 9), 8: (36, 30), 9: (60, 30), 10: (110, 30)}[level]
    p = _draw(rng, degree, largest)
    a, b = among(rng, 2, 5) * (1 if rng.integers(2) else -1), among(rng, 7, 12)
    # The same product with the sides changed: of p over the two roots of the quadratic.
    grid, small = np.zeros((2, 2), dtype=object), np.array(_companion([1, a, b]), dtype=object)
    for c in p:
        grid = grid.dot(small) + c * np.identity(2, dtype=object)
    value = determinant(grid.tolist())
    text = (
        f"Evaluate {polynomial([1, a, b])} at each of the {degree} complex roots of {polynomial(p)}, each root "
        f"{_COUNTED}. What is the product of these {degree} values?"
    )
    return Problem(text, [p, a, b], value)


def _solve_product_over_roots(paper: Paper, numbers: list[int], text: str) -> int:
    """Change sides: the product of the values of the polynomial at the two roots of the quadratic."""
    quadratic = coefficients(paper, text.partition("Evaluate ")[2].partition(" at ")[0])
    p = coefficients(paper, text.partition("roots of ")[2].partition(",")[0])
    _, a, b = quadratic
    u, v = 0, 0
    for c in p:
        # (u x + v) x + c, reduced by the quadratic.
        u, v = (
            paper.subtract(v, paper.multiply(u, a)),
            paper.subtract(c, paper.multiply(u, b)),
        )
    first = paper.multiply(b, paper.multiply(u, u))
    return paper.add(
        paper.subtract(first, paper.multiply(a, paper.multiply(u, v))), paper.multiply(v, v)
    )


def reciprocal_squares(rng: np.random.Generator, level: int) -> Problem:
    """The sum over all roots of the squares of 1 / (root - c)."""
    degree, largest = {7: (4, 9), 8: (22, 40), 9: (36, 40), 10: (64, 40)}[level]
    while True:
        p, c = _draw(rng, degree, largest), among(rng, 2, 3) * (1 if rng.integers(2) else -1)
        if np.polyval(np.array(p, dtype=object), c):
            break
    # 1 / (r - c)^2 over the roots r: power sums of the reversed polynomial of p(x + c).
    shifted = _shift(p, c)
    first, second = Fraction(shifted[-2], shifted[-1]), Fraction(shifted[-3], shifted[-1])
    text = (
        f"For each of the {degree} complex roots r of {polynomial(p)}, each {_COUNTED}, take 1 / (r {'-' if c > 0 else '+'} "
        f"{abs(c)})^2. What is the sum of these numbers?"
    )
    return Problem(text, [p, c], first * first - 2 * second)


def _shift(p: list[int], c: int) -> list[int]:
    """Return p(x + c), by powers of x + c."""
    found: list[int] = [0]
    for a in p:
        found = [x + c * y for x, y in zip([*found, 0], [0, *found], strict=True)]
        found[-1] += a
    return found


def _solve_reciprocal_squares(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """The sum is the derivative of -p' / p at c, by three rows of Horner's scheme."""
    p = coefficients(paper, text.partition("roots r of ")[2].partition(",")[0])
    sign, size = re.findall(r"r ([-+]) (\d+)\)", text)[0]
    c = int(size) if sign == "-" else -int(size)
    rests = []
    for _ in range(3):
        *p, rest = horner(paper, p, c)
        rests.append(rest)
    square = paper.multiply(rests[1], rests[1])
    above = paper.subtract(square, 2 * paper.multiply(rests[0], rests[2]))
    return paper.reduce(above, paper.multiply(rests[0], rests[0]))


def power_remainder(rng: np.random.Generator, level: int) -> Problem:
    """The remainder of a high power of x after division by a polynomial."""
    degree, low, high, m = {
        7: (2, 60, 150, 100),
        8: (3, 10**5, 10**6, 1000),
        9: (4, 10**6, 10**7, 1000),
        10: (5, 10**8, 10**9, 10_000),
    }[level]
    p = _draw(rng, degree, 4)
    exponent, m = among(rng, low, high), among(rng, m, 2 * m)
    times_x = [[-c, *(int(i == j) for j in range(degree - 1))] for i, c in enumerate(p[1:])]
    row = advance(times_x, [0] * (degree - 1) + [1], exponent, m)
    text = (
        f"Divide x^{exponent} by {polynomial(p)}, with a remainder of lower degree. Add up all coefficients of the "
        f"remainder. What is the remainder when this sum is divided by {m}?"
    )
    return Problem(text, [p, exponent, m], sum(row) % m)


def _solve_power_remainder(paper: Paper, numbers: list[int], text: str) -> int:
    p = coefficients(paper, text.partition(" by ")[2].partition(", with")[0])
    exponent, m = numbers[0], numbers[-1]
    total = 0
    for c in power_of_x(paper, exponent, [-c for c in p[1:]], m):
        total = paper.add(total, c)
    return paper.divide(total, m)[1]


def least_value(rng: np.random.Generator, level: int) -> Problem:
    """The least value of a quadratic form on a plane: a sharp constant."""
    n, largest = {7: (3, 2), 8: (6, 2), 9: (7, 2), 10: (9, 2)}[level]
    base = rng.integers(-largest, largest, (n, n), endpoint=True)
    grid = (base.T @ base + np.diag(rng.integers(1, 5, n))).tolist()
    side = [among(rng, 1, 9) * (1 if rng.integers(3) else -1) for _ in range(n)]
    goal = among(rng, 2, 20)
    spread = solve(grid, side)
    value = Fraction(goal * goal) / sum(a * b for a, b in zip(side, spread, strict=True))
    text = (
        f"Real numbers {', '.join(_NAMES[:n])} satisfy {_linear(side)} = {goal}. What is the smallest possible value "
        f"of {_form(grid)}?"
    )
    return Problem(text, [grid, side, goal], value)


def _linear(side: list[int]) -> str:
    parts = "".join(
        f" {'-' if c < 0 else '+'} {abs(c)} * {name}" for c, name in zip(side, _NAMES, strict=False)
    )
    return parts.removeprefix(" + ") if parts.startswith(" +") else "-" + parts.removeprefix(" - ")


def _form(grid: list[list[int]]) -> str:
    parts = [f"{row[i]} * {_NAMES[i]}^2" for i, row in enumerate(grid)]
    for i, row in enumerate(grid):
        for j in range(i + 1, len(grid)):
            if row[j]:
                parts.append(f"{2 * row[j]} * {_NAMES[i]} * {_NAMES[j]}")
    return " + ".join(parts).replace("+ -", "- ")


def _solve_least_value(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Lagrange: the gradient is a multiple of the plane's, and the multiplier gives the value."""
    names = text.partition("numbers ")[2].partition(" satisfy")[0].split(", ")
    plane, _, form = text.partition(" satisfy ")[2].partition(". What is")
    left, _, goal = plane.partition(" = ")
    n = len(names)
    grid = [[0] * (n + 2) for _ in range(n + 1)]
    for size, name in re.findall(r"(-?\d+) \* (\w)", left.replace("- ", "-")):
        paper.look()
        i = names.index(name)
        grid[i][n], grid[n][i] = -int(size), int(size)
    grid[n][n + 1] = int(goal)
    for size, first, power, second in re.findall(
        r"(-?\d+) \* (\w)(\^2)?(?: \* (\w))?", form.replace("- ", "-")
    ):
        paper.look()
        i, j = names.index(first), names.index(second or first)
        grid[i][j] = grid[j][i] = int(size) if power else paper.divide_exactly(int(size), 2)
    eliminate(paper, grid, n + 1)
    return paper.reduce(paper.multiply(grid[-1][-1], int(goal)), grid[-1][-2])


KINDS = (
    Kind(powers_of_roots, _solve_powers_of_roots),
    Kind(product_over_roots, _solve_product_over_roots),
    Kind(reciprocal_squares, _solve_reciprocal_squares, is_whole=False),
    Kind(power_remainder, _solve_power_remainder),
    Kind(least_value, _solve_least_value, is_whole=False),
)
