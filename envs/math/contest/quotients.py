"""Fractions that are closest to others, sums that telescope, digits of decimals, and mixtures."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.contest.primes import draw_primes
from verigym.envs.math.paper import Paper


def closest_fraction(rng: np.random.Generator, level: int) -> Problem:
    """The fraction with a bounded denominator that is closest to a given one."""
    digits = {7: 7, 8: 20, 9: 36, 10: 66}[level]
    below = among(rng, 10**digits // 2, 10**digits) if digits < 18 else _long(rng, digits)
    value = Fraction(_long(rng, digits), below)
    bound = among(rng, 10 ** (digits // 2), 4 * 10 ** (digits // 2))
    text = f"Which fraction with a denominator of at most {bound} is closest to {value.numerator}/{value.denominator}?"
    return Problem(text, [str(value), bound], value.limit_denominator(bound))


def _long(rng: np.random.Generator, digits: int) -> int:
    return int("".join(map(str, [among(rng, 1, 9), *rng.integers(0, 10, digits - 1).tolist()])))


def _solve_closest_fraction(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Go down the continued fraction as far as the bound lets, and compare with the last step cut short."""
    bound, above, below = numbers
    p, q, u, v = 1, 0, 0, 1
    a, b = above, below
    while b:
        times, rest = paper.divide(a, b)
        longer = paper.add(paper.multiply(times, q), v)
        if longer > bound:
            break
        p, u = paper.add(paper.multiply(times, p), u), p
        q, v = longer, q
        a, b = b, rest
    else:
        return Fraction(p, q)
    cut = paper.divide(paper.subtract(bound, v), q)[0]
    r, s = paper.add(paper.multiply(cut, p), u), paper.add(paper.multiply(cut, q), v)
    gaps = [
        abs(paper.subtract(paper.multiply(above, d), paper.multiply(below, n)))
        for n, d in ((p, q), (r, s))
    ]
    if paper.multiply(gaps[0], s) <= paper.multiply(gaps[1], q):
        return Fraction(p, q)
    return Fraction(r, s)


def telescoping(rng: np.random.Generator, level: int) -> Problem:
    """A sum of reciprocals of products that telescopes after partial fractions."""
    count, most, low, high = {
        7: (2, 4, 12, 30),
        8: (4, 7, 60, 99),
        9: (4, 12, 80, 140),
        10: (5, 20, 150, 300),
    }[level]
    n = among(rng, low, high)
    shifts = sorted(int(k) for k in rng.permutation(most + 1)[:count])
    shifts[-1] = max(shifts[-1], most)
    c = among(rng, 2, 9)
    value = Fraction(0)
    for k in range(1, n + 1):
        value += Fraction(c, math.prod(k + shift for shift in shifts))
    product = " * ".join(f"(k + {shift})" if shift else "k" for shift in shifts)
    text = f"What is the sum of {c} / ({product}) over all whole numbers k from 1 to {n}?"
    return Problem(text, [c, shifts, n], value)


def _solve_telescoping(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Split into partial fractions; what is left are terms at both ends."""
    inner = re.search(r"of (\d+) / \((.*)\) over .* to (\d+)\?", text)
    assert inner
    c, n = int(inner[1]), int(inner[3])
    shifts = [int(part[5:-1]) if "+" in part else 0 for part in inner[2].split(" * ")]
    ends: dict[int, Fraction] = {}
    for shift in shifts:
        below = 1
        for other in shifts:
            if other != shift:
                below = paper.multiply(below, other - shift)
        part = paper.reduce(c, below)
        # From 1 to n the terms 1 / (k + shift): those at the start are too few, those at the end too many.
        for k in range(1, max(shifts) - shift + 1):
            for place, sign in ((shift + k, 1), (shift + n + k, -1)):
                paper.look()
                ends[place] = paper.add_fractions(ends.get(place, Fraction(0)), sign * part)
    total = Fraction(0)
    for place, part in sorted(ends.items()):
        if part:
            total = paper.add_fractions(total, paper.multiply_fractions(part, Fraction(1, place)))
    return total


def digits_of_a_fraction(rng: np.random.Generator, level: int) -> Problem:
    """The sum of many decimals of a fraction."""
    low, high = {7: (40, 110), 8: (500, 999), 9: (1200, 2000), 10: (4000, 7000)}[level]
    while True:
        p = draw_primes(rng, 1, low, high)[0]
        above = among(rng, 2, p - 1)
        remainders = [above]
        while (rest := remainders[-1] * 10 % p) != above:
            remainders.append(rest)
        if len(remainders) > p // 3:
            break
    digits = [rest * 10 // p for rest in remainders]
    n = among(rng, 10 ** (level - 3), 10 ** (level - 2))
    full, rest = divmod(n, len(digits))
    text = f"Write {above}/{p} as a decimal number. What is the sum of the first {n} digits after the decimal point?"
    return Problem(text, [above, p, n], full * sum(digits) + sum(digits[:rest]))


def _solve_digits(paper: Paper, numbers: list[int], text: str) -> int:
    """Divide until the remainder comes back."""
    above, p, n = numbers
    rest, digits = above, list[int]()
    while not digits or rest != above:
        digit, rest = paper.divide(10 * rest, p)
        digits.append(digit)
    full, left = paper.divide(n, len(digits))
    whole = part = 0
    for place, digit in enumerate(digits):
        whole = paper.add(whole, digit)
        if place < left:
            part = whole
    return paper.add(paper.multiply(full, whole), part)


def exchange(rng: np.random.Generator, level: int) -> Problem:
    """The share of juice in a vessel after pouring to and fro."""
    rounds = {7: 2, 8: 5, 9: 8, 10: 14}[level] + among(rng, 0, 1)
    a, b, c = among(rng, 6, 60), among(rng, 6, 60), among(rng, 2, 5)
    share, other = Fraction(0), Fraction(1)
    for _ in range(rounds):
        other = (b * other + c * share) / (b + c)
        share = ((a - c) * share + c * other) / a
    text = (
        f"Vessel A holds {a} liters of water, vessel B {b} liters of juice. In one round, {c} liters are poured from A "
        f"into B, B is mixed well, and then {c} liters are poured from B back into A, which is mixed well. Which "
        f"fraction of the content of A is juice after {rounds} rounds?"
    )
    return Problem(text, [a, b, c, rounds], share)


def _solve_exchange(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """The difference of the two shares shrinks by the same factor in each round; the mean is kept."""
    a, b, c, _, rounds = numbers
    factor = paper.reduce(
        paper.multiply(paper.subtract(a, c), b), paper.multiply(a, paper.add(b, c))
    )
    power = Fraction(1)
    for _ in range(rounds):
        power = paper.multiply_fractions(power, factor)
    final = paper.reduce(b, paper.add(a, b))
    return paper.multiply_fractions(final, paper.subtract_fractions(Fraction(1), power))


KINDS = (
    Kind(closest_fraction, _solve_closest_fraction, is_whole=False),
    Kind(telescoping, _solve_telescoping, is_whole=False),
    Kind(digits_of_a_fraction, _solve_digits),
    Kind(exchange, _solve_exchange, is_whole=False, free=r"\d+(?= liters of| rounds)"),
)
