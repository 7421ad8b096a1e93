"""Contest questions on roots and on systems, answered by sympy and by numerical roots."""

import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from sympy.abc import x

from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest import roots, unknowns

KINDS = {kind.name: kind for kind in roots.KINDS + unknowns.KINDS}


def asks(name, level, count=4):
    for seed in range(100, 100 + count):
        ask = contest.ask((KINDS[name],), np.random.default_rng([seed, level]), level)
        yield ask.prompt, Fraction(ask.answer)


def read(text):
    return sympy.sympify(re.sub(r"(?<=\d)(?=[a-z(])", "*", text.replace("^", "**")), rational=True)


def near(found, answer):
    return mpmath.almosteq(found, mpmath.mpf(answer.numerator) / answer.denominator, 1e-12)


def zeros(text):
    with mpmath.workdps(60):
        return mpmath.polyroots(
            [int(c) for c in sympy.Poly(read(text), x).all_coeffs()], maxsteps=500, extraprec=400
        )


@pytest.mark.parametrize("level", [7, 10])
def test_powers_of_roots(level):
    for prompt, answer in asks("powers_of_roots", level):
        exponent, p = re.search(r"exponent (\d+) .* roots of (.*), each", prompt).groups()
        assert near(sum(r ** int(exponent) for r in zeros(p)).real, answer)


@pytest.mark.parametrize("level", [7, 9])
def test_product_over_roots(level):
    for prompt, answer in asks("product_over_roots", level):
        q, p = re.search(r"Evaluate (.*) at each .* roots of (.*), each root", prompt).groups()
        assert sympy.resultant(read(p), read(q), x) == answer


@pytest.mark.parametrize("level", [7, 8])
def test_reciprocal_squares(level):
    for prompt, answer in asks("reciprocal_squares", level):
        p, c = re.search(r"roots r of (.*), each .* \(r ([-+] \d+)\)", prompt).groups()
        assert near(sum(1 / (r + int(c.replace(" ", ""))) ** 2 for r in zeros(p)).real, answer)


@pytest.mark.parametrize("level", [7, 8])
def test_power_remainder(level):
    for prompt, answer in asks("power_remainder", level, 15 - level * 7 // 4):
        exponent, shown = re.search(r"x\^(\d+) by (.*), with a", prompt).groups()
        p = [int(c) for c in sympy.Poly(read(shown), x).all_coeffs()[:0:-1]]
        m = int(re.search(r"divided by (\d+)\?", prompt)[1])
        rest = [1] + [0] * (len(p) - 1)
        for _ in range(int(exponent)):
            head = rest.pop()
            rest = [(a - head * c) % m for a, c in zip([0, *rest], p, strict=True)]
        assert sum(rest) % m == answer


@pytest.mark.parametrize("level", [7, 8])
def test_least_value(level):
    for prompt, answer in asks("least_value", level):
        names, plane, form = re.search(
            r"numbers (.*) satisfy (.*)\. What .* value of (.*)\?", prompt
        ).groups()
        left, _, goal = plane.partition(" = ")
        names = sympy.symbols(names)
        form, factor = read(form), sympy.Symbol("k")
        slopes = [sympy.diff(form - factor * read(left), name) for name in names]
        (point,) = sympy.linsolve([*slopes, read(left) - int(goal)], [*names, factor])
        assert form.subs(dict(zip(names, point, strict=False))) == sympy.Rational(answer)
        assert sympy.hessian(form, names).is_positive_definite


def system(prompt):
    lines = [
        line.partition(" = ")
        for line in prompt.splitlines()
        if re.fullmatch(r"[-\d* a-z+]+ = -?\d+", line)
    ]
    return [read(left) - int(right) for left, _, right in lines]


@pytest.mark.parametrize("level", [7, 10])
def test_modulo_prime(level):
    for prompt, answer in asks("modulo_prime", level):
        p = int(re.search(r"the prime (\d+)", prompt)[1])
        values, rest, scale = {}, int(answer), int(10 ** len(str(p)))
        for name in re.search(r"Let (.*) be the whole", prompt)[1].split(", "):
            values[name], rest = rest % scale, rest // scale
        assert max(values.values()) < p
        equations = system(prompt)
        assert len(equations) == len(values)
        assert all(equation.subs(values) % p == 0 for equation in equations)


@pytest.mark.parametrize("level", [7, 9])
def test_sum_of_unknowns(level):
    for prompt, answer in asks("sum_of_unknowns", level):
        names = sympy.symbols(re.search(r"What is (.*)\?", prompt)[1].replace(" +", ""))
        (solution,) = sympy.linsolve(system(prompt), names)
        assert sum(solution) == sympy.Rational(answer)


@pytest.mark.parametrize("level", [7, 9])
def test_singular_value(level):
    for prompt, answer in asks("singular_value", level):
        equations = system(prompt)
        names = sorted(
            set().union(*(e.free_symbols for e in equations)) - {sympy.Symbol("k")}, key=str
        )
        matrix = sympy.Matrix([[sympy.diff(e, name) for name in names] for e in equations])
        assert sympy.solve(sympy.expand(matrix.det()), sympy.Symbol("k")) == [
            sympy.Rational(answer)
        ]


@pytest.mark.parametrize("level", [7, 10])
def test_chain(level):
    for prompt, answer in asks("chain", level):
        b, a, step, goal, n = map(
            int,
            re.search(
                r"and (\d+) .*\((\d+) \+ (\d+) \* i\).* = (\d+) \* i .*, (\d+)\.", prompt
            ).groups(),
        )
        before, here = Fraction(0), answer
        for i in range(1, n + 1):
            before, here = here, goal * i - b * before - (a + step * i) * here
        assert here == 0


@pytest.mark.parametrize("level", [7, 10])
def test_sums_of_powers(level):
    for prompt, answer in asks("sums_of_powers", level):
        sums = [int(s) for s in re.findall(r"= (-?\d+)", prompt)]
        exponent = int(re.search(r"What is x\^(\d+)", prompt)[1])
        # The symmetric polynomials are determinants of the sums; the numbers are roots.
        n, e = len(sums), [sympy.Integer(1)]
        for k in range(1, n + 1):
            e.append(sum((-1) ** (i - 1) * e[k - i] * sums[i - 1] for i in range(1, k + 1)) / k)
        p = sum((-1) ** k * c * x ** (n - k) for k, c in enumerate(e))
        matrix = sympy.zeros(n, n)
        for i in range(n):
            matrix[0, i] = -sympy.Poly(p, x).all_coeffs()[i + 1]
            if i:
                matrix[i, i - 1] = 1
        assert (matrix**exponent).trace() == answer
