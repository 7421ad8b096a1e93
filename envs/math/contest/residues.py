"""Number theory modulo a number: congruences, orders, logarithms, towers of powers, squares."""

from __future__ import annotations

import itertools
import math

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.contest.primes import (
    PRIMES,
    draw_primes,
    draw_safe_prime,
    factorize,
    legendre,
)
from verigym.envs.math.contest.primes import order as order_modulo
from verigym.envs.math.modular import combine, invert, is_square, order, power, times
from verigym.envs.math.paper import Paper


def congruences(rng: np.random.Generator, level: int) -> Problem:
    """The least number with given remainders of its multiples; moduli and factors share divisors."""
    count, largest = {7: (4, 60), 8: (8, 999), 9: (14, 999), 10: (24, 1999)}[level]
    moduli = [among(rng, largest // 4, largest) for _ in range(count)]
    factors = [among(rng, 2, m // 2) for m in moduli]
    x = among(rng, 1, 10 ** (12 if level < 8 else 3 * count))
    whole = math.lcm(*(m // math.gcd(a, m) for a, m in zip(factors, moduli, strict=True)))
    given = [[a, a * x % m, m] for a, m in zip(factors, moduli, strict=True)]
    parts = [f"{a}x leaves the remainder {r} when divided by {m}" for a, r, m in given]
    text = f"What is the smallest positive whole number x for which {listed(parts)}?"
    return Problem(text, [*given], x % whole or whole)


def _solve_congruences(paper: Paper, numbers: list[int], text: str) -> int:
    rests = []
    for a, rest, modulus in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        common = paper.common_divisor(a, modulus)
        a, rest, modulus = (paper.divide_exactly(n, common) for n in (a, rest, modulus))
        if modulus > 1:
            step = invert(paper, paper.divide(a, modulus)[1], modulus)
            rests.append((times(paper, rest, step, modulus), modulus))
    x, whole = combine(paper, rests)
    return x or whole


def multiplicative_order(rng: np.random.Generator, level: int) -> Problem:
    """The least exponent for which two powers agree modulo a product of primes."""
    count, low, high = {
        7: (1, 100, 400),
        8: (2, 1000, 9999),
        9: (3, 10_000, 99_999),
        10: (7, 10_000, 99_999),
    }[level]
    primes = sorted(draw_primes(rng, count, low, high))
    a, b = draw_primes(rng, 2, 2, 37)
    product = " * ".join(map(str, primes))
    n = f"n = {product}" if count > 1 else f"n be the prime {product}"
    text = (
        f"Let {n}. What is the smallest positive whole number k for which {a}^k and {b}^k leave the same "
        "remainder when divided by n?"
    )
    value = math.lcm(*(order_modulo(a * pow(b, -1, p), p) for p in primes))
    return Problem(text, [a, b, *primes], value)


def _solve_order(paper: Paper, numbers: list[int], text: str) -> int:
    *primes, a, b = numbers
    found = 1
    for prime in primes:
        base = times(paper, a, invert(paper, b, prime), prime)
        k = order(paper, base, prime)
        found = paper.multiply(found, paper.divide_exactly(k, paper.common_divisor(found, k)))
    return found


def discrete_logarithm(rng: np.random.Generator, level: int) -> Problem:
    """The exponent of a power of a primitive root modulo a prime."""
    p = draw_safe_prime(rng, 4000, 20_000)
    g = next(g for g in PRIMES if order_modulo(g, p) == p - 1)
    x = among(rng, p // 5, p - 2)
    text = (
        f"The powers of {g} leave every remainder from 1 to {p - 1} when divided by the prime {p}. For which "
        f"whole number x from 0 to {p - 2} does {g}^x leave the remainder {pow(g, x, p)}?"
    )
    return Problem(text, [g, p, x], x)


def _solve_logarithm(paper: Paper, numbers: list[int], text: str) -> int:
    """Compare the first powers with the given one divided by powers of a higher one (baby and giant steps)."""
    g, p, h = numbers[0], numbers[3], numbers[-1]
    step = math.isqrt(p) + 1
    first = {1: 0}
    value = 1
    for k in range(1, step):
        value = times(paper, value, g, p)
        first.setdefault(value, k)
    back = invert(paper, times(paper, value, g, p), p)
    rest, k = h, 0
    while rest not in first:
        paper.look()
        rest = times(paper, rest, back, p)
        k += 1
    return paper.add(paper.multiply(k, step), first[rest])


def tower(rng: np.random.Generator, level: int) -> Problem:
    """The remainder of a tower of powers; the base shares factors with the modulus."""
    height = max(3, level - 5)
    low, high = {7: (300, 999), 8: (10**5, 10**6), 9: (10**7, 10**8), 10: (10**12, 10**14)}[level]
    n = 1
    while not low <= n <= high:
        n = n * PRIMES[int(rng.integers(12))] if n < low else 1
    base = int(rng.choice(list(factorize(n))))
    numbers = [base * among(rng, 2, 9), *(among(rng, 3, 20) for _ in range(height - 1))]
    shown = str(numbers[-1])
    for number in reversed(numbers[:-1]):
        shown = f"{number}^({shown})" if "^" in shown else f"{number}^{shown}"
    text = f"What is the remainder when {shown} is divided by {n}?"
    return Problem(text, [*numbers, n], _tower(numbers, n))


def _tower(numbers: list[int], n: int) -> int:
    """Return the tower modulo n, n added once if it is larger: then it may stand for it as an exponent."""

    def kept(value: int, n: int) -> int:
        return value if value < n else value % n + n

    def at(place: int, n: int) -> int:
        if n == 1 or place == len(numbers) - 1:
            return kept(numbers[place], n)
        totient = n
        for p in factorize(n):
            totient -= totient // p
        value, base = 1, kept(numbers[place], n)
        for bit in f"{at(place + 1, totient):b}":
            value = kept(value * value, n)
            value = kept(value * base, n) if bit == "1" else value
        return value

    return at(0, n) % n


def _solve_tower(paper: Paper, numbers: list[int], text: str) -> int:
    """Raise the remainder to an exponent that is reduced modulo the totient, plus the totient (Euler)."""
    *numbers, n = numbers
    moduli = [n]
    while len(moduli) < len(numbers) and moduli[-1] > 1:
        totient = moduli[-1]
        for p in paper.factorize(totient):
            totient = paper.subtract(totient, paper.divide_exactly(totient, p))
        moduli.append(totient)
    exponent = numbers[len(moduli) - 1]
    for place in range(len(moduli) - 2, -1, -1):
        totient = moduli[place + 1]
        if place < len(numbers) - 2 or exponent >= totient:
            exponent = paper.add(paper.divide(exponent, totient)[1], totient)
        exponent = power(paper, numbers[place], exponent, moduli[place])
    return exponent


def quadric(rng: np.random.Generator, level: int) -> Problem:
    """Solutions of a quadratic equation in two or three unknowns modulo a product of primes."""
    count, low, high = {7: (2, 20, 99), 8: (4, 200, 999)}[level]
    primes = sorted(draw_primes(rng, count, low, high))
    unknowns = 2 if level < 8 else among(rng, 2, 3)
    factors = draw_primes(rng, unknowns, 2, 19)
    rest = among(rng, 20, 9999)
    if rng.integers(2):
        rest = primes[0] * among(rng, 2, 30)
    names = "xyz"[:unknowns]
    terms = " + ".join(f"{a}{name}^2" for a, name in zip(factors, names, strict=True))
    value = math.prod(_points(factors, rest, p) for p in primes)
    text = (
        f"Let n = {' * '.join(map(str, primes))}. How many {'pairs' if unknowns == 2 else 'triples'} "
        f"({', '.join(names)}) of whole numbers from 0 to n - 1 are there for which {terms} - {rest} is divisible "
        "by n?"
    )
    return Problem(text, [primes, factors, rest], value)


def _points(factors: list[int], rest: int, p: int) -> int:
    """Return the number of solutions modulo a prime (Ireland and Rosen, chapter 8)."""
    if len(factors) == 2:
        sign = legendre(-math.prod(factors), p)
        return p - sign if rest % p else p + (p - 1) * sign
    return p * p + legendre(-rest * math.prod(factors), p) * p


def _solve_quadric(paper: Paper, numbers: list[int], text: str) -> int:
    unknowns = 2 if "pairs" in text else 3
    shown = numbers[: -2 * unknowns - 3]
    factors, rest = numbers[-2 * unknowns - 1 : -1 : 2], numbers[-1]
    value = 1
    for p in shown:
        product = -1
        left = paper.divide(rest, p)[1]
        for factor in (*factors, *([left] if unknowns == 3 else [])):
            product = paper.divide(paper.multiply(product, factor), p)[1]
        sign = (1 if is_square(paper, product, p) else -1) if product else 0
        if unknowns == 3:
            count = paper.add(paper.multiply(p, p), sign * p)
        elif left:
            count = paper.subtract(p, sign)
        else:
            count = paper.add(p, sign * paper.subtract(p, 1))
        value = paper.multiply(value, count)
    return value


def square_root(rng: np.random.Generator, level: int) -> Problem:
    """The least square root modulo a product of primes of the form 4k + 3."""
    count, low, high = {8: (4, 1000, 9999), 9: (5, 10_000, 99_999), 10: (7, 10_000, 99_999)}[level]
    some = [p for p in draw_primes(rng, 9 * count, low, high) if p % 4 == 3]
    primes = sorted(some[:count])
    n = math.prod(primes)
    x = among(rng, 2, n - 1)
    square = x * x % n
    text = (
        f"Let n = {' * '.join(map(str, primes))}. What is the smallest positive whole number x for which x^2 "
        f"leaves the remainder {square} when divided by n?"
    )
    units = [n // p * pow(n // p, -1, p) for p in primes]
    signs = itertools.product((1, -1), repeat=count)
    roots = (sum(s * x * u for s, u in zip(some, units, strict=True)) % n for some in signs)
    return Problem(text, [primes, square], min(roots) or n)


def _solve_square_root(paper: Paper, numbers: list[int], text: str) -> int:
    *primes, _, square = numbers
    n = 1
    for p in primes:
        n = paper.multiply(n, p)
    parts = []
    for p in primes:
        root = power(paper, square, (p + 1) // 4, p)
        other = paper.divide_exactly(n, p)
        unit = paper.multiply(other, invert(paper, paper.divide(other, p)[1], p))
        parts.append(paper.divide(paper.multiply(root, unit), n)[1])
    best = n
    for signs in itertools.product((1, -1), repeat=len(parts) - 1):
        total = parts[0]
        for sign, part in zip(signs, parts[1:], strict=True):
            total = paper.add(total, sign * part)
        total = paper.divide(total, n)[1]
        best = min([best, *filter(None, (total, paper.subtract(n, total)))])
    return best


KINDS = (
    Kind(congruences, _solve_congruences),
    Kind(multiplicative_order, _solve_order),
    # From the logarithms of a few small primes all others follow in some hundred steps (index calculus).
    Kind(discrete_logarithm, _solve_logarithm, first=8, last=8),
    Kind(tower, _solve_tower),
    Kind(quadric, _solve_quadric, last=8),
    Kind(square_root, _solve_square_root, first=8),
)
