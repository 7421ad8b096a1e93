"""Kinds of the upper levels, answered by their definitions, by sympy, or by another formula."""

import itertools
import json
import math
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy
from sympy.abc import x as unknown

from verigym.envs.math.contest import (
    compositions,
    drawn_graphs,
    feedback,
    fraction_sums,
    long_numbers,
    overlaps,
    permanents,
)
from verigym.envs.math.contest import kind as contest

KINDS = {
    kind.name: kind
    for part in (
        compositions,
        drawn_graphs,
        feedback,
        fraction_sums,
        long_numbers,
        overlaps,
        permanents,
    )
    for kind in part.KINDS
} | {kind.name: kind for kind in long_numbers.POWERS}


def asks(name, level, count=3):
    for seed in range(100, 100 + count):
        ask = contest.ask((KINDS[name],), np.random.default_rng([seed, level]), level)
        yield ask.prompt, Fraction(ask.answer)


@pytest.mark.parametrize("level", [8, 10])
def test_painted_graph(level):
    for prompt, answer in asks("painted_graph", level):
        n = int(re.search(r"vertices 1 to (\d+)", prompt)[1])
        colours = int(re.search(r"one of (\d+) colours", prompt)[1])
        edges = [(int(a), int(b)) for a, b in re.findall(r"(\d+)-(\d+)", prompt)]
        assert len(set(edges)) == len(edges) == 2 * n - 4
        # Free sets of vertices by their size, vertex by vertex.
        near = [
            sum(1 << b for a, b in edges + [(b, a) for a, b in edges] if a == v)
            for v in range(n + 1)
        ]
        total, layer = 0, [(0, 1, 1)]
        while layer:
            used, first, ways = layer.pop()
            total += ways
            layer += [
                (used | 1 << v, v + 1, ways * colours)
                for v in range(first, n + 1)
                if not near[v] & used
            ]
        assert total == answer


@pytest.mark.parametrize("level", [8, 10])
def test_coprime_sum(level):
    for prompt, answer in asks("coprime_sum", level):
        terms = re.findall(r"([-+]?) ?(\d+)/(\d+)", prompt)
        assert answer == sum(Fraction(int(sign + a), int(p)) for sign, a, p in terms)
        assert answer.denominator == math.prod(int(p) for _, _, p in terms)


@pytest.mark.parametrize("level", [8, 10])
def test_partial_quotients(level):
    for prompt, answer in asks("partial_quotients", level):
        a, b = map(int, re.search(r"number (\d+)/(\d+)", prompt).groups())
        quotients = list(sympy.continued_fraction(sympy.Rational(a, b)))
        assert quotients[-1] >= 2
        assert sum(k * q for k, q in enumerate(quotients)) == answer


@pytest.mark.parametrize("level", [8, 9, 10])
def test_modular_power(level):
    for prompt, answer in asks("modular_power", level):
        base, exponent, n = map(int, re.findall(r"\d+", prompt)[:3])
        p, q = sympy.factorint(n)
        found = [pow(base, exponent % (prime - 1), prime) for prime in (p, q)]
        assert sympy.ntheory.modular.crt([p, q], found)[0] == answer


def test_two_primes():
    for prompt, answer in asks("two_primes", 8):
        factors = sympy.factorint(int(re.search(r"number (\d+) is", prompt)[1]))
        assert sorted(factors.values()) == [1, 1]
        assert sum(p * p for p in factors) == answer


def test_reduced_forms():
    for prompt, answer in asks("reduced_forms", 8):
        p = int(re.search(r"b\^2 = (\d+)", prompt)[1])
        assert sympy.isprime(p)
        # The class number formula of Dirichlet.
        squares = {k * k % p for k in range(1, p)}
        assert sum(-k if k in squares else k for k in range(1, p)) == p * answer
        if p < 10_000:
            some = range(1, math.isqrt(p) + 1)
            found = 0
            for a, b in itertools.product(some, range(-math.isqrt(p), math.isqrt(p) + 1)):
                c, rest = divmod(b * b + p, 4 * a)
                found += not rest and (-a < b <= a < c or (a == c and 0 <= b <= a))
            assert found == answer


