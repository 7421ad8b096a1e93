"""Sizes of casework by level."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    """Size of the casework of a level; `articles` of each document, `decoys` are documents that do not hold."""

    days: int
    cases: int
    people: int
    articles: int
    amendments: int
    decoys: int
    entries: int
    archived: int
    size: int
    budgets: bool = False
    """True if each day has a budget, for which the best cases are to be chosen."""


LOADS = {
    7: Load(1, 8, 6, 3, 3, 1, 12, 24, 1),
    8: Load(2, 8, 7, 4, 4, 2, 18, 48, 2, budgets=True),
    9: Load(3, 10, 9, 5, 8, 4, 36, 100, 4, budgets=True),
    10: Load(3, 16, 12, 7, 14, 6, 60, 180, 5, budgets=True),
}
"""Loads by level."""
