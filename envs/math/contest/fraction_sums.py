"""Sums of fractions without common factors, and continued fractions of long numbers."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.contest.primes import draw_primes
from verigym.envs.math.paper import Paper


def coprime_sum(rng: np.random.Generator, level: int) -> Problem:
    """A sum and difference of fractions whose denominators are different primes."""
    count = {8: 10, 9: 17, 10: 30}[level] + among(rng, 0, 1)
    primes = draw_primes(rng, count, 1000, 9999)
    above = [among(rng, 2, p - 1) for p in primes]
    signs = [1] + [1 if rng.integers(2) else -1 for _ in primes[1:]]
    total, below = 0, 1
    for a, p, sign in zip(above, primes, signs, strict=True):
        total, below = total * p + sign * a * below, below * p
    shown = "".join(
        f" {'+' if sign > 0 else '-'} {a}/{p}"
        for a, p, sign in zip(above, primes, signs, strict=True)
    )
    return Problem(f"What is {shown[3:]}?", [above, primes, signs], Fraction(total, below))


def _solve_coprime_sum(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Join neighbours to pairs, pairs to fours and so on; nothing can be reduced, as the primes are different."""
    parts = [(int(sign + a), int(p)) for sign, a, p in re.findall(r"(-?) ?(\d+)/(\d+)", text)]
    while len(parts) > 1:
        joined = []
        for (a, p), (b, q) in zip(parts[::2], parts[1::2], strict=False):
            total = paper.add(paper.multiply(a, q), paper.multiply(b, p))
            joined.append((total, paper.multiply(p, q)))
        parts = joined + ([parts[-1]] if len(parts) % 2 else [])
    return Fraction(*parts[0])


def partial_quotients(rng: np.random.Generator, level: int) -> Problem:
    """A weighted sum of all partial quotients of a fraction."""
    digits = {8: 42, 9: 80, 10: 150}[level]
    above, below = (among(rng, 10 ** (digits - 1), 10**digits) for _ in range(2))
    total, place, a, b = 0, 0, above, below
    while b:
        total += place * (a // b)
        a, b = b, a % b
        place += 1
    text = (
        f"The number {above}/{below} is written as a continued fraction a_0 + 1/(a_1 + 1/(a_2 + 1/(a_3 + ...))), in which "
        "all a_k are whole numbers, those from a_1 on are positive, and the last one is at least 2. What is the sum of k * a_k "
        "over all k?"
    )
    return Problem(text, [str(above), str(below)], total)


def _solve_partial_quotients(paper: Paper, numbers: list[int], text: str) -> int:
    above, below = numbers[:2]
    total = place = 0
    while below:
        times, rest = paper.divide(above, below)
        total = paper.add(total, paper.multiply(place, times))
        above, below = below, rest
        place += 1
    return total


KINDS = (
    Kind(coprime_sum, _solve_coprime_sum, first=8, is_whole=False, free=r"\d+(?=/)"),
    Kind(partial_quotients, _solve_partial_quotients, first=8, free=r"(?<=number )\d+|\d+(?= is)"),
)
