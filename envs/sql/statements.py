"""A sheet of rows to ask about, and statements about it that are true or false as wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from verigym.envs.sql.domains import Domain

OWNERS = (
    *("Arlo", "Bexa", "Cato", "Dine", "Ekko", "Fenn", "Gaia", "Hale", "Inox", "Juno", "Kite"),
    *("Lumo", "Mira", "Nexa", "Opal", "Pico", "Quil", "Rune", "Sola", "Tavi", "Umbo", "Vela"),
)
"""Names of owners, none of them a word of a question."""


@dataclass(frozen=True)
class StatementAnswer:
    """A question, its answer (a number, a name, or a list of names), and how many cells are read."""

    question: str
    answer: int | Fraction | str | list[str]
    steps: int


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Two tables by columns: things, each with its owner, and the owners."""

    domain: Domain
    names: list[str]
    owner: list[str]
    kind: list[str]
    numbers: dict[str, list[int]]
    owners: list[str]
    regions: list[str]
    founded: list[int]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and rows of the things."""
        d = self.domain
        columns = [self.names, self.owner, self.kind, *self.numbers.values()]
        rows = [[str(cell) for cell in row] for row in zip(*columns, strict=True)]
        return ["name", d.owner, d.kind, *self.numbers], rows

    def owner_table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and rows of the owners."""
        rows = [
            [owner, region, str(year)]
            for owner, region, year in zip(self.owners, self.regions, self.founded, strict=True)
        ]
        return ["name", self.domain.region, "founded"], rows

    def rows(
        self, *, kind: str | None = None, region: str | None = None, since: int | None = None
    ) -> list[int]:
        """Return the places of things of a kind, or whose owner is in a region or was founded since a year."""
        place = {owner: at for at, owner in enumerate(self.owners)}
        return [
            i
            for i, owner in enumerate(self.owner)
            if kind in (None, self.kind[i])
            and region in (None, self.regions[place[owner]])
            and (since is None or self.founded[place[owner]] >= since)
        ]

    def sum(self, rows: Iterable[int], column: str) -> int:
        """Sum a column over some rows."""
        return sum(self.numbers[column][i] for i in rows)

    def winner(self, rows: Iterable[int], column: str, best: Callable[[Iterable[int]], int]) -> str:
        """Return the name of the thing with the greatest or least value; empty if two share it."""
        values = {i: self.numbers[column][i] for i in rows}
        if not values:
            return ""
        found = [i for i, value in values.items() if value == best(values.values())]
        return self.names[found[0]] if len(found) == 1 else ""


def facts(rng: np.random.Generator, s: Sheet, holds: list[bool]) -> list[str] | None:
    """Return a statement for each of `holds`, true if it says so; None if the sheet has none."""
    said: list[str] = []
    for true in holds:
        text = _STATEMENTS[int(rng.integers(len(_STATEMENTS)))](rng, s, true)
        if text is None or text in said:
            return None
        said.append(text)
    return said


def _counted(rng: np.random.Generator, s: Sheet, true: bool) -> str:
    d = s.domain
    kind = d.kinds[int(rng.integers(len(d.kinds)))]
    n = len(s.rows(kind=kind))
    if not true:
        n += 1 if rng.integers(2) or not n else -1
    return f"Exactly {n} of the {d.thing_words} have the {d.kind} {kind}."


def _summed(rng: np.random.Generator, s: Sheet, true: bool) -> str:
    d = s.domain
    column = [*s.numbers][int(rng.integers(2))]
    region = d.regions[int(rng.integers(len(d.regions)))]
    value = s.sum(s.rows(region=region), column)
    # A bound near the truth, on the wanted side of it.
    bound = value - int(rng.integers(1, 10)) if true else value + int(rng.integers(10))
    return (
        f"The {d.thing_words} whose {d.owner} has the {d.region} {region} have a total `{column}` above "
        f"{bound}."
    )


def _compared(rng: np.random.Generator, s: Sheet, true: bool) -> str | None:
    column = [*s.numbers][int(rng.integers(2))]
    one, two = rng.choice(len(s.names), 2, replace=False).tolist()
    values = s.numbers[column]
    if values[one] == values[two]:
        return None
    if (values[one] > values[two]) != true:
        one, two = two, one
    return f"The `{column}` of {s.names[one]} is higher than that of {s.names[two]}."


def _older(rng: np.random.Generator, s: Sheet, true: bool) -> str | None:
    founded = dict(zip(s.owners, s.founded, strict=True))
    one, two = rng.choice(len(s.names), 2, replace=False).tolist()
    years = founded[s.owner[one]], founded[s.owner[two]]
    if years[0] == years[1]:
        return None
    if (years[0] < years[1]) != true:
        one, two = two, one
    d = s.domain
    return (
        f"The {d.owner} of {s.names[one]} was founded before the {d.owner} of {s.names[two]} was."
    )


_STATEMENTS: tuple[Callable[[np.random.Generator, Sheet, bool], str | None], ...] = (
    _counted,
    _summed,
    _compared,
    _older,
)
