"""Integrals with exact values: partial fractions, parts, substitution, three dimensions."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.paper import Paper
from verigym.envs.math.polynomials import horner, polynomial, read_polynomial, whole_roots


def expand(roots: list[int]) -> list[int]:
    """Return the polynomial with these roots and leading coefficient 1, highest power first."""
    p = [1]
    for root in roots:
        p = [a - root * b for a, b in zip([*p, 0], [0, *p], strict=True)]
    return p


def coefficients(paper: Paper, text: str) -> list[int]:
    """Read a polynomial, highest power first; each term is an operation."""
    terms = read_polynomial(text)
    for _ in terms:
        paper.look()
    return [terms.get(power, 0) for power in range(max(terms), -1, -1)]


def partial_fractions(rng: np.random.Generator, level: int) -> Problem:
    """The integral of a rational function whose residues are whole: a logarithm."""
    count, largest = {7: (3, 7), 8: (8, 15), 9: (12, 24), 10: (18, 40)}[level]
    start = among(rng, -3, 3)
    end = start + among(rng, 1, 4)
    poles = [n for n in range(-largest, largest + 1) if not start <= n <= end]
    roots = sorted(poles[int(i)] for i in rng.permutation(len(poles))[:count])
    residues = [among(rng, 1, 3) * (1 if rng.integers(2) else -1) for _ in roots]
    above = [0] * count
    for i, residue in enumerate(residues):
        others = expand(roots[:i] + roots[i + 1 :])
        above = [a + residue * b for a, b in zip(above, others, strict=True)]
    value = Fraction(1)
    for root, residue in zip(roots, residues, strict=True):
        value *= Fraction(end - root, start - root) ** residue
    text = (
        f"The integral of ({polynomial(above)}) / ({polynomial(expand(roots))}) from x = {start} to x = {end} equals "
        "ln(q) for a rational number q. What is q?"
    )
    return Problem(text, [roots, residues, start, end], value)


def _solve_partial_fractions(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Find the roots; a residue is the numerator over the derivative of the denominator."""
    above, below = (
        coefficients(paper, part) for part in re.findall(r"\(([^()]*)\) [/f]", text)[:2]
    )
    degree = len(below) - 1
    slope = [paper.multiply(c, degree - i) for i, c in enumerate(below[:-1])]
    start, end = numbers[-2:]
    top = bottom = 1
    for root in whole_roots(paper, below):
        upper, lower = horner(paper, above, root)[-1], horner(paper, slope, root)[-1]
        residue = paper.divide_exactly(upper, lower) if upper else 0
        ahead, behind = paper.subtract(end, root), paper.subtract(start, root)
        for _ in range(abs(residue)):
            top = paper.multiply(top, ahead if residue > 0 else behind)
            bottom = paper.multiply(bottom, behind if residue > 0 else ahead)
    return paper.reduce(top, bottom)


def by_parts(rng: np.random.Generator, level: int) -> Problem:
    """The integral of a polynomial times an exponential function."""
    degree, largest = {7: (3, 9), 8: (16, 99), 9: (26, 99), 10: (42, 99)}[level]
    p = [among(rng, 1, largest), *(among(rng, -largest, largest) for _ in range(degree))]
    k, end = among(rng, 2, level), among(rng, 1, level - 5)
    # The integral of x^n e^(kx) is A e^(k end) + B, by parts.
    first, last = Fraction(0), Fraction(0)
    total = [Fraction(0), Fraction(0)]
    for n, c in enumerate(reversed(p)):
        first = (end**n - n * first) / k
        last = (-n * last - (n == 0)) / Fraction(k)
        total = [total[0] + c * first, total[1] + c * last]
    text = (
        f"The integral of ({polynomial(p)}) * exp({k}x) from x = 0 to x = {end} equals A * exp({k * end}) + B with "
        "rational numbers A and B. What is A - B?"
    )
    return Problem(text, [p, k, end], total[0] - total[1])


