"""Factorisations, limits, loci, ranks with a parameter and best ways, answered by sympy or by their definition."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy
from sympy.abc import t, x, y

from verigym.envs.math.contest import factors, grids, limits, loci, ranks
from verigym.envs.math.contest import kind as contest


def asks(kind, level, count):
    for seed in range(40, 40 + count):
        ask = contest.ask((kind,), np.random.default_rng([seed, level]), level)
        yield ask.prompt.rpartition("\n")[0], Fraction(ask.answer)


def read(text):
    return sympy.sympify(re.sub(r"(?<=\d)(?=x)", "*", text.replace("^", "**")))


@pytest.mark.parametrize("level", [7, 8, 9])
def test_factorisation(level):
    for text, answer in asks(factors.KINDS[0], level, 4):
        product = read(re.search(r"numbers, (.*) is a product", text)[1])
        _, found = sympy.factor_list(product)
        polynomials = [sympy.Poly(p, x) for p, times in found for _ in range(times)]
        assert {p.degree() for p in polynomials} <= {2, 3}
        assert f"of {len(polynomials)} polynomials" in text
        weight = int(re.search(r"add (\d+) times", text)[1])
        assert f"at x = {weight}." in text
        total = sum(c * c for p in polynomials for c in p.all_coeffs())
        assert answer == total + weight * sum(p.eval(weight) for p in polynomials)


@pytest.mark.parametrize("level", [7, 8])
def test_difference_of_roots(level):
    for text, answer in asks(limits.KINDS[0], level, 2):
        (first, p), (second, q) = re.findall(r"\(([^()]+)\)\^\(1/(\d)\)", text)
        power = int(re.search(r"expression x\^(\d)", text)[1])
        # The coefficient of t^power with x = 1 / t, where each root is x times the root of a series in t.
        value = 0
        for shown, root in ((first, int(p)), (second, int(q))):
            inside = sympy.expand(read(shown).subs(x, 1 / t) * t**root)
            series, target = sympy.Integer(1), sympy.Poly(inside, t)
            for n in range(1, power + 2):
                # The next coefficient makes the power of the series right one place further.
                gap = target.coeff_monomial(t**n)
                gap -= sympy.Poly(series**root, t).coeff_monomial(t**n)
                series += gap / root * t**n
            value += sympy.Poly(series, t).coeff_monomial(t ** (power + 1)) * (-1 if value else 1)
        assert Fraction(str(value)) == answer, text


@pytest.mark.parametrize("level", [7, 8])
def test_common_chord(level):
    for text, answer in asks(loci.KINDS[0], level, 2):
        places = {
            n: (int(a), int(b)) for n, a, b in re.findall(r"(\w) = \((-?\d+), (-?\d+)\)", text)
        }
        curves = []
        for shown, total in re.findall(r"points P with (.*?) = (-?\d+)", text):
            code = re.sub(r"P(\w)\^2", r"d\1", shown)
            squares = {f"d{n}": (x - a) ** 2 + (y - b) ** 2 for n, (a, b) in places.items()}
            curves.append(sympy.expand(sympy.sympify(code, locals=squares) - int(total)))
        points = sympy.solve(curves, [x, y])
        assert len(points) == 2
        (a, b), (c, d) = points
        assert sympy.simplify((a - c) ** 2 + (b - d) ** 2) == sympy.Rational(str(answer))


@pytest.mark.parametrize("level", [7, 8, 9, 10])
def test_ranks_with_a_parameter(level):
    for text, answer in asks(ranks.KINDS[0], level, 3):
        a, b = (sympy.Matrix(sympy.sympify(m)) for m in re.findall(r"\[\[.*?\]\]", text))
        roots = [n for n in range(-10, 11) if (a + n * b).rank() < a.rows]
        if level < 9:
            assert set(sympy.roots((a + t * b).det(), t)) == set(roots)
        assert answer == sum(n * n * (a + n * b).rank() for n in roots)


@pytest.mark.parametrize("level", [7])
def test_best_way(level):
    for text, answer in asks(grids.KINDS[0], level, 4):
        rows, columns = map(int, re.match(r"A grid has (\d+) rows and (\d+) col", text).groups())
        a, b, c, m = map(
            int,
            re.search(
                r"(\d+) \* i \* i \+ (\d+) \* i \* j \+ (\d+) \* j \* j .* (\d+)\. A", text
            ).groups(),
        )
        sums = []
        for downs in itertools.combinations(range(rows + columns - 2), rows - 1):
            i = j = 1
            total = (a + b + c) % m
            for move in range(rows + columns - 2):
                i, j = (i + 1, j) if move in downs else (i, j + 1)
                total += (a * i * i + b * i * j + c * j * j) % m
            sums.append(total)
        assert answer == max(sums)
