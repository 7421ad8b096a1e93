"""Contest questions on sequences, answered by writing the terms down."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest import progressions, recurrences

KINDS = {kind.name: kind for kind in recurrences.KINDS + progressions.KINDS}


def asks(name, level, count=4):
    for seed in range(100, 100 + count):
        ask = contest.ask((KINDS[name],), np.random.default_rng([seed, level]), level)
        yield ask.prompt, contest.numbers(ask.prompt), Fraction(ask.answer)


def recurrence(prompt, modulus=0):
    """Yield the terms of the linear recurrence in a question, from a_1."""
    terms = [int(v) for v in re.findall(r"a_\d+ = (-?\d+)", prompt)]
    body = re.search(r"a_k = (.*?) for all", prompt)[1].replace("- ", "-").replace("+ ", "")
    parts = re.findall(r"(-?\d+) \* a_\(k-(\d)\)", body)
    yield from terms
    while True:
        term = sum(int(f) * terms[-int(back)] for f, back in parts)
        terms.append(term % modulus if modulus else term)
        terms = terms[-9:]
        yield terms[-1]


@pytest.mark.parametrize("level", [7, 8])
def test_far_term(level):
    for prompt, n, answer in asks("far_term", level):
        *_, index, modulus = n
        assert (
            next(v for k, v in enumerate(recurrence(prompt, modulus), 1) if k == index) % modulus
            == answer
        )


@pytest.mark.parametrize("level", [7, 8])
def test_period(level):
    for prompt, _, answer in asks("period", level):
        modulus = math.prod(map(int, re.search(r"n = ([\d *]+)\.", prompt)[1].split(" * ")))
        factors = [int(f) for f in re.findall(r"(-?\d+) \* a_", prompt.replace("- ", "-"))]
        a, b, steps = 0, 1, 0
        while not steps or (a, b) != (0, 1):
            a, b, steps = b, (factors[0] * b + factors[1] * a) % modulus, steps + 1
        assert steps == answer


def test_halving():
    for prompt, n, answer in asks("halving", 7):
        (_, _, _, a, b, _, _, c, d, _, _, index) = n
        assert f"f(2k + 1) = {c} * f(k) + {d} * f(k + 1)" in prompt
        f = [0, 1]
        for k in range(2, index + 1):
            f.append(c * f[k // 2] + d * f[k // 2 + 1] if k % 2 else a * f[k // 2] + b)
        assert f[index] == answer


@pytest.mark.parametrize("level", [7, 10])
def test_convolved(level):
    for prompt, _, answer in asks("convolved", level):
        first = int(re.search(r"c_0 = (\d+)", prompt)[1])
        factor, more = map(int, re.search(r"= (\d+) \* c_k \+ (\d+) \* \(", prompt).groups())
        index = int(re.search(r"What is c_(\d+)", prompt)[1])
        # The generating function satisfies C = first + factor x C + more x C^2.
        c = np.zeros(index + 1, dtype=object)
        for _ in range(index + 1):
            c = np.array(
                [first, *(factor * c + more * np.convolve(c, c)[: index + 1])[:index]], dtype=object
            )
        assert c[index] == answer


@pytest.mark.parametrize("level", [7, 10])
def test_polynomial_and_power(level):
    for prompt, _, answer in asks("polynomial_and_power", level):
        degree = int(re.search(r"degree at most (\d+)", prompt)[1])
        values = [int(v) for v in re.findall(r"a_\d+ = (-?\d+)", prompt)]
        index = int(re.search(r"What is a_(\d+)", prompt)[1])
        # (E - 1)^(degree + 1) (E - 2) maps the sequence to 0.
        filters = np.array([1], dtype=object)
        for root in [1] * (degree + 1) + [2]:
            filters = np.convolve(filters, np.array([1, -root], dtype=object))
        while len(values) <= index:
            recent = values[-1 : -len(filters) : -1]
            values.append(-sum(f * v for f, v in zip(filters[1:], recent, strict=True)))
        assert values[index] == answer


@pytest.mark.parametrize("level", [7, 10])
def test_fractional(level):
    for prompt, _, answer in asks("fractional", level):
        x = Fraction(re.search(r"x_1 = (\d+(?:/\d+)?),", prompt)[1])
        a, b, c, d = map(
            int,
            re.search(r"\((\d+) \* x_k \+ (\d+)\) / \((\d+) \* x_k \+ (\d+)\)", prompt).groups(),
        )
        for _ in range(int(re.search(r"What is x_(\d+)", prompt)[1]) - 1):
            x = (a * x + b) / (c * x + d)
        assert x == answer


@pytest.mark.parametrize("level", [7, 9])
def test_sum_of_squares(level):
    for prompt, _, answer in asks("sum_of_squares", level, 6):
        first, second = map(int, re.search(r"\.\.\. \+ a_(\d+) \* a_(\d+)\?", prompt).groups())
        terms = [v for v, _ in zip(recurrence(prompt), range(second), strict=False)]
        assert sum(terms[k] * terms[k + second - first] for k in range(first)) == answer
