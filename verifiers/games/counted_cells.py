"""Minesweeper with a drawn shape: the cells that a number counts, and the rest modulo which it is given.

The cells of a set are hexadecimal digits of a whole number, as `minesweeper.py` explains.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from verigym.canonical import JSON
from verigym.errors import TaskError

MOST_COUNTED = 40
"""Most cells that a number counts."""
MOST_DIGIT = 9
"""Most mines that a number counts if it is not a remainder, so that it has one digit."""


class CountedCells(Struct, frozen=True):
    """The cells that a number counts, as rows down and columns to the right of its own.

    `wrapped` joins opposite edges of the field; numbers are remainders modulo `modulus`, 0 for the numbers themselves.
    """

    offsets: tuple[tuple[int, int], ...]
    wrapped: bool = False
    modulus: int = 0


def counting_of(reference: Mapping[str, JSON], height: int, width: int) -> CountedCells | None:
    """Return what `counted`, `wrapped` and `modulus` of a reference say; None without `counted`.

    Raises TaskError if they are not what a field of this size can have.
    """
    raw, wrapped, modulus = (
        reference.get("counted"),
        reference.get("wrapped", False),
        reference.get("modulus", 0),
    )
    if raw is None:
        if "wrapped" in reference or "modulus" in reference:
            raise TaskError("minesweeper: wrapped and modulus need counted")
        return None
    if not isinstance(raw, list | tuple) or not 1 <= len(raw) <= MOST_COUNTED:
        raise TaskError(f"minesweeper: counted must be a list of 1 to {MOST_COUNTED} offsets")
    if type(wrapped) is not bool:
        raise TaskError(f"minesweeper: wrapped must be true or false, got {wrapped!r}")
    if type(modulus) is not int or not (modulus == 0 or 2 <= modulus <= 9):
        raise TaskError(f"minesweeper: modulus must be 0 or 2 to 9, got {modulus!r}")
    if not modulus and len(raw) > MOST_DIGIT:
        raise TaskError(f"minesweeper: without a modulus at most {MOST_DIGIT} cells can be counted")
    offsets = []
    for one in raw:
        if (
            not isinstance(one, list | tuple)
            or len(one) != 2
            or any(type(n) is not int for n in one)
        ):
            raise TaskError(f"minesweeper: an offset is [rows down, columns right], got {one!r}")
        down, right = int(str(one[0])), int(str(one[1]))
        if abs(down) >= height or abs(right) >= width:
            raise TaskError(f"minesweeper: the offset {one!r} leads out of the field")
        offsets.append((down, right))
    met = {(down % height, right % width) if wrapped else (down, right) for down, right in offsets}
    if len(met) != len(offsets) or (0, 0) in met:
        raise TaskError("minesweeper: offsets must lead to different cells, none of them to itself")
    return CountedCells(tuple(offsets), wrapped, modulus)


@lru_cache(maxsize=256)
def seen_from(counting: CountedCells, height: int, width: int, pitch: int) -> dict[int, int]:
    """Return the set of cells that each cell's number counts, by the cell; rows are `pitch` digits apart."""
    seen = {}
    for r in range(height):
        for c in range(width):
            cells = 0
            for down, right in counting.offsets:
                row, column = r + down, c + right
                if counting.wrapped:
                    row, column = row % height, column % width
                if 0 <= row < height and 0 <= column < width:
                    cells |= 1 << 4 * (row * pitch + column)
            seen[1 << 4 * (r * pitch + c)] = cells
    return seen


def counted(counting: CountedCells, height: int, width: int, pitch: int, mines: int) -> int:
    """Return the number of every cell, one digit each."""
    numbers = 0
    for cell, cells in seen_from(counting, height, width, pitch).items():
        number = (cells & mines).bit_count()
        numbers |= cell * (number % counting.modulus if counting.modulus else number)
    return numbers