def _solve_by_parts(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Differentiate the polynomial again and again; signs alternate, powers of k divide."""
    inner = re.search(r"\(([^()]*)\) \* exp\((\d+)x\)", text)
    assert inner
    p, k = coefficients(paper, inner[1]), int(inner[2])
    end = int(text.partition("to x = ")[2].split()[0])
    degree = len(p) - 1
    total, sign = 0, 1
    for _ in range(degree + 1):
        # Over the denominator k^(degree + 1).
        ends = paper.add(horner(paper, p, end)[-1], p[-1])
        total = paper.add(paper.multiply(total, k), sign * ends)
        p = [paper.multiply(c, len(p) - 1 - i) for i, c in enumerate(p[:-1])]
        sign = -sign
    below = 1
    for _ in range(degree + 1):
        below = paper.multiply(below, k)
    return paper.reduce(total, below)


def substitution(rng: np.random.Generator, level: int) -> Problem:
    """The integral of an odd polynomial times a power of a quadratic."""
    degree, power = {7: (2, 4), 8: (7, 10), 9: (10, 18), 10: (15, 30)}[level]
    p = [among(rng, 1, 9), *(among(rng, -9, 9) for _ in range(degree))]
    c, end = among(rng, 1, level - 4) * (1 if rng.integers(2) else -1), among(rng, 1, 3)
    odd = [v for a in p for v in (a, 0)]
    quadratic = [1]
    for _ in range(power):
        quadratic = [a + c * b for a, b in zip([*quadratic, 0], [0, *quadratic], strict=True)]
    product = np.convolve(np.array(p, dtype=object), np.array(quadratic, dtype=object)).tolist()
    value = Fraction(0)
    for place, a in enumerate(reversed(product)):
        value += Fraction(a * end ** (2 * place + 2), 2 * place + 2)
    text = f"What is the integral of ({polynomial(odd)}) * ({polynomial([1, 0, c])})^{power} from x = 0 to x = {end}?"
    return Problem(text, [p, c, power, end], value)


def _solve_substitution(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Put u for the quadratic: the odd polynomial becomes one in u by repeated division."""
    inner = re.search(r"\(([^()]*)\) \* \(x\^2 ([-+]) (\d+)\)\^(\d+) from x = 0 to x = (\d+)", text)
    assert inner
    p = coefficients(paper, inner[1])[:-1][::2]
    c, power, end = int(inner[2] + inner[3]), int(inner[4]), int(inner[5])
    shifted = []
    while p:
        *p, rest = horner(paper, p, -c)
        shifted.append(rest)
    low, high = c, paper.add(paper.multiply(end, end), c)
    total = Fraction(0)
    lower, upper = 1, 1
    for _ in range(power):
        lower, upper = paper.multiply(lower, low), paper.multiply(upper, high)
    for i, a in enumerate(shifted, power + 1):
        lower, upper = paper.multiply(lower, low), paper.multiply(upper, high)
        part = paper.reduce(paper.multiply(a, paper.subtract(upper, lower)), 2 * i)
        total = paper.add_fractions(total, part)
    return total


def tetrahedron(rng: np.random.Generator, level: int) -> Problem:
    """The integral of a polynomial in three variables over a tetrahedron at the axes."""
    count, most = {7: (2, 2), 8: (8, 5), 9: (12, 7), 10: (22, 9)}[level]
    sides = [among(rng, 2, 9) for _ in range(3)]
    monomials = set[tuple[int, int, int]]()
    while len(monomials) < count:
        i, j, k = (among(rng, 0, most) for _ in range(3))
        if i + j + k > 1:
            monomials.add((i, j, k))
    terms = [(among(rng, 2, 30), *monomial) for monomial in sorted(monomials)]
    value = Fraction(0)
    for c, i, j, k in terms:
        a, b, h = sides
        # By the integral over z, then y, then x, each a beta function.
        inner = Fraction(h ** (k + 1), k + 1)
        middle = inner * b ** (j + 1) * _beta(j, k + 1)
        value += c * middle * a ** (i + 1) * _beta(i, j + k + 2)
    shown = " + ".join(
        str(c)
        + "".join(
            f" * {name}^{e}" if e > 1 else f" * {name}"
            for name, e in zip("xyz", powers, strict=True)
            if e
        )
        for c, *powers in terms
    )
    a, b, h = sides
    text = (
        f"What is the integral of {shown} over the tetrahedron with vertices (0, 0, 0), ({a}, 0, 0), "
        f"(0, {b}, 0) and (0, 0, {h})?"
    )
    return Problem(text, [sides, [list(term) for term in terms]], value)


def _beta(i: int, j: int) -> Fraction:
    """Return the integral of t^i (1 - t)^j from 0 to 1."""
    return Fraction(1, (i + j + 1) * math.comb(i + j, i))


def _solve_tetrahedron(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Scale to unit edges, where a monomial gives factorials (Dirichlet)."""
    terms = re.findall(r"(\d+)((?: \* [xyz](?:\^\d)?)+)", text)
    sides = [numbers[-9], numbers[-5], numbers[-1]]
    total = Fraction(0)
    for c, factors in terms:
        paper.look()
        above, below = int(c), 1
        found = {name: int(e or 1) for name, e in re.findall(r"([xyz])(?:\^(\d))?", factors)}
        powers = [found.get(name, 0) for name in "xyz"]
        for side, power in zip(sides, powers, strict=True):
            for step in range(1, power + 1):
                above = paper.multiply(above, paper.multiply(side, step))
            above = paper.multiply(above, side)
        for step in range(2, sum(powers) + 4):
            below = paper.multiply(below, step)
        total = paper.add_fractions(total, paper.reduce(above, below))
    return total


KINDS = (
    Kind(partial_fractions, _solve_partial_fractions, is_whole=False),
    Kind(by_parts, _solve_by_parts, is_whole=False),
    Kind(substitution, _solve_substitution, is_whole=False),
    Kind(tetrahedron, _solve_tetrahedron, is_whole=False),
)
