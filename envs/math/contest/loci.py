"""Loci: points whose distances from given points satisfy an equation."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from verigym.canonical import JSON
from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.paper import Paper

_LETTERS = "ABCDEFGH"
Circle = tuple[list[int], list[tuple[int, int]], int]
"""Weights of squared distances, the points that they are measured from, and the weighted sum."""


def common_chord(rng: np.random.Generator, level: int) -> Problem:
    """The common chord of two circles, each given by a sum of weighted squares of distances."""
    count, size = {7: (2, 9), 8: (4, 9999), 9: (4, 10**7), 10: (4, 10**13)}[level]
    while True:
        places = [(among(rng, -size, size), among(rng, -size, size)) for _ in range(2 * count)]
        # Both circles go through one more point.
        x, y = among(rng, -size, size), among(rng, -size, size)
        circles = [_draw_circle(rng, places[i * count : (i + 1) * count], x, y) for i in (0, 1)]
        value = _chord(*circles) if len(set(places)) == len(places) else Fraction(0)
        if value:
            break
    points = listed([f"{name} = {place}" for name, place in zip(_LETTERS, places, strict=False)])
    lines = [_equation(circles[0], _LETTERS), _equation(circles[1], _LETTERS[count:])]
    text = (
        f"In the plane, let {points}. The points P with {lines[0]} form a circle, and so do the points P with {lines[1]}. "
        "The two circles meet in two points. What is the square of the distance between these two points?"
    )
    essence: list[JSON] = [[weights, total] for weights, _, total in circles]
    return Problem(text, [*map(list, places), *essence], value)


def _draw_circle(rng: np.random.Generator, places: list[tuple[int, int]], x: int, y: int) -> Circle:
    while True:
        weights = [among(rng, 1, 9) * (1 if rng.integers(2) else -1) for _ in places]
        if sum(weights) and weights[0] > 0:
            break
    total = sum(
        w * ((x - a) ** 2 + (y - b) ** 2) for w, (a, b) in zip(weights, places, strict=True)
    )
    return weights, places, total


def _equation(circle: Circle, names: str) -> str:
    weights, _, total = circle
    parts = "".join(
        f" {'+' if w > 0 else '-'} {abs(w)} * P{name}^2"
        for w, name in zip(weights, names, strict=False)
    )
    return f"{parts[3:]} = {total}"


def _chord(first: Circle, second: Circle) -> Fraction:
    """Return the square of the common chord: that of a radius, less that of the distance from the radical axis."""
    centers, powers = [], []
    for weights, places, total in (first, second):
        whole = sum(weights)
        center = [
            Fraction(sum(w * place[i] for w, place in zip(weights, places, strict=True)), whole)
            for i in (0, 1)
        ]
        squares = sum(w * (a * a + b * b) for w, (a, b) in zip(weights, places, strict=True))
        centers.append(center)
        powers.append(Fraction(squares - total, whole))
    (a, b), (c, d) = centers
    radius = a * a + b * b - powers[0]
    apart = (a - c) ** 2 + (b - d) ** 2
    if not apart:
        return Fraction(0)
    other = c * c + d * d - powers[1]
    foot = (apart + radius - other) / 2
    return 4 * (radius - foot * foot / apart)


def _solve_common_chord(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Write both circles as W (x^2 + y^2) - 2Ux - 2Vy + K = 0, all whole, and cut one by the radical axis."""
    places = {
        name: (int(x), int(y)) for name, x, y in re.findall(r"(\w) = \((-?\d+), (-?\d+)\)", text)
    }
    circles = []
    for shown, total in re.findall(r"points P with (.*?) = (-?\d+)", text):
        w = u = v = k = 0
        for sign, size, name in re.findall(r"([-+]?) ?(\d+) \* P(\w)", shown):
            weight, (x, y) = int(sign + size), places[name]
            w = paper.add(w, weight)
            u, v = paper.add(u, paper.multiply(weight, x)), paper.add(v, paper.multiply(weight, y))
            square = paper.add(paper.multiply(x, x), paper.multiply(y, y))
            k = paper.add(k, paper.multiply(weight, square))
        circles.append((w, u, v, paper.subtract(k, int(total))))
    (w, u, v, k), (s, f, g, h) = circles
    # The radical axis is ax + by = c.
    a, b, c = (
        paper.subtract(paper.multiply(x, s), paper.multiply(y, w))
        for x, y in ((2 * u, 2 * f), (2 * v, 2 * g), (k, h))
    )
    normal = paper.add(paper.multiply(a, a), paper.multiply(b, b))
    radius = paper.add(paper.multiply(u, u), paper.multiply(v, v))
    radius = paper.subtract(radius, paper.multiply(k, w))
    height = paper.add(paper.multiply(a, u), paper.multiply(b, v))
    height = paper.subtract(height, paper.multiply(c, w))
    above = paper.subtract(paper.multiply(radius, normal), paper.multiply(height, height))
    return paper.reduce(4 * above, paper.multiply(paper.multiply(w, w), normal))


KINDS = (Kind(common_chord, _solve_common_chord, is_whole=False),)
