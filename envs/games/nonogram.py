"""Nonograms: fill cells so that each row and column has the runs that stand beside it."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.line_puzzles import PictureSize, draw_lines, say_lines, written
from verigym.envs.games.line_search import LineSearch
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.cell_lines import CellLine
from verigym.verifiers.games.nonogram import Picture, Runs, runs_of

# Rows and columns, and the share of filled cells.
SIZES = {
    1: (3, 0.6),
    2: (4, 0.6),
    3: (5, 0.6),
    4: (6, 0.6),
    5: (7, 0.61),
    6: (9, 0.62),
    7: (10, 0.62),
}

PUZZLES = {
    8: PictureSize(8, (8, 30)),
    9: PictureSize(9, (30, 90)),
    10: PictureSize(10, (90, 250)),
}

_PROMPT = """\
A nonogram of {size} rows and {size} columns, where . is an empty cell and # a filled one. The numbers to the right of \
each row are the lengths of its runs of filled cells, from left to right; those of the columns are listed below the \
grid, from top to bottom. 0 means no filled cell. At least one empty cell separates two runs.
Fill cells until every row and column has exactly its runs, within {turns} moves. Answer with the row and column of a \
cell, counted from 1, such as 2 3: an empty cell is filled, a filled one is emptied."""

_WEAK_CLUES = """\
A picture of {size} rows and {size} columns, where . is an empty cell and # a filled one. A run is a group of filled cells \
that directly follow one another in a line and that no further filled cell of the line adjoins. The clues tell of lines (rows, \
columns and diagonals) and of blocks of cells:
- "any order 1 2 2": the line has exactly runs of these lengths, in whatever order; 0 means no filled cell;
- "2 runs": it has so many runs, of any lengths;
- "longest 3": its longest run has so many cells; 0 means no filled cell;
- "5 filled": the line, or the block, has so many filled cells.
r2c3 is the cell in row 2, column 3. A diagonal goes from the first cell named to the second; a block is the rectangle with the \
first cell named as its top left corner and the second as its bottom right one. Of lines that are not listed nothing is told. \
There is one solution.

{lines}

Fill cells until all clues hold, within {turns} moves. Answer with the row and column of a cell, counted from 1, such as 2 3: \
an empty cell is filled, a filled one is emptied."""


class Nonogram(ReplayedGame):
    """The environment. An action is `row column`. Any picture with the runs told wins."""

    id: ClassVar[str] = "verigym/games/nonogram-v0"
    game: ClassVar[str] = "nonogram"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw the runs of a random picture; from level 8 on clues that tell less."""
        if level in PUZZLES:
            return self._draw_weak_clues(rng, PUZZLES[level])
        size, share = SIZES[level]
        grid = np.where(rng.random((size, size)) < share, "#", ".")
        grid[0, 0] = "#"  # an empty picture would be won at once
        across = [list(runs_of(row.tolist())) for row in grid]
        down = [list(runs_of(column.tolist())) for column in grid.T]
        filled = int((grid == "#").sum())
        # Another picture with the same runs has as many filled cells.
        turns = filled + filled // 2 + 2
        prompt = _PROMPT.format(size=size, turns=turns)
        return prompt, {"across": across, "down": down, "turns": turns}

    def _draw_weak_clues(
        self, rng: np.random.Generator, size: PictureSize
    ) -> tuple[str, dict[str, Any]]:
        lines, picture = draw_lines(rng, size, self.wants)
        filled = sum([row.count("#") for row in picture])
        turns = filled + filled // 2 + 2
        prompt = _WEAK_CLUES.format(size=size.side, lines=say_lines(lines), turns=turns)
        reference = {"size": size.side, "lines": written(lines), "turns": turns}
        return prompt, {**reference, "essence": picture}

    @override
    def show(self, board: Picture) -> str:
        if board.lines:
            return "\n".join([" ".join(row) for row in board.rows])
        lines = [
            f"{' '.join(row)}  {' '.join(map(str, runs or (0,)))}"
            for row, runs in zip(board.rows, board.across, strict=True)
        ]
        columns = [
            f"column {i}: {' '.join(map(str, runs or (0,)))}"
            for i, runs in enumerate(board.down, 1)
        ]
        return "\n".join([*lines, *columns])

    @override
    def position(self, board: Picture) -> JSON:
        return list(board.rows)

    @override
    def moves(self, board: Picture) -> list[str]:
        rows, columns = range(1, len(board.rows) + 1), range(1, len(board.rows[0]) + 1)
        return [f"{row} {column}" for row in rows for column in columns]

    @override
    def best(self, board: Picture) -> str | None:
        """Return the first cell that differs from the solution."""
        if board.lines:
            picture = _searched(len(board.rows), board.lines)
        else:
            picture = _solved(board.across, board.down)
        for row, (line, solved) in enumerate(zip(board.rows, picture, strict=True), 1):
            for column, (sign, wanted) in enumerate(zip(line, solved, strict=True), 1):
                if sign != wanted:
                    return f"{row} {column}"
        return None

    @override
    def operations(self, board: Picture) -> int:
        """Count the ways to draw a line that are compared with the lines that cross it.

        From level 8 on, count the cells that a search looks at which proves the picture the only one.
        """
        if board.lines:
            search = LineSearch(len(board.rows), board.lines)
            search.solve(2, 1 << 30)  # the second one does not exist, as is proven so
            return search.operations
        tally = _Tally()
        _search(*_options(board.across, board.down), tally)
        return tally.compared


