"""Linear recurrences modulo a number: terms that are far away, and periods."""

from __future__ import annotations

import itertools
import math

import numpy as np

from verigym.envs.math.contest.exact import advance
from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.contest.primes import draw_primes
from verigym.envs.math.modular import is_square
from verigym.envs.math.paper import Paper


def far_term(rng: np.random.Generator, level: int) -> Problem:
    """The remainder of a far term of a linear recurrence of order two to four."""
    order, low, high, moduli = {
        7: (2, 40, 99, (70, 99)),
        8: (3, 10**4, 10**5, (1000, 9999)),
        9: (4, 10**5, 10**6, (1000, 9999)),
        10: (5, 10**8, 10**9, (10**4, 10**5)),
    }[level]
    factors = [among(rng, 2, 6) * (1 if rng.integers(3) else -1) for _ in range(order)]
    firsts = [among(rng, 0, 9) for _ in range(order)]
    n, m = among(rng, low, high), among(rng, *moduli)
    grid = [factors, *([int(i == j) for j in range(order)] for i in range(order - 1))]
    state = advance(grid, firsts[::-1], n - order, m)
    given = listed([f"a_{i} = {v}" for i, v in enumerate(firsts, 1)])
    text = (
        f"A sequence has {given}, and {rule(factors)} for all k > {order}. What is the remainder when a_{n} is "
        f"divided by {m}?"
    )
    return Problem(text, [factors, firsts, n, m], state[0])


def rule(factors: list[int]) -> str:
    """Return a linear recurrence as text: `a_k = 2 * a_(k-1) - 3 * a_(k-2)`."""
    text = ""
    for back, factor in enumerate(factors, 1):
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        text += f"{sign}{abs(factor)} * a_(k-{back})"
    return f"a_k = {text}"


def read_rule(text: str) -> list[int]:
    """Return the factors of a recurrence that `rule` wrote."""
    parts = (
        text.partition("a_k = ")[2]
        .partition(" for all")[0]
        .replace("- ", "-")
        .replace("+ ", "")
        .split(" ")
    )
    return [int(part) for part in parts[::3]]


def _times(paper: Paper, p: list[int], q: list[int], factors: list[int], m: int) -> list[int]:
    """Multiply two polynomials, lowest power first, modulo the characteristic polynomial and modulo m."""
    order = len(factors)
    total = [0] * (len(p) + len(q) - 1)
    for (i, a), (j, b) in itertools.product(enumerate(p), enumerate(q)):
        if a and b:
            total[i + j] = paper.add(total[i + j], paper.multiply(a, b))
    for high in range(len(total) - 1, order - 1, -1):
        head = paper.divide(total[high], m)[1]
        for back, factor in enumerate(factors, 1):
            if head:
                total[high - back] = paper.add(total[high - back], paper.multiply(head, factor))
    return [paper.divide(c, m)[1] if not 0 <= c < m else c for c in total[:order]]


def power_of_x(paper: Paper, e: int, factors: list[int], m: int) -> list[int]:
    """Return x^e modulo the characteristic polynomial and modulo m, lowest power first."""
    value = [1] + [0] * (len(factors) - 1)
    for bit in f"{e:b}":
        if any(value[1:]) or value[0] != 1:
            value = _times(paper, value, value, factors, m)
        if bit == "1":
            value = _times(paper, [0, 1], value, factors, m)
    return value


def _solve_far_term(paper: Paper, numbers: list[int], text: str) -> int:
    factors = read_rule(text)
    n, m = numbers[-2:]
    firsts = [numbers[2 * i + 1] for i in range(len(factors))]
    total = 0
    for c, first in zip(power_of_x(paper, n - 1, factors, m), firsts, strict=True):
        total = paper.add(total, paper.multiply(c, first))
    return paper.divide(total, m)[1]


