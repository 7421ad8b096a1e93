"""A million rows as a warehouse keeps them: the whole table, parts of it, summaries of it, and what came in late, is void or
was amended.

Parts and summaries are views, so they hold what the whole table says but for what they are said to leave out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from verigym.canonical import JSON
from verigym.envs.sql.big import Big, Extent

QUARTERS = tuple((year, quarter) for year in range(2019, 2025) for quarter in range(1, 5))
N_RANGES = 20
LATE = 20_000
"""Events that came in late: those with the highest ids."""
_VOID, _AMENDED = 97, 89
"""One in so many events is void, if any are, and one in so many amended."""

PARTS = ("quarter", "range")
SUMMARIES = ("owner_month", "thing_year", "kind_day", "day")
MOST = {
    "owner": 200,
    "thing": 20_000,
    "quarter": 42_500,
    "range": 50_800,
    "owner_month": 14_400,
    "thing_year": 120_000,
    "kind_day": 6_600,
    "day": 2_200,
    "late": LATE,
    "void": 10_800,
    "amended": 11_700,
}
"""The most rows that a table of each family holds."""


def starts(year: int, quarter: int) -> str:
    """Return the first day of a quarter, which may be the one after the last of a year."""
    year, quarter = (year, quarter) if quarter <= 4 else (year + 1, 1)
    return f"{year}-{3 * quarter - 2:02}-01"


@dataclass(frozen=True)
class Warehouse:
    """The tables of `extent` with parts and summaries: `without_late` are the summaries that leave out late events, `with_void`
    those in which void events count, and `before_amended` those with the amounts that stood before they were amended. Parts always
    hold void events; whether they have late ones and amendments, each of them has for itself. `overlooked` is what somebody who
    reads the notes badly takes no notice of."""

    extent: Extent
    has_late: bool
    has_void: bool
    without_late: tuple[str, ...]
    with_void: tuple[str, ...]
    before_amended: tuple[str, ...]
    overlooked: str = ""

    def plain(self) -> JSON:
        """Return the plain data that a reference holds."""
        return {
            "extent": self.extent.plain(),
            "has_late": self.has_late,
            "has_void": self.has_void,
            "without_late": list(self.without_late),
            "with_void": list(self.with_void),
            "before_amended": list(self.before_amended),
        }

    @staticmethod
    def read(raw: Any) -> Warehouse:
        """Convert the data of `plain` back to a warehouse."""
        return Warehouse(
            extent=Extent(**raw["extent"]),
            has_late=raw["has_late"],
            has_void=raw["has_void"],
            without_late=tuple(raw["without_late"]),
            with_void=tuple(raw["with_void"]),
            before_amended=tuple(raw["before_amended"]),
        )

    def lacks_late(self, table: str) -> bool:
        """Return True if a part or summary leaves out late events."""
        if not self.has_late or self.overlooked == "late":
            return False
        return self._holds(table, self.without_late, 0)

    def counts_void(self, table: str) -> bool:
        """Return True if void events count in a part or summary."""
        family = self.families[table]
        return self.has_void and (family in PARTS or family in self.with_void)

    def is_before_amended(self, table: str) -> bool:
        """Return True if a part or summary has the amounts from before they were amended."""
        if not self.has_void or self.overlooked == "amended":
            return False
        return self._holds(table, self.before_amended, 1)

    def _holds(self, table: str, summaries: tuple[str, ...], number: int) -> bool:
        family = self.families[table]
        if family in SUMMARIES:
            return family in summaries
        if self.overlooked == "part":  # takes every part to be as the first is
            table = next(name for name, its in self.families.items() if its == family)
        return bool(crc32(f"{self.extent.seed} {table}".encode()) >> number & 1)

    @property
    def cutoff(self) -> int:
        """The highest id of an event that did not come in late."""
        return self.extent.events - LATE

    @property
    def late(self) -> str:
        return f"late_{self.extent.names.event_words}"

    @property
    def void(self) -> str:
        return f"void_{self.extent.names.event_words}"

    @property
    def amended(self) -> str:
        return f"amended_{self.extent.names.event_words}"

    def quarter(self, year: int, quarter: int) -> str:
        """Return the table of the events of a quarter."""
        return f"{self.extent.names.event_words}_{year}_q{quarter}"

    def thing_range(self, number: int) -> str:
        """Return the table of the events of a range of things, counted from 1."""
        return f"{self.extent.names.event_words}_of_{number:02}"

    def range_of(self, thing: int) -> str:
        """Return the table of the events of a range that has a thing."""
        return self.thing_range(1 + (thing - 1) // self._a_range)

    def summary(self, family: str) -> str:
        """Return the name of a summary."""
        d = self.extent.names
        by = {
            "owner_month": f"{d.owner}_month",
            "thing_year": f"{d.thing}_year",
            "kind_day": f"{d.kind}_day",
            "day": "day",
        }
        return f"{d.event_words}_by_{by[family]}"

    @property
    def _a_range(self) -> int:
        return self.extent.things // N_RANGES

    @cached_property
    def families(self) -> dict[str, str]:
        """Return the family of each table but the three of the domain; late and void events are families of their own."""
        found = {self.quarter(*one): "quarter" for one in QUARTERS}
        found |= {self.thing_range(number): "range" for number in range(1, N_RANGES + 1)}
        found |= {self.summary(family): family for family in SUMMARIES}
        found |= {self.late: "late"} if self.has_late else {}
        return found | ({self.void: "void", self.amended: "amended"} if self.has_void else {})

    def columns(self) -> dict[str, list[tuple[str, str]]]:
        """Return the columns with their types, by table."""
        d = self.extent.names
        own = d.tables()
        added = [("n", "INT"), ("total", "INT")]
        by: dict[str, list[tuple[str, str]]] = {
            "owner_month": [(f"{d.owner}_id", "INT"), ("month", "DATE")],
            "thing_year": [(f"{d.thing}_id", "INT"), ("year", "INT")],
            "kind_day": [(d.kind, "VARCHAR"), (d.day, "DATE")],
            "day": [(d.day, "DATE")],
        }
        keys = [(f"{d.event}_id", "INT"), (f"{d.thing}_id", "INT"), (d.day, "DATE")]
        found = dict(own)
        for table, family in self.families.items():
            if family in by:
                found[table] = [*by[family], *added]
            elif family == "amended":
                found[table] = [*keys, ("before", "INT"), ("now", "INT")]
            else:
                found[table] = own[d.event]
        return found

    def schema(self) -> dict[str, Any]:
        """Return the schema as `sql/query` reads it; no column is ever null."""
        d, tables = self.extent.names, self.columns()
        events = [t for t, columns in tables.items() if columns == tables[d.event]]
        return {
            "tables": {name: [list(pair) for pair in columns] for name, columns in tables.items()},
            "primary": [[f"{name}.id"] for name in (d.owner, d.thing, *events)],
            "foreign": [
                [f"{d.thing}.{d.owner}_id", f"{d.owner}.id"],
                *([f"{name}.{d.thing}_id", f"{d.thing}.id"] for name in events),
            ],
            "notnull": [f"{t}.{name}" for t, columns in tables.items() for name, _ in columns],
        }

    def views(self) -> str:
        """Return the statements that make the tables, as views of a connection's own."""
        return "; ".join(f'CREATE TEMP VIEW "{name}" AS {query}' for name, query in self._queries())

    def _queries(self) -> Iterator[tuple[str, str]]:
        d, own = self.extent.names, self.extent.queries()
        early, not_void = f"id <= {self.cutoff}", f"NOT ({self._is_void()})"
        least, most = d.amounts
        is_amended = self._is_one_in(_AMENDED, self.extent.seed // _AMENDED)
        now = f"({least} + ({d.amount} - {least} + 1 + id % {most - least - 1}) % {most - least})::INTEGER"

        def events(table: str, *conditions: str) -> str:
            kept = [*conditions]
            kept += [early] if self.lacks_late(table) else []
            kept += [not_void] if self.has_void and not self.counts_void(table) else []
            where = f" WHERE {' AND '.join(kept)}" if kept else ""
            source = f"({own[d.event]})" if self.is_before_amended(table) else d.event
            return f"SELECT * FROM {source}{where}"

        yield d.owner, own[d.owner]
        yield d.thing, own[d.thing]
        if self.has_void:
            amount = f"CASE WHEN {is_amended} THEN {now} ELSE {d.amount} END AS {d.amount}"
            yield d.event, f"SELECT id, {d.thing}_id, {amount}, {d.day} FROM ({own[d.event]})"
            yield (
                self.amended,
                f"SELECT id AS {d.event}_id, {d.thing}_id, {d.day}, {d.amount} AS before, {now} AS now FROM ({own[d.event]}) "
                f"WHERE {is_amended}",
            )
        else:
            yield d.event, own[d.event]
        if self.has_late:
            yield self.late, f"SELECT * FROM {d.event} WHERE id > {self.cutoff}"
        if self.has_void:
            yield self.void, f"SELECT * FROM {d.event} WHERE {self._is_void()}"
        for year, quarter in QUARTERS:
            low, high = starts(year, quarter), starts(year, quarter + 1)
            table = self.quarter(year, quarter)
            yield table, events(table, f"{d.day} >= '{low}' AND {d.day} < '{high}'")
        for number in range(1, N_RANGES + 1):
            low_id = (number - 1) * self._a_range
            of = f"{d.thing}_id > {low_id} AND {d.thing}_id <= {low_id + self._a_range}"
            yield self.thing_range(number), events(self.thing_range(number), of)
        month, year_of = f"date_trunc('month', e.{d.day})::DATE", f"year(e.{d.day})::INTEGER"
        joined = f" JOIN {d.thing} t ON t.id = e.{d.thing}_id"
        by = {
            "owner_month": (f"t.{d.owner}_id AS {d.owner}_id, {month} AS month", joined),
            "thing_year": (f"e.{d.thing}_id AS {d.thing}_id, {year_of} AS year", ""),
            "kind_day": (f"t.{d.kind} AS {d.kind}, e.{d.day} AS {d.day}", joined),
            "day": (f"e.{d.day} AS {d.day}", ""),
        }
        for family, (keys, join) in by.items():
            yield (
                self.summary(family),
                f"SELECT {keys}, COUNT(*)::INTEGER AS n, SUM(e.{d.amount})::BIGINT AS total "
                f"FROM ({events(self.summary(family))}) e{join} GROUP BY ALL ORDER BY ALL",
            )

    def _is_void(self) -> str:
        """Return the condition of void events."""
        return self._is_one_in(_VOID, self.extent.seed % _VOID)

    def _is_one_in(self, n: int, move: int) -> str:
        """Return a condition that one in `n` events meets, spread by arithmetic of their ids."""
        return f"(id::BIGINT * 48271 + {move}) % {n} = 0"

    def notes(self, table: str) -> list[str]:
        """Return what a table holds and what it leaves out, in sentences; nothing for those of the domain."""
        d, family = self.extent.names, self.families.get(table)
        if family is None:
            return []
        events = d.event_words
        if family == "late":
            return [
                f"The {events} with an id above {self.cutoff}, which came in late. {d.event} has them too."
            ]
        if family == "void":
            return [f"The {events} that are void. {d.event} and its parts have them too."]
        if family == "amended":
            return [
                f"The {events} whose {d.amount} was amended: what it was before, and what it is now. {d.event} has what it is now, "
                f"and so have {self.late} and {self.void}. {d.event_words.capitalize()} that came in late or are void may be here too."
            ]
        held = {
            "quarter": f"A part of {d.event}: the {events} whose {d.day} is in this quarter.",
            "range": f"A part of {d.event}: the {events} of {self._a_range} {d.thing_words} with successive ids, {d.thing} "
            f"1 to {self._a_range} in {self.thing_range(1)}, the next {self._a_range} in {self.thing_range(2)}, and so on.",
            "owner_month": f"For each {d.owner} and month (its first day): n, the number of {events} of its {d.thing_words}, and "
            f"total, the total {d.amount} of these.",
            "thing_year": f"For each {d.thing} and year: n, the number of its {events}, and total, the total {d.amount} of these.",
            "kind_day": f"For each {d.kind} and day: n, the number of {events} of {d.thing_words} of this {d.kind}, and total, "
            f"the total {d.amount} of these.",
            "day": f"For each day: n, the number of {events}, and total, the total {d.amount} of these.",
        }  # fmt: skip
        found = [held[family]]
        if self.has_late:
            found.append(
                f"Made before the {events} of {self.late} came in, and leaves all of them out."
                if self.lacks_late(table)
                else f"The {events} of {self.late} are in it."
            )
        if self.has_void:
            found.append(
                f"Void {events} are in it like the others."
                if self.counts_void(table)
                else f"Void {events} are left out."
            )
            found.append(
                f"Made before the amendments, with every {d.amount} as it was before."
                if self.is_before_amended(table)
                else f"Amendments are in it: every {d.amount} is as it is now."
            )
        return found


def draw_warehouse(rng: np.random.Generator, extent: Extent, level: int) -> Warehouse:
    """Draw what the parts and summaries leave out: nothing at level 8, late events at 9, and at 10 also void ones and amendments."""
    late, void = level >= 9, level >= 10
    flags = dict(zip(SUMMARIES, rng.integers(0, 2, (len(SUMMARIES), 3)).tolist(), strict=True))
    if not any(flags["kind_day"][:2]):
        # The last step of level 10 takes the summary by kind, which is never ready to use.
        flags["kind_day"][int(rng.integers(2))] = 1
    return Warehouse(
        extent=extent,
        has_late=late,
        has_void=void,
        without_late=tuple(one for one, flag in flags.items() if late and flag[0]),
        with_void=tuple(one for one, flag in flags.items() if void and flag[1]),
        before_amended=tuple(one for one, flag in flags.items() if void and flag[2]),
    )


@lru_cache(maxsize=64)
def sizes_of(warehouse: Warehouse) -> dict[str, int]:
    """Return the rows of each part and summary of a warehouse."""
    d, families = warehouse.extent.names, warehouse.families
    numbers = (
        f"4 * year({d.day}) + quarter({d.day})",
        f"({d.thing}_id - 1) * {N_RANGES} // {warehouse.extent.things}",
    )
    found: dict[str, int] = {}
    big = Big(warehouse)
    try:
        for family, number in zip(PARTS, numbers, strict=True):
            # Parts of a family come in the order of their numbers; all in one pass.
            names = [name for name, its in families.items() if its == family]
            counted = f"SELECT COUNT(*), COUNT(*) FILTER (id <= {warehouse.cutoff}) FROM {d.event} GROUP BY {number} ORDER BY {number}"
            for name, (n, early) in zip(names, big.run(counted)[1], strict=True):
                found[name] = early if warehouse.lacks_late(name) else n
        for name, family in families.items():
            if family not in PARTS:
                found[name] = big.run(f"SELECT COUNT(*) FROM {name}")[1][0][0]
        return found
    finally:
        big.close()
