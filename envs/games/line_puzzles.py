"""Nonograms whose clues tell less than the runs in order, with clues about diagonals and blocks, so that cases are needed.

A puzzle is made from its picture: as long as the search finds another one, a clue is added that it breaks. Then clues are
weakened or dropped as long as the picture stays the only one, until enough cells have to be assumed to prove it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from verigym.envs.games.line_search import LineSearch
from verigym.verifiers.games.cell_lines import KINDS, CellLine, measure

Cells = tuple[tuple[int, int], ...]
WEAK = KINDS[1:]
SHARES = (0.4, 0.2, 0.2, 0.2)
"""Shares of the kinds of clues of a line, as in `WEAK`."""
FILLED = 0.55
BLOCKS = ((2, 2), (3, 3), (2, 3), (3, 2))


class PictureSize(Struct, frozen=True):
    """Rows; cells that have to be assumed filled or empty to prove the picture, at least and at most."""

    side: int
    trials: tuple[int, int]


def draw_lines(
    rng: np.random.Generator, size: PictureSize, wants: Callable[[list[str]], bool]
) -> tuple[tuple[CellLine, ...], list[str]]:
    """Return clues that fit one picture, one that `wants` accepts, and that picture."""
    n = size.side
    while True:
        picture = ["".join(["#" if x < FILLED else "." for x in rng.random(n)]) for _ in range(n)]
        if not wants(picture):
            continue
        lines = _with_more(rng, picture, size)
        lines, trials = _weakened(rng, lines, picture, size)
        if trials >= size.trials[0]:
            return tuple(lines), picture


def _with_more(rng: np.random.Generator, picture: list[str], size: PictureSize) -> list[CellLine]:
    """Tell of rows and columns, and of diagonals and blocks until `picture` is the only one."""
    n, most = size.side, size.trials[1]
    rows = [tuple((r, c) for c in range(n)) for r in range(n)]
    columns = [tuple((r, c) for r in range(n)) for c in range(n)]
    lines = [_tell(cells, _draw_kind(rng), picture) for cells in rows + columns]
    wanted = [int(sign == "#") for row in picture for sign in row]
    # What the picture has is tried last, so that it is found first only if it is the only one.
    first = [1 - value for value in wanted]
    while True:
        found, _ = LineSearch(n, lines).solve(1, most, first)
        if found == [wanted] and LineSearch(n, lines).solve(2, most)[1]:
            return lines
        other = None
        if found and found[0] != wanted:
            signs = "".join([".#"[value] for value in found[0]])
            other = [signs[i : i + n] for i in range(0, n * n, n)]
        for _ in range(200):
            line = _draw_extra(rng, picture)
            if line not in lines and not (other and line.holds(other)):
                break
        lines.append(line)


def _weakened(
    rng: np.random.Generator, lines: list[CellLine], picture: list[str], size: PictureSize
) -> tuple[list[CellLine], int]:
    """Weaken clues until enough cells have to be assumed; return how many have to be."""
    n = size.side
    search = LineSearch(n, lines)
    search.solve(2, size.trials[1])
    trials = search.trials
    for line in [lines[index] for index in rng.permutation(len(lines)).tolist()]:
        if trials >= size.trials[0]:
            break
        at = lines.index(line)
        less = [] if line.kind != "any order" else [_tell(line.cells, WEAK[-1], picture)]
        weaker = [*lines[:at], *less, *lines[at + 1 :]]
        search = LineSearch(n, weaker)
        found, whole = search.solve(2, size.trials[1])
        if whole and len(found) == 1:
            lines, trials = weaker, search.trials
    return lines, trials


def _tell(cells: Cells, kind: str, picture: Sequence[str]) -> CellLine:
    return CellLine(cells, kind, measure("".join([picture[r][c] for r, c in cells]), kind))


def _draw_kind(rng: np.random.Generator) -> str:
    return WEAK[int(rng.choice(len(WEAK), p=SHARES))]


def _draw_extra(rng: np.random.Generator, picture: list[str]) -> CellLine:
    """Draw a clue about a block or a diagonal."""
    n = len(picture)
    if rng.integers(2):
        height, width = BLOCKS[int(rng.integers(len(BLOCKS)))]
        top, left = int(rng.integers(n - height + 1)), int(rng.integers(n - width + 1))
        block = tuple((top + i, left + j) for i in range(height) for j in range(width))
        return _tell(block, "filled", picture)
    aside = int(rng.integers(4 - n, n - 3))  # at least four cells
    diagonal = [(r, r + aside) for r in range(n) if 0 <= r + aside < n]
    if rng.integers(2):
        diagonal = [(r, n - 1 - c) for r, c in diagonal]
    return _tell(tuple(diagonal), _draw_kind(rng), picture)


def say_lines(lines: Sequence[CellLine]) -> str:
    """Return the clues in words, a line each: rows, columns, diagonals, blocks."""
    said = sorted([(*_say_cells(line.cells), _say_numbers(line)) for line in lines])
    return "\n".join([f"{cells}: {numbers}" for _, _, cells, numbers in said])


def _say_cells(cells: Cells) -> tuple[int, Cells, str]:
    (top, left), (bottom, right) = cells[0], cells[-1]
    ends = f"r{top + 1}c{left + 1} to r{bottom + 1}c{right + 1}"
    if len(cells) == bottom - top + 1 and left != right:
        return 2, cells, f"diagonal {ends}"
    if top == bottom:
        return 0, cells, f"row {top + 1}"
    if left == right:
        return 1, cells, f"column {left + 1}"
    return 3, cells, f"block {ends}"


def _say_numbers(line: CellLine) -> str:
    if line.kind == "any order":
        return f"any order {' '.join(map(str, line.numbers or (0,)))}"
    number = line.numbers[0]
    if line.kind == "number of runs":
        return f"{number} run" + "s" * (number != 1)
    return f"longest {number}" if line.kind == "longest" else f"{number} filled"


def written(lines: Sequence[CellLine]) -> list[dict[str, Any]]:
    """Return clues as a reference holds them."""
    return [
        {
            "cells": [[r + 1, c + 1] for r, c in line.cells],
            "kind": line.kind,
            "numbers": list(line.numbers),
        }
        for line in lines
    ]
