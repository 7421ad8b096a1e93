"""Plans of databases: how many rows, nulls and repeated values the one of a number gets."""

from __future__ import annotations

import random
from dataclasses import dataclass

_ROWS = (0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 10, 12, 15)
_NULLS = (0.0, 0.15, 0.4)
_MAX_SIZES = 4
MANY = 80
"""Rows of a table that are many, and dear."""


@dataclass(frozen=True)
class DatabasePlan:
    """Parameters by which one database is drawn."""

    rows: int
    nulls: float
    n_active: int
    spread: float
    """Share of cells that leave the active values."""
    steady: float
    """Share of cells that take the class's first active value."""
    sequential: bool
    empty: float
    """Probability that a table stays empty."""
    sized: bool
    """True if `rows` follows a size that a query names."""
    lone: bool
    """True if one table alone gets `rows` of them, the others one or two."""
    exact: bool
    """True if the favourites are the queries' own constants, so that many conditions hold at once."""
    varied: bool = False
    """True if numbers that meet constants differ from row to row, so that the average, the least and
    the greatest of a group fall on different sides of its members."""


def draw_plan(rng: random.Random, number: int, count: int, sizes: list[int]) -> DatabasePlan:
    if number == 0:
        return DatabasePlan(0, 0.0, 1, 0.0, 0.0, True, 1.0, False, False, False)
    rows = _ROWS[min(len(_ROWS) - 1, 1 + number * (len(_ROWS) - 1) // count)]
    sized = bool(sizes) and number % 5 in (2, 4)
    lone = number % 4 == 3 and not sized
    if lone:
        rows = rng.choice((1, 2, 2, 2, 3, 4, 6))
    if sized:
        # Tables of a thousand rows are dear: two of them, where a query counts so far.
        small = [size for size in sizes if size <= MANY]
        size = rng.choice((sizes if number >= count - 15 else small) or [5, 10])
        if number >= count - 15 and sizes[-1] > MANY:
            size = rng.choice([size for size in sizes if size > MANY])
        lone = rng.random() < 0.6 or size > MANY
        more = (size, size + 1, size + 1) if lone else (size + 3, 2 * size)
        rows = max(1, rng.choice((size - 1, size, size, size + 1, *more)))
        rows = min(rows, 100) if size <= MANY else size + rng.choice((-1, 0, 0, 1, 1))
    varied = number % 6 == 0 and not (sized or lone)
    return DatabasePlan(
        rows=max(rows, 6) if varied else rows,
        nulls=rng.choice((0.0, 0.0, 0.15) if sized or lone else _NULLS),
        n_active=rng.choice((1, 1, 2, 2, 3) if sized or lone else (1, 2, 2, 3, 3, 4, 6)),
        spread=rng.choice((0.0, 0.0, 0.1) if sized or lone else (0.0, 0.1, 0.3)),
        steady=rng.choice((0.0, 0.3, 0.6, 1.0) if lone and not sized else (0.0, 0.3, 0.6)),
        sequential=rng.random() < 0.6,
        empty=0.12 if number > 2 and not (sized or lone) else 0.0,
        sized=sized,
        lone=lone,
        exact=number % 3 == 1 or (lone and rng.random() < 0.5),
        varied=varied,
    )


def few_of(sizes: list[int]) -> list[int]:
    """Return at most four sizes: the two least and the two greatest."""
    if len(sizes) <= _MAX_SIZES:
        return sizes
    ordered = sorted(sizes)
    return [*ordered[:2], *ordered[-2:]]
