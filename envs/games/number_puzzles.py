"""Sudokus under drawn rules: regions of any shape, clashes at a distance, sums and comparisons, no given number.

A puzzle is made from its solution: as long as the search finds another grid, a clue is added that this grid breaks. Then
clues are dropped as long as the solution stays the only one, until enough numbers have to be tried to prove it.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from verigym.envs.games.number_search import NumberSearch
from verigym.verifiers.games.number_rules import Apart, NumberRules, Total


class PuzzleSize(Struct, frozen=True):
    """Size of a puzzle. `trials` is how many numbers have to be tried to prove the solution, at least and at most."""

    side: int
    apart: int
    """Number of clashes at a distance."""
    shares: tuple[float, ...]
    """Shares of clues of each kind."""
    trials: tuple[int, int]
    clues: int
    """Number of clues to begin with."""


STEPS = (
    *((0, 1), (1, 0), (1, 1), (1, -1), (0, 2), (2, 0), (2, 2), (2, -2)),
    *((1, 2), (1, -2), (2, 1), (2, -1), (1, 3), (1, -3), (3, 1), (3, -1)),
)
"""Distances at which numbers clash: rows down, columns to the right."""

SUMS, REMAINDERS, COMPARED, ORDERED = range(4)
"""Kinds of clues: a sum of three to five cells; a remainder of a sum of cells anywhere; two sums of two cells compared; two
neighbours in order."""

MOST = 99  # above any total of a few cells


def draw_puzzle(
    rng: np.random.Generator, size: PuzzleSize, wants: Callable[[list[int]], bool]
) -> tuple[NumberRules, list[int]]:
    """Return rules with one solution, one that `wants` accepts, and that solution."""
    while True:
        rules, full = _draw_solution(rng, size, wants)
        rules = _with_clues(rng, rules, full, size)
        rules, trials = _with_fewer_clues(rng, rules, size)
        if trials >= size.trials[0]:
            return rules, full


def _draw_apart(rng: np.random.Generator, size: PuzzleSize) -> tuple[Apart, ...]:
    """Draw distances, and what two cells at each may not be to one another."""
    n, found = size.side, []
    for index in rng.choice(len(STEPS), size.apart, replace=False).tolist():
        step, joined = STEPS[index], bool(rng.integers(2))
        kind = int(rng.integers(2 if 0 in step else 3))  # in a row or column numbers differ anyway
        if kind == 0:
            found.append(Apart((step,), joined, (), (int(rng.integers(n - 1, n + 4)),)))
        elif kind == 1:
            found.append(Apart((step,), joined, (int(rng.integers(1, 4)),), ()))
        else:
            found.append(Apart((step,), joined, (0,), ()))
    return tuple(found)


def _draw_solution(
    rng: np.random.Generator, size: PuzzleSize, wants: Callable[[list[int]], bool]
) -> tuple[NumberRules, list[int]]:
    """Draw regions, clashes, and a full grid that keeps these rules and that `wants` accepts."""
    n = size.side
    while True:
        regions = draw_regions(rng, n)
        for _ in range(4):  # some regions allow no grid at all
            rules = NumberRules(n, regions, _draw_apart(rng, size))
            search = NumberSearch(rules)
            while True:
                order = [(rng.permutation(n) + 1).tolist() for _ in range(n * n)]
                grids, _ = search.solve(1, n * n, order)
                if not grids:
                    break
                if wants(grids[0]):
                    return rules, grids[0]


def draw_regions(rng: np.random.Generator, n: int) -> tuple[str, ...]:
    """Draw `n` connected regions of `n` cells: neighbouring regions swap cells, from rows on."""
    region = [place // n for place in range(n * n)]
    near = [_near(place, n) for place in range(n * n)]
    swaps = 0
    while swaps < 5 * n or any(len({region[i] for i in row}) == 1 for row in _rows(n)):
        place = int(rng.integers(n * n))
        beside = near[place][int(rng.integers(len(near[place])))]
        ours, theirs = region[place], region[beside]
        back = [
            i
            for i in range(n * n)
            if region[i] == theirs
            and i != beside
            and any(region[j] == ours and j != place for j in near[i])
        ]
        if ours == theirs or not back:
            continue
        other = back[int(rng.integers(len(back)))]
        region[place], region[other] = theirs, ours
        if _connected(region, ours, near) and _connected(region, theirs, near):
            swaps += 1
        else:
            region[place], region[other] = ours, theirs
    letters = "".join([string.ascii_uppercase[i] for i in region])
    return tuple(letters[i : i + n] for i in range(0, n * n, n))


def _rows(n: int) -> list[range]:
    return [range(n * row, n * row + n) for row in range(n)]


def _near(place: int, n: int) -> list[int]:
    """Return the places that share an edge with `place`."""
    row, column = divmod(place, n)
    beside = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [n * r + c for r, c in beside if 0 <= r < n and 0 <= c < n]


def _connected(region: list[int], number: int, near: list[list[int]]) -> bool:
    waiting = [region.index(number)]
    seen = set(waiting)
    while waiting:
        for place in near[waiting.pop()]:
            if region[place] == number and place not in seen:
                seen.add(place)
                waiting.append(place)
    return len(seen) == region.count(number)


def _with_clues(
    rng: np.random.Generator, rules: NumberRules, full: list[int], size: PuzzleSize
) -> NumberRules:
    """Add clues until the search proves with few enough trials that `full` is the only solution."""
    n, most = rules.side, size.trials[1]
    clues: list[Total] = []
    while len(clues) < size.clues:
        if (clue := _draw_clue(rng, full, size)) not in clues:
            clues.append(clue)
    # Numbers of the solution are tried last, so that it is found first only if it is the only one.
    order = [
        [*(v for v in (rng.permutation(n) + 1).tolist() if v != number), number] for number in full
    ]
    while True:
        rules = NumberRules(n, rules.regions, rules.apart, tuple(clues))
        grids, _ = NumberSearch(rules).solve(1, most, order)
        if grids == [full] and NumberSearch(rules).solve(2, most)[1]:
            return rules
        other = grids[0] if grids and grids[0] != full else None
        for _ in range(200):
            clue = _draw_clue(rng, full, size)
            if clue not in clues and not (other and clue.holds(other)):
                break
        clues.append(clue)
        if other is None:  # too many trials: help on
            clues += [_draw_clue(rng, full, size) for _ in range(2)]


def _with_fewer_clues(
    rng: np.random.Generator, rules: NumberRules, size: PuzzleSize
) -> tuple[NumberRules, int]:
    """Drop clues that are not needed until enough numbers have to be tried; return how many have to be."""
    search = NumberSearch(rules)
    search.solve(2, size.trials[1])
    trials = search.trials
    clues = rules.totals
    for clue in [clues[index] for index in rng.permutation(len(clues)).tolist()]:
        if trials >= size.trials[0]:
            break
        left = tuple(other for other in rules.totals if other != clue)
        fewer = NumberRules(rules.side, rules.regions, rules.apart, left)
        search = NumberSearch(fewer)
        grids, whole = search.solve(2, size.trials[1])
        if whole and len(grids) == 1:
            rules, trials = fewer, search.trials
    return rules, trials


def _draw_clue(rng: np.random.Generator, full: list[int], size: PuzzleSize) -> Total:
    """Draw a clue that is true of `full`."""
    n, kind = size.side, int(rng.choice(len(size.shares), p=size.shares))
    if kind == SUMS:
        cells = _draw_cells(rng, n, int(rng.integers(3, 6)))
        total = sum([full[i] for i in cells])
        return Total(cells, (), total, total)
    if kind == REMAINDERS:
        cells = tuple(sorted(rng.choice(n * n, int(rng.integers(2, 4)), replace=False).tolist()))
        modulus = int(rng.integers(3, n))
        rest = sum([full[i] for i in cells]) % modulus
        return Total(cells, (), rest, rest, modulus)
    plus: tuple[int, ...]
    minus: tuple[int, ...]
    if kind == ORDERED:
        one, other = _draw_cells(rng, n, 2)
        plus, minus = (one,), (other,)
    else:
        a, b, c, d = rng.choice(n * n, 4, replace=False).tolist()
        plus, minus = (min(a, b), max(a, b)), (min(c, d), max(c, d))
    lead = Total(plus, minus, 0, 0).value(full)
    if lead < 0:
        plus, minus = minus, plus
    return Total(plus, minus, 1, MOST) if lead else Total(plus, minus, 0, 0)


def _draw_cells(rng: np.random.Generator, n: int, count: int) -> tuple[int, ...]:
    """Draw `count` connected cells."""
    cells = [int(rng.integers(n * n))]
    while len(cells) < count:
        beside = sorted({j for i in cells for j in _near(i, n)} - set(cells))
        cells.append(beside[int(rng.integers(len(beside)))])
    return tuple(sorted(cells))


def say_rules(rules: NumberRules) -> str:
    """Return the clashes at a distance and the clues in words, a line each."""
    lines = [_say_apart(rule) for rule in rules.apart]
    clues = sorted(rules.totals, key=lambda clue: (len(clue.plus) + len(clue.minus), clue.plus))
    lines += [_say_total(clue, rules.side) for clue in clues]
    return "\n".join([f"- {line}" for line in lines])


def _say_apart(rule: Apart) -> str:
    ((down, right),) = rule.steps
    parts = [_count(down, "row") + " below"] if down else []
    if right:
        parts.append(f"{_count(abs(right), 'column')} to the {'right' if right > 0 else 'left'}")
    if rule.sums:
        clash = f"never add up to {rule.sums[0]}"
    elif rule.differences == (0,):
        clash = "never hold the same number"
    else:
        clash = f"never differ by exactly {rule.differences[0]}"
    edges = ""
    if rule.joined:
        edges = (
            "; here edges are joined: the row below the last one is the first one, and the column to the right of "
            "the last one is the first one, and vice versa"
        )
    return f"A cell and the cell {' and '.join(parts)} {clash}{edges}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number > 1)


def _say_total(clue: Total, n: int) -> str:
    plus, minus = (
        " + ".join([f"r{i // n + 1}c{i % n + 1}" for i in cells])
        for cells in (clue.plus, clue.minus)
    )
    if clue.modulus:
        return f"{plus} leaves remainder {clue.least} when divided by {clue.modulus}"
    if not minus:
        return f"{plus} = {clue.least}"
    return f"{plus} {'=' if not clue.most else '>'} {minus}"


def written(rules: NumberRules) -> dict[str, Any]:
    """Return rules as a reference holds them."""
    n = rules.side
    return {
        "regions": list(rules.regions),
        "apart": [
            {
                "steps": [list(step) for step in rule.steps],
                "joined": rule.joined,
                "differences": list(rule.differences),
                "sums": list(rule.sums),
            }
            for rule in rules.apart
        ],
        "totals": [
            {
                "plus": [[i // n + 1, i % n + 1] for i in clue.plus],
                "minus": [[i // n + 1, i % n + 1] for i in clue.minus],
                "least": clue.least,
                "most": clue.most,
                "modulus": clue.modulus,
            }
            for clue in rules.totals
        ],
    }
