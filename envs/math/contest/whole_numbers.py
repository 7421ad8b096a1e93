"""Number theory of whole numbers: Pell's equation, sums over divisors, coprime numbers, three coins."""

from __future__ import annotations

import itertools
import math
import operator

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.contest.primes import PRIMES, draw_primes, factorize
from verigym.envs.math.modular import invert, times
from verigym.envs.math.paper import Paper


def pell(rng: np.random.Generator, level: int) -> Problem:
    """A late solution of Pell's equation, modulo a prime."""
    largest, low, high, digits = {
        7: (60, 3, 6, 2),
        8: (3999, 9, 20, 15),
        9: (39_999, 40, 99, 60),
        10: (399_999, 300, 999, 180),
    }[level]
    while True:
        d = among(rng, largest // 4, largest)
        if math.isqrt(d) ** 2 != d and (first := _fundamental(d))[0] > 10**digits:
            break
    k = among(rng, low, high)
    p = draw_primes(rng, 1, 1000, 5999)[0]
    a, b = first
    x, y = 1, 0
    for _ in range(k):
        x, y = (a * x + d * b * y) % p, (a * y + b * x) % p
    text = (
        f"List the positive whole numbers x for which x^2 - {d}y^2 = 1 holds with some positive whole number y, "
        f"the smallest first. What is the remainder when entry number {k} of the list is divided by {p}?"
    )
    return Problem(text, [d, k, p], x)


def _fundamental(d: int) -> tuple[int, int]:
    """Return the least positive solution, by the continued fraction of the root."""
    root = math.isqrt(d)
    m, q, a = 0, 1, root
    (x, y), (u, v) = (a, 1), (1, 0)
    while x * x - d * y * y != 1:
        m = q * a - m
        q = (d - m * m) // q
        a = (root + m) // q
        (x, y), (u, v) = (a * x + u, a * y + v), (x, y)
    return x, y


def _solve_pell(paper: Paper, numbers: list[int], text: str) -> int:
    d, k, p = numbers[1], *numbers[-2:]
    root, m, q, steps = math.isqrt(d), 0, 1, 0
    a = root
    (x, y), (u, v) = (a, 1), (1, 0)
    # The root's fraction has come round when q is 1; the norm is then 1 after an even number of steps.
    while True:
        m = paper.subtract(paper.multiply(q, a), m)
        q = paper.divide_exactly(paper.subtract(d, paper.multiply(m, m)), q)
        steps += 1
        if q == 1 and steps % 2 == 0:
            break
        a = paper.divide(paper.add(root, m), q)[0]
        x, u = paper.divide(paper.add(paper.multiply(a, x), u), p)[1], x
        y, v = paper.divide(paper.add(paper.multiply(a, y), v), p)[1], y
    a, b = x, y
    x, y = 1, 0
    for bit in f"{k:b}":
        if y or x > 1:
            # Twice the angle: x -> 2x^2 - 1, y -> 2xy.
            double = paper.divide(2 * paper.multiply(x, x) - 1, p)[1]
            x, y = double, paper.divide(2 * paper.multiply(x, y), p)[1]
        if bit == "1":
            cross = paper.multiply(d, times(paper, b, y, p))
            total = paper.add(paper.multiply(a, x), cross)
            other = paper.add(paper.multiply(a, y), paper.multiply(b, x))
            x, y = paper.divide(total, p)[1], paper.divide(other, p)[1]
    return x


def divisor_sum(rng: np.random.Generator, level: int) -> Problem:
    """A sum over 1 to n, or over the divisors of n, of a function of divisors."""
    digits, some = {7: (5, 6), 8: (16, 16)}[level]
    n = 1
    while not 10**digits <= n <= 10 ** (digits + 2):
        n = n * PRIMES[int(rng.integers(some))] if n < 10**digits else 1
    what = int(rng.integers(2 if level < 8 else 4))
    text = (
        f"Let n = {n}. What is the sum of the greatest common divisors of k and n, for all whole numbers k from 1 to n?",
        f"For each positive divisor d of {n}, multiply d by the number of positive divisors of d. What is the "
        "sum of these products?",
        f"Let n = {n}. What is the sum of the least common multiples of k and n, for all whole numbers k from 1 to n?",
        f"For each positive divisor d of {n}, find the sum of all positive divisors of d. What is the sum of "
        "the squares of these sums?",
    )[what]
    value = math.prod(_over_powers(what, p, e) for p, e in factorize(n).items())
    if what == 2:
        value = (value + 1) * n // 2
    return Problem(text, [what, n], value)


def _over_powers(what: int, p: int, e: int) -> int:
    """Return the sum for a power of a prime; for `what` 2 the sum of d times the totient of d."""
    powers = list(itertools.accumulate([p] * e, initial=1, func=operator.mul))
    totients = [1, *((p - 1) * power for power in powers[:-1])]
    if what == 0:
        return sum(map(operator.mul, powers, reversed(totients)))
    if what == 1:
        return sum(map(operator.mul, itertools.count(1), powers))
    if what == 2:
        return sum(map(operator.mul, powers, totients))
    return sum(sigma**2 for sigma in itertools.accumulate(powers))


def _solve_divisor_sum(paper: Paper, numbers: list[int], text: str) -> int:
    n = next(n for n in numbers if n > 1)
    total = 1
    for p, e in paper.factorize(n).items():
        share, power, sigma = 1, 1, 1
        below = 1
        for k in range(1, e + 1):
            below, power = power, paper.multiply(power, p)
            totient = paper.subtract(power, below)
            if "greatest" in text:
                # The sum of d times the totient of n / d grows by p-fold and a totient.
                share = paper.add(paper.multiply(share, p), totient)
            elif "multiply" in text:
                share = paper.add(share, paper.multiply(k + 1, power))
            elif "least" in text:
                share = paper.add(share, paper.multiply(power, totient))
            else:
                sigma = paper.add(sigma, power)
                share = paper.add(share, paper.multiply(sigma, sigma))
        total = paper.multiply(total, share)
    if "least" not in text:
        return total
    return paper.divide_exactly(paper.multiply(paper.add(total, 1), n), 2)


def coprime_count(rng: np.random.Generator, level: int) -> Problem:
    """Numbers of a range that leave a remainder and are divisible by no prime of a list."""
    count = {7: 2, 8: 4, 9: 6, 10: 7}[level]
    primes = sorted(draw_primes(rng, count, 2, {7: 17, 8: 29}.get(level, 50)))
    size = 10 ** {7: 4, 8: 7, 9: 10, 10: 12}[level]
    low = among(rng, size, 2 * size)
    high = low + among(rng, size, 3 * size)
    moduli = [m for m in range(3, 30 if level < 8 else 99) if all(m % p for p in primes)]
    modulus = moduli[int(rng.integers(len(moduli)))]
    rest = among(rng, 1, modulus - 1)
    value = 0
    for size in range(count + 1):
        for some in itertools.combinations(primes, size):
            d = math.prod(some)
            first = d * (rest * pow(d, -1, modulus) % modulus)
            each = d * modulus
            value += (-1) ** size * ((high - first) // each - (low - 1 - first) // each)
    text = (
        f"How many whole numbers from {low} to {high} leave the remainder {rest} when divided by {modulus} and are "
        f"not divisible by any of the primes {listed([str(p) for p in primes])}?"
    )
    return Problem(text, [low, high, rest, modulus, primes], value)


def _solve_coprime_count(paper: Paper, numbers: list[int], text: str) -> int:
    """Include and exclude: multiples of a product with the remainder stand in one class each."""
    low, high, rest, modulus, *primes = numbers
    below = paper.subtract(low, 1)
    total = 0
    products = [(1, 1)]
    for p in primes:
        products += [(paper.multiply(d, p), -sign) for d, sign in products]
    for d, sign in products:
        back = invert(paper, paper.divide(d, modulus)[1], modulus)
        first = paper.multiply(d, times(paper, rest, back, modulus))
        each = paper.multiply(d, modulus)
        upper, lower = (paper.divide(paper.subtract(end, first), each)[0] for end in (high, below))
        total = paper.add(total, sign * paper.subtract(upper, lower))
    return total


def three_coins(rng: np.random.Generator, level: int) -> Problem:
    """Solutions of a linear equation in three numbers that are not negative."""
    size, most = 8, 16
    while True:
        a, b = sorted(among(rng, size // 2, size) for _ in range(2))
        c = among(rng, 2 * size, 3 * size)
        if math.gcd(a, b) == math.gcd(a, c) == math.gcd(b, c) == 1:
            break
    total = c * among(rng, most - 5, most) + among(rng, 0, c - 1)
    ways = 0
    for z in range(total // c + 1):
        left = total - c * z
        x = left * pow(a, -1, b) % b
        ways += max(0, (left // a - x) // b + 1)
    text = f"How many triples (x, y, z) of whole numbers that are 0 or larger satisfy {a}x + {b}y + {c}z = {total}?"
    return Problem(text, [a, b, c, total], ways)


def _solve_three_coins(paper: Paper, numbers: list[int], text: str) -> int:
    """For each z, find the least x; the others follow in steps of b."""
    _, a, b, c, total = numbers
    back = invert(paper, a % b, b)
    ways, left = 0, total
    while left >= 0:
        x = times(paper, left, back, b)
        rest = paper.subtract(left, paper.multiply(a, x))
        if rest >= 0:
            found = paper.divide(rest, paper.multiply(a, b))[0]
            ways = paper.add(ways, paper.add(found, 1))
        left = paper.subtract(left, c)
    return ways


KINDS = (
    Kind(pell, _solve_pell),
    Kind(divisor_sum, _solve_divisor_sum, last=8),
    Kind(coprime_count, _solve_coprime_count),
    # The pairs (x, y) for each z are a linear function, rounded: Euclid's algorithm adds them up in a few steps.
    Kind(three_coins, _solve_three_coins, last=7),
)
