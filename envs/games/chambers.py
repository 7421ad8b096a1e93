"""Keydoor levels up to 7: chambers in a row, each behind a door, with arrows and pillars at level 7."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verigym.verifiers.games.keydoor import ARROWS


@dataclass(frozen=True)
class Size:
    """Chambers of `width` x `height` cells with a door between neighbours, the goal in the last.

    `turned` levels are turned and mirrored at random; others run from left to right. Of the floor, the shares
    `arrows` and `pillars` become arrows and walls. With `spare`, the turns are the shortest solution and so many percent.
    """

    chambers: int
    width: int
    height: int
    shortest: range
    max_turns: int = 0
    turned: bool = True
    arrows: float = 0.0
    pillars: float = 0.0
    spare: int | None = None


SIZES = {
    1: Size(chambers=2, width=2, height=4, shortest=range(6, 11), max_turns=16, turned=False),
    2: Size(chambers=2, width=2, height=4, shortest=range(8, 13), max_turns=20),
    3: Size(chambers=2, width=3, height=4, shortest=range(10, 16), max_turns=25),
    4: Size(chambers=2, width=4, height=4, shortest=range(12, 19), max_turns=30),
    5: Size(chambers=3, width=3, height=4, shortest=range(15, 26), max_turns=40),
    6: Size(chambers=3, width=3, height=5, shortest=range(18, 31), max_turns=50),
    7: Size(4, 3, 6, range(26, 60), arrows=0.15, pillars=0.05, spare=15),
}


def draw_chambers(rng: np.random.Generator, size: Size) -> tuple[str, ...]:
    """Return the rows of a level: keys lie in the chambers before the door they open."""
    columns = size.chambers * (size.width + 1) - 1
    grid = [["."] * columns for _ in range(size.height)]
    free: list[list[tuple[int, int]]] = []
    for chamber in range(size.chambers):
        left = chamber * (size.width + 1)
        cells = [(r, left + c) for r in range(size.height) for c in range(size.width)]
        free.append([cells[i] for i in rng.permutation(len(cells))])
        if chamber:
            for row in range(size.height):
                grid[row][left - 1] = "#"
    for door in range(size.chambers - 1):
        name = chr(ord("A") + door)
        row = int(rng.integers(size.height))
        grid[row][(door + 1) * (size.width + 1) - 1] = name
        key_row, key_column = free[int(rng.integers(door + 1))].pop()
        grid[key_row][key_column] = name.lower()
    for cell, chamber in (("@", 0), ("*", size.chambers - 1)):
        row, column = free[chamber].pop()
        grid[row][column] = cell
    turned = np.array(grid)
    if not size.turned:
        return tuple("".join(line) for line in turned)
    if rng.integers(2):
        turned = turned[:, ::-1]
    if rng.integers(2):
        turned = turned[::-1]
    if rng.integers(2):
        turned = turned.T
    if size.spare is not None:
        _obstruct(rng, turned, size)
    return tuple("".join(line) for line in turned)


def _obstruct(
    rng: np.random.Generator, grid: np.ndarray[tuple[int, ...], np.dtype[np.str_]], size: Size
) -> None:
    """Turn some of the floor into arrows and walls."""
    floor = rng.permutation(np.argwhere(grid == ".")).tolist()
    walls, arrows = (int(share * len(floor)) for share in (size.pillars, size.arrows))
    for row, column in floor[:walls]:
        grid[row, column] = "#"
    for row, column in floor[walls : walls + arrows]:
        grid[row, column] = list(ARROWS)[int(rng.integers(4))]
