"""Proofs in a minesweeper field whose numbers are remainders: a system of linear equations is eliminated.

Each open number is an equation over the hidden cells, 1 for a mine and 0 for a free one, and so is the number of mines.
"""

from __future__ import annotations

from verigym.verifiers.games.counted_cells import seen_from
from verigym.verifiers.games.minesweeper import GAP, Field, every, number_at

Row = tuple[int, int]
"""The cells added and those subtracted; the digit after the last cell stands for 1. Their sum is 0."""


class System:
    """Equations over cells modulo 2 or 3, eliminated one by one to reduced row echelon form.

    A row with one cell proves it; so does an equation, as it was stated, if only one choice of its unknown cells fits.
    """

    def __init__(self, modulus: int, one: int) -> None:
        """Start without equations. `one` is a digit above those of all cells."""
        self.modulus = modulus
        self.free = self.mines = 0
        self.operations = 0
        """Terms that were added to rows."""
        self._one = one
        self._rows: dict[int, Row] = {}
        self._pivots = 0
        self._stated: list[tuple[int, int]] = []

    def state(self, cells: int, number: int) -> None:
        """Add the equation that `cells` hold `number` mines, and prove cells with it."""
        number %= self.modulus
        self._add(cells, number)
        if self.modulus > 2:
            self._stated.append((cells, number))
        self._prove()

    def _prove(self) -> None:
        """Find what the stated equations prove; modulo 2 that is what rows with one cell do."""
        while found := [
            (cells, n) for equation in self._stated for cells, n in self._forced(*equation)
        ]:
            for cells, value in found:
                while cells:
                    cell = cells & -cells
                    self._add(cell, value)
                    cells ^= cell

    def _forced(self, cells: int, number: int) -> list[tuple[int, int]]:
        unknown = cells & ~(self.free | self.mines)
        count = unknown.bit_count()
        if not 0 < count < self.modulus:
            return []
        left = (number - (cells & self.mines).bit_count()) % self.modulus
        return [(unknown, int(left > 0))] if left in (0, count) else []

    def _add(self, cells: int, number: int) -> None:
        plus, minus = cells, 0
        if number == self.modulus - 1:
            plus |= self._one
        elif number:
            minus |= self._one
        row = plus, minus
        while inside := (row[0] | row[1]) & self._pivots:
            pivot = inside & -inside
            row = self._without(row, pivot, self._rows[pivot])
        cells = (row[0] | row[1]) & ~self._one
        if not cells:
            return
        pivot = cells & -cells
        if row[1] & pivot:
            row = row[1], row[0]
        for other, old in self._rows.items():
            if (old[0] | old[1]) & pivot:
                self._keep(other, self._without(old, pivot, row))
        self._keep(pivot, row)
        self._pivots |= pivot

    def _keep(self, pivot: int, row: Row) -> None:
        self._rows[pivot] = row
        plus, minus = row
        if (plus | minus) & ~self._one == pivot:
            if (plus | minus) & self._one:
                self.mines |= pivot
            else:
                self.free |= pivot

    def _without(self, row: Row, pivot: int, by: Row) -> Row:
        """Return `row` without `pivot`, which is added in `by`, by a multiple of `by`."""
        self.operations += (by[0] | by[1]).bit_count()
        if self.modulus == 2:
            return row[0] ^ by[0], 0
        plus, minus = row
        more, less = (by[1], by[0]) if plus & pivot else by
        here, there = plus | minus, more | less
        return (
            plus & ~there | more & ~here | minus & less,
            minus & ~there | less & ~here | plus & more,
        )


def system_of(field: Field, cells: int) -> System:
    """Return the equations of the open `cells` over the hidden ones."""
    counting = field.counting
    assert counting is not None
    pitch = field.width + GAP
    hidden = every(field.height, field.width) & ~cells
    system = System(counting.modulus, 1 << 4 * field.height * pitch)
    system.state(hidden, field.mines.bit_count())
    for cell, seen in seen_from(counting, field.height, field.width, pitch).items():
        if cell & cells:
            system.state(seen & hidden, number_at(field, cell))
    return system
