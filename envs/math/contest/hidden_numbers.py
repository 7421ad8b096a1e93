"""Numbers that are found by the geometry of lattices or by a factorisation that has to be looked for."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.contest.primes import (
    PRIMES,
    draw_smooth_prime,
    is_prime,
    legendre,
)
from verigym.envs.math.paper import Paper

SPARE = 14
"""Digits that the leading digits given of remainders have beyond those of the number: no other number has them too,
but for a chance of one in 10^SPARE."""


def leading_remainders(rng: np.random.Generator, level: int) -> Problem:
    """The number whose multiples have remainders with given leading digits."""
    digits, count = {8: (20, 3), 9: (32, 4), 10: (44, 5)}[level]
    p = _draw_prime(rng, digits)
    x = among(rng, p // 10, p - 1)
    known = -(-(digits + SPARE) // count)
    unit = 10 ** (digits - known)
    factors = [among(rng, p // 10, p - 1) for _ in range(count)]
    heads = [a * x % p // unit for a in factors]
    given = "\n".join(f"{a}, {head}" for a, head in zip(factors, heads, strict=True))
    text = (
        f"Let p be the prime {p}. For a whole number x from 1 to p - 1, each of these pairs a, q says that a * x leaves a remainder from q * "
        f"10^{digits - known} to (q + 1) * 10^{digits - known} - 1 when divided by p:\n{given}\nOnly one x satisfies all of them. What is x?"
    )
    return Problem(text, [p, *factors, *heads], x)


def _draw_prime(rng: np.random.Generator, digits: int) -> int:
    while True:
        p = among(rng, 10 ** (digits - 1), 10**digits - 1) | 1
        if is_prime(p):
            return p


def _solve_leading_remainders(paper: Paper, numbers: list[int], text: str) -> int:
    """The vector of the remainders is near a point of the lattice that the factors and p span (Babai 1986)."""
    p = numbers[0]
    pairs = [(int(a), int(q)) for a, q in re.findall(r"^(\d+), (\d+)$", text, re.MULTILINE)]
    unit: int = 10 ** int(re.findall(r"10\^(\d+) to", text)[0])
    count = len(pairs)
    # The last place holds x, as small beside p as a remainder beside the rest that is known of it.
    rows = [[p * p * (i == j) for j in range(count)] + [0] for i in range(count)]
    rows.append([p * a for a, _ in pairs] + [unit])
    target = [p * (q * unit + unit // 2) for _, q in pairs] + [unit * p // 2]
    nearest = nearest_point(paper, reduced(paper, rows), target)
    return nearest[-1] // unit % p


def reduced(paper: Paper, rows: list[list[int]]) -> list[list[int]]:
    """Return a basis of the same lattice with short vectors (Lenstra, Lenstra and Lovász 1982), in whole numbers."""
    rows = [list(row) for row in rows]
    n = len(rows)
    lengths, shares = _orthogonal(rows)
    k = 1
    while k < n:
        for j in range(k - 1, -1, -1):
            factor = _nearest(shares[k][j], lengths[j + 1])
            if factor:
                paper.operations += n
                rows[k] = [x - factor * y for x, y in zip(rows[k], rows[j], strict=True)]
                for i in range(j):
                    shares[k][i] -= factor * shares[j][i]
                shares[k][j] -= factor * lengths[j + 1]
        share = shares[k][k - 1]
        if 4 * (lengths[k - 1] * lengths[k + 1] + share * share) >= 3 * lengths[k] ** 2:
            k += 1
            continue
        paper.operations += n
        rows[k - 1], rows[k] = rows[k], rows[k - 1]
        for j in range(k - 1):
            shares[k - 1][j], shares[k][j] = shares[k][j], shares[k - 1][j]
        fresh = (lengths[k - 1] * lengths[k + 1] + share * share) // lengths[k]
        for i in range(k + 1, n):
            here = shares[i][k]
            shares[i][k] = (lengths[k + 1] * shares[i][k - 1] - share * here) // lengths[k]
            shares[i][k - 1] = (fresh * here + share * shares[i][k]) // lengths[k + 1]
        lengths[k] = fresh
        k = max(k - 1, 1)
    return rows


def _orthogonal(rows: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """Return the determinants of the first products of rows with each other, 1 first, and for each row its shares of the
    earlier ones times these (de Weger 1987)."""
    n = len(rows)
    lengths, shares = [1], [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            value = sum(x * y for x, y in zip(rows[i], rows[j], strict=True))
            for k in range(j):
                value = (lengths[k + 1] * value - shares[i][k] * shares[j][k]) // lengths[k]
            if i == j:
                lengths.append(value)
            else:
                shares[i][j] = value
    return lengths, shares


def _nearest(above: int, below: int) -> int:
    return (2 * above + below) // (2 * below)


def nearest_point(paper: Paper, rows: list[list[int]], target: list[int]) -> list[int]:
    """Return a point of the lattice near the target: by planes, from the last vector of the basis on."""
    bases: list[list[Fraction]] = []
    for row in rows:
        left = [Fraction(x) for x in row]
        for base in bases:
            share = _product(row, base) / _product(base, base)
            left = [x - share * y for x, y in zip(left, base, strict=True)]
        bases.append(left)
    rest = list(target)
    for row, base in zip(reversed(rows), reversed(bases), strict=True):
        share = _product(rest, base) / _product(base, base)
        factor = _nearest(share.numerator, share.denominator)
        paper.operations += len(row)
        rest = [x - factor * y for x, y in zip(rest, row, strict=True)]
    return [x - y for x, y in zip(target, rest, strict=True)]


def _product(a: Sequence[int | Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((y * Fraction(x) for x, y in zip(a, b, strict=True)), Fraction(0))


def common_divisors(rng: np.random.Generator, level: int) -> Problem:
    """The sum of the common divisors of a number with all values of k^2 - a; its factors have to be found."""
    digits, bound = {8: (13, 200), 9: (18, 2000), 10: (22, 20_000)}[level]
    smooth = draw_smooth_prime(rng, digits, bound, -1, 2)
    while True:
        near = _draw_prime(rng, digits + 3)
        if not _is_smooth(near - 1, bound):
            break
    # Another prime near a simple multiple, so that the product is nearly a simple multiple of a square.
    u, v = among(rng, 2, 9), among(rng, 2, 9)
    other = near * u // v + 1
    while not is_prime(other) or other == near or _is_smooth(other - 1, bound):
        other += 1
    n = smooth * near * other
    a = among(rng, n // 10, n)
    text = (
        f"Let n = {n}, which is a product of three primes. What is the sum of the greatest common divisors of n and k^2 - {a}, over all whole "
        "numbers k from 1 to n?"
    )
    return Problem(text, [n, a], sum_of_divisors([smooth, near, other], a))


def _is_smooth(n: int, bound: int) -> bool:
    """Return True if n has no prime factor above a bound."""
    for prime in PRIMES:
        while n % prime == 0:
            n //= prime
        if prime > bound:
            break
    return n == 1


def sum_of_divisors(primes: list[int], a: int) -> int:
    """Return the sum for a product of different odd primes: the product of the sums for each of them."""
    value = 1
    for p in primes:
        roots = 1 + legendre(a % p, p) if a % p else 1
        value *= p + roots * (p - 1)
    return value


def _solve_common_divisors(paper: Paper, numbers: list[int], text: str) -> int:
    """Find a prime p with small factors of p - 1 (Pollard 1974), the others as near a multiple of each other (Fermat)."""
    n, a = (int(x) for x in re.findall(r"n = (\d+),.* k\^2 - (\d+),", text)[0])
    power, smooth = 2, 1
    for prime in PRIMES:
        paper.look()
        power = pow(power, prime ** max(1, int(math.log(10**5, prime))), n)
        smooth = math.gcd(power - 1, n)
        if smooth > 1:
            break
    assert is_prime(smooth), "the other primes are met later"
    rest = n // smooth
    for u in range(2, 10):
        for v in range(2, 10):
            root = math.isqrt(4 * u * v * rest)
            for middle in (root, root + 1):
                paper.look()
                square = middle * middle - 4 * u * v * rest
                if square >= 0 and math.isqrt(square) ** 2 == square:
                    near = math.gcd(middle + math.isqrt(square), rest)
                    if 1 < near < rest:
                        return sum_of_divisors([smooth, near, rest // near], a)
    raise ValueError("no factors found")


def floors(rng: np.random.Generator, level: int) -> Problem:
    """The sum of the numbers up to a large one, each times a rounded multiple of an irrational number."""
    digits, largest = {8: (9, 50), 9: (16, 500), 10: (26, 5000)}[level]
    n = among(rng, 10 ** (digits - 1), 10**digits - 1)
    while True:
        d = among(rng, largest // 10, largest)
        if math.isqrt(d) ** 2 != d:
            break
    a, b = among(rng, 1, largest), among(rng, 3, largest)
    modulus = among(rng, 10**8, 10**9)
    text = (
        f"Let w = (sqrt({d}) + {a}) / {b}, and let [t] be the largest whole number that is at most t. What is the remainder when the sum of k * [k * "
        f"w] over all whole numbers k from 1 to {n} is divided by {modulus}?"
    )
    return Problem(text, [n, d, a, b, modulus], sum_of_floors(n, d, a, b) % modulus)


def sum_of_floors(n: int, d: int, a: int, b: int, paper: Paper | None = None) -> int:
    """Return the exact sum: w is replaced by a fraction that is so near that no multiple is rounded to another number."""
    # k * w is at least 1 / (3b * n * sqrt(d)) away from a whole number.
    scale = 10 ** (len(str(3 * b * n * n * d)) + 2)
    return _sums(n, math.isqrt(d * scale * scale) + a * scale, 0, b * scale, paper or Paper())[1]


def _sums(n: int, a: int, b: int, c: int, paper: Paper) -> tuple[int, int, int]:
    """Return the sums of f, i * f and f^2 for i from 0 to n, where f is (a * i + b) / c rounded down: points below a line
    are counted along the other axis, with the quotients of Euclid's algorithm."""
    paper.look()
    count, first = n + 1, n * (n + 1) // 2
    squares = first * (2 * n + 1) // 3
    p, q = a // c, b // c
    a, b = a % c, b % c
    top = (a * n + b) // c
    f = g = h = 0
    if top:
        # i with f(i) > j are those above (c * j + c - b - 1) / a, for j from 0 to top - 1.
        f1, g1, h1 = _sums(top - 1, c, c - b - 1, a, paper)
        f = n * top - f1
        g = (n * (n + 1) * top - h1 - f1) // 2
        h = n * top * top - 2 * g1 - f1
    return (
        p * first + q * count + f,
        p * squares + q * first + g,
        p * p * squares + 2 * p * q * first + q * q * count + 2 * p * g + 2 * q * f + h,
    )


def _solve_floors(paper: Paper, numbers: list[int], text: str) -> int:
    d, a, b = (int(x) for x in re.findall(r"sqrt\((\d+)\) \+ (\d+)\) / (\d+)", text)[0])
    n, modulus = numbers[-2:]
    return sum_of_floors(n, d, a, b, paper) % modulus


KINDS = (
    Kind(leading_remainders, _solve_leading_remainders, first=8, free=r"(?<=, )\d{5,}$"),
    Kind(common_divisors, _solve_common_divisors, first=8, free=r"(?<=k\^2 - )\d+"),
    Kind(floors, _solve_floors, first=8, free=r"(?<=1 to )\d+|(?<=divided by )\d+"),
)