def period(rng: np.random.Generator, level: int) -> Problem:
    """The period of a recurrence modulo a product of primes."""
    count, low, high = {7: (1, 13, 23), 8: (3, 30, 60), 9: (3, 60, 99)}[level]
    primes = sorted(draw_primes(rng, count, low, high))
    # No prime divides the second factor, so the first terms come back.
    factors = [among(rng, 2, 12), among(rng, 2, 6) * (1 if rng.integers(2) else -1)]
    value = math.lcm(*(_walk(factors, p) for p in primes))
    text = (
        f"A sequence has a_1 = 0 and a_2 = 1, and {rule(factors)} for all k > 2. Let n = "
        f"{' * '.join(map(str, primes))}. What is the smallest positive whole number T for which a_k and a_(k+T) "
        "leave the same remainder when divided by n, for every k?"
    )
    return Problem(text, [factors, primes], value)


def _walk(factors: list[int], p: int) -> int:
    """Return the number of steps after which 0, 1 comes back."""
    a, b = 0, 1
    for steps in itertools.count(1):
        a, b = b, (factors[0] * b + factors[1] * a) % p
        if (a, b) == (0, 1):
            return steps
    raise AssertionError


def _solve_period(paper: Paper, numbers: list[int], text: str) -> int:
    """Modulo each prime the period is the order of x modulo the characteristic polynomial; it divides p - 1,
    p^2 - 1 or p * (p - 1), depending on the discriminant."""
    factors = read_rule(text)
    primes = [int(p) for p in text.partition("n = ")[2].partition(".")[0].split(" * ")]
    found = 1
    for p in primes:
        square = paper.multiply(factors[0], factors[0])
        root = paper.divide(paper.add(square, 4 * factors[1]), p)[1]
        if not root:
            steps = p * (p - 1)
        elif is_square(paper, root, p):
            steps = p - 1
        else:
            steps = (p - 1) * (p + 1)
        for prime, exponent in _both(paper, p, steps).items():
            for _ in range(exponent):
                less = paper.divide_exactly(steps, prime)
                if power_of_x(paper, less, factors, p) != [1, 0]:
                    break
                steps = less
        found = paper.multiply(
            found, paper.divide_exactly(steps, paper.common_divisor(found, steps))
        )
    return found


def _both(paper: Paper, p: int, steps: int) -> dict[int, int]:
    """Return the prime factors of a number of steps by its two parts."""
    found = paper.factorize(p - 1)
    if steps > p - 1:
        for prime, exponent in paper.factorize(steps // (p - 1)).items():
            found[prime] = found.get(prime, 0) + exponent
    return found


def halving(rng: np.random.Generator, level: int) -> Problem:
    """A far term of a sequence whose even and odd terms follow from the terms at half the index."""
    low = {7: 10**5, 8: 10**16, 9: 10**26, 10: 10**46}[level]
    n = among(rng, low, 9 * low)
    a, b, c, d = among(rng, 2, 3), among(rng, 1, 9), among(rng, 2, 4), among(rng, 2, 4)
    known: dict[int, int] = {1: 1}

    def term(k: int) -> int:
        if k not in known:
            half = k // 2
            known[k] = c * term(half) + d * term(half + 1) if k % 2 else a * term(half) + b
        return known[k]

    text = (
        f"A sequence has f(1) = 1, and f(2k) = {a} * f(k) + {b} and f(2k + 1) = {c} * f(k) + {d} * f(k + 1) for "
        f"all whole numbers k > 0. What is f({n})?"
    )
    return Problem(text, [a, b, c, d, n], term(n))


def _solve_halving(paper: Paper, numbers: list[int], text: str) -> int:
    """Go through the binary digits of the index with two neighbouring terms."""
    a, b = numbers[3:5]
    c, d = numbers[7:9]
    n = numbers[-1]
    here, after = 1, paper.add(a, b)
    for bit in f"{n:b}"[1:]:
        even, odd = (paper.add(paper.multiply(a, v), b) for v in (here, after))
        between = paper.add(paper.multiply(c, here), paper.multiply(d, after))
        here, after = (between, odd) if bit == "1" else (even, between)
    return here


KINDS = (
    Kind(far_term, _solve_far_term),
    Kind(period, _solve_period, last=9),
    Kind(halving, _solve_halving),
)
