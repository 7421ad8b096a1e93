"""Search for pictures by clues about lines of cells: what every fitting way to draw a line agrees on, then trials."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

from verigym.verifiers.games.cell_lines import CellLine, measure


class LineSearch:
    """Search for all pictures of `size` rows and columns. `trials` counts the cells that were assumed filled or empty,
    `operations` the cells that were looked at."""

    def __init__(self, size: int, lines: Sequence[CellLine]) -> None:
        self.trials = self.operations = 0
        self._size = size
        self._lines = [(line.kind, line.numbers, len(line.cells)) for line in lines]
        self._cells = [tuple(size * r + c for r, c in line.cells) for line in lines]
        self._of: list[list[int]] = [[] for _ in range(size * size)]
        for number, cells in enumerate(self._cells):
            for cell in cells:
                self._of[cell].append(number)

    def solve(
        self, limit: int, most: int, first: Sequence[int] | None = None
    ) -> tuple[list[list[int]], bool]:
        """Return up to `limit` pictures, as 0 and 1, and True if the search ended before `most` trials.

        `first` is what is tried first for each cell; it is 1 without.
        """
        self.trials = self.operations = 0
        found: list[list[int]] = []
        cells = [-1] * self._size**2
        whole = self._try(cells, set(range(len(self._lines))), limit, most, first, found)
        return found, whole

    def _try(
        self,
        cells: list[int],
        waiting: set[int],
        limit: int,
        most: int,
        first: Sequence[int] | None,
        found: list[list[int]],
    ) -> bool:
        counts = self._follow(cells, waiting)
        if counts is None:
            return True
        if -1 not in cells:
            found.append(cells)
            return True
        # A cell of the line with the fewest ways left is tried; no clue may be left for the last open cells.
        open_cells: Sequence[int] = range(len(cells))
        if counts:
            open_cells = self._cells[min(counts, key=lambda number: (counts[number], number))]
        cell = next(cell for cell in open_cells if cells[cell] < 0)
        one = first[cell] if first else 1
        for value in (one, 1 - one):
            if self.trials >= most:
                return False
            self.trials += 1
            tried = cells.copy()
            tried[cell] = value
            if not self._try(tried, set(self._of[cell]), limit, most, first, found):
                return False
            if len(found) >= limit:
                return True
        return True

    def _follow(self, cells: list[int], waiting: set[int]) -> dict[int, int] | None:
        """Fill in what follows; return how many ways each open line has, or None on a contradiction."""
        while waiting:
            number = waiting.pop()
            places = self._cells[number]
            self.operations += len(places)
            filled, empty = _drawn(cells, places)
            must, may, ways = narrow(*self._lines[number], filled, empty)
            if not ways:
                return None
            for i, cell in enumerate(places):
                if cells[cell] < 0 and (must >> i & 1 or not may >> i & 1):
                    cells[cell] = must >> i & 1
                    waiting.update(self._of[cell])
        counts = {}
        for number, places in enumerate(self._cells):
            filled, empty = _drawn(cells, places)
            if filled | empty != (1 << len(places)) - 1:
                counts[number] = narrow(*self._lines[number], filled, empty)[2]
        return counts


def _drawn(cells: Sequence[int], places: Sequence[int]) -> tuple[int, int]:
    """Return the cells of a line that are filled and those that are empty, as bits from its first cell on."""
    filled = empty = 0
    for i, cell in enumerate(places):
        if cells[cell] > 0:
            filled |= 1 << i
        elif not cells[cell]:
            empty |= 1 << i
    return filled, empty


@cache
def _ways(kind: str, numbers: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Return every way to draw a line that fits, as bits from its first cell on."""
    return _by_numbers(kind, length).get(numbers, ())


@cache
def _by_numbers(kind: str, length: int) -> dict[tuple[int, ...], tuple[int, ...]]:
    found: dict[tuple[int, ...], list[int]] = {}
    for mask in range(1 << length):
        line = "".join(["#" if mask >> i & 1 else "." for i in range(length)])
        found.setdefault(measure(line, kind), []).append(mask)
    return {numbers: tuple(masks) for numbers, masks in found.items()}


@lru_cache(maxsize=1 << 17)
def narrow(
    kind: str, numbers: tuple[int, ...], length: int, filled: int, empty: int
) -> tuple[int, int, int]:
    """Return the cells filled in all fitting ways, those filled in some, as bits, and the number of ways."""
    must, may, ways = (1 << length) - 1, 0, 0
    known = filled | empty
    for mask in _ways(kind, numbers, length):
        if mask & known == filled:
            must &= mask
            may |= mask
            ways += 1
    return must, may, ways
