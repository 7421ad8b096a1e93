"""Values of late positions of connect four under perfect play, by a full search.

A value counts from the side to move: n > 0 if it can force four with n - 1 of its own pieces left, -n if the other
side can, 0 for a draw. A quicker win has the higher value, a later loss too. Each side has 21 pieces.
Source of the search: alpha-beta with a window that is narrowed from both sides (Pons, "Solving Connect 4", 2017).
"""

from __future__ import annotations

from functools import lru_cache

from verigym.verifiers.games.connect_four_boards import bits, completing, open_cells, safe_cells

MOST_EMPTY = 22
"""Empty cells up to which a search takes less than about a second."""
_CELLS = 42
_MOST_KEPT = 1 << 17


@lru_cache(maxsize=1 << 14)
def value(me: int, you: int) -> int:
    """Return the value of a position in which nobody has four; `me` is to move."""
    both = me | you
    played = both.bit_count()
    if played == _CELLS:
        return 0
    if completing(me, both) & open_cells(both):
        return (_CELLS + 1 - played) // 2
    low, high = -(_CELLS - played) // 2, (_CELLS - 1 - played) // 2
    while low < high:
        middle = low + (high - low) // 2
        if middle <= 0 and low // 2 < middle:
            middle = low // 2
        elif middle >= 0 and high // 2 > middle:
            middle = high // 2
        found = _search(me, you, middle, middle + 1)
        if found <= middle:
            high = found
        else:
            low = found
    return low


def is_above(me: int, you: int, bound: int) -> bool:
    """Return True if the value of a position is above `bound`; faster than the value itself."""
    both = me | you
    if completing(me, both) & open_cells(both):
        return (_CELLS + 1 - both.bit_count()) // 2 > bound
    return _search(me, you, bound, bound + 1) > bound


def value_after(me: int, you: int, cell: int) -> int:
    """Return the value for `me` of a move to `cell`."""
    me |= cell
    both = me | you
    if _has_won(me, cell, both):
        return (_CELLS + 2 - both.bit_count()) // 2
    return -value(you, me)


def best_cells(me: int, you: int) -> tuple[int, int]:
    """Return the value of a position and the cells that reach it, as one set."""
    values = {cell: value_after(me, you, cell) for cell in bits(open_cells(me | you))}
    best = max(values.values())
    return best, sum(cell for cell, found in values.items() if found == best)


def _has_won(me: int, cell: int, both: int) -> bool:
    return bool(completing(me & ~cell, both & ~cell) & cell)


_bounds: dict[tuple[int, int], int] = {}
"""Upper bounds of values that searches have found."""


def _search(me: int, you: int, alpha: int, beta: int) -> int:
    """Return a bound of the value: exact in the window, else on its side. `me` cannot win at once."""
    both = me | you
    played = both.bit_count()
    cells = safe_cells(me, you)
    if not cells:
        return 0 if played == _CELLS else -((_CELLS - played) // 2)
    if played >= _CELLS - 2:
        return 0
    least = -((_CELLS - 2 - played) // 2)
    if alpha < least:
        alpha = least
        if alpha >= beta:
            return alpha
    key = (me, both)
    most = _bounds.get(key, (_CELLS - 1 - played) // 2)
    if beta > most:
        beta = most
        if alpha >= beta:
            return beta
    moves = bits(cells)
    if len(moves) > 1:
        moves.sort(key=lambda cell: -completing(me | cell, both | cell).bit_count())
    for cell in moves:
        found = -_search(you, me | cell, -beta, -alpha)
        if found >= beta:
            return found
        if found > alpha:
            alpha = found
    if len(_bounds) > _MOST_KEPT:
        _bounds.clear()
    _bounds[key] = alpha
    return alpha
