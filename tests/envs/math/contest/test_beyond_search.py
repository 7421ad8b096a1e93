"""Questions with huge numbers: the counts of small cases are listed, answers of large ones checked by what defines them."""

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy

from verigym.envs.math import interpreter
from verigym.envs.math.contest import curves, hidden_groups, hidden_numbers, huge_counts
from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest.primes import draw_smooth_prime, is_prime
from verigym.envs.math.paper import Paper

LEVELS = [8, 9, 10]


def draw(kind, level, seed=3):
    return contest.draw_problem(kind, np.random.default_rng([seed, level]), level)


def large(text):
    return [n for n in contest.numbers(text) if n > 50]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", interpreter.BEYOND, ids=lambda kind: kind.name)
def test_the_solver_reads_the_question_and_finds_the_answer(kind, level):
    for seed in range(3):
        problem = draw(kind, level, seed)
        paper = Paper()
        assert kind.solve(paper, contest.numbers(problem.text), problem.text) == problem.answer
        assert paper.operations


def test_primes_are_prime():
    rng = np.random.default_rng(1)
    assert [n for n in range(2000) if is_prime(n)] == list(sympy.primerange(2000))
    assert not is_prime(3215031751)  # passes for the bases 2, 3, 5 and 7
    for after in (-1, 1):
        p = draw_smooth_prime(rng, 24, 3000, after)
        assert sympy.isprime(p)
        assert max(sympy.factorint(p + after)) <= 3000


def product(a, b, p):
    return [
        [sum(x * y for x, y in zip(row, col, strict=True)) % p for col in zip(*b, strict=True)]
        for row in a
    ]


def matrix_power(rows, e, p):
    value = [[1, 0], [0, 1]]
    for bit in f"{e:b}":
        value = product(value, value, p)
        value = product(value, rows, p) if bit == "1" else value
    return value


