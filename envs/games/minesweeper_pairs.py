"""Proofs in a minesweeper field with a drawn shape by single numbers and by pairs of them."""

from __future__ import annotations

from msgspec import Struct

from verigym.verifiers.games.counted_cells import seen_from
from verigym.verifiers.games.minesweeper import GAP, Field, every, number_at


class PairProofs(Struct, frozen=True, gc=False):
    """Hidden cells that are proved free or to hold a mine, and the operations that it took."""

    free: int
    mines: int
    operations: int


def prove_by_pairs(field: Field, cells: int) -> PairProofs:
    """Prove hidden cells by the numbers of the open `cells` and the number of mines, until some are free or no more
    is found.

    A number alone proves the cells that it counts if only one choice of mines among them fits, all or none; two numbers
    prove the cells that one of them alone counts if only all of the one's and none of the other's fit. An operation is a
    cell that is looked at, or two numbers that are compared.
    """
    counting = field.counting
    assert counting is not None
    pitch, modulus = field.width + GAP, counting.modulus
    hidden = every(field.height, field.width) & ~cells
    numbers = [(hidden, field.mines.bit_count())]
    for cell, seen in seen_from(counting, field.height, field.width, pitch).items():
        if cell & cells and seen & hidden:
            numbers.append((seen & hidden, number_at(field, cell)))
    operations = free = mines = 0
    while numbers:
        known = mines
        lefts = []
        for seen, number in numbers:
            operations += seen.bit_count()
            unknown, left = seen & ~mines, number - (seen & mines).bit_count()
            if _only(unknown.bit_count(), 0, left, modulus):
                mines |= unknown
            elif _only(0, unknown.bit_count(), left, modulus):
                free |= unknown
            lefts.append((unknown, left))
        if not free and mines == known:
            for i, (more, many) in enumerate(lefts):
                for less, few in lefts[:i]:
                    if not more & less:
                        continue
                    operations += 1
                    own, other = more & ~less, less & ~more
                    sizes = own.bit_count(), other.bit_count()
                    if _only(*sizes, many - few, modulus):
                        mines, free = mines | own, free | other
                    elif _only(*sizes[::-1], few - many, modulus):
                        mines, free = mines | other, free | own
        if free or mines == known:
            break
        numbers = [(seen, number) for seen, number in numbers if seen & ~mines]
    return PairProofs(free, mines, operations)


def _only(more: int, less: int, left: int, modulus: int) -> bool:
    """Return True if `more` mines less none are the only way that as many cells less `less` others make `left`."""
    if more + less == 0:
        return False
    if not modulus:
        return left == more
    return more + less < modulus and (left - more) % modulus == 0
