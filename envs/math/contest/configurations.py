"""Geometry by configurations: circles and their common powers, spheres, lines in space, lattice points, mirrors."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from verigym.canonical import JSON
from verigym.envs.math.contest.exact import determinant, solve
from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.elimination import eliminate
from verigym.envs.math.paper import Paper

Numbers = Sequence[int]


def _draw(
    rng: np.random.Generator, count: int, size: int, dimensions: int = 2
) -> list[tuple[int, ...]]:
    rows = rng.integers(-size, size + 1, (count, dimensions)).tolist()
    return [tuple(row) for row in rows]


def _grouped(numbers: list[int], size: int) -> list[list[int]]:
    return [numbers[i : i + size] for i in range(0, len(numbers), size)]


def _dot(paper: Paper, a: Numbers, b: Numbers) -> int:
    total = 0
    for x, y in zip(a, b, strict=True):
        total = paper.add(total, paper.multiply(x, y))
    return total


def _minus(paper: Paper, a: Numbers, b: Numbers) -> list[int]:
    return [paper.subtract(x, y) for x, y in zip(a, b, strict=True)]


def _cross(paper: Paper, a: Numbers, b: Numbers) -> list[int]:
    return [
        paper.subtract(paper.multiply(a[i], b[j]), paper.multiply(a[j], b[i]))
        for i, j in ((1, 2), (2, 0), (0, 1))
    ]


def radical_center(rng: np.random.Generator, level: int) -> Problem:
    """The common power of the radical center of three circles, given by centers or through points."""
    size, given = {7: (4, 0), 8: (9, 2), 9: (20, 3), 10: (99, 3)}[level]
    while True:
        circles, parts, drawn = [], [], list[JSON]()
        for k in range(3):
            points = _draw(rng, 3 if k < given else 1, size)
            drawn.append([list(point) for point in points])
            if k < given:
                parts.append(f"circle {k + 1} goes through {listed([str(p) for p in points])}")
                rows, side = [[x, y, 1] for x, y in points], [-x * x - y * y for x, y in points]
                if not determinant(rows):
                    break
                circles.append(solve(rows, side))
            else:
                ((x, y),), radius = points, among(rng, 2, 2 * size)
                drawn.append(radius)
                parts.append(f"circle {k + 1} has the center ({x}, {y}) and the radius {radius}")
                circles.append(
                    [Fraction(v) for v in (-2 * x, -2 * y, x * x + y * y - radius * radius)]
                )
        # x^2 + y^2 + d x + e y + f has the same value for all three.
        grid = [[d, e, Fraction(-1)] for d, e, _ in circles]
        if len(grid) == 3 and grid[0][0] * (grid[1][1] - grid[2][1]) + grid[1][0] * (
            grid[2][1] - grid[0][1]
        ) != grid[2][0] * (grid[1][1] - grid[0][1]):
            break
    u, v, power = solve(grid, [-f for _, _, f in circles])
    text = (
        f"In the plane, {listed(parts)}. For exactly one point, the power with respect to all three circles is the same. "
        "What is this power, the square of the distance from the center minus the square of the radius?"
    )
    return Problem(text, drawn, power + u * u + v * v)


def _solve_radical_center(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Find the equation of each circle as whole numbers, and eliminate."""
    grid = []
    for part in text.partition(". For")[0].split("circle ")[1:]:
        _, *values = (int(n) for n in re.findall(r"-?\d+", part))
        if "through" in part:
            rows = [[-_dot(paper, p, p), *p, 1] for p in _grouped(values, 2)]
            # With t for x^2 + y^2 less the power, a t = b x + c y + d.
            a, b, c, d = (_minor(paper, rows, k) for k in range(4))
        else:
            x, y, radius = values
            square = paper.multiply(radius, radius)
            a, b, c, d = 1, 2 * x, 2 * y, paper.subtract(square, _dot(paper, (x, y), (x, y)))
        grid.append([b, c, -a, -d])
    eliminate(paper, grid, 3)
    t = paper.reduce(grid[2][3], grid[2][2])
    found = [t]
    for row in (grid[1], grid[0]):
        left = Fraction(row[3])
        for k, value in enumerate(found):
            left = paper.subtract_fractions(
                left, paper.multiply_fractions(Fraction(row[2 - k]), value)
            )
        found.append(paper.divide_fractions(left, Fraction(row[2 - len(found)])))
    squares = paper.add_fractions(*(paper.multiply_fractions(v, v) for v in found[1:]))
    return paper.subtract_fractions(squares, t)


