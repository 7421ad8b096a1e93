"""Coordinate geometry with exact answers; one turn."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.math.contest import configurations, loci, overlaps
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.paper import Paper
from verigym.envs.math.worked import Worked
from verigym.question import Ask

# How far points are from the axes, and which kinds.
LEVELS = {
    1: (5, slice(0, 3)),
    2: (6, slice(0, 4)),
    3: (9, slice(0, 5)),
    4: (12, slice(1, 6)),
    5: (12, slice(2, 8)),
    6: (20, slice(2, 8)),
    7: (50, slice(2, 8)),
}

Point = tuple[int, int]
Drawn = tuple[str, list[Point], str]
"""Question, given points, and answer."""


class Geometry(Worked):
    """Midpoints, distances, areas, lines, reflections, circles through three points; from level 7 on contest
    questions on configurations of circles, spheres, lines in space, polygons and mirrors."""

    id: ClassVar[str] = "verigym/math/geometry-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    contest_kinds: ClassVar[tuple[Kind, ...]] = configurations.KINDS + loci.KINDS + overlaps.KINDS

    @override
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        size, some = LEVELS[level]
        kinds = KINDS[some]
        kind = kinds[int(rng.integers(len(kinds)))]
        text, given, answer = kind(rng, size)
        return Ask(
            prompt=text,
            answer=answer,
            answer_form="reduced",
            steps=2 * level,
            tags=(kind.__name__,),
            essence=[kind.__name__, *(list(point) for point in given)],
        )

    @override
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        pairs = re.findall(r"\((-?\d+), (-?\d+)\)", question)
        return SOLVERS[kind](paper, *((int(x), int(y)) for x, y in pairs))


def _points(rng: np.random.Generator, size: int, count: int) -> list[Point]:
    """Different points; the first three not on one line."""
    while True:
        points = [(int(x), int(y)) for x, y in rng.integers(-size, size + 1, (count, 2))]
        if len(set(points)) == count and (count < 3 or twice_area(points[:3])):
            return points


def midpoint(rng: np.random.Generator, size: int) -> Drawn:
    """Draw two points, and ask for their midpoint."""
    a, b = _points(rng, size, 2)
    text = f"What is the midpoint of {a} and {b}? Give it as a pair (x, y)."
    return text, [a, b], f"({Fraction(a[0] + b[0], 2)}, {Fraction(a[1] + b[1], 2)})"


def distance(rng: np.random.Generator, size: int) -> Drawn:
    """Draw two points, and ask for their distance, as a root."""
    a, b = _points(rng, size, 2)
    square = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
    text = (
        f"What is the distance between {a} and {b}? Give the exact value, with sqrt(n) for the square root of "
        "n."
    )
    return text, [a, b], root(square)


def triangle_area(rng: np.random.Generator, size: int) -> Drawn:
    """Draw a triangle, and ask for its area."""
    a, b, c = _points(rng, size, 3)
    text = f"What is the area of the triangle with vertices {a}, {b} and {c}?"
    return text, [a, b, c], str(Fraction(abs(twice_area([a, b, c])), 2))


def slope_and_intercept(rng: np.random.Generator, size: int) -> Drawn:
    """Draw two points, and ask for slope and intercept of the line through them."""
    while True:
        a, b = _points(rng, size, 2)
        if a[0] != b[0]:
            break
    m = Fraction(b[1] - a[1], b[0] - a[0])
    text = f"The line through {a} and {b} has the equation y = m x + c. What is the pair (m, c)?"
    return text, [a, b], f"({m}, {a[1] - m * a[0]})"


def crossing(rng: np.random.Generator, size: int) -> Drawn:
    """Draw two lines, each through two points, and ask for their intersection."""
    while True:
        a, b, c, d = _points(rng, size, 4)
        across = (b[0] - a[0]) * (d[1] - c[1]) - (b[1] - a[1]) * (d[0] - c[0])
        if across:
            break
    t = Fraction((c[0] - a[0]) * (d[1] - c[1]) - (c[1] - a[1]) * (d[0] - c[0]), across)
    text = (
        f"At which point does the line through {a} and {b} meet the line through {c} and {d}? Give it as a "
        "pair (x, y)."
    )
    return text, [a, b, c, d], f"({a[0] + t * (b[0] - a[0])}, {a[1] + t * (b[1] - a[1])})"


def reflection(rng: np.random.Generator, size: int) -> Drawn:
    """Draw three points, and ask for the reflection of one in the line through the others."""
    a, b, p = _points(rng, size, 3)
    x, y = _foot(a, b, p)
    text = f"What is the reflection of {p} across the line through {a} and {b}? Give it as a pair (x, y)."
    return text, [p, a, b], f"({2 * x - p[0]}, {2 * y - p[1]})"


def polygon_area(rng: np.random.Generator, size: int) -> Drawn:
    """Draw a polygon whose corners go round a point inside it, and ask for its area; more than six for a size above
    100."""
    count = 6 if size <= 20 else 2 + 2 * len(str(size))
    while True:
        points = [p for p in _points(rng, size, count) if p != (0, 0)]
        points.sort(key=lambda p: math.atan2(p[1], p[0]))
        # Going round the origin, each turn less than half: no side crosses another.
        turns = [
            p[0] * q[1] - p[1] * q[0] for p, q in zip(points, points[1:] + points[:1], strict=True)
        ]
        if all(turn > 0 for turn in turns):
            break
    corners = ", ".join(map(str, points))
    text = f"What is the area of the polygon whose vertices are, in order, {corners}?"
    return text, points, str(Fraction(abs(twice_area(points)), 2))


def circle(rng: np.random.Generator, size: int) -> Drawn:
    """Return the centre of the circle through three points."""
    a, b, c = _points(rng, size, 3)
    d = 2 * twice_area([a, b, c])
    squares = [x * x + y * y for x, y in (a, b, c)]
    x = Fraction(
        squares[0] * (b[1] - c[1]) + squares[1] * (c[1] - a[1]) + squares[2] * (a[1] - b[1]), d
    )
    y = Fraction(
        squares[0] * (c[0] - b[0]) + squares[1] * (a[0] - c[0]) + squares[2] * (b[0] - a[0]), d
    )
    text = f"What is the centre of the circle through {a}, {b} and {c}? Give it as a pair (x, y)."
    return text, [a, b, c], f"({x}, {y})"


KINDS: tuple[Callable[[np.random.Generator, int], Drawn], ...] = (
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
    """Return the signed area, doubled, by the shoelace formula."""
    return sum(
        p[0] * q[1] - p[1] * q[0] for p, q in zip(points, points[1:] + points[:1], strict=True)
    )


def root(square: int) -> str:
    """Return the square root with square factors taken out."""
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


def _solve_midpoint(paper: Paper, a: Point, b: Point) -> str:
    x, y = (paper.reduce(paper.add(a[i], b[i]), 2) for i in (0, 1))
    return f"({x}, {y})"


def _solve_distance(paper: Paper, a: Point, b: Point) -> str:
    """Add the squares, and take square factors out of the root."""
    x, y = _step(paper, a, b)
    square = paper.add(paper.multiply(x, x), paper.multiply(y, y))
    outside = 1
    for prime, exponent in paper.factorize(square).items():
        for _ in range(exponent // 2):
            outside = paper.multiply(outside, prime)
    square = paper.divide_exactly(square, paper.multiply(outside, outside))
    if square == 1:
        return str(outside)
    return f"{outside}*sqrt({square})" if outside > 1 else f"sqrt({square})"


def _solve_area(paper: Paper, *corners: Point) -> str:
    """Add the cross products of corners that follow each other (the shoelace formula)."""
    total = 0
    for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
        total = paper.add(total, _cross(paper, a, b))
    return str(paper.reduce(abs(total), 2))


def _solve_line(paper: Paper, a: Point, b: Point) -> str:
    across, up = _step(paper, a, b)
    slope = paper.reduce(up, across)
    rise = paper.multiply_fractions(slope, Fraction(a[0]))
    return f"({slope}, {paper.subtract_fractions(Fraction(a[1]), rise)})"


def _solve_crossing(paper: Paper, a: Point, b: Point, c: Point, d: Point) -> str:
    """Write each line as an equation, and solve both by determinants."""
    first, second = _step(paper, a, b), _step(paper, c, d)
    sides = _cross(paper, a, first), _cross(paper, c, second)
    below = _cross(paper, first, second)
    x = paper.reduce(_cross(paper, (first[0], second[0]), sides), below)
    y = paper.reduce(_cross(paper, (first[1], second[1]), sides), below)
    return _shown((x, y))


def _solve_reflection(paper: Paper, p: Point, a: Point, b: Point) -> str:
    """Go from p to the foot of the perpendicular, and as far again."""
    line, away = _step(paper, a, b), _step(paper, a, p)
    part = paper.reduce(_dot(paper, away, line), _dot(paper, line, line))
    foot = _along(paper, a, line, part)
    twice = (paper.multiply_fractions(Fraction(2), v) for v in foot)
    x, y = (paper.subtract_fractions(v, Fraction(p[i])) for i, v in enumerate(twice))
    return _shown((x, y))


def _solve_circle(paper: Paper, a: Point, b: Point, c: Point) -> str:
    """Cut the perpendicular bisectors of two sides, seen from the corner a."""
    b, c = _step(paper, a, b), _step(paper, a, c)
    far, near = _dot(paper, b, b), _dot(paper, c, c)
    below = paper.multiply(2, _cross(paper, b, c))
    x = paper.reduce(_cross(paper, (far, near), (b[1], c[1])), below)
    y = paper.reduce(_cross(paper, (b[0], c[0]), (far, near)), below)
    moved = (paper.add_fractions(v, Fraction(a[i])) for i, v in enumerate((x, y)))
    return _shown(tuple(moved))


def _step(paper: Paper, a: Point, b: Point) -> Point:
    return paper.subtract(b[0], a[0]), paper.subtract(b[1], a[1])


def _cross(paper: Paper, a: Point, b: Point) -> int:
    return paper.subtract(paper.multiply(a[0], b[1]), paper.multiply(a[1], b[0]))


def _dot(paper: Paper, a: Point, b: Point) -> int:
    return paper.add(paper.multiply(a[0], b[0]), paper.multiply(a[1], b[1]))


def _along(paper: Paper, a: Point, line: Point, part: Fraction) -> tuple[Fraction, ...]:
    """Return the point that is `part` of the way along a line from a."""
    steps = (paper.multiply_fractions(part, Fraction(step)) for step in line)
    return tuple(paper.add_fractions(step, Fraction(a[i])) for i, step in enumerate(steps))


def _shown(point: tuple[Fraction, ...]) -> str:
    return f"({point[0]}, {point[1]})"


SOLVERS: dict[str, Callable[..., str]] = {
    "midpoint": _solve_midpoint,
    "distance": _solve_distance,
    "triangle_area": _solve_area,
    "slope_and_intercept": _solve_line,
    "crossing": _solve_crossing,
    "reflection": _solve_reflection,
    "polygon_area": _solve_area,
    "circle": _solve_circle,
}
