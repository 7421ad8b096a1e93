"""Contest questions of arithmetic and fractions, answered by direct calculation."""

import re
from fractions import Fraction

import numpy as np
import pytest

from verigym.envs.math.contest import calculations, quotients
from verigym.envs.math.contest import kind as contest

KINDS = {kind.name: kind for kind in calculations.KINDS + quotients.KINDS}


def asks(name, level, count=4):
    for seed in range(100, 100 + count):
        ask = contest.ask((KINDS[name],), np.random.default_rng([seed, level]), level)
        yield ask.prompt, contest.numbers(ask.prompt.rpartition("\n")[0]), Fraction(ask.answer)


def test_closest_fraction():
    for _, (bound, above, below), answer in asks("closest_fraction", 7):
        value = Fraction(above, below)
        best = min(
            (abs(Fraction(round(value * d), d) - value) for d in range(1, bound + 1)),
        )
        assert abs(answer - value) == best
        assert answer.denominator <= bound


@pytest.mark.parametrize("level", [7, 10])
def test_telescoping(level):
    for prompt, _, answer in asks("telescoping", level):
        c, product, n = re.search(r"of (\d+) / \((.*)\) over .* to (\d+)\?", prompt).groups()
        total = Fraction(0)
        for k in range(1, int(n) + 1):
            below = 1
            for factor in product.split(" * "):
                below *= k + int(factor[5:-1]) if "+" in factor else k
            total += Fraction(int(c), below)
        assert total == answer


def test_digits_of_a_fraction():
    for _, (above, p, n), answer in asks("digits_of_a_fraction", 7):
        total, rest = 0, above
        for _ in range(n):
            digit, rest = divmod(rest * 10, p)
            total += digit
        assert total == answer


@pytest.mark.parametrize("level", [7, 10])
def test_exchange(level):
    for _, (a, b, c, _, rounds), answer in asks("exchange", level):
        first, second = Fraction(0), Fraction(b)
        for _ in range(rounds):
            poured = first * c / a
            first, second = first - poured, second + poured
            poured = second * c / (b + c)
            first, second = first + poured, second - poured
        assert first / a == answer


@pytest.mark.parametrize("level", [7, 10])
def test_whole_root(level):
    for _, (n,), answer in asks("whole_root", level):
        assert answer**2 <= n < (answer + 1) ** 2


@pytest.mark.parametrize("level", [7, 10])
def test_other_base(level):
    for _, (base, a, b, c), answer in asks("other_base", level):
        assert answer == int(str(a), base) * int(str(b), base) + int(str(c), base)


@pytest.mark.parametrize("level", [7, 10])
def test_ruled_operation(level):
    for prompt, (p, q, r, m, *_), answer in asks("ruled_operation", level):

        class Value:
            def __init__(self, n):
                self.n = n

            def __matmul__(self, other, p=p, q=q, r=r, m=m):
                a, b = self.n, other.n
                return Value((p * a * a + q * a * b + r * b) % m)

        text = re.search(r"What is (.*)\?", prompt)[1]
        assert re.fullmatch(r"[\d()# ]+", text)
        found = eval(re.sub(r"(\d+)", r"Value(\1)", text).replace("#", "@"), {"Value": Value})
        assert found.n == answer


def test_difference_of_powers():
    for _, (a, m, b, n), answer in asks("difference_of_powers", 10):
        assert a**m - b**n == answer
