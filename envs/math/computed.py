"""Questions that want a program: a few lines of code answer them, and no one does by hand.

Each kind gives a question and its answer, by a way that is quick because it knows the structure;
the tests count again the slow way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from verigym.canonical import JSON
from verigym.envs.math.contest.kind import FIRST, Kind, Problem
from verigym.envs.math.counted import SOLVERS
from verigym.envs.math.paper import Paper
from verigym.question import Ask

Drawn = tuple[str, list[JSON], int]
"""Question, operands, and answer."""
_STEPS = 60
"""Minimum work of one question by hand, in the unit of `Ask.steps`."""


def draw(rng: np.random.Generator) -> Ask:
    """Return a question of one of `KINDS`; the answer is a whole number."""
    kind = KINDS[int(rng.integers(len(KINDS)))]
    problem = kind.draw(rng, FIRST)
    return Ask(
        prompt=problem.text,
        answer=str(problem.answer),
        answer_form="evaluated",
        steps=_STEPS,
        tags=(kind.name,),
        essence=[kind.name, *problem.operands],
    )


def digit_sum(rng: np.random.Generator) -> Drawn:
    """Return the sum of the digits of a power."""
    a, b, c = int(rng.integers(3, 60)), int(rng.integers(40, 160)), int(rng.integers(0, 1000))
    value = sum(map(int, str(a**b + c)))
    return f"What is the sum of the decimal digits of {a}^{b} + {c}?", [a, b, c], value


def primes_between(rng: np.random.Generator) -> Drawn:
    """Return the number of primes in a range that leave a given remainder."""
    low = int(rng.integers(1000, 20_000))
    high = low + int(rng.integers(2000, 8000))
    modulus = int(rng.integers(3, 12))
    rest = int(rng.choice([r for r in range(1, modulus) if math.gcd(r, modulus) == 1]))
    sieve = np.ones(high + 1, dtype=bool)
    sieve[:2] = False
    for p in range(2, math.isqrt(high) + 1):
        if sieve[p]:
            sieve[p * p :: p] = False
    value = int(np.count_nonzero(np.flatnonzero(sieve[low:]) % modulus == (rest - low) % modulus))
    return (
        f"How many prime numbers p with {low} <= p <= {high} leave the remainder {rest} when divided by "
        f"{modulus}?",
        [low, high, rest, modulus],
        value,
    )


def square_pairs(rng: np.random.Generator) -> Drawn:
    """Ordered pairs whose squares sum to a multiple."""
    n, m = int(rng.integers(100, 400)), int(rng.integers(5, 40))
    rests = np.bincount(np.arange(1, n + 1) ** 2 % m, minlength=m)
    value = int(sum(int(rests[r]) * int(rests[-r % m]) for r in range(m)))
    return (
        f"For how many ordered pairs (x, y) of whole numbers with 1 <= x <= {n} and 1 <= y <= {n} is "
        f"x^2 + y^2 divisible by {m}?",
        [n, m],
        value,
    )


def change(rng: np.random.Generator) -> Drawn:
    """Count the ways to pay an amount with coins."""
    coins = sorted(int(c) for c in rng.choice(np.arange(2, 30), 4, replace=False))
    total = int(rng.integers(100, 300))
    ways = [1] + [0] * total
    for coin in coins:
        for paid in range(coin, total + 1):
            ways[paid] += ways[paid - coin]
    listed = ", ".join(map(str, coins[:-1]))
    return (
        f"In how many ways can an amount of {total} be paid with coins worth {listed} and {coins[-1]}? Any "
        "number of each coin may be used, and the order of the coins does not matter.",
        [total, *coins],
        ways[total],
    )


def iterated(rng: np.random.Generator) -> Drawn:
    """Return a term of a quadratic recurrence modulo a number."""
    a, c, m = int(rng.integers(2, 50)), int(rng.integers(1, 50)), int(rng.integers(1000, 9000))
    start, n = int(rng.integers(1, 100)), int(rng.integers(500, 2000))
    value = start
    for _ in range(n):
        value = (a * value * value + c) % m
    return (
        f"Let x_0 = {start}, and let x_(k+1) be the remainder when {a} * (x_k)^2 + {c} is divided by {m}. "
        f"What is x_{n}?",
        [start, a, c, m, n],
        value,
    )


def longest_chain(rng: np.random.Generator) -> Drawn:
    """Return the start below a bound from which a Collatz chain is longest; drawn until there is one such."""
    while True:
        low = int(rng.integers(100, 2000))
        high = low + int(rng.integers(100, 400))
        lengths = [_collatz(n) for n in range(low, high + 1)]
        best = max(lengths)
        if lengths.count(best) == 1:
            break
    return (
        "Start with a whole number n. In each step, replace n by n / 2 if n is even and by 3 * n + 1 if n is "
        f"odd, until n is 1. Which starting value from {low} to {high} takes the most steps?",
        [low, high],
        low + lengths.index(best),
    )


@cache
def _collatz(n: int) -> int:
    moves = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        moves += 1
    return moves


def _kind(draw: Callable[[np.random.Generator], Drawn]) -> Kind:
    """Return the kind of the questions of `draw`; they are of one size at all levels."""
    solver = SOLVERS[draw.__name__]

    def problem(rng: np.random.Generator, level: int) -> Problem:
        return Problem(*draw(rng))

    def solve(paper: Paper, numbers: list[int], text: str) -> int:
        return solver(paper, *numbers)

    return Kind(problem, solve, title=draw.__name__)


KINDS = tuple(
    map(_kind, (digit_sum, primes_between, square_pairs, change, iterated, longest_chain))
)
