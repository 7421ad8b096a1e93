"""Discrete logarithms in groups that have to be recognised: ratios of a recurrence, points of a cubic curve.

The order of each group is a product of small primes, so that a logarithm modulo each of them tells the whole one (Pohlig and
Hellman 1978). No trial of exponents comes to an end, and what the group and its order are the question does not say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.contest.primes import draw_smooth_prime, factorize, legendre
from verigym.envs.math.paper import Paper

_SIZES = {8: (18, 3000), 9: (24, 15_000), 10: (30, 60_000)}
"""Digits of the prime, and bound of the prime factors of the order, by level."""
Point = tuple[int, int] | None
"""Point of a curve; None for the one at infinity."""
Pair = tuple[int, int]
_Element = TypeVar("_Element", Point, Pair)


def ratio_of_terms(rng: np.random.Generator, level: int) -> Problem:
    """The first place at which a linear recurrence modulo a prime has a given ratio of neighbours."""
    p = draw_smooth_prime(rng, *_SIZES[level], 1)
    while True:
        b, c, start, after = (among(rng, p // 10, p - 1) for _ in range(4))
        if legendre(b * b + 4 * c, p) == -1:
            break
    field = ExtensionField(p, b, c)
    first = ((after - b * start) % p, start)
    order = find_order(field.times, (1, 0), field.turn((0, 1)), p + 1)
    k = among(rng, order // 3, order)
    u, v = field.times(first, raise_to(field.times, (1, 0), (0, 1), k))
    ratio = (b + u * pow(v, -1, p)) % p
    text = (
        f"Let p be the prime {p}. A sequence has a_0 = {start}, a_1 = {after}, and a_(k+2) is the remainder when {b} * a_(k+1) + "
        f"{c} * a_k is divided by p, for all k >= 0. What is the smallest positive whole number k for which p divides a_(k+1) - "
        f"{ratio} * a_k?"
    )
    return Problem(text, [p, start, after, b, c, ratio], k)


class ExtensionField:
    """Numbers u + vw modulo p, written (u, v), with w^2 = bw + c."""

    def __init__(self, p: int, b: int, c: int) -> None:
        self.p, self.b, self.c = p, b, c

    def times(self, x: Pair, y: Pair) -> Pair:
        """Return the product."""
        both = x[1] * y[1]
        return (x[0] * y[0] + self.c * both) % self.p, (
            x[0] * y[1] + x[1] * y[0] + self.b * both
        ) % self.p

    def turn(self, x: Pair) -> Pair:
        """Return the conjugate divided by the number: the same for all multiples of it, and of an order that divides
        p + 1."""
        u, v = x
        other = ((u + self.b * v) % self.p, -v % self.p)
        norm = pow(self.times(x, other)[0], -1, self.p)
        u, v = self.times(other, other)
        return u * norm % self.p, v * norm % self.p


def _solve_ratio(paper: Paper, numbers: list[int], text: str) -> int:
    """A term and its neighbour are those of w^k times a number of the field, and their ratio is that number but for a
    factor: so the logarithm is one in the field modulo such factors."""
    p, start, after, b, c, ratio = [n for n in numbers if n > 2]
    field = ExtensionField(p, b, c)

    def times(x: Pair, y: Pair) -> Pair:
        paper.look()
        return field.times(x, y)

    base = field.turn((0, 1))
    first, last = field.turn(((after - b * start) % p, start)), field.turn(((ratio - b) % p, 1))
    # The inverse of a number of norm 1 is its conjugate.
    back = ((first[0] + b * first[1]) % p, -first[1] % p)
    order = find_order(times, (1, 0), base, p + 1)
    return logarithm(times, (1, 0), base, times(last, back), order) or order


def multiple_of_point(rng: np.random.Generator, level: int) -> Problem:
    """The number of times that a point of a cubic curve goes into another one; the curve has a node, or is supersingular."""
    shape = among(rng, 0, 3)
    after = -1 if shape == 0 else 1
    p = draw_smooth_prime(rng, *_SIZES[level], after)
    shift = among(rng, p // 10, p - 1)
    while True:
        c, x = among(rng, p // 10, p - 1), among(rng, p // 10, p - 1)
        if shape < 2:
            # y^2 = x^2 (x + c), with y = sx; the tangents of the node have rational slopes if c is a square.
            if legendre(c, p) != (1 if shape == 0 else -1):
                continue
            a2, a4, a6 = c, 0, 0
            point = ((x * x - c) % p, x * (x * x - c) % p)
        else:
            a2, a4, a6 = 0, *((0, c) if shape == 2 else (c, 0))
            square = (x**3 + a4 * x + a6) % p
            if legendre(square, p) != 1:
                continue
            point = (x, pow(square, (p + 1) // 4, p))
        break
    # The curve is moved to the left, so that its shape does not show.
    s = shift
    curve = CubicCurve(
        p,
        (a2 + 3 * s) % p,
        (a4 + 2 * a2 * s + 3 * s * s) % p,
        (a6 + a4 * s + a2 * s * s + s**3) % p,
    )
    one: Point = ((point[0] - s) % p, point[1])
    order = find_order(curve.add, None, one, p + after)
    k = among(rng, order // 3, order - 1)
    other = raise_to(curve.add, None, one, k)
    assert one is not None
    assert other is not None
    text = (
        f"Let p be the prime {p}. Points (x, y) with y^2 = x^3 + {curve.a2} * x^2 + {curve.a4} * x + {curve.a6} modulo p are added by "
        "the usual rule for cubic curves in this form, all modulo p: if a line meets the curve in three points, their sum is the point at "
        "infinity, which is the zero of the addition; a tangent meets the curve twice where it touches it. Let "
        f"P = ({one[0]}, {one[1]}) and Q = ({other[0]}, {other[1]}). What is the smallest positive whole number k for which the sum "
        "of k points P is Q?"
    )
    return Problem(text, [p, curve.a2, curve.a4, curve.a6, *one, *other], k)


class CubicCurve:
    """The curve y^2 = x^3 + a2 x^2 + a4 x + a6 modulo p."""

    def __init__(self, p: int, a2: int, a4: int, a6: int) -> None:
        self.p, self.a2, self.a4, self.a6 = p, a2, a4, a6

    def add(self, one: Point, other: Point) -> Point:
        """Return the sum of two points."""
        if one is None or other is None:
            return other if one is None else one
        p, (x, y), (u, v) = self.p, one, other
        if x != u:
            slope = (v - y) * pow(u - x, -1, p)
        elif (y + v) % p:
            slope = (3 * x * x + 2 * self.a2 * x + self.a4) * pow(2 * y, -1, p)
        else:
            return None
        w = (slope * slope - self.a2 - x - u) % p
        return w, (slope * (x - w) - y) % p


def _solve_multiple(paper: Paper, numbers: list[int], text: str) -> int:
    """The order of the point divides p + 1 or p - 1."""
    p, a2, a4, a6, x, y, u, v = [n for n in numbers if n > 3]
    curve = CubicCurve(p, a2, a4, a6)

    def add(one: Point, other: Point) -> Point:
        paper.look()
        return curve.add(one, other)

    whole = next(n for n in (p + 1, p - 1) if raise_to(add, None, (x, y), n) is None)
    order = find_order(add, None, (x, y), whole)
    return logarithm(add, None, (x, y), (u, v), order) or order


def raise_to(
    join: Callable[[_Element, _Element], _Element], zero: _Element, base: _Element, e: int
) -> _Element:
    """Return `base` joined e times, by doubling."""
    value = zero
    for bit in f"{e:b}":
        value = join(value, value)
        if bit == "1":
            value = join(value, base)
    return value


def find_order(
    join: Callable[[_Element, _Element], _Element], zero: _Element, base: _Element, whole: int
) -> int:
    """Return the order of an element that divides `whole`, a product of small primes."""
    parts = [prime**exponent for prime, exponent in factorize(whole).items()]

    def split(base: _Element, parts: list[int]) -> int:
        """Return the order of an element that divides the product of prime powers, half of them at a time."""
        if len(parts) == 1:
            prime = min(factorize(parts[0]))
            found = 1
            while base != zero:
                base, found = raise_to(join, zero, base, prime), found * prime
            return found
        left, right = parts[::2], parts[1::2]
        return math.prod(
            split(raise_to(join, zero, base, math.prod(others)), some)
            for some, others in ((left, right), (right, left))
        )

    return split(base, parts)


def logarithm(
    join: Callable[[_Element, _Element], _Element],
    zero: _Element,
    base: _Element,
    value: _Element,
    order: int,
) -> int:
    """Return k from 0 to order - 1 for which `base` joined k times gives `value`, modulo one prime power after the other."""
    k, whole = 0, 1
    for prime, exponent in factorize(order).items():
        part = prime**exponent
        g, h = (raise_to(join, zero, one, order // part) for one in (base, value))
        unit = raise_to(join, zero, g, part // prime)
        digits = 0
        for place in range(exponent):
            rest = join(h, raise_to(join, zero, g, part - digits))
            rest = raise_to(join, zero, rest, part // prime ** (place + 1))
            digits += _small_logarithm(join, zero, unit, rest, prime) * prime**place
        k += (digits - k) * pow(whole, -1, part) % part * whole
        whole *= part
    return k


def _small_logarithm(
    join: Callable[[_Element, _Element], _Element],
    zero: _Element,
    base: _Element,
    value: _Element,
    prime: int,
) -> int:
    """Do as `logarithm` for a base of a prime order, by baby and giant steps."""
    step = math.isqrt(prime) + 1
    first = {zero: 0}
    here = zero
    for i in range(1, step):
        here = join(here, base)
        first.setdefault(here, i)
    back = raise_to(join, zero, base, -step % prime)
    for high in range(0, step * step, step):
        if value in first:
            return (high + first[value]) % prime
        value = join(value, back)
    raise ValueError("the value is no multiple of the base")


KINDS = (
    Kind(ratio_of_terms, _solve_ratio, first=8, free=r"(?<=- )\d+(?= \* a_k\?)"),
    Kind(multiple_of_point, _solve_multiple, first=8, free=r"\d{9,}(?=\)\. What)"),
)
