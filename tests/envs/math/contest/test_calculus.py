"""Contest questions of calculus, answered by sympy and by numerical integration and summation."""

import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from sympy.abc import n as index
from sympy.abc import x, y, z

from verigym.envs.math.contest import integrals, series
from verigym.envs.math.contest import kind as contest

KINDS = {kind.name: kind for kind in integrals.KINDS + series.KINDS}


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(40):
        yield


def asks(name, level, count=3):
    for seed in range(100, 100 + count):
        ask = contest.ask((KINDS[name],), np.random.default_rng([seed, level]), level)
        yield ask.prompt, Fraction(ask.answer)


def read(text):
    return sympy.sympify(re.sub(r"(?<=\d)(?=[a-z(])", "*", text.replace("^", "**")), rational=True)


def near(found, answer):
    return mpmath.almosteq(found, mpmath.mpf(answer.numerator) / answer.denominator, 1e-15)


@pytest.mark.parametrize("level", [7, 10])
def test_partial_fractions(level):
    for prompt, answer in asks("partial_fractions", level):
        body, a, b = re.search(r"integral of (.*) from x = (-?\d+) to x = (-?\d+)", prompt).groups()
        f = sympy.lambdify(x, read(body), "mpmath")
        assert near(mpmath.exp(mpmath.quad(f, [int(a), int(b)])), answer)


@pytest.mark.parametrize("level", [7, 9])
def test_by_parts(level):
    for prompt, answer in asks("by_parts", level):
        p, k, end = re.search(
            r"integral of \((.*)\) \* exp\((\d+)x\) from x = 0 to x = (\d+)", prompt
        ).groups()
        whole = sympy.integrate(read(p) * sympy.exp(int(k) * x), x)
        q = sympy.simplify(whole / sympy.exp(int(k) * x))
        assert q.subs(x, int(end)) + q.subs(x, 0) == sympy.Rational(answer)


@pytest.mark.parametrize("level", [7, 10])
def test_substitution(level):
    for prompt, answer in asks("substitution", level):
        body, end = re.search(r"integral of (.*) from x = 0 to x = (\d+)", prompt).groups()
        assert sympy.integrate(sympy.expand(read(body)), (x, 0, int(end))) == sympy.Rational(answer)


@pytest.mark.parametrize("level", [7, 8])
def test_tetrahedron(level):
    for prompt, answer in asks("tetrahedron", level):
        body = re.search(r"integral of (.*) over", prompt)[1]
        a, b, c = (int(n) for n in contest.numbers(prompt.rpartition("vertices")[2]) if n)
        inner = sympy.integrate(sympy.expand(read(body)), z)
        inner = sympy.expand(inner.subs(z, c * (1 - x / a - y / b)) - inner.subs(z, 0))
        inner = sympy.integrate(inner, y)
        inner = sympy.expand(inner.subs(y, b * (1 - x / a)) - inner.subs(y, 0))
        assert sympy.integrate(inner, (x, 0, a)) == sympy.Rational(answer)


@pytest.mark.parametrize("level", [7, 10])
def test_infinite_sum(level):
    for prompt, answer in asks("infinite_sum", level):
        p, above, below = re.search(r"sum of \((.*)\) \* \((\d+)/(\d+)\)\^n", prompt).groups()
        f, ratio = sympy.lambdify(index, read(p)), mpmath.mpf(int(above)) / int(below)
        assert near(sum(f(k) * ratio**k for k in range(1500)), answer)


@pytest.mark.parametrize("level", [7, 10])
def test_taylor_coefficient(level):
    for prompt, answer in asks("taylor_coefficient", level):
        order, body = re.search(r"coefficient of x\^(\d+) .* of (exp.*)\?", prompt).groups()
        inner, base, power = re.fullmatch(r"exp\((.*)\) / \((.*)\)\^(\d+)", body).groups()
        n = int(order)
        p, q = (
            np.array(sympy.Poly(read(e), x).all_coeffs()[::-1], dtype=object) for e in (inner, base)
        )
        term, total = np.array([Fraction(1)] + [Fraction(0)] * n), np.zeros(n + 1, dtype=object)
        for k in range(n + 1):
            total += term
            term = np.convolve(term, [int(c) for c in p])[: n + 1] / Fraction(k + 1)
        for _ in range(int(power)):
            # Divide by 1 - cx: each coefficient takes c times the one before it.
            for place in range(1, n + 1):
                total[place] -= int(q[1]) * total[place - 1]
        assert total[n] == answer


@pytest.mark.parametrize("level", [7, 8, 9])
def test_linear_equation(level):
    for prompt, answer in asks("linear_equation", level):
        left, size, rate = re.search(
            r"satisfies (.*) = (-?\d+) \* exp\((-?\d+) \* t\)", prompt
        ).groups()
        terms = {}
        for sign, c, ticks in re.findall(r"([+-]?) ?(\d*)y('*)", left):
            terms[len(ticks)] = int(f"{sign}{c or 1}")
        order = max(terms)
        derivatives = [int(v) for v in re.findall(r"\(0\) = (-?\d+)", prompt)]
        assert len(derivatives) == order
        for k in range(150):
            forced = int(size) * int(rate) ** k
            derivatives.append(
                forced - sum(c * derivatives[k + i] for i, c in terms.items() if i < order)
            )
        t = mpmath.log(int(re.search(r"ln (\d+)", prompt)[1]))
        assert near(sum(d * t**k / mpmath.factorial(k) for k, d in enumerate(derivatives)), answer)


def test_quadratic_equation():
    for prompt, answer in asks("quadratic_equation", 7):
        slope, start, order = re.search(
            r"y' = (.*) near x = 0, and y\(0\) = (\d+)\..*order (\d+)", prompt
        ).groups()
        slope = read(slope)
        f = slope
        for _ in range(int(order) - 1):
            f = sympy.expand(sympy.diff(f, x) + sympy.diff(f, y) * slope)
        assert f.subs({x: 0, y: int(start)}) == answer
