"""Logarithms on elliptic curves over small primes, for work by hand: no factor base shortens them, as it does modulo a prime."""

from __future__ import annotations

import math

import numpy as np

from verigym.envs.math.contest.hidden_groups import CubicCurve, raise_to
from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.contest.primes import draw_primes, factorize
from verigym.envs.math.modular import invert, times
from verigym.envs.math.paper import Paper

Point = tuple[int, int] | None
"""Point of a curve; None for the one at infinity."""


def point_logarithm(rng: np.random.Generator, level: int) -> Problem:
    """The number of times that a point of an elliptic curve of a prime order goes into another point."""
    low, high = {8: (100, 300), 9: (500, 1000), 10: (4000, 8000)}[level]
    p = draw_primes(rng, 1, low, high)[0]
    while True:
        a, b = among(rng, 1, p - 1), among(rng, 1, p - 1)
        order = count_points(p, a, b)
        # The curve would be shorter than it looks if its order were p or divided p + 1 (Smart; Menezes, Okamoto and Vanstone).
        if order not in (p, p + 1) and factorize(order) == {order: 1}:
            break
    while True:
        x = among(rng, 1, p - 1)
        squares = np.arange(p, dtype=np.int64) ** 2 % p
        heights = np.flatnonzero(squares == (x**3 + a * x + b) % p).tolist()
        if len(heights) == 2:
            y = int(heights[int(rng.integers(2))])
            break
    k = among(rng, order // 5, order - order // 5)
    other = raise_to(CubicCurve(p, 0, a, b).add, None, (x, y), k)
    assert other is not None
    text = (
        f"The points (x, y) with whole numbers x and y from 0 to {p - 1} for which y^2 - x^3 - {a}x - {b} is divisible by the prime {p} "
        f"form a group with the point at infinity as zero: the sum of three points on a line is zero, all calculated modulo {p}, where a "
        f"tangent counts its point twice. For which positive whole number k, as small as possible, is the sum of k points ({x}, {y}) the point "
        f"({other[0]}, {other[1]})?"
    )
    return Problem(text, [p, a, b, x, y, *other], k)


def count_points(p: int, a: int, b: int) -> int:
    """Return the number of points of the curve y^2 = x^3 + ax + b modulo a small prime, with the one at infinity."""
    x = np.arange(p, dtype=np.int64)
    roots = np.bincount(x * x % p, minlength=p)
    return 1 + int(roots[((x * x + a) % p * x + b) % p].sum())


def _solve_point_logarithm(paper: Paper, numbers: list[int], text: str) -> int:
    """Baby and giant steps; the opposite of each baby step is known too, so that giant steps may be twice as large."""
    p = numbers[1] + 1
    a, x, y, u, v = (abs(n) for n in (numbers[4], *numbers[-4:]))
    base: Point = (x, y)

    def add(one: Point, other: Point) -> Point:
        if one is None or other is None:
            return other if one is None else one
        if one[0] != other[0]:
            above, below = paper.subtract(other[1], one[1]), paper.subtract(other[0], one[0])
        elif (one[1] + other[1]) % p:
            above = paper.add(3 * paper.multiply(one[0], one[0]), a)
            below = 2 * one[1]
        else:
            return None
        slope = times(paper, above % p, invert(paper, below % p, p), p)
        square = paper.multiply(slope, slope)
        third = paper.divide(paper.subtract(square, paper.add(one[0], other[0])), p)[1]
        turned = paper.multiply(slope, paper.subtract(one[0], third))
        return third, paper.divide(paper.subtract(turned, one[1]), p)[1]

    step = math.isqrt(p // 2) + 1
    small: dict[int, tuple[int, int]] = {}
    here: Point = None
    for i in range(1, step + 1):
        here = add(here, base)
        assert here is not None
        small.setdefault(here[0], (i, here[1]))
    # Giant steps go down by 2 * step + 1, so that each place is at most `step` away from one of them.
    giant = add(add(here, here), base)
    assert giant is not None
    down: Point = (giant[0], -giant[1] % p)
    rest: Point = (u, v)
    k = 0
    while rest is not None and rest[0] not in small:
        paper.look()
        rest = add(rest, down)
        k += 2 * step + 1
    if rest is None:
        return k
    i, height = small[rest[0]]
    return k + i if height == rest[1] else k - i


KINDS = (Kind(point_logarithm, _solve_point_logarithm, first=8, free=r"\d+(?=\)\?)"),)
