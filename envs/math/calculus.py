"""Differentiation and integration of functions built from known ones; one turn."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.math.contest import compositions, integrals, limits, series
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.paper import Paper
from verigym.envs.math.polynomials import polynomial, read_polynomial
from verigym.envs.math.worked import Worked
from verigym.question import Ask

_ALL = ("slope", "integral", "derivative", "antiderivative")
# Degree of polynomials, which kinds, and how large coefficients and factors of x are.
LEVELS = {
    1: (2, ("slope",), 6, 3),
    2: (2, _ALL[:2], 6, 3),
    3: (3, _ALL[:3], 6, 4),
    4: (3, _ALL, 6, 3),
    5: (3, _ALL, 6, 5),
    6: (4, _ALL[2:], 6, 3),
    7: (6, _ALL[2:], 30, 9),
}
_PRODUCT = re.compile(r"\(([^()]*)\) \* (exp|sin|cos)(\((\d*)x\))")


class Calculus(Worked):
    """Slopes, derivatives, definite integrals and antiderivatives; from level 7 on contest questions on
    integrals, series, Taylor coefficients and differential equations.

    An antiderivative is fixed by its value at 0, and drawn first: the integrand is its derivative.
    """

    id: ClassVar[str] = "verigym/math/calculus-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    contest_kinds: ClassVar[tuple[Kind, ...]] = (
        integrals.KINDS + series.KINDS + limits.KINDS + compositions.KINDS
    )

    @override
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        degree, kinds, largest, factor = LEVELS[level]
        kind = kinds[int(rng.integers(len(kinds)))]
        p = [int(c) for c in rng.integers(-largest, largest + 1, degree + 1)]
        p[0] = p[0] or 1
        a = int(rng.integers(-3, 4)) or 2
        steps = 3 * degree
        if kind == "slope":
            operands: list[JSON] = [p, a]
            text = f"What is the slope of y = {polynomial(p)} at x = {a}?"
            answer = str(value(derivative(p), a))
        elif kind == "integral":
            b = a + int(rng.integers(1, 5))
            operands = [p, a, b]
            text = f"What is the integral of {polynomial(p)} from x = {a} to x = {b}?"
            anti = antiderivative(p)
            answer = str(value(anti, b) - value(anti, a))
        else:
            steps *= 2
            # f = p(x) e^(kx), p sin(kx) or p cos(kx), and its derivative.
            k = int(rng.integers(1, factor + 1))
            outer = ("exp", "sin", "cos")[int(rng.integers(3))]
            inner = f"({polynomial([k, 0])})"
            operands = [p, outer, k]
            function = f"({polynomial(p)}) * {outer}{inner}"
            slope = _slope(_product_rule(p, k, outer), outer, inner)
            if kind == "derivative":
                text, answer = f"What is the derivative of {function} with respect to x?", slope
            else:
                start = value([Fraction(c) for c in p], 0) if outer != "sin" else Fraction(0)
                text = f"Find F(x) if F(0) = {start} and F'(x) = {slope}."
                answer, steps = function, 2 * steps
            text += " Write exp(x) for the exponential function and * for multiplication."
        return Ask(
            prompt=text,
            answer=answer,
            answer_form="reduced",
            steps=steps,
            tags=(kind,),
            essence=[kind, *operands],
        )

    @override
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        return SOLVERS[kind](paper, question)


def _product_rule(p: list[int], k: int, outer: str) -> list[list[int]]:
    """Return the polynomials in the derivative of p(x) times the outer function of kx, the sign left out."""
    first, scaled = derivative(p), [k * c for c in p]
    if outer != "exp":
        return [first, scaled]
    first = [0] * (len(p) - len(first)) + first
    return [[a + b for a, b in zip(first, scaled, strict=True)]]


def _slope(polynomials: list[list[int]], outer: str, inner: str) -> str:
    """Write the derivative, with terms collected."""
    first = f"({polynomial(polynomials[0])}) * {outer}{inner}"
    if outer == "exp":
        return first
    sign, other = {"sin": ("+", "cos"), "cos": ("-", "sin")}[outer]
    return f"{first} {sign} ({polynomial(polynomials[1])}) * {other}{inner}"


def derivative(p: list[int]) -> list[int]:
    """Return the derivative of a polynomial, highest power first."""
    n = len(p) - 1
    return [c * (n - i) for i, c in enumerate(p[:-1])] or [0]


def antiderivative(p: list[int]) -> list[Fraction]:
    """Return the antiderivative that is 0 at 0."""
    n = len(p)
    return [*(Fraction(c, n - i) for i, c in enumerate(p)), Fraction(0)]


def value(p: list[int] | list[Fraction], x: int) -> Fraction:
    """Evaluate a polynomial by Horner's scheme."""
    total = Fraction(0)
    for c in p:
        total = total * x + c
    return total