@lru_cache(maxsize=256)
def _searched(size: int, lines: tuple[CellLine, ...]) -> tuple[str, ...]:
    """Return the picture that the clues fit."""
    found, _ = LineSearch(size, lines).solve(1, 1 << 30)
    assert found, "a drawn nonogram has a solution"
    signs = "".join([".#"[value] for value in found[0]])
    return tuple(signs[i : i + size] for i in range(0, size * size, size))


class _Tally:
    """Number of ways to draw a line that were compared with the lines that cross it."""

    def __init__(self) -> None:
        self.compared = 0


@lru_cache(maxsize=512)
def _solved(across: Runs, down: Runs) -> tuple[str, ...]:
    """A picture with these runs: lines are narrowed to what fits, then tried row by row."""
    solved = _search(*_options(across, down), _Tally())
    assert solved is not None, "a drawn nonogram has a solution"
    return solved


def _options(across: Runs, down: Runs) -> tuple[list[list[str]], list[list[str]]]:
    """All ways to draw each row and each column."""
    fits = [_lines(runs, len(down)) for runs in across]
    return fits, [_lines(runs, len(across)) for runs in down]


def _search(
    fits: list[list[str]], stands: list[list[str]], tally: _Tally
) -> tuple[str, ...] | None:
    while True:
        before = sum(map(len, fits)) + sum(map(len, stands))
        fits = _narrowed(fits, stands, tally)
        stands = _narrowed(stands, fits, tally)
        if not all(fits) or not all(stands):
            return None
        if sum(map(len, fits)) + sum(map(len, stands)) == before:
            break
    open_rows = [row for row, lines in enumerate(fits) if len(lines) > 1]
    if not open_rows:
        return tuple(lines[0] for lines in fits)
    row = min(open_rows, key=lambda r: len(fits[r]))
    for line in fits[row]:
        found = _search([*fits[:row], [line], *fits[row + 1 :]], stands, tally)
        if found is not None:
            return found
    return None


def _narrowed(lines: list[list[str]], crossing: list[list[str]], tally: _Tally) -> list[list[str]]:
    """Each line's possibilities that agree, cell by cell, with some possibility of the crossing line."""
    allowed = [[{line[i] for line in cross} for i in range(len(lines))] for cross in crossing]
    found = []
    for i, many in enumerate(lines):
        kept = []
        for line in many:
            tally.compared += 1
            if all(line[j] in allowed[j][i] for j in range(len(line))):
                kept.append(line)
        found.append(kept)
    return found


@lru_cache(maxsize=4096)
def _all_lines(runs: tuple[int, ...], length: int) -> tuple[str, ...]:
    """Every line with these runs."""
    spare = length - sum(runs) - max(0, len(runs) - 1)
    found = []
    for places in combinations(range(spare + len(runs)), len(runs)):
        line, at = "", 0
        for number, (place, run) in enumerate(zip(places, runs, strict=True)):
            gap = place - at + (number > 0)
            line += "." * gap + "#" * run
            at = place + 1
        found.append(line.ljust(length, "."))
    return tuple(found)


def _lines(runs: tuple[int, ...], length: int) -> list[str]:
    return list(_all_lines(runs, length))
