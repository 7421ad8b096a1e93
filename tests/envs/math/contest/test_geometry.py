"""Contest questions of geometry, answered by sympy's geometry, by minimizing distances and by counting points."""

import re
from fractions import Fraction

import numpy as np
import pytest
import sympy

from verigym.envs.math.contest import configurations
from verigym.envs.math.contest import kind as contest

KINDS = {kind.name: kind for kind in configurations.KINDS}


def asks(name, level, count=4):
    for seed in range(100, 100 + count):
        ask = contest.ask((KINDS[name],), np.random.default_rng([seed, level]), level)
        found = re.findall(r"\((-?\d+(?:, -?\d+)+)\)", ask.prompt)
        yield (
            ask.prompt,
            [tuple(map(int, text.split(", "))) for text in found],
            Fraction(ask.answer),
        )


@pytest.mark.parametrize("level", [7, 9])
def test_radical_center(level):
    for prompt, _, answer in asks("radical_center", level):
        x, y = sympy.symbols("x y")
        powers = []
        for part in re.split(r"circle \d ", prompt.partition(". For")[0])[1:]:
            points = [sympy.Point(*map(int, p)) for p in re.findall(r"\((-?\d+), (-?\d+)\)", part)]
            if "through" in part:
                circle = sympy.Circle(*points)
                center, square = circle.center, circle.radius**2
            else:
                center, square = points[0], int(re.search(r"radius (\d+)", part)[1]) ** 2
            powers.append((x - center.x) ** 2 + (y - center.y) ** 2 - square)
        (point,) = sympy.solve([sympy.expand(powers[0] - p) for p in powers[1:]], [x, y], dict=True)
        assert sympy.expand(powers[0].subs(point)) == sympy.Rational(answer)


@pytest.mark.parametrize("level", [7, 9])
def test_sphere(level):
    for _, points, answer in asks("sphere", level):
        x, y, z = sympy.symbols("x y z")
        squares = [sum((a - b) ** 2 for a, b in zip((x, y, z), p, strict=True)) for p in points]
        center = sympy.solve([sympy.expand(s - squares[0]) for s in squares[1:]], [x, y, z])
        assert squares[2].subs(center) == sympy.Rational(answer)


@pytest.mark.parametrize("level", [7, 9])
def test_skew_lines(level):
    for _, points, answer in asks("skew_lines", level):
        first, second = sympy.Plane(*points[:3]), sympy.Plane(*points[3:6])
        (line,) = first.intersection(second)
        other = sympy.Line3D(*points[6:])
        s, t = sympy.symbols("s t")
        ends = [
            [a + k * d for a, d in zip(one.p1, one.direction_ratio, strict=True)]
            for one, k in ((line, s), (other, t))
        ]
        square = sympy.expand(sum((a - b) ** 2 for a, b in zip(*ends, strict=True)))
        nearest = sympy.solve([sympy.diff(square, s), sympy.diff(square, t)], [s, t])
        assert square.subs(nearest) == sympy.Rational(answer)


def test_lattice_points():
    for _, points, answer in asks("lattice_points", 7):
        x, y = np.meshgrid(np.arange(-60, 61), np.arange(-60, 61))
        inside, edge = np.zeros(x.shape, dtype=bool), np.zeros(x.shape, dtype=bool)
        for (a, b), (c, d) in zip(points, points[1:] + points[:1], strict=True):
            turn = (c - a) * (y - b) - (d - b) * (x - a)
            between = ((x - a) * (x - c) <= 0) & ((y - b) * (y - d) <= 0)
            edge |= (turn == 0) & between
            crosses = (b > y) != (d > y)
            inside ^= crosses & ((turn > 0) == (d > b))
        assert (inside & ~edge).sum() == answer


@pytest.mark.parametrize("level", [7])
def test_mirrors(level):
    for prompt, (start,), answer in asks("mirrors", level):
        point = sympy.Point(*start)
        for a, sign, b, c in re.findall(r"(\d+)x ([+-]) (\d+)y = (-?\d+)", prompt):
            x, y = sympy.symbols("x y")
            line = sympy.Line(int(a) * x + int(sign + b) * y - int(c))
            point = point.reflect(line)
        assert point.x + point.y == sympy.Rational(answer)
