"""Deductions from the numbers of a minesweeper field: hidden cells proved to hold a mine, or to
hold none.

All cells are computed at once; `verifiers/games/minesweeper.py` explains how a field is stored as
a number.
"""

from __future__ import annotations

from functools import cache

from verigym.verifiers.games.minesweeper import GAP, Field, Opened, around, some, spread


def proved(field: Field, cells: int, known: int) -> tuple[int, int]:
    """Return the hidden cells that hold no mine, and `known` with the mines that were found on the way.

    By each number alone, by pairs of numbers at most two cells apart, and by the number of mines; as far
    as the first of them leads to free cells. `cells` are open, `known` are mines proved before.
    """
    width, wide, mines = field.width, 15 * cells, field.mines
    numbers = field.numbers & wide
    hidden = (field.free | mines) & ~cells
    # As many hidden cells around as the number says: mines, all of them.
    met = cells & ~some(numbers ^ around(hidden, width) & wide, cells)
    known |= spread(met, width) & hidden
    while True:
        left = numbers - (around(known, width) & wide)
        unknown = hidden & ~known
        safe = spread(cells & ~some(left, cells), width) & unknown
        if not safe and known.bit_count() == mines.bit_count():
            safe = unknown
        if safe:
            return safe, known
        safe, found = _by_pairs(width, cells, left, unknown)
        known |= found
        if safe or not found:
            return safe, known


def _by_pairs(width: int, cells: int, left: int, unknown: int) -> tuple[int, int]:
    """Free cells and mines that two numbers prove together; the first pairs that do.

    `left` are the mines around open cells that are not known. Where one number has more of them left than
    another, and by as many as it has hidden cells of its own, all of those are mines, and the other's own
    are free.
    """
    edge = some(around(unknown, width), cells)
    margin, pairs = _pairs(width)
    high_edge, high_left = edge << margin, left << margin
    row = 4 * (width + GAP)
    # Hidden cells one by one, and in threes across and down.
    ones = unknown << margin
    across = (ones << 4) + ones + (ones >> 4)
    down = (ones << row) + ones + (ones >> row)
    counted = (ones, across, down)
    mines = 0
    for to, own, mines_at, free_at in pairs:
        both = edge & high_edge >> to
        if not both:
            continue
        sums = left
        for which, shift in own:
            sums += counted[which] >> shift
        half = sums ^ high_left >> to
        half |= half >> 2  # as in `some`, two dozen times a call
        hits = both & ~(half | half >> 1)
        if hits:
            high = hits << margin
            for shift in mines_at:
                mines |= high >> shift & unknown
            safe = 0
            for shift in free_at:
                safe |= high >> shift & unknown
            if safe:
                return safe, mines
    return 0, mines


_Pair = tuple[int, list[tuple[int, int]], list[int], list[int]]


@cache
def _pairs(width: int) -> tuple[int, list[_Pair]]:
    """Return the shift that keeps all other shifts at 0 or above, and four values for each place
    at most two cells away.

    These are the shift down to the place, the shifts that count the cells around it alone (by
    ones, or by threes across or down), and the shifts that lead to the cells around it alone and
    around this cell alone.
    """
    row = width + GAP
    margin = 4 * (3 * row + 3)
    here = _square(0, 0)
    pairs = []
    for r, c in sorted(_square(0, 0, 2) - {(0, 0)}, key=lambda rc: (abs(rc[0]) + abs(rc[1]), rc)):
        there = _square(r, c)
        own = []
        rest = there - here
        for which, threes in (
            (1, [{(i, c - 1), (i, c), (i, c + 1)} for i in (r - 1, r, r + 1)]),
            (2, [{(r - 1, j), (r, j), (r + 1, j)} for j in (c - 1, c, c + 1)]),
        ):
            for three in threes:
                if three <= rest:
                    rest = rest - three
                    own.append((which, sorted(three)[1]))
        own += [(0, cell) for cell in sorted(rest)]
        pairs.append(
            (
                margin + 4 * (r * row + c),
                [(which, margin + 4 * (i * row + j)) for which, (i, j) in own],
                [margin - 4 * (i * row + j) for i, j in sorted(there - here)],
                [margin - 4 * (i * row + j) for i, j in sorted(here - there)],
            )
        )
    return margin, pairs


def _square(r: int, c: int, far: int = 1) -> set[tuple[int, int]]:
    return {(i, j) for i in range(r - far, r + far + 1) for j in range(c - far, c + far + 1)}


def count_reasoning(board: Opened) -> int:
    """Find a free cell as `proved` does, number by number, and count the cells that are looked at.

    First each number alone, until none tells of a mine any more; then two numbers of which one has all
    hidden cells of the other.
    """
    field, operations = board.field, 0
    height, width, wide = field.height, field.width, field.width + GAP
    is_open = [board.cells >> 4 * (r * wide + c) & 1 for r in range(height) for c in range(wide)]
    mines: set[tuple[int, int]] = set()
    rests: dict[tuple[int, int], tuple[frozenset[tuple[int, int]], int]] = {}
    found = True
    while found:
        found = False
        for r in range(height):
            for c in range(width):
                if not is_open[r * wide + c]:
                    continue
                left, hidden = field.numbers >> 4 * (r * wide + c) & 15, []
                for i in range(max(0, r - 1), min(height, r + 2)):
                    for j in range(max(0, c - 1), min(width, c + 2)):
                        operations += 1
                        if (i, j) in mines:
                            left -= 1
                        elif not is_open[i * wide + j]:
                            hidden.append((i, j))
                if hidden and not left:
                    return operations
                if hidden and left == len(hidden):
                    mines.update(hidden)
                    found = True
                rests[r, c] = frozenset(hidden), left
        if found:
            continue
        for (r, c), (less, few) in rests.items():
            for (i, j), (more, many) in rests.items():
                if not less or max(abs(r - i), abs(c - j)) > 2:
                    continue
                operations += 1
                own = more - less
                if own and len(own) == many - few and not own <= mines:
                    mines.update(own)
                    found = True
                elif own and less <= more and many == few:
                    return operations
    return operations
