"""Names of people, firms and days that the worlds share."""

from __future__ import annotations

from verigym.envs.tools.draws import Draws

FIRST = (
    *("Ada", "Bruno", "Carla", "Derek", "Elif", "Femi", "Greta", "Hasan", "Irene", "Jonas", "Kira"),
    *("Luis", "Mina", "Nadia", "Omar", "Petra", "Quentin", "Rania", "Stefan", "Tara", "Umar"),
    *("Vesna", "Walter", "Xenia", "Yusuf", "Zora"),
)
LAST = (
    *("Abel", "Brandt", "Costa", "Dahl", "Engel", "Ferrari", "Grant", "Holm", "Ibsen", "Jansen"),
    *("Keller", "Lund", "Moreau", "Novak", "Okafor", "Pereira", "Quist", "Rossi", "Santos"),
    *("Turner", "Ueda", "Vogel", "Weiss", "Yilmaz", "Zeller"),
)
DAYS = tuple(f"2026-03-{day:02d}" for day in range(2, 14))
"""Twelve days; the first, a Monday, is today."""
TODAY = DAYS[0]


def people(draws: Draws, n: int, namesakes: int = 0) -> list[str]:
    """Return `n` different full names; `namesakes` of them share a first name with another."""
    firsts = draws.some(FIRST, n - namesakes)
    lasts = draws.some(LAST, n - namesakes)
    names = [f"{first} {last}" for first, last in zip(firsts, lasts, strict=True)]
    unused = [last for last in LAST if last not in lasts]
    names += [f"{firsts[i]} {last}" for i, last in enumerate(draws.some(unused, namesakes))]
    return names


def address(name: str, host: str = "north.example") -> str:
    """Return the mail address of a person."""
    return name.lower().replace(" ", ".") + f"@{host}"
