"""Rules of nonograms: fill cells so that the runs of each row and column are as told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.cell_lines import CellLine, read_lines

Runs = tuple[tuple[int, ...], ...]
MAX_SIDE = 30


@dataclass(frozen=True, slots=True)
class Picture:
    """Rows of `#` and `.`, and the runs that are wanted; or clues about lines of cells, where `across` and `down` are empty."""

    rows: tuple[str, ...]
    across: Runs
    down: Runs
    lines: tuple[CellLine, ...] = ()


def runs_of(line: Sequence[str]) -> tuple[int, ...]:
    """Return the lengths of the runs of `#`."""
    return tuple(len(list(group)) for sign, group in groupby(line) if sign == "#")


class NonogramRules:
    """`{"across": [[1], [2]], "down": [[2], [1]]}`, runs of rows and of columns.

    A move `[row, column]`, from 1, fills a cell or empties it again. Won if all runs are as told;
    any such picture will do.

    `{"size": 5, "lines": [{"cells": [[1, 1], [1, 2]], "kind": "filled", "numbers": [1]}, ...]}` has clues about any lines of
    cells in a square instead; their kinds are in `cell_lines.py`.
    """

    def start(self, reference: Mapping[str, JSON]) -> Picture:
        if "lines" in reference:
            size = reference.get("size")
            if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= MAX_SIDE:
                raise TaskError(f"nonogram: size must be 1 to {MAX_SIDE}, got {size!r}")
            if "across" in reference or "down" in reference:
                raise TaskError("nonogram: either lines, or across and down")
            return Picture(("." * size,) * size, (), (), read_lines(reference["lines"], size))
        across, down = _runs(reference, "across"), _runs(reference, "down")
        for lines, length in ((across, len(down)), (down, len(across))):
            if any(sum(runs) + len(runs) - 1 > length for runs in lines):
                raise TaskError("nonogram: the runs do not fit")
        return Picture(("." * len(down),) * len(across), across, down)

    def read(self, move: JSON) -> tuple[int, int] | None:
        if isinstance(move, str) and len(move) <= 20:
            words = move.replace(",", " ").strip(" ()[]").split()
            move = [int(w) for w in words if w.isdecimal()] if all(map(str.isdecimal, words)) else 0
        if isinstance(move, list | tuple) and len(move) == 2 and all(type(n) is int for n in move):
            return int(str(move[0])) - 1, int(str(move[1])) - 1
        return None

    def legal(self, state: Picture, move: tuple[int, int]) -> bool:
        return 0 <= move[0] < len(state.rows) and 0 <= move[1] < len(state.rows[0])

    def apply(self, state: Picture, move: tuple[int, int]) -> Picture:
        row, column = move
        line = state.rows[row]
        line = line[:column] + ("." if line[column] == "#" else "#") + line[column + 1 :]
        rows = (*state.rows[:row], line, *state.rows[row + 1 :])
        return Picture(rows, state.across, state.down, state.lines)

    def won(self, state: Picture) -> bool:
        if state.lines:
            return all(line.holds(state.rows) for line in state.lines)
        return (
            tuple(map(runs_of, state.rows)) == state.across
            and tuple(map(runs_of, zip(*state.rows, strict=True))) == state.down
        )


def _runs(reference: Mapping[str, JSON], name: str) -> Runs:
    lines = reference.get(name)
    if not isinstance(lines, list | tuple) or not 1 <= len(lines) <= MAX_SIDE:
        raise TaskError(f"nonogram: {name} must be 1 to {MAX_SIDE} lists of runs")
    for runs in lines:
        if not isinstance(runs, list | tuple) or not all(type(n) is int and n > 0 for n in runs):
            raise TaskError(f"nonogram: runs are whole numbers above 0, got {runs!r} in {name}")
    return tuple(
        tuple(int(str(n)) for n in runs) for runs in lines if isinstance(runs, list | tuple)
    )
