"""Systems of equations: modulo a prime, with a parameter, in a chain, and given by sums of powers."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from verigym.envs.math.contest.exact import determinant, solve
from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.contest.primes import draw_primes
from verigym.envs.math.elimination import eliminate
from verigym.envs.math.modular import invert, times
from verigym.envs.math.paper import Paper

_NAMES = "xyzwvutsrqp"


def _line(row: list[int]) -> str:
    """Return a linear form as text: `2 * x - 3 * y`."""
    text = ""
    for c, name in zip(row, _NAMES, strict=False):
        if c:
            sign = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
            text += f"{sign}{abs(c)} * {name}"
    return text


def _read(text: str) -> tuple[list[list[int]], list[int]]:
    """Return the rows and right sides of the equations in a text, one a line."""
    lines = [line.partition(" = ") for line in text.splitlines() if " = " in line]
    pairs = [re.findall(r"(-?\d+) \* ([a-z])", left.replace("- ", "-")) for left, _, _ in lines]
    rows = []
    for row in pairs:
        by_name = {name: int(size) for size, name in row}
        rows.append([by_name.get(name, 0) for name in _NAMES[: len(lines)]])
    return rows, [int(re.findall(r"-?\d+", right)[0]) for _, _, right in lines]


def modulo_prime(rng: np.random.Generator, level: int) -> Problem:
    """A linear system modulo a prime."""
    n, low = {7: (4, 20), 8: (7, 60), 9: (9, 200), 10: (10, 2000)}[level]
    p = draw_primes(rng, 1, low, {9: 999, 10: 9999}.get(level, 99))[0]
    scale = int(10 ** len(str(p)))
    while True:
        rows = rng.integers(1, p, (n, n)).tolist()
        if determinant(rows) % p:
            break
    solution = [among(rng, 0, p - 1) for _ in range(n)]
    lines = [f"{_line(row)} = {sum(map(int.__mul__, row, solution)) % p}" for row in rows]
    weights = " + ".join(
        name if not i else f"{scale**i} * {name}" for i, name in enumerate(_NAMES[:n])
    )
    text = (
        f"Let {', '.join(_NAMES[:n])} be the whole numbers from 0 to {p - 1} for which the two sides of each of "
        f"these equations leave the same remainder when divided by the prime {p}:\n"
        + "\n".join(lines)
        + f"\nWhat is {weights}?"
    )
    return Problem(text, [rows, solution, p], sum(v * scale**i for i, v in enumerate(solution)))


def _solve_modulo_prime(paper: Paper, numbers: list[int], text: str) -> int:
    """Eliminate modulo the prime, with an inverse for each pivot."""
    p = numbers[2]
    rows, side = _read(text)
    grid = [[*row, s] for row, s in zip(rows, side, strict=True)]
    n = len(grid)
    for k in range(n):
        pivot = next(i for i in range(k, n) if grid[i][k])
        grid[k], grid[pivot] = grid[pivot], grid[k]
        back = invert(paper, grid[k][k], p)
        grid[k] = [
            times(paper, v, back, p) if v and i > k else int(i == k) for i, v in enumerate(grid[k])
        ]
        for i in range(k + 1, n):
            factor = grid[i][k]
            for j in range(k, n + 1):
                if factor and grid[k][j]:
                    cross = paper.subtract(grid[i][j], paper.multiply(factor, grid[k][j]))
                    grid[i][j] = paper.divide(cross, p)[1]
    found = [0] * n
    for k in reversed(range(n)):
        left = grid[k][n]
        for j in range(k + 1, n):
            left = paper.subtract(left, paper.multiply(grid[k][j], found[j]))
        found[k] = paper.divide(left, p)[1]
    return sum(int(v * 10 ** (len(str(p)) * i)) for i, v in enumerate(found))


def sum_of_unknowns(rng: np.random.Generator, level: int) -> Problem:
    """The sum of the unknowns of a linear system, a fraction."""
    n, largest = {7: (5, 3), 8: (7, 9), 9: (8, 9), 10: (10, 9)}[level]
    while True:
        rows = rng.integers(-largest, largest, (n, n), endpoint=True).tolist()
        if determinant(rows):
            break
    side = [among(rng, -largest, largest) for _ in range(n)]
    lines = [f"{_line(row)} = {s}" for row, s in zip(rows, side, strict=True)]
    names = " + ".join(_NAMES[:n])
    text = "Solve the system of equations:\n" + "\n".join(lines) + f"\nWhat is {names}?"
    return Problem(text, [rows, side], sum(solve(rows, side), Fraction(0)))


def _solve_sum_of_unknowns(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Put the sum in the place of the last unknown, and eliminate the others."""
    rows, side = _read(text)
    grid = []
    for row, s in zip(rows, side, strict=True):
        last = row[-1]
        grid.append([*(paper.subtract(v, last) for v in row[:-1]), last, s])
    eliminate(paper, grid, len(grid))
    return paper.reduce(grid[-1][-1], grid[-1][-2])


