"""Differentiation and integration of functions built from known ones; one turn."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.math.equations import polynomial
from verigym.question import Ask, Question

# Degree of polynomials, and which kinds.
LEVELS = {
    2: (2, ("slope", "integral")),
    4: (3, ("slope", "integral", "derivative", "antiderivative")),
    6: (4, ("derivative", "antiderivative")),
}


class Calculus(Question):
    """Slopes, derivatives, definite integrals and antiderivatives.

    An antiderivative is fixed by its value at 0, and drawn first: the integrand is its derivative.
    """

    id: ClassVar[str] = "verigym/math/calculus-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        degree, kinds = LEVELS[level]
        kind = kinds[int(rng.integers(len(kinds)))]
        p = [int(c) for c in rng.integers(-6, 7, degree + 1)]
        p[0] = p[0] or 1
        a = int(rng.integers(-3, 4)) or 2
        steps = 3 * degree
        if kind == "slope":
            text = f"What is the slope of y = {polynomial(p)} at x = {a}?"
            answer = str(value(derivative(p), a))
        elif kind == "integral":
            b = a + int(rng.integers(1, 5))
            text = f"What is the integral of {polynomial(p)} from x = {a} to x = {b}?"
            anti = antiderivative(p)
            answer = str(value(anti, b) - value(anti, a))
        else:
            steps *= 2
            # f = p(x) e^(kx), p sin(kx) or p cos(kx), and its derivative.
            k = int(rng.integers(1, 4))
            outer = ("exp", "sin", "cos")[int(rng.integers(3))]
            inner = f"({polynomial([k, 0])})"
            function = f"({polynomial(p)}) * {outer}{inner}"
            slope = _slope(p, k, outer, inner)
            if kind == "derivative":
                text, answer = f"What is the derivative of {function} with respect to x?", slope
            else:
                start = value([Fraction(c) for c in p], 0) if outer != "sin" else Fraction(0)
                text = f"Find F(x) with F(0) = {start} and F'(x) = {slope}."
                answer, steps = function, 2 * steps
            text += " Write exp(x) for the exponential and * for products."
        return Ask(prompt=text, answer=answer, answer_form="reduced", steps=steps, tags=(kind,))


def _slope(p: list[int], k: int, outer: str, inner: str) -> str:
    """The derivative of p(x) times the outer function of kx, with terms collected."""
    first, scaled = derivative(p), [k * c for c in p]
    if outer == "exp":
        first = [0] * (len(p) - len(first)) + first
        both = [a + b for a, b in zip(first, scaled, strict=True)]
        return f"({polynomial(both)}) * exp{inner}"
    sign, other = {"sin": ("+", "cos"), "cos": ("-", "sin")}[outer]
    return f"({polynomial(first)}) * {outer}{inner} {sign} ({polynomial(scaled)}) * {other}{inner}"


def derivative(p: list[int]) -> list[int]:
    """Return the derivative of a polynomial, highest power first."""
    n = len(p) - 1
    return [c * (n - i) for i, c in enumerate(p[:-1])] or [0]


def antiderivative(p: list[int]) -> list[Fraction]:
    """The one that is 0 at 0."""
    n = len(p)
    return [*(Fraction(c, n - i) for i, c in enumerate(p)), Fraction(0)]


def value(p: list[int] | list[Fraction], x: int) -> Fraction:
    """Evaluate a polynomial by Horner's scheme."""
    total = Fraction(0)
    for c in p:
        total = total * x + c
    return total
