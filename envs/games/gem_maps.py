"""Keydoor maps with gems: rooms in rows and columns, gaps between neighbours, and a tour that eyesight does not find."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verigym.envs.games.gem_tours import (
    Cell,
    GemTours,
    nearest_order,
    straight_order,
)
from verigym.verifiers.games.keydoor import ARROWS, GEM, TURNING

Grid = list[list[str]]


@dataclass(frozen=True)
class GemSize:
    """Rooms of `height` x `width` cells, `down` x `across` of them, with a gap between neighbours.

    `doors` of the gaps are locked, and the share `one_way` of the others are two arrows, there and back, or one arrow that turns; of
    the floor, the shares `arrows`, `turning` and `pillars` become arrows, arrows that turn and walls. The order of the gems that looks shortest takes at least `misled` moves more than the best one.
    A tour takes `fewest` moves, and so many percent are to `spare`.
    """

    down: int
    across: int
    height: int
    width: int
    gems: int
    doors: int
    misled: int
    fewest: range
    spare: int
    one_way: float = 0.5
    arrows: float = 0.15
    pillars: float = 0.1
    turning: float = 0.0


GEM_SIZES = {
    8: GemSize(2, 2, 4, 6, gems=5, doors=2, misled=2, fewest=range(36, 90), spare=10),
    9: GemSize(
        2,
        2,
        5,
        6,
        gems=5,
        doors=2,
        misled=4,
        fewest=range(45, 110),
        spare=5,
        one_way=1.0,
        arrows=0.1,
        turning=0.25,
    ),
    10: GemSize(
        3,
        3,
        4,
        4,
        gems=7,
        doors=2,
        misled=4,
        fewest=range(60, 160),
        spare=0,
        one_way=1.0,
        arrows=0.05,
        turning=0.5,
    ),
}


def draw_rows(rng: np.random.Generator, size: GemSize) -> tuple[str, ...]:
    """Return the rows of a map; there may be no way through it."""
    high, wide = size.height + 1, size.width + 1
    rows, columns = size.down * high - 1, size.across * wide - 1
    grid = [
        ["#" if r % high == size.height or c % wide == size.width else "." for c in range(columns)]
        for r in range(rows)
    ]
    gaps = _open_gaps(rng, grid, size)
    floor = [
        (r, c)
        for r in range(rows)
        for c in range(columns)
        if grid[r][c] == "." and (r, c) not in gaps
    ]
    free = [floor[i] for i in rng.permutation(len(floor))]
    keys = [chr(ord("a") + number) for number in range(size.doors)]
    for cell in ("@", "*", *keys, *[GEM] * size.gems):
        row, column = free.pop()
        grid[row][column] = cell
    # Before and behind a gap the floor stays, or most gaps would lead nowhere.
    free = [
        (r, c) for r, c in free if gaps.isdisjoint(((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)))
    ]
    shares = (("#", size.pillars), ("".join(ARROWS), size.arrows), ("".join(TURNING), size.turning))
    taken = 0
    for cells, share in shares:
        some = int(share * len(free))
        for row, column in free[taken : taken + some]:
            grid[row][column] = cells[int(rng.integers(len(cells)))]
        taken += some
    return tuple("".join(line) for line in grid)


def misleads(tours: GemTours, size: GemSize) -> bool:
    """Return True if there is a tour, it fetches keys, and no simple order of the gems comes near it."""
    if not tours.is_open():
        return False
    level, gems = tours.level, tours.gems
    start = (level.start.row, level.start.column)
    fewest = tours.fewest(level.start)
    if fewest not in size.fewest:
        return False
    if all(point < len(gems) for point in tours.tour()):
        return False
    orders = (straight_order(start, gems, level.goal), nearest_order(start, gems))
    return all(tours.fewest_in_order(order) >= fewest + size.misled for order in orders)


def _open_gaps(rng: np.random.Generator, grid: Grid, size: GemSize) -> set[Cell]:
    """Open the walls between neighbours by a door, by a gap, or by two arrows in opposite directions; return where."""
    high, wide = size.height + 1, size.width + 1
    walls = []
    for row in range(size.down):
        for column in range(size.across):
            top, left = row * high, column * wide
            if column + 1 < size.across:
                beside = [(top + r, left + size.width) for r in range(size.height)]
                walls.append((beside, "→←"))
            if row + 1 < size.down:
                below = [(top + size.height, left + c) for c in range(size.width)]
                walls.append((below, "↓↑"))
    gaps = set()
    for number, i in enumerate(rng.permutation(len(walls)).tolist()):
        cells, ways = walls[i]
        one, other = (cells[j] for j in rng.permutation(len(cells))[:2].tolist())
        if number < size.doors:
            grid[one[0]][one[1]] = chr(ord("A") + number)
        elif rng.random() >= size.one_way:
            grid[one[0]][one[1]] = "."
        elif size.turning:
            grid[one[0]][one[1]] = list(TURNING)[int(rng.integers(4))]
        else:
            grid[one[0]][one[1]], grid[other[0]][other[1]] = ways
            gaps.add(other)
        gaps.add(one)
    return gaps
