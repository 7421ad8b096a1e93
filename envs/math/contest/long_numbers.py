"""Powers modulo numbers whose factors are not known, factors of such numbers, and reduced quadratic forms."""

from __future__ import annotations

import math

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.contest.primes import draw_primes, factorize
from verigym.envs.math.modular import power, times
from verigym.envs.math.paper import Paper


def _draw_prime(rng: np.random.Generator, digits: int) -> int:
    """Return a prime with that many digits, at most ten."""
    while True:
        p = among(rng, 10 ** (digits - 1), 10**digits - 1) | 1
        if factorize(p) == {p: 1}:
            return p


def modular_power(rng: np.random.Generator, level: int) -> Problem:
    """A high power modulo a product of two large primes, which is not given as a product."""
    digits = {8: 3, 9: 5, 10: 7}[level]
    n = _draw_prime(rng, digits) * _draw_prime(rng, digits)
    base, exponent = among(rng, n // 10, n - 2), among(rng, n // 2, n)
    text = f"What is the remainder when {base}^{exponent} is divided by {n}?"
    return Problem(text, [base, exponent, n], pow(base, exponent, n))


def _solve_modular_power(paper: Paper, numbers: list[int], text: str) -> int:
    """Square and multiply; to find the factors of the modulus takes more."""
    return power(paper, *numbers)


def two_primes(rng: np.random.Generator, level: int) -> Problem:
    """The two prime factors of a number."""
    p, q = draw_primes(rng, 2, 300, 2000)
    text = f"The number {p * q} is the product of two prime numbers. What is the sum of the squares of these two primes?"
    return Problem(text, [p, q], p * p + q * q)


def _solve_two_primes(paper: Paper, numbers: list[int], text: str) -> int:
    """Walk modulo n, and compare two places of the walk, the one twice as far (Pollard 1975)."""
    n = numbers[0]
    for more in range(1, 100):
        here = there = 2
        common = 1
        while common == 1:
            here = times(paper, here, here, n) + more
            for _ in range(2):
                there = times(paper, there, there, n) + more
            paper.look()
            common = math.gcd(here - there, n)
        if common < n:
            other = paper.divide_exactly(n, common)
            return paper.add(paper.multiply(common, common), paper.multiply(other, other))
    raise AssertionError(f"no factor of {n} found")


def reduced_forms(rng: np.random.Generator, level: int) -> Problem:
    """The number of reduced quadratic forms of a negative prime discriminant: the class number (Gauss)."""
    p = next(p for p in draw_primes(rng, 200, 9000, 14_000) if p % 4 == 3)
    count = 0
    for b in range(1, math.isqrt(p // 3) + 1, 2):
        n = (b * b + p) // 4
        for a in range(b, math.isqrt(n) + 1):
            if n % a == 0:
                # Both signs of b, but for forms on the edge.
                count += 1 if a == b or a * a == n else 2
    text = (
        f"How many triples (a, b, c) of whole numbers are there with 4ac - b^2 = {p} for which either -a < b <= a < c, or a = c "
        "and 0 <= b <= a?"
    )
    return Problem(text, [p], count)


def _solve_reduced_forms(paper: Paper, numbers: list[int], text: str) -> int:
    """For each b, find the divisors a of (b^2 + p) / 4 from |b| up to its root."""
    p = numbers[2]
    count = 0
    for b in range(p % 2, math.isqrt(p // 3) + 1, 2):
        n = paper.divide(paper.add(paper.multiply(b, b), p), 4)[0]
        for a in range(max(1, b), math.isqrt(n) + 1):
            if n % a == 0:
                paper.look()
                count += 1 if a == b or a * a == n or not b else 2
        # Trial division of n by the primes up to its root finds all of its divisors.
        left = n
        for prime in _SMALL:
            if prime * prime > left:
                break
            whole, rest = paper.divide(left, prime)
            while not rest:
                left = whole
                whole, rest = paper.divide(left, prime)
    return count


_SMALL = [p for p in range(2, 1000) if all(p % q for q in range(2, math.isqrt(p) + 1))]
POWERS = (Kind(modular_power, _solve_modular_power, first=8),)
KINDS = (
    # Larger ones have short ways: forms of a square discriminant, and products of forms for class numbers (Shanks).
    Kind(two_primes, _solve_two_primes, first=8, last=8, free=r"(?<=number )\d+"),
    Kind(reduced_forms, _solve_reduced_forms, first=8, last=8, free=r"(?<= = )\d+(?= for)"),
)
