"""Areas that two convex polygons have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.paper import Paper

Point = tuple[int, int]
Exact = tuple[Fraction, Fraction]
_Corner = TypeVar("_Corner", Point, Exact)


def common_area(rng: np.random.Generator, level: int) -> Problem:
    """The area of the region that two convex polygons share."""
    corners, size = {8: (5, 40), 9: (6, 90), 10: (9, 300)}[level]
    while True:
        first, second = (_draw_polygon(rng, corners, size) for _ in range(2))
        region: list[Exact] = [(Fraction(x), Fraction(y)) for x, y in first]
        for a, b in _edges(second):
            region = _cut(region, a, b)
        if len(region) >= corners:
            break
    area = sum((p[0] * q[1] - p[1] * q[0] for p, q in _edges(region)), Fraction(0)) / 2
    shown = [listed([str(point) for point in polygon]) for polygon in (first, second)]
    text = (
        f"A convex polygon has the corners {shown[0]}, in this order. Another convex polygon has the corners {shown[1]}, in this "
        "order. What is the area of the region that lies inside both?"
    )
    return Problem(text, [[list(p) for p in first], [list(p) for p in second]], area)


def _draw_polygon(rng: np.random.Generator, corners: int, size: int) -> list[Point]:
    """Return a convex polygon, counterclockwise: a hull of points near a circle."""
    while True:
        x, y = (among(rng, -size // 6, size // 6) for _ in range(2))
        angles = np.sort(rng.random(2 * corners)) * 2 * np.pi
        radii = size * (0.8 + 0.2 * rng.random(2 * corners))
        points = {
            (x + round(float(r * np.cos(t))), y + round(float(r * np.sin(t))))
            for r, t in zip(radii, angles, strict=True)
        }
        hull = _hull(sorted(points))
        if len(hull) >= corners:
            kept = sorted(int(i) for i in rng.permutation(len(hull))[:corners])
            polygon = [hull[i] for i in kept]
            if all(_side(polygon[i - 1], polygon[i], (x, y)) > 0 for i in range(corners)):
                return polygon


def _hull(points: list[Point]) -> list[Point]:
    """Return the corners of the convex hull of sorted points (Andrew 1979)."""
    chains = []
    for some in (points, points[::-1]):
        chain: list[Point] = []
        for point in some:
            while len(chain) > 1 and _side(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _edges(polygon: Sequence[_Corner]) -> list[tuple[_Corner, _Corner]]:
    return [(polygon[i - 1], polygon[i]) for i in range(len(polygon))]


def _side(a: Point, b: Point, p: Point | Exact) -> int | Fraction:
    """Return a positive number if p lies on the left of the line from a to b, 0 on the line."""
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def _cut(region: list[Exact], a: Point, b: Point) -> list[Exact]:
    """Return the part of a convex region on the left of a line (Sutherland and Hodgman 1974)."""
    kept = []
    for p, q in _edges(region):
        here, there = _side(a, b, p), _side(a, b, q)
        if here >= 0:
            kept.append(p)
        if here * there < 0:
            share = Fraction(here, here - there)
            kept.append((p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])))
    return kept


def _solve_common_area(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Add up, for the piece of each edge inside the other polygon, twice the area that it spans with the origin: the
    share of the edge times that of the whole edge."""
    first, second = (
        [(int(x), int(y)) for x, y in re.findall(r"\((-?\d+), (-?\d+)\)", part)]
        for part in text.split("Another")
    )
    above, below = 0, 1
    for polygon, other in ((first, second), (second, first)):
        lines = [_line(paper, a, b) for a, b in _edges(other)]
        for a, b in _edges(polygon):
            ends = _inside(paper, a, b, lines)
            if ends is None:
                continue
            (s, t), (u, v) = ends
            whole = paper.subtract(paper.multiply(a[0], b[1]), paper.multiply(a[1], b[0]))
            share = paper.subtract(paper.multiply(u, t), paper.multiply(s, v))
            part, scale = paper.multiply(share, whole), paper.multiply(t, v)
            above = paper.add(paper.multiply(above, scale), paper.multiply(part, below))
            below = paper.multiply(below, scale)
    return paper.reduce(above, 2 * below)


def _line(paper: Paper, a: Point, b: Point) -> tuple[int, int, int]:
    """Return u, v, w so that ux + vy + w is positive on the left of the line from a to b."""
    u, v = paper.subtract(a[1], b[1]), paper.subtract(b[0], a[0])
    return u, v, -paper.add(paper.multiply(u, a[0]), paper.multiply(v, a[1]))


def _inside(
    paper: Paper, a: Point, b: Point, lines: list[tuple[int, int, int]]
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the shares of an edge at which its piece inside begins and ends, as fractions; None if there is none."""
    start, end = (0, 1), (1, 1)
    for u, v, w in lines:
        here, there = (
            paper.add(paper.add(paper.multiply(u, x), paper.multiply(v, y)), w) for x, y in (a, b)
        )
        if (here < 0 and there <= 0) or (here <= 0 and there < 0):
            return None
        if here < 0 < there:
            share = (-here, paper.subtract(there, here))
            if paper.multiply(share[0], start[1]) > paper.multiply(start[0], share[1]):
                start = share
        elif there < 0 < here:
            share = (here, paper.subtract(here, there))
            if paper.multiply(share[0], end[1]) < paper.multiply(end[0], share[1]):
                end = share
    if paper.multiply(start[0], end[1]) >= paper.multiply(end[0], start[1]):
        return None
    return start, end


KINDS = (Kind(common_area, _solve_common_area, first=8, is_whole=False),)
