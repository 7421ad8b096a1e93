"""Elementary steps of a reader, each counted as it is made: results looked at, statements read, figures compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_STATEMENTS = re.compile(r"(?<=[.;]) ")
_FIGURES = {
    "born": r"was born on (\d+) (\w+) (\d+) in ",
    "population": r"its population is (\d+)",
    "staff": r"its number of staff is (\d+)",
}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)


def look_through(results: str, page: str) -> int:
    """Compare the results of a search with the page that is looked for, and count them up to that one."""
    operations = 0
    for result in results.splitlines():
        operations += 1
        if f"[{page}]" in result:
            break
    return operations


def read_through(text: str, facts: Iterable[object]) -> int:
    """Read a page statement by statement, note each of the facts wanted from it, and count both."""
    operations = 0
    for statement in _STATEMENTS.split(text):
        operations += bool(statement)
    for _ in facts:
        operations += 1
    return operations


def figures_of(texts: Iterable[str]) -> Iterator[int]:
    """Give the figure that each text states; dates as numbers of days."""
    for text in texts:
        for pattern in _FIGURES.values():
            if found := re.search(pattern, text):
                yield as_number(*found.groups())
                break


def as_number(first: str, month: str = "", year: str = "") -> int:
    """Return a number, or a date such as `3 May 1871`, which three words give, as a number of days."""
    return int(year) * 336 + _MONTHS.index(month) * 28 + int(first) - 1 if year else int(first)


def place_of_largest(figures: list[int], sign: int) -> tuple[int, int]:
    """Return the place of the largest figure, or with `sign` -1 of the smallest, and the comparisons made."""
    best = operations = 0
    for place, figure in enumerate(figures):
        operations += 1
        if sign * figure > sign * figures[best]:
            best = place
    return best, operations


def count_below(figures: list[int], bound: int) -> tuple[int, int]:
    """Return the number of figures below `bound`, and the comparisons made."""
    below = operations = 0
    for figure in figures:
        operations += 1
        below += figure < bound
    return below, operations


def add_up(figures: list[int]) -> tuple[int, int]:
    """Return the sum of the figures, and the additions made."""
    total = operations = 0
    for figure in figures:
        operations += 1
        total += figure
    return total, operations
