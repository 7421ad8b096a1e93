"""Clues of nonograms that tell less than the runs in order: any order, a count, or the longest run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from verigym.canonical import JSON
from verigym.errors import TaskError

KINDS = ("runs", "any order", "number of runs", "longest", "filled")
"""The runs in order or in any order; the number of runs; the length of the longest run; the filled cells."""


class CellLine(Struct, frozen=True, gc=False):
    """A line: its cells in order, as rows and columns from 0, with the kind of its clue and the numbers that this gives."""

    cells: tuple[tuple[int, int], ...]
    kind: str
    numbers: tuple[int, ...]

    def holds(self, rows: Sequence[str]) -> bool:
        """Return True if the picture has the numbers."""
        return measure("".join([rows[r][c] for r, c in self.cells]), self.kind) == self.numbers


def measure(line: str, kind: str) -> tuple[int, ...]:
    """Return the numbers that a clue of this kind tells of a line of `#` and `.`."""
    runs = [len(list(group)) for sign, group in groupby(line) if sign == "#"]
    if kind == "runs":
        return tuple(runs)
    if kind == "any order":
        return tuple(sorted(runs))
    if kind == "number of runs":
        return (len(runs),)
    return (max(runs, default=0),) if kind == "longest" else (sum(runs),)


def read_lines(raw: JSON, most_side: int) -> tuple[CellLine, ...]:
    """Return the clues of a reference; raise TaskError if they are malformed or cannot be met."""
    if not isinstance(raw, list | tuple) or not raw:
        raise TaskError("nonogram: lines must be a list of clues")
    return tuple(_line(item, most_side) for item in raw)


def _line(raw: JSON, most_side: int) -> CellLine:
    if not isinstance(raw, Mapping) or raw.get("kind") not in KINDS:
        raise TaskError(f"nonogram: a clue has cells, numbers and a kind of {KINDS}, got {raw!r}")
    kind, cells, numbers = str(raw["kind"]), raw.get("cells"), raw.get("numbers")
    if not isinstance(cells, list | tuple) or not cells:
        raise TaskError(f"nonogram: a clue has a list of cells, got {raw!r}")
    places = []
    for cell in cells:
        if not isinstance(cell, list | tuple) or len(cell) != 2:
            raise TaskError(f"nonogram: a cell is [row, column], got {cell!r}")
        row, column = cell
        if type(row) is not int or type(column) is not int:
            raise TaskError(f"nonogram: a cell is [row, column], got {cell!r}")
        if not (1 <= row <= most_side and 1 <= column <= most_side):
            raise TaskError(f"nonogram: {cell!r} lies outside")
        places.append((row - 1, column - 1))
    if len(set(places)) < len(places):
        raise TaskError(f"nonogram: a cell is named twice in {raw!r}")
    if not isinstance(numbers, list | tuple):
        raise TaskError(f"nonogram: numbers must be a list, got {numbers!r}")
    told = tuple(n for n in numbers if isinstance(n, int) and not isinstance(n, bool))
    if len(told) < len(numbers):
        raise TaskError(f"nonogram: numbers must be whole, got {numbers!r}")
    _check_numbers(kind, told, len(places))
    return CellLine(tuple(places), kind, told)


def _check_numbers(kind: str, numbers: tuple[int, ...], length: int) -> None:
    if kind in ("runs", "any order"):
        fit = all(n > 0 for n in numbers) and sum(numbers) + len(numbers) - 1 <= length
        fit = fit and (kind == "runs" or list(numbers) == sorted(numbers))
    else:
        most = (length + 1) // 2 if kind == "number of runs" else length
        fit = len(numbers) == 1 and 0 <= numbers[0] <= most
    if not fit:
        raise TaskError(f"nonogram: {kind} of {numbers} does not fit into {length} cells")