@pytest.mark.parametrize("level", LEVELS)
def test_ratio_of_terms(level):
    """The ratio comes at k; two terms that are proportional to the first come no earlier than at a divisor of p + 1 that
    is not below k."""
    problem = draw(hidden_groups.KINDS[0], level)
    p, start, after, b, c, ratio = large(problem.text)
    k = problem.answer

    def terms(k):
        rows = matrix_power([[0, 1], [c, b]], k, p)
        return [(row[0] * start + row[1] * after) % p for row in rows]

    here, following = terms(k)
    assert (following - ratio * here) % p == 0
    period = p + 1
    for q in sympy.factorint(p + 1):
        while (
            period % q == 0
            and (terms(period // q)[1] * start - terms(period // q)[0] * after) % p == 0
        ):
            period //= q
    assert 0 < k <= period


def test_ratio_of_terms_of_a_small_prime():
    p, b, c, start, after = 1223, 5, 3, 7, 4
    assert hidden_groups.legendre(b * b + 4 * c, p) == -1
    terms = [start, after]
    while len(terms) < 2 * p:
        terms.append((b * terms[-1] + c * terms[-2]) % p)
    for k in (1, 55, 300):
        ratio = terms[k + 1] * pow(terms[k], -1, p) % p
        first = next(k for k in range(1, 2 * p) if (terms[k + 1] - ratio * terms[k]) % p == 0)
        found = hidden_groups.KINDS[0].solve(Paper(), [p, start, after, b, c, ratio], "")
        assert found == first


@pytest.mark.parametrize("level", LEVELS)
def test_multiple_of_point(level):
    """k points are added up by doubling, from the definition of the sum by lines; the order is a divisor of p + 1 or p - 1."""
    for seed in range(6):
        problem = draw(hidden_groups.KINDS[1], level, seed)
        p, a2, a4, a6, x, y, u, v = large(problem.text)
        for one, two in ((x, y), (u, v)):
            assert (two * two - (one**3 + a2 * one * one + a4 * one + a6)) % p == 0

        def add(one, other, p=p, a2=a2, a4=a4, a6=a6):
            if one is None or other is None:
                return one or other
            if one[0] == other[0] and (one[1] + other[1]) % p == 0:
                return None
            if one == other:
                slope = sympy.mod_inverse(2 * one[1], p) * (3 * one[0] ** 2 + 2 * a2 * one[0] + a4)
            else:
                slope = sympy.mod_inverse(one[0] - other[0], p) * (one[1] - other[1])
            third = int(slope**2 - a2 - one[0] - other[0]) % p
            height = int(one[1] + slope * (third - one[0])) % p
            assert (height**2 - (third**3 + a2 * third**2 + a4 * third + a6)) % p == 0
            return third, -height % p

        def times(k, add=add, point=(x, y)):
            value = None
            for bit in f"{k:b}":
                value = add(value, value)
                value = add(value, point) if bit == "1" else value
            return value

        assert times(problem.answer) == (u, v)
        order = p + 1 if times(p + 1) is None else p - 1
        assert times(order) is None
        for q in sympy.factorint(order):
            while order % q == 0 and times(order // q) is None:
                order //= q
        assert 0 < problem.answer < order


@pytest.mark.parametrize("level", LEVELS)
def test_point_logarithm(level):
    """Points are added one by one; a group of a prime order has no shorter way round."""
    for seed in range(3):
        problem = draw(curves.KINDS[0], level, seed)
        found = re.search(r"x\^3 - (\d+)x - (\d+) is divisible by the prime (\d+)", problem.text)
        a, b, p = map(int, found.groups())
        x, y, u, v = contest.numbers(problem.text)[-4:]
        order = curves.count_points(p, a, b)
        assert sympy.isprime(order)
        if p < 1000:
            pairs = itertools.product(range(p), repeat=2)
            assert order == 1 + sum((t * t - s**3 - a * s - b) % p == 0 for s, t in pairs)
        here, k = (x, y), 1
        while here != (u, v):
            if here == (x, y):
                slope = (3 * x * x + a) * pow(2 * y, -1, p)
            else:
                slope = (here[1] - y) * pow(here[0] - x, -1, p)
            third = (slope * slope - here[0] - x) % p
            here, k = (third, (slope * (x - third) - y) % p), k + 1
        assert k == problem.answer
        solve = curves.KINDS[0].solve
        assert solve(Paper(), contest.numbers(problem.text), problem.text) == k


def test_multiples_of_points_of_small_curves():
    for p, a2, a4, a6, point in ((107, 0, 0, 5, None), (107, 0, 3, 0, None), (107, 6, 0, 0, None)):
        curve = hidden_groups.CubicCurve(p, a2, a4, a6)
        points = [
            (x, y)
            for x, y in itertools.product(range(1, p), range(1, p))
            if (y * y - x**3 - a2 * x * x - a4 * x - a6) % p == 0
        ]
        for point in points[::17]:
            seen = [point]
            while (after := curve.add(seen[-1], point)) is not None:
                seen.append(after)
            assert (p + 1) % (len(seen) + 1) == 0 or (p - 1) % (len(seen) + 1) == 0
            for k, other in enumerate(seen[: len(seen) - 1 : 5], 1):
                whole = len(seen) + 1
                assert hidden_groups.logarithm(curve.add, None, point, other, whole) == 5 * k - 4


@pytest.mark.parametrize(("n", "colours"), [(6, 3), (7, 3), (8, 2), (9, 2), (6, 4), (5, 4)])
def test_bracelets_listed(n, colours):
    rng = np.random.default_rng([n, colours])
    for _ in range(4):
        every = itertools.combinations_with_replacement(range(colours), 2)
        pairs = [pair for pair in every if rng.integers(3)]
        rows = huge_counts.allowed(colours, pairs)
        seen, count = set(), 0
        for ring in itertools.product(range(colours), repeat=n):
            if ring in seen or not all(rows[ring[i - 1]][ring[i]] for i in range(n)):
                continue
            count += 1
            for turned in (ring[k:] + ring[:k] for k in range(n)):
                seen |= {turned, turned[::-1]}
        assert huge_counts.count_bracelets(n, rows, 997) == count % 997


@pytest.mark.parametrize(("n", "p"), [(26, 3), (40, 3), (57, 5), (63, 7)])
def test_trinomials_listed(n, p):
    counts = {}
    for a in range(n + 1):
        for b in range(n + 1 - a):
            value = math.factorial(n) // (
                math.factorial(a) * math.factorial(b) * math.factorial(n - a - b)
            )
            times = 0
            while value % p == 0:
                value, times = value // p, times + 1
            counts[times] = counts.get(times, 0) + 1
    for times in range(max(counts) + 2):
        assert huge_counts.count_trinomials(n, p, times) == counts.get(times, 0)


@pytest.mark.parametrize("moves", [[-1, 0, 2], [-2, -1, 1, 2], [-2, 0, 1, 3], [-1, 1, 2]])
def test_short_moves_listed(moves):
    for n in (3, 5, 7):
        count = sum(
            all(new - old in moves for old, new in enumerate(seats))
            for seats in itertools.permutations(range(n))
        )
        assert huge_counts.count_short_moves(n, moves, 10**6) == count
        assert huge_counts.count_short_moves(n, moves, 10**6, Paper()) == count


def test_far_change_listed():
    for total, coins, limits in (
        (40, [3, 5, 2, 7], [4, 3]),
        (61, [6, 4, 10, 3], [2, 90]),
        (17, [9, 8, 5, 2], [1, 0]),
    ):
        ranges = [range(total // coin + 1) for coin in coins]
        count = sum(
            sum(map(int.__mul__, coins, some)) == total
            and all(n <= limit for n, limit in zip(some, limits, strict=False))
            for some in itertools.product(*ranges)
        )
        assert huge_counts.count_change(total, coins, limits) == count


@pytest.mark.parametrize("level", LEVELS)
def test_leading_remainders(level):
    problem = draw(hidden_numbers.KINDS[0], level)
    p = contest.numbers(problem.text)[0]
    assert sympy.isprime(p)
    unit = 10 ** int(re.findall(r"q \* 10\^(\d+)", problem.text)[0])
    pairs = re.findall(r"^(\d+), (\d+)$", problem.text, re.MULTILINE)
    for a, q in pairs:
        assert int(q) * unit <= int(a) * problem.answer % p < (int(q) + 1) * unit
    # The share of numbers that satisfy all pairs by chance, times how many numbers there are.
    assert p * Fraction(unit, p) ** len(pairs) < Fraction(1, 10 ** (hidden_numbers.SPARE - 6))


def test_common_divisors_listed():
    for primes, a in (([3, 5, 7], 4), ([5, 11, 13], 30), ([7, 11, 17], 77), ([3, 13, 19], 2)):
        n = math.prod(primes)
        want = sum(math.gcd(k * k - a, n) for k in range(1, n + 1))
        assert hidden_numbers.sum_of_divisors(primes, a) == want


@pytest.mark.parametrize(
    ("n", "d", "a", "b"), [(9, 2, 1, 3), (200, 7, 5, 4), (999, 670, 30, 41), (77, 3, 9, 50)]
)
def test_floors_listed(n, d, a, b):
    want = sum(
        k * math.floor((Fraction(math.isqrt(d * 10**80), 10**40) + a) * k / b)
        for k in range(1, n + 1)
    )
    assert hidden_numbers.sum_of_floors(n, d, a, b) == want