def _minor(paper: Paper, rows: list[list[int]], left_out: int) -> int:
    """Return the cofactor of a column of three rows with four columns."""
    a, b, c = ([*row[:left_out], *row[left_out + 1 :]] for row in rows)
    value = _dot(paper, a, _cross(paper, b, c))
    return value if left_out in (0, 2) else -value


def sphere(rng: np.random.Generator, level: int) -> Problem:
    """The squared radius of the sphere through four points."""
    size = {7: 6, 8: 900, 9: 30_000, 10: 10**8}[level]
    while True:
        a, *others = _draw(rng, 4, size, 3)
        edges = [[x - y for x, y in zip(p, a, strict=True)] for p in others]
        if determinant(edges):
            break
    center = solve(
        [[2 * x for x in row] for row in edges], [sum(x * x for x in row) for row in edges]
    )
    text = f"A sphere goes through the points {listed([str(p) for p in (a, *others)])}. What is the square of its radius?"
    return Problem(text, [list(p) for p in (a, *others)], sum((c * c for c in center), Fraction(0)))


def _solve_sphere(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Put one point at the origin, and use Cramer's rule with cross products."""
    a, *others = _grouped(numbers, 3)
    u, v, w = (_minus(paper, p, a) for p in others)
    total = [0, 0, 0]
    for first, second, third in ((u, v, w), (v, w, u), (w, u, v)):
        square = _dot(paper, first, first)
        part = [paper.multiply(square, x) for x in _cross(paper, second, third)]
        total = [paper.add(x, y) for x, y in zip(total, part, strict=True)]
    volume = 2 * _dot(paper, u, _cross(paper, v, w))
    return paper.reduce(_dot(paper, total, total), paper.multiply(volume, volume))


def skew_lines(rng: np.random.Generator, level: int) -> Problem:
    """The squared distance of two lines in space, the second the meeting line of two planes."""
    size = {7: 3, 8: 99, 9: 2000, 10: 10**6}[level]
    while True:
        points = _draw(rng, 8, size, 3)
        p, q, *planes = (np.array(point, dtype=object) for point in points)
        normals = [_outer(b - a, c - a) for a, b, c in (planes[:3], planes[3:])]
        if not any(_outer(*normals)) or not any(q - p):
            continue
        along = _outer(*normals)
        across = _outer(q - p, along)
        if not any(across):
            continue
        # A point of the second line: the planes and one at right angles to both.
        base = solve(
            [list(row) for row in (*normals, along)],
            [normals[0].dot(planes[0]), normals[1].dot(planes[3]), 0],
        )
        gap = sum((c * (b - a) for a, b, c in zip(p, base, across, strict=True)), Fraction(0))
        break
    shown = [str(point) for point in points]
    text = (
        f"In space, one plane goes through {listed(shown[2:5])}, another one through {listed(shown[5:])}. The two planes meet "
        f"in a line. What is the square of the distance between this line and the line through {listed(shown[:2])}?"
    )
    return Problem(text, [list(point) for point in points], gap * gap / sum(c * c for c in across))


def _outer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the vector product."""
    i, j = [1, 2, 0], [2, 0, 1]
    found: np.ndarray = a[i] * b[j] - a[j] * b[i]
    return found


def _solve_skew_lines(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Project: the distance of P from each plane, weighed by the direction of the other line."""
    *planes, p, q = _grouped(numbers, 3)
    normals, heights = [], []
    for a, b, c in (planes[:3], planes[3:]):
        normals.append(_cross(paper, _minus(paper, b, a), _minus(paper, c, a)))
        heights.append(_dot(paper, normals[-1], _minus(paper, p, a)))
    step = _minus(paper, q, p)
    slopes = [_dot(paper, normal, step) for normal in normals]
    # The plane of the pencil that is parallel to the line, and the height of P above it.
    mixed = [
        paper.subtract(paper.multiply(slopes[1], x), paper.multiply(slopes[0], y))
        for x, y in zip(*normals, strict=True)
    ]
    height = paper.subtract(
        paper.multiply(slopes[1], heights[0]), paper.multiply(slopes[0], heights[1])
    )
    return paper.reduce(paper.multiply(height, height), _dot(paper, mixed, mixed))


def lattice_points(rng: np.random.Generator, level: int) -> Problem:
    """Points with whole coordinates inside a polygon."""
    corners, size = {7: (6, 60), 8: (18, 90_000), 9: (28, 10**6), 10: (44, 10**8)}[level]
    while True:
        points = _draw(rng, corners, size)
        points.sort(key=lambda p: math.atan2(p[1], p[0]))
        turns = [_turn(points[i - 1], points[i]) for i in range(corners)]
        # Around the origin, each corner ahead of the one before: edges do not cross.
        if min(turns) > 0:
            break
    edge = sum(
        math.gcd(a[0] - b[0], a[1] - b[1])
        for a, b in zip(points, points[1:] + points[:1], strict=True)
    )
    text = (
        f"A polygon has the vertices {listed([str(p) for p in points])}, in this order. How many points with whole "
        "coordinates lie strictly inside it?"
    )
    return Problem(text, [list(p) for p in points], (sum(turns) - edge) // 2 + 1)


def _turn(a: Numbers, b: Numbers) -> int:
    return a[0] * b[1] - a[1] * b[0]


def _solve_lattice_points(paper: Paper, numbers: list[int], text: str) -> int:
    """Pick: twice the area, less the points on the edges."""
    points = _grouped(numbers, 2)
    total = edge = 0
    for a, b in zip(points, points[1:] + points[:1], strict=True):
        total = paper.add(total, paper.multiply(a[0], b[1]))
        total = paper.subtract(total, paper.multiply(a[1], b[0]))
        common = paper.common_divisor(*_minus(paper, b, a))
        edge = paper.add(edge, common)
    return paper.add(paper.divide_exactly(paper.subtract(abs(total), edge), 2), 1)


def mirrors(rng: np.random.Generator, level: int) -> Problem:
    """A point reflected in several lines, one after the other."""
    count, size = {7: (3, 9), 8: (14, 20), 9: (24, 20), 10: (42, 20)}[level]
    (point,) = _draw(rng, 1, size)
    lines = []
    x, y = map(Fraction, point)
    for _ in range(count):
        a, b, c = (
            among(rng, 1, 5),
            among(rng, 1, 5) * (1 if rng.integers(2) else -1),
            among(rng, -size, size),
        )
        lines.append((a, b, c))
        scale = 2 * (a * x + b * y - c) / (a * a + b * b)
        x, y = x - scale * a, y - scale * b
    shown = [f"{a}x {'+' if b > 0 else '-'} {abs(b)}y = {c}" for a, b, c in lines]
    text = (
        f"The point {point} is reflected in the lines {listed(shown)}, one after the other. What is the sum of the "
        "coordinates of the last image?"
    )
    return Problem(text, [list(point), [list(line) for line in lines]], x + y)


def _solve_mirrors(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Keep both coordinates over one denominator, the product of the squared lengths."""
    x, y, *rest = numbers
    below = 1
    signs = [-1 if part[0] == "-" else 1 for part in text.replace("y = ", "").split("x ")[1:]]
    for (a, b, c), sign in zip(_grouped(rest, 3), signs, strict=True):
        b *= sign
        length = paper.add(paper.multiply(a, a), paper.multiply(b, b))
        height = paper.add(paper.multiply(a, x), paper.multiply(b, y))
        height = 2 * paper.subtract(height, paper.multiply(c, below))
        x = paper.subtract(paper.multiply(length, x), paper.multiply(a, height))
        y = paper.subtract(paper.multiply(length, y), paper.multiply(b, height))
        below = paper.multiply(below, length)
    return paper.reduce(paper.add(x, y), below)


KINDS = (
    Kind(radical_center, _solve_radical_center, is_whole=False),
    Kind(sphere, _solve_sphere, is_whole=False),
    Kind(skew_lines, _solve_skew_lines, is_whole=False),
    Kind(lattice_points, _solve_lattice_points),
    Kind(mirrors, _solve_mirrors, is_whole=False),
)
