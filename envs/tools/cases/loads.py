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


LOADS = {
    7: Load(1, 8, 6, 3, 3, 1, 12, 24, 1),
    8: Load(2, 7, 7, 4, 4, 2, 18, 48, 2),
    9: Load(4, 8, 9, 5, 8, 4, 36, 100, 4),
    10: Load(5, 10, 12, 7, 14, 6, 60, 180, 5),
}
"""Loads by level."""
