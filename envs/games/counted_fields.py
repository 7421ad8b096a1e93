"""Minesweeper fields of levels 8 to 10: the cells that a number counts are drawn, and numbers may be remainders.

A field is played through while it is drawn: where nothing is proved, one more free cell is open at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from msgspec import Struct

from verigym.canonical import JSON
from verigym.envs.games.minesweeper_pairs import prove_by_pairs
from verigym.envs.games.minesweeper_systems import RemainderSystem, eliminate_by_terms, system_of
from verigym.verifiers.games.counted_cells import CountedCells, seen_from
from verigym.verifiers.games.minesweeper import (
    GAP,
    Field,
    Opened,
    counted_field,
    every,
    number_at,
)


class CountedSize(Struct, frozen=True):
    """Side and mines of a field, the cells that a number counts and how far away they are at most, and what numbers
    tell of them. Pairs of numbers open at most the share `by_pairs` of the cells."""

    side: int
    mines: int
    counted: int
    reach: int
    wrapped: bool
    modulus: int
    by_pairs: float = 1.0


SIZES = {
    8: CountedSize(12, 34, 8, 2, False, 0),
    9: CountedSize(9, 18, 12, 2, True, 3, 0.5),
    10: CountedSize(11, 30, 20, 3, True, 2, 0.1),
}
SPARE = 2
"""Turns beyond the cells to open."""

_PROMPT = """\
A field of {side} by {side} cells hides {mines} mines. # is a cell that is not open yet; the others are open. The number \
of an open cell counts the mines among {counted} cells that lie around it as in this picture, in which X is the cell with \
the number and every o is a cell that it counts:
{picture}
In rows down and columns to the right of the number (negative: up and left) they are {offsets}. {edges} So the number \
in row {row}, column {column} counts {example}.{remainder}
Open all cells without a mine; opening a mine loses. Opening a cell opens no other cell. It can be done without guessing.
Answer with row and column, counted from 1, such as 2 3. Opening an open cell uses up a turn, and you have only \
{spare} turns more than there are cells to open."""
_REMAINDERS = {
    0: "",
    2: " The number itself is not shown, only whether it is even (0) or odd (1).",
    3: " The number itself is not shown, only the remainder when it is divided by 3: 0, 1 or 2.",
}


def draw_counted(
    rng: np.random.Generator, level: int, wants: Callable[[JSON], bool]
) -> tuple[str, dict[str, Any]]:
    """Draw shapes and mines until proofs alone open the field and pairs of numbers do not."""
    size = SIZES[level]
    side = size.side
    near = range(-size.reach, size.reach + 1)
    around = [(down, right) for down in near for right in near if (down, right) != (0, 0)]
    places = [1 << 4 * (r * (side + GAP) + c) for r in range(side) for c in range(side)]
    while True:
        shape = [around[i] for i in sorted(rng.permutation(len(around))[: size.counted].tolist())]
        order = [places[i] for i in rng.permutation(len(places)).tolist()]
        mines = sum(order[: size.mines])
        essence = f"{side} {mines:x} {shape}"
        if not wants(essence):
            continue
        field = counted_field(
            side, side, mines, CountedCells(tuple(shape), size.wrapped, size.modulus)
        )
        start = _start(field, order[size.mines :])
        left = (field.free & ~start).bit_count()
        if left < side or (size.modulus and _open_by_pairs(field, start, size.by_pairs * left)):
            continue
        signs = ["*" if cell & mines else "o" if cell & start else "." for cell in places]
        rows = ["".join(signs[i : i + side]) for i in range(0, len(signs), side)]
        return _said(size, shape), {
            "rows": " ".join(rows),
            "counted": [list(one) for one in shape],
            "wrapped": size.wrapped,
            "modulus": size.modulus,
            "turns": left + SPARE,
            "essence": essence,
        }


def prove(field: Field, cells: int) -> int:
    """Return the hidden cells that are proved free.

    By pairs of numbers if the numbers themselves are shown, by elimination if their remainders are.
    """
    assert field.counting is not None
    if field.counting.modulus:
        return system_of(field, cells).free
    return prove_by_pairs(field, cells).free


def count_proof(board: Opened) -> int:
    """Return the operations that it takes to prove a cell free: of pairs of numbers, or terms added in elimination."""
    assert board.field.counting is not None
    if board.field.counting.modulus:
        return max(1, eliminate_by_terms(board.field, board.cells)[1])
    return prove_by_pairs(board.field, board.cells).operations


def _start(field: Field, order: list[int]) -> int:
    """Return cells to open at the start, the first ones of `order`, so that proofs open all others."""
    assert field.counting is not None
    opening = _opening_by_system if field.counting.modulus else _opening_by_pairs
    opened, start, open_more = 0, 0, opening(field)
    next(open_more)
    for cell in order:
        if not cell & opened:
            start |= cell
            opened = open_more.send(cell)
    return start


def _opening_by_pairs(field: Field) -> Generator[int, int, None]:
    opened = 0
    while True:
        opened |= yield opened
        while free := prove_by_pairs(field, opened).free:
            opened |= free


def _opening_by_system(field: Field) -> Generator[int, int, None]:
    """As `system_of` on all cells that are open, whose equations are kept from cell to cell."""
    assert field.counting is not None
    pitch = field.width + GAP
    seen = seen_from(field.counting, field.height, field.width, pitch)
    system = RemainderSystem(field.counting.modulus, 1 << 4 * field.height * pitch)
    system.state(every(field.height, field.width), field.mines.bit_count())
    opened = 0
    while True:
        waiting = yield opened
        system.state(waiting, 0)
        while waiting:
            cell = waiting & -waiting
            opened |= cell
            system.state(seen[cell], number_at(field, cell))
            waiting = system.free & ~opened


def _open_by_pairs(field: Field, start: int, most: float) -> bool:
    """Return True if proofs by pairs of numbers open more than `most` cells."""
    cells = start
    while free := prove_by_pairs(field, cells).free:
        cells |= free
        if (cells & ~start).bit_count() > most:
            return True
    return False


def _said(size: CountedSize, shape: list[tuple[int, int]]) -> str:
    downs, rights = ([0, *one] for one in zip(*shape, strict=True))
    picture = [
        " ".join(
            "X" if not down and not right else "o" if (down, right) in shape else "."
            for right in range(min(rights), max(rights) + 1)
        )
        for down in range(min(downs), max(downs) + 1)
    ]
    row = column = 1 if size.wrapped else 2
    cells = [(row + down, column + right) for down, right in shape]
    if size.wrapped:
        edges = (
            f"The field is joined at its edges: row 1 follows below row {size.side}, and column 1 to the right of "
            f"column {size.side}."
        )
        cells = [((r - 1) % size.side + 1, (c - 1) % size.side + 1) for r, c in cells]
    else:
        edges = "Cells beyond the edge of the field do not exist."
        cells = [(r, c) for r, c in cells if r > 0 < c]
    return _PROMPT.format(
        side=size.side,
        mines=size.mines,
        counted=len(shape),
        picture="\n".join(picture),
        offsets=", ".join(str(one) for one in shape),
        edges=edges,
        row=row,
        column=column,
        example=", ".join(str(one) for one in sorted(cells)) or "nothing",
        remainder=_REMAINDERS[size.modulus],
        spare=SPARE,
    )