def singular_value(rng: np.random.Generator, level: int) -> Problem:
    """The value of a parameter for which a linear system has no single solution."""
    n, largest = {7: (4, 9), 8: (7, 9), 9: (9, 9), 10: (11, 9)}[level]
    while True:
        rows = rng.integers(-largest, largest, (n, n), endpoint=True).tolist()
        minor = determinant([row[:-1] for row in rows[:-1]])
        rows[-1][-1] = 0
        if minor and all(map(any, rows)):
            break
    value = Fraction(-determinant(rows), minor)
    side = [among(rng, -largest, largest) for _ in range(n)]
    lines = [f"{_line(row)} = {s}" for row, s in zip(rows, side, strict=True)]
    head, _, tail = lines[-1].partition(" = ")
    lines[-1] = f"{head} + k * {_NAMES[n - 1]} = {tail}"
    text = (
        "For one number k, this system of equations does not have exactly one solution:\n"
        + "\n".join(lines)
        + "\nWhat is k?"
    )
    return Problem(text, [rows, side], value)


def _solve_singular_value(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Eliminate; the last pivot is a multiple of k plus a number, and has to be 0."""
    rows, _ = _read(text)
    n = len(rows)
    rank, sign = eliminate(paper, rows, n)
    whole = sign * rows[-1][-1] if rank == n else 0
    minor = sign * rows[-2][-2]
    return paper.reduce(-whole, minor)


def chain(rng: np.random.Generator, level: int) -> Problem:
    """The first unknown of a chain of equations, each of which joins three neighbours."""
    n = {7: 6, 8: 19, 9: 34, 10: 60}[level] + among(rng, 0, 1)
    a, b, step = among(rng, 2, 9), among(rng, 2, 6), among(rng, 1, 5)
    goal = among(rng, 1, 9)
    # From the last equation up, x_i = shift - slope * x_(i-1).
    slope, value = Fraction(0), Fraction(0)
    for i in range(n, 0, -1):
        head = a + step * i - slope
        slope, value = b / head, (goal * i - value) / head
    text = (
        f"Numbers x_0, x_1, ..., x_{n + 1} satisfy x_0 = 0, x_{n + 1} = 0 and {b} * x_(i-1) + ({a} + {step} * i) * x_i + "
        f"x_(i+1) = {goal} * i for i = 1, ..., {n}. What is x_1?"
    )
    return Problem(text, [n, a, b, step, goal], value)


def _solve_chain(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Write each number as a multiple of x_1 plus a number, up to the last."""
    found = re.search(
        r"and (\d+) \* x_\(i-1\) \+ \((\d+) \+ (\d+) \* i\) .* = (\d+) \* i for i = 1, \.\.\., (\d+)\.",
        text,
    )
    assert found
    b, a, step, goal, n = map(int, found.groups())
    before, here = (0, 0), (1, 0)
    middle = a
    side = 0
    for _ in range(n):
        middle, side = paper.add(middle, step), paper.add(side, goal)
        slope, rest = (
            -paper.add(paper.multiply(middle, x), paper.multiply(b, y))
            for x, y in zip(here, before, strict=True)
        )
        before, here = here, (slope, paper.add(rest, side))
    return paper.reduce(-here[1], here[0])


def sums_of_powers(rng: np.random.Generator, level: int) -> Problem:
    """A sum of high powers of numbers that are known by their sums of low powers."""
    n, exponent, largest = {7: (3, 15, 9), 8: (5, 38, 9), 9: (6, 60, 9), 10: (7, 100, 9)}[level]
    p = [1, *(among(rng, -largest, largest) for _ in range(n - 1)), among(rng, 1, largest)]
    sums: list[int] = []
    for k in range(1, exponent + 1):
        total = -sum(p[i] * sums[k - i - 1] for i in range(1, min(k, n + 1)))
        sums.append(total - (k * p[k] if k <= n else 0))
    names = list(_NAMES[:n])
    given = "\n".join(
        f"{' + '.join(name if k == 1 else f'{name}^{k}' for name in names)} = {sums[k - 1]}"
        for k in range(1, n + 1)
    )
    goal = " + ".join(f"{name}^{exponent}" for name in names)
    text = f"Complex numbers {', '.join(names)} satisfy\n{given}\nWhat is {goal}?"
    return Problem(text, [sums[:n], exponent], sums[-1])


def _solve_sums_of_powers(paper: Paper, numbers: list[int], text: str) -> int:
    """Newton's identities, first for the symmetric polynomials, then for the power sums."""
    sums = [int(s) for s in re.findall(r"= (-?\d+)", text)]
    n, exponent = len(sums), numbers[-1]
    p = [1]
    for k in range(1, n + 1):
        total = sums[k - 1]
        for i in range(1, k):
            total = paper.add(total, paper.multiply(p[i], sums[k - i - 1]))
        p.append(-paper.divide_exactly(total, k))
    while len(sums) < exponent:
        total = 0
        for i in range(1, n + 1):
            total = paper.add(total, paper.multiply(p[i], sums[-i]))
        sums.append(-total)
    return sums[-1]


KINDS = (
    Kind(modulo_prime, _solve_modulo_prime),
    Kind(sum_of_unknowns, _solve_sum_of_unknowns, is_whole=False),
    Kind(singular_value, _solve_singular_value, is_whole=False),
    Kind(chain, _solve_chain, is_whole=False),
    Kind(sums_of_powers, _solve_sums_of_powers),
)
