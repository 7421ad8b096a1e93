"""Arithmetic modulo a number, on paper."""

from __future__ import annotations

from collections.abc import Iterable

from verigym.envs.math.paper import Paper


def times(paper: Paper, a: int, b: int, n: int) -> int:
    """Return a * b modulo n."""
    return paper.divide(paper.multiply(a, b), n)[1]


def power(paper: Paper, a: int, e: int, n: int) -> int:
    """Return a^e modulo n, by squaring."""
    a = paper.divide(a, n)[1]
    value = 1 % n
    for bit in f"{e:b}":
        value = times(paper, value, value, n) if value > 1 else value
        if bit == "1":
            value = times(paper, value, a, n) if value > 1 else value * a
    return value


def invert(paper: Paper, a: int, n: int) -> int:
    """Return the inverse of a modulo n, by Euclid's algorithm with both coefficients."""
    above, below = (n, 0, 1), (a % n, 1, 0)
    while below[0] > 1:
        quotient, rest = paper.divide(above[0], below[0])
        x, y = (paper.subtract(above[i], paper.multiply(quotient, below[i])) for i in (1, 2))
        above, below = below, (rest, x, y)
    return below[1] if below[1] > 0 else paper.add(below[1], n)


def combine(paper: Paper, rests: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return the number from 0 that leaves all remainders, given as (remainder, modulus), and their least
    common modulus. Moduli may share factors."""
    x, whole = 0, 1
    for rest, modulus in rests:
        common = paper.common_divisor(whole, modulus)
        missing = paper.divide(paper.subtract(rest, x), modulus)[1]
        missing, modulus = (
            paper.divide_exactly(missing, common),
            paper.divide_exactly(modulus, common),
        )
        if modulus > 1:
            step = invert(paper, paper.divide_exactly(whole, common), modulus)
            x = paper.add(x, paper.multiply(times(paper, missing, step, modulus), whole))
            whole = paper.multiply(whole, modulus)
    return x, whole


def order(paper: Paper, a: int, prime: int) -> int:
    """Return the order of a modulo a prime: the prime factors of prime - 1 are taken away while the power is 1."""
    found = prime - 1
    for factor, exponent in paper.factorize(found).items():
        for _ in range(exponent):
            less = paper.divide_exactly(found, factor)
            if power(paper, a, less, prime) != 1:
                break
            found = less
    return found


def is_square(paper: Paper, a: int, prime: int) -> bool:
    """Return True if a is a square modulo an odd prime that does not divide it, by Euler's criterion."""
    return power(paper, a, (prime - 1) // 2, prime) == 1
