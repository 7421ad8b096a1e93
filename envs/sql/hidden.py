"""Databases to be explored: tables of several domains under other names, with rows drawn from a seed.

A `HiddenWorld` is all that decides one, so that a task carries a few numbers rather than the rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from verigym.canonical import JSON
from verigym.envs.sql.domains import DOMAINS, Domain

STYLES = ("plain", "short", "numbered", "codes")
"""Names as they are in `domains.py`, without their vowels, the same with numbers for tables, or numbers for all.
Comments explain the numbers."""

_ROWS = {"owner": 8, "thing": 40, "event": 150}
_FIRST_DAY = date(2019, 1, 1)
_DAYS = 2200
_TABLES = [domain.tables() for domain in DOMAINS]
_SCHEMAS: list[dict[str, Any]] = [domain.schema() for domain in DOMAINS]
_WORD = re.compile(r"'[^']*'|\b[a-z_]+\b")


@dataclass(frozen=True)
class HiddenWorld:
    """`domains` are indices into `DOMAINS`; the question is about the first of them."""

    domains: tuple[int, ...]
    style: str
    seed: int

    def plain(self) -> JSON:
        """Return the plain data that a reference holds."""
        return {"domains": list(self.domains), "style": self.style, "seed": self.seed}

    @staticmethod
    def read(raw: Any) -> HiddenWorld:
        """Convert the data of `plain` back to a world."""
        return HiddenWorld(tuple(raw["domains"]), raw["style"], raw["seed"])

    def named(self, number: int) -> dict[str, str]:
        """Return the names of the tables and columns of one of its domains, by their plain names."""
        tables = _TABLES[number]
        names = [*tables, *(name for columns in tables.values() for name, _ in columns)]
        found = {name: name if self.style == "plain" else _short(name) for name in names}
        if self.style in ("numbered", "codes"):
            at = 3 * self.domains.index(number)
            found |= {table: f"t{self._order[at + i] + 1:02}" for i, table in enumerate(tables)}
        if self.style == "codes":
            for columns in tables.values():
                found |= {name: f"c{i}" for i, (name, _) in enumerate(columns, 1)}
        return found

    def explained(self, number: int) -> frozenset[str]:
        """Return the plain names of one of its domains that are numbers here, which comments explain."""
        tables = _TABLES[number]
        if self.style == "numbered":
            return frozenset(tables)
        if self.style == "codes":
            return frozenset(self.named(number))
        return frozenset()

    @cached_property
    def _order(self) -> list[int]:
        """The number of each table."""
        rng = np.random.Generator(np.random.PCG64(self.seed))
        order: list[int] = rng.permutation(3 * len(self.domains)).tolist()
        return order

    def query(self, text: str) -> str:
        """Return a query on the first domain in the names of this world; texts in quotes stay."""
        names = self.named(self.domains[0])
        return _WORD.sub(lambda match: names.get(match[0], match[0]), text)

    def schema(self) -> dict[str, object]:
        """Return the schema of all tables as `sql/query` reads it."""
        found: dict[str, Any] = {"tables": {}, "primary": [], "foreign": [], "notnull": []}
        for number in self.domains:
            names, raw = self.named(number), _SCHEMAS[number]
            place = {
                f"{table}.{name}": f"{names[table]}.{names[name]}"
                for table, columns in _TABLES[number].items()
                for name, _ in columns
            }
            for table, columns in _TABLES[number].items():
                found["tables"][names[table]] = [[names[name], kind] for name, kind in columns]
            for key in ("primary", "foreign"):
                found[key] += [[place[one] for one in pair] for pair in raw[key]]
            found["notnull"] += [place[one] for one in raw["notnull"]]
        return found

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return the rows of all tables."""
        rng = np.random.Generator(np.random.PCG64(self.seed))
        found: dict[str, list[tuple[Any, ...]]] = {}
        for number in self.domains:
            names = self.named(number)
            found |= {names[table]: rows for table, rows in _rows(DOMAINS[number], rng).items()}
        return found

    def tables_text(self) -> str:
        """Return the list of tables, in no telling order, with their numbers of rows."""
        rows = self.rows()
        said = self._comments()
        lines = (f"{name}{said.get(name, '')} ({len(rows[name])} rows)" for name in sorted(rows))
        return "Tables:\n" + "\n".join(lines)

    def describe_text(self, table: str) -> str | None:
        """Return the columns and keys of a table; None if there is no table of that name."""
        return described(self.schema(), table, self._comments())

    def _comments(self) -> dict[str, str]:
        """Return the meaning of codes, by table and by column; nothing for names that speak for themselves."""
        said = {}
        for number in self.domains:
            domain, names, explained = DOMAINS[number], self.named(number), self.explained(number)
            words = (domain.owner_words, domain.thing_words, domain.event_words)
            for (table, columns), word in zip(_TABLES[number].items(), words, strict=True):
                if table in explained:
                    said[names[table]] = f" -- {word}"
                for name, _ in columns:
                    if name in explained:
                        said[f"{names[table]}.{names[name]}"] = f" -- {name}"
        return said


def described(schema: Any, table: str, said: Mapping[str, str]) -> str | None:
    """Return the columns and keys of a table, with comments by place; None if there is no table of
    that name."""
    if table not in schema["tables"]:
        return None
    lines = []
    for name, kind in schema["tables"][table]:
        place = f"{table}.{name}"
        notes = [kind, *(["NOT NULL"] if place in schema["notnull"] else [])]
        notes += ["PRIMARY KEY"] if [place] in schema["primary"] else []
        joint = any(place in key for key in schema["primary"] if len(key) > 1)
        notes += ["part of the PRIMARY KEY"] if joint else []
        notes += [
            f"REFERENCES {parent.replace('.', '(')})"
            for child, parent in schema["foreign"]
            if child == place
        ]
        lines.append(f"{name} {' '.join(notes)}{said.get(place, '')}")
    return f"Table {table}:\n" + "\n".join(lines)


def _short(name: str) -> str:
    """Return the name without vowels, except the first letter of each word."""
    return "_".join(
        part if part == "id" else part[0] + re.sub("[aeiou]", "", part[1:])
        for part in name.split("_")
    )


def _rows(d: Domain, rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    n_owner, n_thing, n_event = (
        int(size * share)
        for size, share in zip(_ROWS.values(), rng.uniform(0.7, 1.3, 3), strict=True)
    )
    regions = (*d.regions, None)
    places = rng.integers(0, len(regions), n_owner).tolist()
    owners = [(i, f"{d.owner} {i}", regions[at]) for i, at in enumerate(places, 1)]
    things = zip(
        range(1, n_thing + 1),
        rng.integers(1, n_owner + 1, n_thing).tolist(),
        [d.kinds[i] for i in rng.integers(0, len(d.kinds), n_thing).tolist()],
        rng.integers(*d.prices, n_thing).tolist(),
        strict=True,
    )
    days = rng.integers(0, _DAYS, n_event).tolist()
    events = zip(
        range(1, n_event + 1),
        rng.integers(1, n_thing + 1, n_event).tolist(),
        rng.integers(*d.amounts, n_event).tolist(),
        [str(_FIRST_DAY + timedelta(day)) for day in days],
        strict=True,
    )
    return {d.owner: owners, d.thing: [*things], d.event: [*events]}