@pytest.mark.parametrize("level", [8, 9, 10])
def test_branches(level):
    for prompt, answer in asks("branches", level):
        first, p = map(int, re.search(r"x_0 = (\d+)\..* prime (\d+):", prompt).groups())
        assert sympy.isprime(p)
        a, b = map(
            int, re.search(r"y = (\d+) \* \(x_k\)\^2 \+ (\d+) if x_k is div", prompt).groups()
        )
        c, d = map(
            int, re.search(r"y = (\d+) \* x_k \+ (\d+) \* k if .* remainder 1", prompt).groups()
        )
        e = int(re.search(r"x_k \* \(x_k \+ (\d+)\) if it leaves the remainder 2", prompt)[1])
        value = first
        for k in range(int(re.search(r"What is x_(\d+)", prompt)[1])):
            rules = {0: (a * value, b), 1: (c, d * k), 2: (value + e, 0)}
            factor, rest = rules[value % 3]
            value = (factor * value + rest) % p
        assert value == answer


@pytest.mark.parametrize("level", [8, 9, 10])
def test_looking_back(level):
    for prompt, answer in asks("looking_back", level):
        terms = {int(k): int(v) for k, v in re.findall(r"a_(\d+) = (\d+)", prompt)}
        assert sorted(terms) == list(range(1, 10))
        s, t = map(int, re.search(r"_\(k-1\) mod (\d+)\) .*_\(k-2\) mod (\d+)\)", prompt).groups())
        u, v, m = map(
            int, re.search(r"(\d+) \* a_p \+ (\d+) \* a_q .* by (\d+)\.", prompt).groups()
        )
        last = int(re.search(r"What is a_(\d+)", prompt)[1])
        for k in range(10, last + 1):
            p, q = k - 1 - terms[k - 1] % s, k - 1 - terms[k - 2] % t
            terms[k] = (u * terms[p] + v * terms[q] + k) % m
        assert terms[last] == answer


def test_permanent():
    for prompt, answer in asks("permanent", 8):
        rows = json.loads(re.search(r"\[\[.*?\]\]", prompt)[0])
        orders = itertools.permutations(range(len(rows)))
        assert (
            sum(math.prod(row[j] for row, j in zip(rows, order, strict=True)) for order in orders)
            == answer
        )


@pytest.mark.parametrize("level", [8, 10])
def test_composition(level):
    for prompt, answer in asks("composition", level, 2):
        shown, n, name = re.search(
            r"f\(x\) = (.*)\. What .* of x\^(\d+) in (.*), written", prompt
        ).groups()
        p = sympy.Poly(
            sympy.sympify(re.sub(r"(?<=\d)(?=x)", "*", shown.replace("^", "**"))), unknown
        )
        times = name.count("f(")
        # Apply the function from the outside: each power of x is replaced by a power of p.
        last = p
        for _ in range(times - 1):
            total, power = sympy.Poly(0, unknown), sympy.Poly(1, unknown)
            for c in last.all_coeffs()[::-1]:
                total += c * power
                power = _cut(power * p, int(n))
            last = _cut(total, int(n))
        assert last.coeff_monomial(unknown ** int(n)) == answer


def _cut(p, n):
    return sympy.Poly(p.all_coeffs()[::-1][: n + 1][::-1], unknown)


@pytest.mark.parametrize("level", [8, 9, 10])
def test_common_area(level):
    for prompt, answer in asks("common_area", level):
        first, second = (
            [(int(a), int(b)) for a, b in re.findall(r"\((-?\d+), (-?\d+)\)", part)]
            for part in prompt.split("Another")
        )
        # Cut by vertical lines through all corners and crossings; between them the region is a trapezium.
        cuts = {Fraction(a) for a, _ in first + second}
        for p, q in itertools.product(_edges(first), _edges(second)):
            cuts |= _crossing(*p, *q)
        cuts = sorted(cuts)
        area = Fraction(0)
        for left, right in itertools.pairwise(cuts):
            middle = (left + right) / 2
            spans = [_span(polygon, middle) for polygon in (first, second)]
            if all(spans):
                height = min(high for _, high in spans) - max(low for low, _ in spans)
                area += max(height, 0) * (right - left)
        assert area == answer


def _edges(polygon):
    return list(zip(polygon, polygon[1:] + polygon[:1], strict=True))


def _crossing(a, b, c, d):
    u, v = (b[0] - a[0], b[1] - a[1]), (d[0] - c[0], d[1] - c[1])
    turn = u[0] * v[1] - u[1] * v[0]
    if not turn:
        return set()
    share = Fraction((c[0] - a[0]) * v[1] - (c[1] - a[1]) * v[0], turn)
    return {a[0] + share * u[0]} if 0 <= share <= 1 else set()


def _span(polygon, at):
    """Return the lowest and the highest point of a convex polygon on a vertical line."""
    heights = [
        a[1] + (at - a[0]) * Fraction(b[1] - a[1], b[0] - a[0])
        for a, b in _edges(polygon)
        if min(a[0], b[0]) < at < max(a[0], b[0])
    ]
    return (min(heights), max(heights)) if heights else None
