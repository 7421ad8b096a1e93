"""Small prime numbers, and functions of numbers whose prime factors are small."""

from __future__ import annotations

import bisect
import math

import numpy as np

LARGEST = 100_000
_WITNESSES = 13


def _sieve() -> list[int]:
    marks = bytearray([1]) * LARGEST
    marks[:2] = b"\0\0"
    for n in range(2, math.isqrt(LARGEST) + 1):
        if marks[n]:
            marks[n * n :: n] = bytes(len(range(n * n, LARGEST, n)))
    return [n for n, mark in enumerate(marks) if mark]


PRIMES = _sieve()
"""Primes below `LARGEST`."""


def draw_primes(rng: np.random.Generator, count: int, low: int, high: int) -> list[int]:
    """Return different primes from `low` to `high`, both included, in a random order."""
    some = PRIMES[bisect.bisect_left(PRIMES, low) : bisect.bisect_right(PRIMES, high)]
    return [some[int(i)] for i in rng.permutation(len(some))[:count]]


def draw_safe_prime(rng: np.random.Generator, low: int, high: int) -> int:
    """Return a prime p below `LARGEST` with a prime (p - 1) / 2, so that logarithms modulo p have no short way by small factors."""
    while True:
        (half,) = draw_primes(rng, 1, low // 2, high // 2)
        if factorize(2 * half + 1) == {2 * half + 1: 1}:
            return 2 * half + 1


def draw_smooth_prime(
    rng: np.random.Generator, digits: int, bound: int, after: int, multiple: int = 12
) -> int:
    """Return a prime p of about that many digits for which p + `after` (1 or -1) is `multiple` times different primes up to
    `bound`."""
    some = PRIMES[bisect.bisect_left(PRIMES, bound // 5) : bisect.bisect_right(PRIMES, bound)]
    smallest = 10 ** (digits - 1)
    while True:
        product = multiple
        while product < smallest:
            factor = some[int(rng.integers(len(some)))]
            product *= factor if product % factor else 1
        if is_prime(product - after):
            return product - after


def is_prime(n: int) -> bool:
    """Return True if n passes the test of Miller and Rabin for the first 13 primes: proven up to 3.3 * 10^24, and without a
    known exception among numbers drawn at random."""
    if n < 2:
        return False
    for p in PRIMES[:_WITNESSES]:
        if n % p == 0:
            return n == p
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for p in PRIMES[:_WITNESSES]:
        value = pow(p, odd, n)
        if value in (1, n - 1):
            continue
        for _ in range(twos - 1):
            value = value * value % n
            if value == n - 1:
                break
        else:
            return False
    return True


def factorize(n: int) -> dict[int, int]:
    """Return the prime factors with their exponents; at most one may be above `LARGEST`."""
    found: dict[int, int] = {}
    for p in PRIMES:
        if p * p > n:
            break
        while n % p == 0:
            found[p] = found.get(p, 0) + 1
            n //= p
    if n > 1:
        found[n] = found.get(n, 0) + 1
    return found


def order(a: int, prime: int) -> int:
    """Return the order of a modulo a prime."""
    found = prime - 1
    for factor in factorize(found):
        while found % factor == 0 and pow(a, found // factor, prime) == 1:
            found //= factor
    return found


def legendre(a: int, prime: int) -> int:
    """Return 1 if a is a square modulo an odd prime, -1 if it is none, 0 if the prime divides it."""
    value = pow(a, (prime - 1) // 2, prime)
    return value - prime if value > 1 else value
