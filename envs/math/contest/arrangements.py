"""Counting by inclusion and exclusion, generating functions, symmetry and recurrences."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.paper import Paper

_LETTERS = "ABCDEFGH"


def necklaces(rng: np.random.Generator, level: int) -> Problem:
    """Coloured rings of beads up to rotation; some colours may not be neighbours (Burnside)."""
    beads = {7: (6, 8), 8: (18, 24), 9: (34, 44), 10: (60, 76)}[level]
    n = among(rng, *beads)
    colours = 4
    pairs = list(itertools.combinations_with_replacement(range(colours), 2))
    banned = [pairs[int(i)] for i in sorted(rng.permutation(len(pairs))[: among(rng, 2, colours)])]
    grid = np.ones((colours, colours), dtype=object)
    for i, j in banned:
        grid[i, j] = grid[j, i] = 0
    traces, power = {}, np.identity(colours, dtype=object)
    for k in range(1, n + 1):
        power = power.dot(grid)
        traces[k] = int(np.trace(power))
    value = sum(traces[math.gcd(k, n)] for k in range(1, n + 1)) // n
    words = [f"{_LETTERS[i]} and {_LETTERS[j]}" for i, j in banned]
    text = (
        f"A closed ring is made of {n} beads, each in one of the colours {listed(list(_LETTERS[:colours]))}. "
        f"Neighbouring beads may not be {listed(words, 'or')}, in either order. Rings count as the same if a "
        "rotation turns one into the other; reflections do not count. How many different rings are there?"
    )
    return Problem(text, [n, colours, [list(pair) for pair in banned]], value)


def _solve_necklaces(paper: Paper, numbers: list[int], text: str) -> int:
    """Count the rings that rotations leave fixed by walking along the ring from each first colour."""
    n = numbers[0]
    names = text.partition("colours ")[2].partition(".")[0].replace(" and", ",").split(", ")
    banned = text.partition("may not be ")[2].partition(", in ")[0].replace(" or", ",").split(", ")
    pairs = {(p[0], p[-1]) for p in banned} | {(p[-1], p[0]) for p in banned}
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    closed = dict.fromkeys(divisors, 0)
    for first in names:
        ways = {name: int(name == first) for name in names}
        for length in range(1, n + 1):
            before, ways = ways, {}
            for name in names:
                some = [before[other] for other in names if (other, name) not in pairs]
                total = 0
                for count in some:
                    total = paper.add(total, count)
                ways[name] = total
            if length in closed:
                closed[length] = paper.add(closed[length], ways[first])
    total = 0
    for d in divisors:
        turns = sum(math.gcd(k, n // d) == 1 for k in range(1, n // d + 1))
        total = paper.add(total, paper.multiply(turns, closed[d]))
    return paper.divide_exactly(total, n)


def no_equal_neighbours(rng: np.random.Generator, level: int) -> Problem:
    """Arrangements of letters in which equal letters are never neighbours."""
    kinds, length = {7: (4, 9), 8: (6, 17), 9: (8, 26), 10: (8, 36)}[level]
    counts, most = [1], {9: 7, 10: 10}.get(level, 5)
    while not length <= sum(counts) <= length + 2:
        counts = [among(rng, 1, most) for _ in range(kinds)]
    # Letters that stand apart are put in one kind after the other: `gaps` of equal neighbours are left.
    ways = {0: 1}
    placed = 0
    for count in counts:
        more: dict[int, int] = {}
        for gaps, number in ways.items():
            for blocks in range(1, count + 1):
                for closed in range(min(blocks, gaps) + 1):
                    apart = math.comb(count - 1, blocks - 1) * math.comb(gaps, closed)
                    apart *= math.comb(placed + 1 - gaps, blocks - closed)
                    left = gaps - closed + count - blocks
                    more[left] = more.get(left, 0) + number * apart
        ways = more
        placed += count
    word = "".join(letter * count for letter, count in zip(_LETTERS, counts, strict=False))
    text = (
        f"In how many different ways can the letters of {word} be arranged in a row so that no two equal letters "
        "are neighbours?"
    )
    return Problem(text, [*counts], ways[0])


def _solve_no_equal_neighbours(paper: Paper, numbers: list[int], text: str) -> int:
    """Include and exclude: merge the letters of each kind into blocks, with a sign for each merger."""
    word = text.partition("letters of ")[2].split()[0]
    terms = {0: 1}
    for count in Counter(word).values():
        more: dict[int, int] = {}
        for blocks in range(1, count + 1):
            # Blocks of one kind are alike: their orders are divided out together at the end.
            share = math.comb(count - 1, blocks - 1) * (-1) ** (count - blocks)
            for total, value in terms.items():
                # Places of the blocks among all blocks so far.
                product = paper.multiply(
                    paper.multiply(share, value), math.comb(total + blocks, blocks)
                )
                more[total + blocks] = paper.add(more.get(total + blocks, 0), product)
        terms = more
    found = 0
    for value in terms.values():
        found = paper.add(found, value)
    return found


def bounded_sums(rng: np.random.Generator, level: int) -> Problem:
    """Solutions of an equation in numbers that each have bounds (generating functions)."""
    count, size = {7: (4, 12), 8: (7, 30), 9: (8, 60)}[level]
    bounds = []
    for _ in range(count):
        low = among(rng, 0, 5)
        bounds.append((low, low + among(rng, size // 2, size)))
    total = sum(low + high for low, high in bounds) // 2 + among(rng, -size // 3, size // 3)
    ways = np.array([1], dtype=object)
    for low, high in bounds:
        ways = np.convolve(ways, np.array([0] * low + [1] * (high - low + 1), dtype=object))
    parts = [f"box {_LETTERS[i]} gets from {low} to {high}" for i, (low, high) in enumerate(bounds)]
    text = (
        f"{total} balls that look alike are put into {count} boxes: {listed(parts)}, bounds included. In how many "
        "ways can this be done?"
    )
    return Problem(text, [[list(pair) for pair in bounds], total], int(ways[total]))


def _solve_bounded_sums(paper: Paper, numbers: list[int], text: str) -> int:
    """Start all boxes at their lower limits, and exclude those above the upper ones."""
    left, count, *limits = numbers
    widths = []
    for low, high in zip(limits[::2], limits[1::2], strict=True):
        left = paper.subtract(left, low)
        widths.append(paper.add(paper.subtract(high, low), 1))
    signs = {0: 1}
    for width in widths:
        for taken, sign in list(signs.items()):
            above = paper.add(taken, width)
            if above <= left:
                signs[above] = signs.get(above, 0) - sign
    found = 0
    for taken, sign in signs.items():
        if sign:
            found = paper.add(
                found, paper.multiply(sign, _choose(paper, left - taken + count - 1, count - 1))
            )
    return found


def _choose(paper: Paper, n: int, k: int) -> int:
    value = 1
    for i in range(1, k + 1):
        value = paper.divide_exactly(paper.multiply(value, n - k + i), i)
    return value


def permutations_of_order(rng: np.random.Generator, level: int) -> Problem:
    """Permutations whose cycles have lengths from a list."""
    n = {7: 9, 8: 20, 9: 32, 10: 52}[level] + among(rng, 0, 4)
    lengths = sorted(int(k) + 1 for k in rng.permutation(9)[: level // 2])
    if math.gcd(*lengths) > 1:
        lengths = sorted({1, *lengths})
    ways = [1]
    for m in range(1, n + 1):
        ways.append(sum(math.perm(m - 1, k - 1) * ways[m - k] for k in lengths if k <= m))
    text = (
        f"How many permutations of {n} different objects have only cycles whose lengths are among "
        f"{listed([str(k) for k in lengths])}?"
    )
    return Problem(text, [n, lengths], ways[n])


def _solve_permutations_of_order(paper: Paper, numbers: list[int], text: str) -> int:
    """Choose the cycle of the last object, and go on with the objects that are left."""
    n, *lengths = numbers
    ways = [1]
    for m in range(1, n + 1):
        total, places = 0, 1
        for k in range(1, min(m, lengths[-1]) + 1):
            if k in lengths:
                total = paper.add(total, paper.multiply(places, ways[m - k]))
            places = paper.multiply(places, m - k)
        ways.append(total)
    return ways[n]


def torus(rng: np.random.Generator, level: int) -> Problem:
    """Colourings of a grid whose edges are joined, up to shifts in both directions (Burnside)."""
    rows, columns = sorted({7: (3, 3), 8: (4, 6), 9: (7, 9), 10: (11, 13)}[level])
    rows, columns = rows + among(rng, 0, 5), columns + among(rng, 0, 7)
    colours = among(rng, 3, 14)
    total = 0
    for i in range(rows):
        for j in range(columns):
            total += colours ** (
                rows
                * columns
                // math.lcm(rows // math.gcd(i, rows), columns // math.gcd(j, columns))
            )
    text = (
        f"Each square of a grid with {rows} rows and {columns} columns gets one of {colours} colours. Two colourings "
        "count as the same if one becomes the other when the whole grid is shifted down by some number of rows "
        "and right by some number of columns, where squares that leave at one edge come back at the opposite "
        "edge. How many different colourings are there?"
    )
    return Problem(text, [rows, columns, colours], total // (rows * columns))


def _solve_torus(paper: Paper, numbers: list[int], text: str) -> int:
    rows, columns, colours = numbers
    cycles: Counter[int] = Counter()
    for i in range(rows):
        for j in range(columns):
            paper.look()
            period = math.lcm(rows // math.gcd(i, rows), columns // math.gcd(j, columns))
            cycles[paper.divide_exactly(rows * columns, period)] += 1
    total, power, known = 0, 1, 0
    for count in sorted(cycles):
        while known < count:
            power, known = paper.multiply(power, colours), known + 1
        total = paper.add(total, paper.multiply(cycles[count], power))
    return paper.divide_exactly(total, rows * columns)


KINDS = (
    Kind(necklaces, _solve_necklaces),
    Kind(no_equal_neighbours, _solve_no_equal_neighbours),
    Kind(bounded_sums, _solve_bounded_sums, last=9),
    Kind(permutations_of_order, _solve_permutations_of_order),
    Kind(torus, _solve_torus, free=r"\d+(?= rows)|\d+(?= columns)"),
)
