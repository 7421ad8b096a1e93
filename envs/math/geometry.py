"""Coordinate geometry with exact answers; one turn."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.question import Ask, Question

SIZES = {2: 6, 4: 12, 6: 20}

Point = tuple[int, int]


class Geometry(Question):
    """Midpoints, distances, areas, lines, reflections, circles through three points."""

    id: ClassVar[str] = "verigym/math/geometry-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        kinds = KINDS[level // 2 - 1 : level + 2]
        kind = kinds[int(rng.integers(len(kinds)))]
        text, answer = kind(rng, SIZES[level])
        return Ask(
            prompt=text,
            answer=answer,
            answer_form="reduced",
            steps=2 * level,
            tags=(kind.__name__,),
        )


def _points(rng: np.random.Generator, size: int, count: int) -> list[Point]:
    """Different points; the first three not on one line."""
    while True:
        points = [(int(x), int(y)) for x, y in rng.integers(-size, size + 1, (count, 2))]
        if len(set(points)) == count and (count < 3 or twice_area(points[:3])):
            return points


def midpoint(rng: np.random.Generator, size: int) -> tuple[str, str]:
    """Midpoint of two points."""
    a, b = _points(rng, size, 2)
    text = f"What is the midpoint of {a} and {b}? Give a pair (x, y)."
    return text, f"({Fraction(a[0] + b[0], 2)}, {Fraction(a[1] + b[1], 2)})"


def distance(rng: np.random.Generator, size: int) -> tuple[str, str]:
    """Distance of two points, as a root."""
    a, b = _points(rng, size, 2)
    square = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
    text = f"What is the distance of {a} and {b}? Give an exact value; sqrt(2) is a root."
    return text, root(square)


def triangle_area(rng: np.random.Generator, size: int) -> tuple[str, str]:
    """Area of a triangle, from its corners."""
    a, b, c = _points(rng, size, 3)
    text = f"What is the area of the triangle with corners {a}, {b} and {c}?"
    return text, str(Fraction(abs(twice_area([a, b, c])), 2))


def slope_and_intercept(rng: np.random.Generator, size: int) -> tuple[str, str]:
    """Slope and intercept of the line through two points."""
    while True:
        a, b = _points(rng, size, 2)
        if a[0] != b[0]:
            break
    m = Fraction(b[1] - a[1], b[0] - a[0])
    text = f"The line through {a} and {b} is y = m x + c. Give the pair (m, c)."
    return text, f"({m}, {a[1] - m * a[0]})"


def crossing(rng: np.random.Generator, size: int) -> tuple[str, str]:
    """Intersection of two lines, each through two points."""
    while True:
        a, b, c, d = _points(rng, size, 4)
        across = (b[0] - a[0]) * (d[1] - c[1]) - (b[1] - a[1]) * (d[0] - c[0])
        if across:
            break
    t = Fraction((c[0] - a[0]) * (d[1] - c[1]) - (c[1] - a[1]) * (d[0] - c[0]), across)
    text = f"Where does the line through {a} and {b} meet the line through {c} and {d}? Give a pair (x, y)."
    return text, f"({a[0] + t * (b[0] - a[0])}, {a[1] + t * (b[1] - a[1])})"


def reflection(rng: np.random.Generator, size: int) -> tuple[str, str]:
    """Reflection of a point in the line through two others."""
    a, b, p = _points(rng, size, 3)
    x, y = _foot(a, b, p)
    text = f"Reflect {p} in the line through {a} and {b}. Give a pair (x, y)."
    return text, f"({2 * x - p[0]}, {2 * y - p[1]})"


def polygon_area(rng: np.random.Generator, size: int) -> tuple[str, str]:
    """Area of a polygon whose corners go round a point inside it."""
    while True:
        points = [p for p in _points(rng, size, 6) if p != (0, 0)]
        points.sort(key=lambda p: math.atan2(p[1], p[0]))
        # Going round the origin, each turn less than half: no side crosses another.
        turns = [
            p[0] * q[1] - p[1] * q[0] for p, q in zip(points, points[1:] + points[:1], strict=True)
        ]
        if all(turn > 0 for turn in turns):
            break
    corners = ", ".join(map(str, points))
    return f"What is the area of the polygon with corners, in order, {corners}?", str(
        Fraction(abs(twice_area(points)), 2)
    )


def circle(rng: np.random.Generator, size: int) -> tuple[str, str]:
    """The centre of the circle through three points."""
    a, b, c = _points(rng, size, 3)
    d = 2 * twice_area([a, b, c])
    squares = [x * x + y * y for x, y in (a, b, c)]
    x = Fraction(
        squares[0] * (b[1] - c[1]) + squares[1] * (c[1] - a[1]) + squares[2] * (a[1] - b[1]), d
    )
    y = Fraction(
        squares[0] * (c[0] - b[0]) + squares[1] * (a[0] - c[0]) + squares[2] * (b[0] - a[0]), d
    )
    text = f"What is the centre of the circle through {a}, {b} and {c}? Give a pair (x, y)."
    return text, f"({x}, {y})"


KINDS: tuple[Callable[[np.random.Generator, int], tuple[str, str]], ...] = (
    midpoint,
    distance,
    triangle_area,
    slope_and_intercept,
    crossing,
    reflection,
    polygon_area,
    circle,
)


def twice_area(points: list[Point]) -> int:
    """Signed, by the shoelace formula."""
    return sum(
        p[0] * q[1] - p[1] * q[0] for p, q in zip(points, points[1:] + points[:1], strict=True)
    )


def root(square: int) -> str:
    """The square root with square factors taken out."""
    outside = 1
    for n in range(2, math.isqrt(square) + 1):
        while square % (n * n) == 0:
            square //= n * n
            outside *= n
    if square == 1:
        return str(outside)
    return f"{outside}*sqrt({square})" if outside > 1 else f"sqrt({square})"


def _foot(a: Point, b: Point, p: Point) -> tuple[Fraction, Fraction]:
    along = (b[0] - a[0], b[1] - a[1])
    t = Fraction((p[0] - a[0]) * along[0] + (p[1] - a[1]) * along[1], along[0] ** 2 + along[1] ** 2)
    return a[0] + t * along[0], a[1] + t * along[1]
