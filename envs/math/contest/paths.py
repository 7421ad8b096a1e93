"""Lattice paths with barriers, and sequences without forbidden words."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.paper import Paper

_LETTERS = "ABCD"


def barrier_paths(rng: np.random.Generator, level: int) -> Problem:
    """Lattice paths between two slanted lines, past blocked points."""
    size, count = {7: (11, 2), 8: (36, 6), 9: (52, 10), 10: (74, 16)}[level]
    across, up = (size + among(rng, 0, 3) for _ in range(2))
    above = max(0, up - across) + among(rng, 2, size // 3 + 1)
    below = max(0, across - up) + among(rng, 2, size // 3 + 1)
    inside = [
        (x, y)
        for x in range(across + 1)
        for y in range(up + 1)
        if -above <= x - y <= below and (x, y) not in ((0, 0), (across, up))
    ]
    blocked = sorted(inside[int(i)] for i in rng.permutation(len(inside))[:count])
    # First visits to each blocked point, by reflection and exclusion.
    firsts = [((0, 0), 1)]
    for point in (*blocked, (across, up)):
        ways = _in_strip((0, 0), point, above, below)
        ways -= sum(n * _in_strip(other, point, above, below) for other, n in firsts[1:])
        firsts.append((point, ways))
    text = (
        f"A path goes from (0, 0) to ({across}, {up}) in steps of 1 to the right or 1 up. At each of its points "
        f"(x, y), y is at most x + {above} and x is at most y + {below}, and it avoids the "
        f"points {listed([str(point) for point in blocked])}. How many such paths are there?"
    )
    return Problem(text, [across, up, above, below, [list(p) for p in blocked]], firsts[-1][1])


def _in_strip(start: tuple[int, int], end: tuple[int, int], above: int, below: int) -> int:
    """Return the number of paths with -above <= x - y <= below, by repeated reflection."""
    right, up = end[0] - start[0], end[1] - start[1]
    if right < 0 or up < 0:
        return 0
    n, height, total = right + up, start[0] - start[1] + above + 1, 0
    period = above + below + 2
    goal = end[0] - end[1] + above + 1
    for k in range(-n // period - 1, n // period + 2):
        for target, sign in ((goal + k * period * 2, 1), (-goal + k * period * 2, -1)):
            if (n + target - height) % 2 == 0 and 0 <= (n + target - height) // 2 <= n:
                total += sign * math.comb(n, (n + target - height) // 2)
    return total


def _solve_barrier_paths(paper: Paper, numbers: list[int], text: str) -> int:
    _, _, across, up, _, _, above, below, *rest = numbers
    blocked = set(zip(rest[::2], rest[1::2], strict=True))
    ways: dict[tuple[int, int], int] = {(0, 0): 1}
    for x in range(across + 1):
        for y in range(max(0, x - below), min(up, x + above) + 1):
            if (x, y) not in blocked and (x, y) != (0, 0):
                ways[x, y] = paper.add(ways.get((x - 1, y), 0), ways.get((x, y - 1), 0))
    return ways[across, up]


def forbidden_words(rng: np.random.Generator, level: int) -> Problem:
    """Words over a small alphabet in which some words do not occur."""
    n, letters, count, longest = {
        7: (10, 3, 2, 3),
        8: (24, 4, 4, 4),
        9: (40, 4, 5, 4),
        10: (70, 4, 7, 4),
    }[level]
    n += among(rng, 0, 3)
    alphabet = _LETTERS[:letters]
    while True:
        words = sorted(
            {"".join(rng.choice(list(alphabet), among(rng, 2, longest))) for _ in range(count)}
        )
        if len(words) == count and not any(a in b for a, b in itertools.permutations(words, 2)):
            break
    ways, follow = Counter({"": 1}), dict[str, list[str]]()
    for _ in range(n):
        more: Counter[str] = Counter()
        for end, number in ways.items():
            if end not in follow:
                longer = [end + letter for letter in alphabet]
                kept = [word for word in longer if not word.endswith(tuple(words))]
                follow[end] = [word[1 - longest :] for word in kept]
            for other in follow[end]:
                more[other] += number
        ways = more
    text = (
        f"How many sequences of {n} letters, each one of {listed(list(alphabet), 'or')}, contain none of "
        f"{listed([repr(word) for word in words])} in consecutive places?"
    )
    return Problem(text, [n, letters, words], ways.total())


def _solve_forbidden_words(paper: Paper, numbers: list[int], text: str) -> int:
    """Count words by the longest end that begins a forbidden one."""
    alphabet = (
        text.partition("one of ")[2].partition(", contain")[0].replace(" or", ",").split(", ")
    )
    words = re.findall(r"'(\w+)'", text)
    ends = sorted({word[:k] for word in words for k in range(len(word))})
    follow: dict[str, list[str]] = {end: [] for end in ends}
    for end in ends:
        for letter in alphabet:
            longer = end + letter
            if not longer.endswith(tuple(words)):
                follow[end].append(
                    next(t for k in range(len(longer) + 1) if (t := longer[k:]) in ends)
                )
    ways = {end: int(not end) for end in ends}
    for _ in range(numbers[0]):
        more = dict.fromkeys(ends, 0)
        for end, number in ways.items():
            for other in follow[end] if number else ():
                more[other] = paper.add(more[other], number)
        ways = more
    total = 0
    for number in ways.values():
        total = paper.add(total, number)
    return total


KINDS = (
    Kind(barrier_paths, _solve_barrier_paths),
    Kind(forbidden_words, _solve_forbidden_words),
)
