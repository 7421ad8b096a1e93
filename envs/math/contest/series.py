"""Infinite series, Taylor coefficients, and differential equations."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import pairwise

import numpy as np

from verigym.envs.math.contest.integrals import coefficients, expand
from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.elimination import solve_fractions
from verigym.envs.math.paper import Paper
from verigym.envs.math.polynomials import horner, polynomial, whole_roots


def infinite_sum(rng: np.random.Generator, level: int) -> Problem:
    """The sum of a polynomial times a geometric sequence, from 0 to infinity."""
    degree, largest = {7: (3, 9), 8: (12, 99), 9: (20, 99), 10: (32, 99)}[level]
    p = [among(rng, 1, largest), *(among(rng, -largest, largest) for _ in range(degree))]
    below = among(rng, 3, 11)
    x = Fraction(among(rng, 1, below - 1), below)
    sums = [1 / (1 - x)]
    for m in range(1, degree + 1):
        sums.append(x / (1 - x) * sum(math.comb(m, j) * s for j, s in enumerate(sums)))
    value = sum((c * s for c, s in zip(reversed(p), sums, strict=True)), Fraction(0))
    text = f"What is the sum of ({polynomial(p, 'n')}) * ({x})^n over all whole numbers n from 0 to infinity?"
    return Problem(text, [p, str(x)], value)


def _solve_infinite_sum(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Write the polynomial in binomial coefficients; each gives a power of x / (1 - x)."""
    inner = re.search(r"\(([^()]*)\) \* \((\d+)/(\d+)\)\^n", text)
    assert inner
    p, above, below = coefficients(paper, inner[1].replace("n", "x")), int(inner[2]), int(inner[3])
    row = [horner(paper, p, n)[-1] for n in range(len(p))]
    heads = []
    while row:
        heads.append(row[0])
        row = [paper.subtract(b, a) for a, b in pairwise(row)]
    rest = paper.subtract(below, above)
    # Horner's scheme in above / rest, over one denominator.
    total, scale = 0, 1
    for head in reversed(heads):
        total = paper.add(paper.multiply(total, above), paper.multiply(head, scale))
        scale = paper.multiply(scale, rest)
    return paper.reduce(paper.multiply(total, below), scale)


