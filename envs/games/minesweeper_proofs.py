"""What the numbers of a minesweeper field prove: which hidden cells hold a mine, and which hold none.

All cells are reckoned at once: see `verifiers/games/minesweeper.py` for how a field is a number.
"""

from __future__ import annotations

from functools import cache

from verigym.verifiers.games.minesweeper import GAP, Field, around, every, some, spread


def proved(field: Field, cells: int, known: int) -> tuple[int, int]:
    """Hidden cells that hold no mine, and `known` with the mines that were found on the way.

    By each number alone, by pairs of numbers at most two cells apart, and by the number of mines; as far
    as the first of them leads to free cells. `cells` are open, `known` are mines proved before.
    """
    width, numbers = field.width, field.numbers & 15 * cells
    hidden = every(field.height, width) & ~cells
    while True:
        # As many hidden cells around as the number says: mines, all of them.
        met = cells & ~some(numbers ^ around(hidden, width) & 15 * cells, cells)
        known |= spread(met, width) & hidden
        left = numbers - (around(known, width) & 15 * cells)
        unknown = hidden & ~known
        safe = spread(cells & ~some(left, cells), width) & unknown
        if not safe and known.bit_count() == field.mines.bit_count():
            safe = unknown
        if safe:
            return safe, known
        safe, mines = _by_pairs(width, cells, left, unknown)
        known |= mines
        if safe or not mines:
            return safe, known


def _by_pairs(width: int, cells: int, left: int, unknown: int) -> tuple[int, int]:
    """Free cells and mines that two numbers prove together; the first pairs that do.

    `left` are the mines around open cells that are not known. Where one number has more of them left than
    another, and by as many as it has hidden cells of its own, all of those are mines, and the other's own
    are free.
    """
    edge = some(around(unknown, width), cells)
    margin, pairs = _pairs(width)
    high_unknown, high_edge, high_left = unknown << margin, edge << margin, left << margin
    mines = 0
    for to, own, others in pairs:
        both = edge & high_edge >> to
        if not both:
            continue
        sums = left
        for shift in own:
            sums += high_unknown >> shift
        hits = both & ~some(sums ^ high_left >> to, both)
        if hits:
            high = hits << margin
            for shift in own:
                mines |= high >> 2 * margin - shift & unknown
            safe = 0
            for shift in others:
                safe |= high >> 2 * margin - shift & unknown
            if safe:
                return safe, mines
    return 0, mines


@cache
def _pairs(width: int) -> tuple[int, list[tuple[int, list[int], list[int]]]]:
    """How far all is shifted up so that no shift is below 0; then for each place at most two cells off: the
    shift down to it, and to the cells around it alone and around this cell alone."""
    row = width + GAP
    margin = 4 * (3 * row + 3)
    around_here = _square(0, 0)
    pairs = []
    for r, c in sorted(_square(0, 0, 2) - {(0, 0)}, key=lambda rc: (abs(rc[0]) + abs(rc[1]), rc)):
        around_there = _square(r, c)
        own = sorted(around_there - around_here)
        others = sorted(around_here - around_there)
        pairs.append(
            (
                margin + 4 * (r * row + c),
                [margin + 4 * (i * row + j) for i, j in own],
                [margin + 4 * (i * row + j) for i, j in others],
            )
        )
    return margin, pairs


def _square(r: int, c: int, far: int = 1) -> set[tuple[int, int]]:
    return {(i, j) for i in range(r - far, r + far + 1) for j in range(c - far, c + far + 1)}
