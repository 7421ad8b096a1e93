"""Contest questions on matrices, answered by sympy, by listing and by numerical eigenvalues."""

import itertools
import json
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy

from verigym.envs.math.contest import determinants, eigenvalues
from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest.exact import determinant
from verigym.envs.math.paper import Paper

KINDS = {kind.name: kind for kind in determinants.KINDS + eigenvalues.KINDS}


def asks(name, level, count=4):
    for seed in range(100, 100 + count):
        ask = contest.ask((KINDS[name],), np.random.default_rng([seed, level]), level)
        rows = [json.loads(text) for text in re.findall(r"\[\[.*?\]\]", ask.prompt)]
        yield ask.prompt, rows, Fraction(ask.answer)


@pytest.mark.parametrize("level", [7, 9])
def test_tridiagonal(level):
    for prompt, _, answer in asks("tridiagonal", level):
        n = int(re.search(r"n = (\d+)", prompt)[1])
        p, q = map(int, re.search(r"= (\d+) \+ (\d+)i", prompt).groups())
        b, c = map(
            int, re.search(r"a_\(i,i\+1\) = (-?\d+) and a_\(i\+1,i\) = (-?\d+)", prompt).groups()
        )
        m = np.zeros((n, n), dtype=object)
        for i in range(n):
            m[i, i] = p + q * (i + 1)
        for i in range(n - 1):
            m[i, i + 1], m[i + 1, i] = b, c
        if found := re.search(r"a_\(1,n\) = (-?\d+) and a_\(n,1\) = (-?\d+)", prompt):
            m[0, n - 1], m[n - 1, 0] = map(int, found.groups())
        assert determinant(m.tolist()) == answer


@pytest.mark.parametrize("level", [7, 9])
def test_powers_of_numbers(level):
    for prompt, _, answer in asks("powers_of_numbers", level):
        exponents, values = re.search(
            r"for k = (.*), in this order, .* are (.*)\. What", prompt
        ).groups()
        exponents, values = (
            list(map(int, re.findall(r"-?\d+", text))) for text in (exponents, values)
        )
        assert sympy.Matrix([[v**e for e in exponents] for v in values]).det() == answer


@pytest.mark.parametrize("level", [7, 8])
def test_circulant(level):
    for prompt, _, answer in asks("circulant", level):
        first = json.loads(re.search(r"\[[^\]]*\]", prompt)[0])
        # The determinant is the product of the values of a polynomial at the roots of unity.
        values = np.fft.fft(first)
        assert np.prod(values).real == pytest.approx(float(answer), rel=1e-6)


@pytest.mark.parametrize("level", [7, 10])
def test_inverse_entry(level):
    for prompt, (rows,), answer in asks("inverse_entry", level):
        i, j = map(int, re.search(r"in row (\d+) and column (\d+)", prompt).groups())
        assert sympy.Matrix(rows).inv()[i - 1, j - 1] == sympy.Rational(answer)


def test_matrices_of_rank():
    kind = KINDS["matrices_of_rank"]
    for prompt, _, answer in asks("matrices_of_rank", 8):
        m, n, _, _, rank, q = contest.numbers(prompt)
        # The recurrence over rows instead of columns.
        counts = {0: 1}
        for _ in range(m):
            more = {}
            for r, number in counts.items():
                more[r] = more.get(r, 0) + number * q**r
                more[r + 1] = more.get(r + 1, 0) + number * (q**n - q**r)
            counts = more
        assert counts[rank] == answer
    found = [0] * 3
    for a, b, c, d, e, f in itertools.product(range(3), repeat=6):
        minors = {(a * e - b * d) % 3, (a * f - c * d) % 3, (b * f - c * e) % 3}
        found[2 if minors != {0} else int(any((a, b, c, d, e, f)))] += 1
    for rank in (1, 2):
        text = f"2 rows 3 columns 0 to 2 rank {rank} modulo 3"
        assert kind.solve(Paper(), contest.numbers(text), text) == found[rank]


@pytest.mark.parametrize("level", [7, 9])
def test_eigenvalue_powers(level):
    for prompt, (rows,), answer in asks("eigenvalue_powers", level):
        exponent = int(re.search(r"exponent (\d+)", prompt)[1])
        powers = np.linalg.eigvals(np.array(rows, dtype=float)) ** exponent
        assert powers.sum().real == pytest.approx(float(answer), rel=1e-6)


@pytest.mark.parametrize("level", [7, 9])
def test_singular_parameters(level):
    for _, (a, b), answer in asks("singular_parameters", level):
        roots = np.linalg.eigvals(
            -np.linalg.solve(np.array(b, dtype=float), np.array(a, dtype=float))
        )
        assert (roots**2).sum().real == pytest.approx(float(answer), rel=1e-6)


@pytest.mark.parametrize("level", [7, 9])
def test_sums_of_eigenvalues(level):
    for _, (a, b), answer in asks("sums_of_eigenvalues", level):
        first, second = (np.linalg.eigvals(np.array(rows, dtype=float)) for rows in (a, b))
        product = np.prod([u + v for u in first for v in second])
        assert product.real == pytest.approx(float(answer), rel=1e-6)


@pytest.mark.parametrize("level", [7, 8])
def test_power_entry(level):
    for prompt, (rows,), answer in asks("power_entry", level):
        exponent, i, j, m = contest.numbers(prompt.rpartition("\n")[0])[-4:]
        value = np.identity(len(rows), dtype=object)
        for _ in range(exponent):
            value = value.dot(np.array(rows, dtype=object)) % m
        assert value[i - 1, j - 1] == answer
