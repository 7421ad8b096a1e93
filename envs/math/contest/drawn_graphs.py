"""Paintings of drawn graphs: counted vertex by vertex, with a table of what the painted vertices still forbid."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among
from verigym.envs.math.paper import Paper


def painted_graph(rng: np.random.Generator, level: int) -> Problem:
    """Ways to paint some vertices of a graph so that no painted ones are neighbours."""
    n = {8: 19, 9: 24, 10: 29}[level] + among(rng, 0, 1)
    colours = among(rng, 2, 9)
    # A path through all vertices, and chords at random.
    order = rng.permutation(n).tolist()
    edges = {(min(a, b), max(a, b)) for a, b in pairwise(order)}
    while len(edges) < 2 * n - 4:
        a, b = sorted(rng.permutation(n)[:2].tolist())
        edges.add((a, b))
    near = [1 << v for v in range(n)]
    for a, b in edges:
        near[a] |= 1 << b
        near[b] |= 1 << a

    @cache
    def ways(left: int) -> int:
        if not left:
            return 1
        first = (left & -left).bit_length() - 1
        return ways(left & (left - 1)) + colours * ways(left & ~near[first])

    shown = ", ".join(f"{a + 1}-{b + 1}" for a, b in sorted(edges))
    text = (
        f"A graph has the vertices 1 to {n} and these edges: {shown}. Each vertex is left white or painted in one of {colours} "
        "colours, so that no two vertices that are joined by an edge are both painted. In how many ways can this be done?"
    )
    return Problem(text, [n, colours, [list(edge) for edge in sorted(edges)]], ways((1 << n) - 1))


def _solve_painted_graph(paper: Paper, numbers: list[int], text: str) -> int:
    """Take the vertices in an order in which few of them have neighbours both before and after."""
    n, colours = numbers[1], numbers[-1]
    near: dict[int, set[int]] = {v: set() for v in range(1, n + 1)}
    for a, b in re.findall(r"(\d+)-(\d+)", text):
        near[int(a)].add(int(b))
        near[int(b)].add(int(a))
    done: set[int] = set()
    # The painted vertices of the border, and the number of ways.
    table: dict[frozenset[int], int] = {frozenset(): 1}
    while len(done) < n:
        vertex = min(near.keys() - done, key=lambda v: (len(_border(near, done | {v})), v))
        done.add(vertex)
        border = _border(near, done)
        more: dict[frozenset[int], int] = {}
        for painted, ways in table.items():
            kept = frozenset(painted & border)
            more[kept] = paper.add(more.get(kept, 0), ways)
            if not painted & near[vertex]:
                kept = frozenset((painted | {vertex}) & border)
                more[kept] = paper.add(more.get(kept, 0), paper.multiply(ways, colours))
        table = more
    (total,) = table.values()
    return total


def _border(near: dict[int, set[int]], done: set[int]) -> set[int]:
    """Return the vertices of a set that have neighbours outside it."""
    return {v for v in done if near[v] - done}


KINDS = (Kind(painted_graph, _solve_painted_graph, first=8, free=r"(?<=one of )\d+"),)
