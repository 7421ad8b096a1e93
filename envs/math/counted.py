"""Solvers of the questions that want a program; each counts what its program would do.

An operation is one on whole numbers of any size, as a program does them: a product, a sum, a remainder,
a number that is crossed out.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from verigym.envs.math.paper import Paper


def _solve_digit_sum(paper: Paper, a: int, b: int, c: int) -> int:
    value = 1
    for _ in range(b):
        paper.look()
        value *= a
    total = 0
    for digit in str(value + c):
        paper.look()
        total += int(digit)
    return total


def _solve_primes_between(paper: Paper, low: int, high: int, rest: int, modulus: int) -> int:
    """Cross out the multiples in the range, and try the remainders of what is left."""
    crossed: set[int] = set()
    for p in range(2, math.isqrt(high) + 1):
        paper.look()
        if all(p % q for q in range(2, math.isqrt(p) + 1)):
            for multiple in range(max(p * p, -(-low // p) * p), high + 1, p):
                paper.look()
                crossed.add(multiple)
    count = 0
    for n in range(low, high + 1):
        if n not in crossed:
            paper.look()
            count += n % modulus == rest
    return count


def _solve_square_pairs(paper: Paper, *numbers: int) -> int:
    """Count the remainders of the squares, and join those that add up to 0."""
    _, n, *_, m = numbers
    squares = [0] * m
    for x in range(1, n + 1):
        paper.look()
        squares[x * x % m] += 1
    pairs = 0
    for rest in range(m):
        paper.look()
        pairs += squares[rest] * squares[-rest % m]
    return pairs


def _solve_change(paper: Paper, total: int, *coins: int) -> int:
    ways = [1] + [0] * total
    for coin in coins:
        for paid in range(coin, total + 1):
            paper.look()
            ways[paid] += ways[paid - coin]
    return ways[total]


def _solve_iterated(paper: Paper, *numbers: int) -> int:
    _, value, _, a, _, c, m, n = numbers
    for _ in range(n):
        paper.look()
        value = (a * value * value + c) % m
    return value


def _solve_longest_chain(paper: Paper, *numbers: int) -> int:
    """Follow each chain until it meets one that is known."""
    low, high = numbers[-2:]
    known = {1: 0}
    best = low
    for start in range(low, high + 1):
        chain, n = [], start
        while n not in known:
            paper.look()
            chain.append(n)
            n = 3 * n + 1 if n % 2 else n // 2
        for moves, passed in enumerate(reversed(chain), known[n] + 1):
            known[passed] = moves
        if known[start] > known[best]:
            best = start
    return best


SOLVERS: dict[str, Callable[..., int]] = {
    "digit_sum": _solve_digit_sum,
    "primes_between": _solve_primes_between,
    "square_pairs": _solve_square_pairs,
    "change": _solve_change,
    "iterated": _solve_iterated,
    "longest_chain": _solve_longest_chain,
}
