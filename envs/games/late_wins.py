"""Late positions of connect four that are won in an exact number of moves, by few moves, against perfect play."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from verigym.canonical import JSON
from verigym.verifiers.games.connect_four_boards import (
    Board,
    bits,
    completing,
    open_cells,
    rows_of,
    safe_cells,
)
from verigym.verifiers.games.connect_four_values import best_cells, is_above, value_after

_CELLS, _PIECES = 42, 21


class LateWin(Struct, frozen=True, gc=False):
    """Cells that are empty, and moves to the win; at least so many turns on which one move alone wins, and moves that
    `count_search` tries; moves to spare."""

    empty: int
    moves: int
    narrow: int
    tries: int
    spare: int


def late_win(rng: np.random.Generator, wanted: LateWin, wants: Callable[[JSON], bool]) -> Board:
    """Return a position in which the side to move wins in `wanted.moves` moves, and not in fewer."""
    while True:
        board = _played(rng, _CELLS - wanted.empty)
        if board is None or not wants(essence_of(board)):
            continue
        me, you = board
        value = _PIECES + 1 - me.bit_count() - wanted.moves
        if not is_above(me, you, value - 1) or is_above(me, you, value):
            continue
        if count_search(me, you) >= wanted.tries and narrow_turns(me, you) >= wanted.narrow:
            return board


def essence_of(board: Board) -> JSON:
    """Return the rows of a board, or of its mirror image."""
    rows = rows_of(board)
    essence: JSON = min(rows, [row[::-1] for row in rows])
    return essence


def narrow_turns(me: int, you: int) -> int:
    """Return the number of turns on which one move alone keeps the win, if both sides play as well as they can."""
    narrow = 0
    while not completing(me, me | you) & open_cells(me | you):
        winning = [cell for cell in bits(safe_cells(me, you)) if value_after(me, you, cell) > 0]
        narrow += len(winning) == 1
        _, best = best_cells(me, you)
        me |= bits(best)[0]
        _, best = best_cells(you, me)
        you |= bits(best)[0]
    return narrow


def _played(rng: np.random.Generator, plies: int) -> Board | None:
    """A position after random moves that allow no four; None if there is none, or one is near."""
    me = you = 0
    for draw in rng.integers(1 << 30, size=plies).tolist():
        cells = bits(safe_cells(me, you))
        if not cells or completing(me, me | you) & open_cells(me | you):
            return None
        me, you = you, me | cells[draw % len(cells)]
    both = me | you
    near = completing(me, both) | completing(you, both)
    return None if near & open_cells(both) else (me, you)


def count_search(me: int, you: int) -> int:
    """Count the moves that are tried to prove the first winning move: depth first, with positions remembered.

    Moves that let the other side win at once are not tried, and those come first that threaten most.
    """
    operations = 0
    known: dict[tuple[int, int], bool] = {}

    def wins(me: int, you: int) -> bool:
        nonlocal operations
        both = me | you
        if completing(me, both) & open_cells(both):
            return True
        if (me, both) not in known:
            known[me, both] = False
            for cell in _ordered(me, you, both):
                operations += 1
                if holds(me | cell, you):
                    known[me, both] = True
                    break
        return known[me, both]

    def holds(me: int, you: int) -> bool:
        """True if `me`, having moved, wins whatever `you` play."""
        nonlocal operations
        both = me | you
        if completing(you, both) & open_cells(both) or not open_cells(both):
            return False
        if (me, both) not in known:
            known[me, both] = True
            for cell in _ordered(you, me, both):
                operations += 1
                if not wins(me, you | cell):
                    known[me, both] = False
                    break
        return known[me, both]

    wins(me, you)
    return operations


def _ordered(me: int, you: int, both: int) -> list[int]:
    cells = bits(safe_cells(me, you))
    cells.sort(key=lambda cell: -completing(me | cell, both | cell).bit_count())
    return cells