def _read(paper: Paper, text: str) -> list[int]:
    """Return the coefficients of a polynomial, highest power first; reading a term is an operation."""
    terms = read_polynomial(text)
    for _ in terms:
        paper.look()
    return [terms.get(power, 0) for power in range(max(terms), -1, -1)]


def _write(paper: Paper, p: list[int]) -> list[int]:
    """Return a polynomial; writing a term is an operation."""
    for c in p:
        if c:
            paper.look()
    return p


def _solve_slope(paper: Paper, question: str) -> str:
    found = re.search(r"y = (.*) at x = (-?\d+)\?", question)
    assert found
    total = 0
    for c in _derive(paper, _read(paper, found[1])):
        total = paper.add(paper.multiply(total, int(found[2])), c) if total else c
    return str(total)


def _derive(paper: Paper, p: list[int]) -> list[int]:
    """Multiply each coefficient by its power, which falls by one."""
    found = []
    power = len(p) - 1
    for c in p[:-1]:
        found.append(paper.multiply(c, power))
        power = paper.subtract(power, 1)
    return _write(paper, found or [0])


def _solve_integral(paper: Paper, question: str) -> str:
    """Add up the terms of the antiderivative between the bounds, over one denominator."""
    found = re.search(r"integral of (.*) from x = (-?\d+) to x = (-?\d+)\?", question)
    assert found
    p = _read(paper, found[1])
    start, end = int(found[2]), int(found[3])
    below = math.lcm(*range(1, len(p) + 1))
    total, first, last = 0, start, end
    for power, c in enumerate(reversed(p), 1):
        if power > 1:
            first, last = paper.multiply(first, start), paper.multiply(last, end)
        if c:
            share = paper.multiply(c, below // power)
            total = paper.add(total, paper.multiply(share, paper.subtract(last, first)))
    return str(paper.reduce(total, below))


def _solve_derivative(paper: Paper, question: str) -> str:
    found = _PRODUCT.search(question)
    assert found
    p, outer, inner, k = _read(paper, found[1]), found[2], found[3], int(found[4] or 1)
    first, scaled = _derive(paper, p), _scale(paper, p, k)
    if outer != "exp":
        return _slope([first, scaled], outer, inner)
    both = [scaled[0], *(paper.add(a, b) for a, b in zip(first, scaled[1:], strict=True))]
    return _slope([_write(paper, both)], outer, inner)


def _scale(paper: Paper, p: list[int], k: int) -> list[int]:
    return _write(paper, [paper.multiply(c, k) for c in p])


def _solve_antiderivative(paper: Paper, question: str) -> str:
    """Find the polynomial beside the outer function, highest power first, and check its derivative."""
    first, *others = _PRODUCT.finditer(question)
    outer, inner, k = first[2], first[3], int(first[4] or 1)
    p: list[int] = []
    if outer == "exp":
        given = _read(paper, first[1])
        for place, c in enumerate(given):
            # The coefficient is k times that of p, and the derivative of the term before.
            before = paper.multiply(p[-1], len(given) - place) if p else 0
            p.append(paper.divide_exactly(paper.subtract(c, before), k))
        slope = [0, *_derive(paper, _write(paper, p))]
        both = zip(slope, _scale(paper, p, k), strict=True)
        _compare(paper, [paper.add(a, b) for a, b in both], given)
    else:
        given, scaled = _read(paper, first[1]), _read(paper, others[0][1])
        p = [paper.divide_exactly(c, k) for c in scaled]
        _compare(paper, _derive(paper, _write(paper, p)), given)
        _compare(paper, _scale(paper, p, k), scaled)
    return f"({polynomial(p)}) * {outer}{inner}"


def _compare(paper: Paper, p: list[int], given: list[int]) -> None:
    """Compare two polynomials term by term."""
    for a, b in zip(p, given, strict=True):
        paper.look()
        if a != b:
            raise ValueError(f"{polynomial(p)} is not {polynomial(given)}")


SOLVERS: dict[str, Callable[[Paper, str], str]] = {
    "slope": _solve_slope,
    "integral": _solve_integral,
    "derivative": _solve_derivative,
    "antiderivative": _solve_antiderivative,
}