def taylor_coefficient(rng: np.random.Generator, level: int) -> Problem:
    """A coefficient of the Taylor series of an exponential function over a power."""
    n = {7: 5, 8: 16, 9: 26, 10: 42}[level] + among(rng, 0, 1)
    a, b, c, k = among(rng, 2, 7), among(rng, 1, 5), among(rng, 2, 7), among(rng, 2, level - 3)
    b = b * (1 if rng.integers(2) else -1)
    series = [Fraction(0)] * (n + 1)
    for i in range(n + 1):
        for j in range((n - i) // 2 + 1):
            series[i + 2 * j] += Fraction(a**i * b**j, math.factorial(i) * math.factorial(j))
    powers = [math.comb(m + k - 1, m) * c**m for m in range(n + 1)]
    value = sum((s * q for s, q in zip(series, reversed(powers), strict=True)), Fraction(0))
    text = (
        f"What is the coefficient of x^{n} in the Taylor series at x = 0 of exp({a}x {'+' if b > 0 else '-'} "
        f"{abs(b)}x^2) / (1 - {c}x)^{k}?"
    )
    return Problem(text, [a, b, c, k, n], value)


def _solve_taylor_coefficient(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Compare coefficients in the differential equation (1 - cx) f' = ((a + 2bx)(1 - cx) + kc) f."""
    inner = re.search(r"exp\((\d+)x ([-+]) (\d+)x\^2\) / \(1 - (\d+)x\)\^(\d+)", text)
    assert inner
    a, b, c, k = int(inner[1]), int(inner[2] + inner[3]), int(inner[4]), int(inner[5])
    n = numbers[0]
    first = paper.add(a, paper.multiply(k, c))
    second = paper.subtract(2 * b, paper.multiply(a, c))
    third = -2 * paper.multiply(b, c)
    # f[m] times m! is whole.
    f = [1]
    for m in range(1, n + 1):
        total = paper.multiply(paper.add(paper.multiply(c, m - 1), first), f[m - 1])
        if m > 1:
            total = paper.add(total, paper.multiply(paper.multiply(second, m - 1), f[m - 2]))
        if m > 2:
            total = paper.add(
                total, paper.multiply(paper.multiply(third, (m - 1) * (m - 2)), f[m - 3])
            )
        f.append(total)
    below = 1
    for m in range(2, n + 1):
        below = paper.multiply(below, m)
    return paper.reduce(f[n], below)


def linear_equation(rng: np.random.Generator, level: int) -> Problem:
    """A linear differential equation with constant coefficients and an exponential on the right."""
    order = {7: 2, 8: 7, 9: 9}[level]
    spread = 5 if level == 7 else 7
    numbers = [int(n) - spread for n in rng.permutation(2 * spread + 1)[: order + 1]]
    if not numbers[-1]:
        numbers.reverse()
    *roots, forced = numbers
    p = expand(roots)
    at = 0
    for c in p:
        at = at * forced + c
    parts = [among(rng, 1, 9) * (1 if rng.integers(2) else -1) for _ in numbers]
    base = among(rng, 2, 3 if level < 9 else 5)
    starts = [sum(c * r**k for c, r in zip(parts, numbers, strict=True)) for k in range(order)]
    value = sum((c * Fraction(base) ** r for c, r in zip(parts, numbers, strict=True)), Fraction(0))
    left = ""
    for i, c in enumerate(p):
        if c:
            name = "y" + "'" * (order - i)
            sign = ("-" if c < 0 else "") if not left else (" - " if c < 0 else " + ")
            left += f"{sign}{abs(c) if abs(c) > 1 else ''}{name}"
    given = listed([f"y{chr(39) * k}(0) = {v}" for k, v in enumerate(starts)])
    text = (
        f"A function y of t satisfies {left} = {parts[-1] * at} * exp({forced} * t), with {given}. What is "
        f"y(ln {base})?"
    )
    return Problem(text, [roots, forced, parts, base], value)


def _solve_linear_equation(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Find the roots and the forced part, then the other parts from the values at 0."""
    left, _, right = text.partition("satisfies ")[2].partition(" = ")
    terms = re.findall(r"(-?)(?:^| )?(\d*)y('*)", left.replace("- ", "-").replace("+ ", ""))
    order = max(len(ticks) for _, _, ticks in terms)
    p = [0] * (order + 1)
    for sign, size, ticks in terms:
        paper.look()
        p[order - len(ticks)] = int(sign + (size or "1"))
    side, forced = (int(n) for n in re.findall(r"-?\d+", right)[:2])
    starts = [Fraction(v) for v in re.findall(r"\(0\) = (-?\d+)", text)]
    base = numbers[-1]
    scale = paper.reduce(side, horner(paper, p, forced)[-1])
    roots = whole_roots(paper, p)
    rows, powers, push = [], [Fraction(1)] * order, scale
    for start in starts:
        rows.append([*powers, paper.subtract_fractions(start, push)])
        powers = [
            paper.multiply_fractions(v, Fraction(r)) for v, r in zip(powers, roots, strict=True)
        ]
        push = paper.multiply_fractions(push, Fraction(forced))
    total = Fraction(0)
    for part, rate in zip([*solve_fractions(paper, rows), scale], [*roots, forced], strict=True):
        power = 1
        for _ in range(abs(rate)):
            power = paper.multiply(power, base)
        factor = Fraction(power) if rate > 0 else Fraction(1, power)
        total = paper.add_fractions(total, paper.multiply_fractions(part, factor))
    return total


def quadratic_equation(rng: np.random.Generator, level: int) -> Problem:
    """A high derivative at 0 of the solution of a quadratic differential equation."""
    n = {7: 5, 8: 12, 9: 17, 10: 25}[level] + among(rng, 0, 1)
    a, b, c, d, start = (
        among(rng, 1, 9),
        among(rng, 1, 9),
        among(rng, 2, 5),
        among(rng, 2, 4),
        among(rng, 1, 3),
    )
    series = [Fraction(start)]
    for m in range(n):
        square = sum((series[i] * series[m - i] for i in range(m + 1)), Fraction(0))
        series.append((c * series[m] + d * square + a * (m == 0) + b * (m == 1)) / (m + 1))
    text = (
        f"A function y of x satisfies y' = {a} + {b}x + {c}y + {d}y^2 near x = 0, and y(0) = {start}. What is its "
        f"derivative of order {n} at x = 0?"
    )
    return Problem(text, [a, b, c, d, start, n], series[n] * math.factorial(n))


def _solve_quadratic_equation(paper: Paper, numbers: list[int], text: str) -> int:
    """Differentiate again and again by Leibniz's rule; terms come in pairs."""
    a, b, c, d = numbers[:4]
    start, n = numbers[-3], numbers[-2]
    y = [start]
    for m in range(n):
        total, ways = 0, 1
        for i in range(m // 2 + 1):
            part = paper.multiply(ways, paper.multiply(y[i], y[m - i]))
            total = paper.add(total, part if 2 * i == m else 2 * part)
            ways = ways * (m - i) // (i + 1)
        slope = paper.add(paper.multiply(c, y[m]), paper.multiply(d, total))
        y.append(paper.add(slope, (a, b)[m]) if m < 2 else slope)
    return y[n]


KINDS = (
    Kind(infinite_sum, _solve_infinite_sum, is_whole=False),
    Kind(taylor_coefficient, _solve_taylor_coefficient, is_whole=False),
    Kind(linear_equation, _solve_linear_equation, last=9, is_whole=False),
    Kind(quadratic_equation, _solve_quadratic_equation),
)
