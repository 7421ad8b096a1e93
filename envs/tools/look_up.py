"""Elementary steps on the way to a call, counted as they are made: tools compared, rows looked through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from verigym.canonical import JSON
from verigym.envs.tools.world import Row


def choose_tool(offered: Iterable[str], wanted: str) -> int:
    """Compare the tools offered with what is to be done, up to the one that does it, and count them."""
    operations = 0
    for name in offered:
        operations += 1
        if name == wanted:
            break
    return operations


def find_rows(rows: Iterable[Row], value: JSON) -> tuple[list[Row], int]:
    """Return the rows that hold `value`, in a cell or within a text, and the number of rows looked at.

    All are looked at, for several may fit: people share a first name, payments have to be added.
    """
    wanted = str(value)
    found: list[Row] = []
    operations = 0
    for row in rows:
        operations += 1
        if any(wanted == str(cell) or (isinstance(cell, str) and wanted in cell) for cell in row):
            found.append(row)
    return found, operations


def values_of(argument: JSON) -> Iterator[JSON]:
    """Give the values of an argument one by one, those inside of objects and lists too."""
    if isinstance(argument, dict):
        for value in argument.values():
            yield from values_of(value)
    elif isinstance(argument, list | tuple):
        for value in argument:
            yield from values_of(value)
    else:
        yield argument
