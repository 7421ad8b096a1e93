"""Proofs in a minesweeper field whose numbers are remainders: a system of linear equations is eliminated.

Each open number is an equation over the hidden cells, 1 for a mine and 0 for a free one, and so is the number of mines.
"""

from __future__ import annotations

from verigym.verifiers.games.counted_cells import seen_from
from verigym.verifiers.games.minesweeper import GAP, Field, every, number_at

Row = tuple[int, int]
"""The cells added and those subtracted; the digit after the last cell stands for 1. Their sum is 0."""


class RemainderSystem:
    """Equations over cells modulo 2 or 3, eliminated one by one to reduced row echelon form.

    A row with one cell proves it; so does an equation, as it was stated, if only one choice of its unknown cells fits.
    """

    def __init__(self, modulus: int, one: int) -> None:
        """Start without equations. `one` is a digit above those of all cells."""
        self.modulus = modulus
        self.free = self.mines = 0
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
        if self.modulus == 2:
            return row[0] ^ by[0], 0
        plus, minus = row
        more, less = (by[1], by[0]) if plus & pivot else by
        here, there = plus | minus, more | less
        return (
            plus & ~there | more & ~here | minus & less,
            minus & ~there | less & ~here | plus & more,
        )


def system_of(field: Field, cells: int) -> RemainderSystem:
    """Return the equations of the open `cells` over the hidden ones."""
    assert field.counting is not None
    system = RemainderSystem(field.counting.modulus, 1 << 4 * field.height * (field.width + GAP))
    for seen, number in _equations(field, cells):
        system.state(seen, number)
    return system


def _equations(field: Field, cells: int) -> list[tuple[int, int]]:
    """Return hidden cells and how many mines they hold or what remains of that, for all mines and each open number."""
    assert field.counting is not None
    hidden = every(field.height, field.width) & ~cells
    views = seen_from(field.counting, field.height, field.width, field.width + GAP)
    shown = [
        (seen & hidden, number_at(field, cell)) for cell, seen in views.items() if cell & cells
    ]
    return [(hidden, field.mines.bit_count()), *shown]


def eliminate_by_terms(field: Field, cells: int) -> tuple[set[int], int]:
    """Eliminate the equations term by term, and return the cells that are proved free and the number of terms added.

    A term is a coefficient by the place of its cell's digit, that of the constant by -1.
    """
    assert field.counting is not None
    modulus, operations = field.counting.modulus, 0
    rows: dict[int, dict[int, int]] = {}

    def subtract(row: dict[int, int], pivot: int) -> None:
        nonlocal operations
        factor = row[pivot]
        for place, coefficient in rows[pivot].items():
            operations += 1
            row[place] = (row.get(place, 0) - factor * coefficient) % modulus
            if not row[place]:
                del row[place]

    for seen, number in _equations(field, cells):
        row = {place: 1 for place in range(seen.bit_length() // 4 + 1) if seen >> 4 * place & 1}
        if number % modulus:
            row[-1] = -number % modulus
        for pivot in [place for place in row if place in rows]:
            subtract(row, pivot)
        pivot = min((place for place in row if place >= 0), default=-1)
        if pivot < 0:
            continue
        inverse = pow(row[pivot], -1, modulus)
        rows[pivot] = {place: inverse * value % modulus for place, value in row.items()}
        for other, old in rows.items():
            if other != pivot and pivot in old:
                subtract(old, pivot)
    return {pivot for pivot, row in rows.items() if row == {pivot: 1}}, operations
