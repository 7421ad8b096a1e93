"""A database of an old system's tables on which every rule of the notes shows: rows on both sides of each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np

from verigym.canonical import JSON
from verigym.envs.sql.domains import Domain
from verigym.envs.sql.kinds import Constants, Variant
from verigym.envs.sql.notes import AS_OF
from verigym.envs.sql.records import Records, draw_records
from verigym.envs.sql.report import NEW, SIMPLE, Report, draw_report

COLUMNS_OF = {8: 3, 9: 5, 10: 9}
"""Columns of a report beside the name or id, by level."""
_TRIES = 20
_SAME_KIND, _SAME_LEVEL = 4, 12
"""Questions that are tried for a column, those of them that are of its first kind, and those of this or of a kind that the
level brings in."""
_EACH = 5
"""Owners for each column."""
_SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 8)
"""Things of an owner, and events of a thing."""
_NEAR = (0, 0, 0, 0, 1, -1, 2, 7)
_AWAY = (0, 0, -1, 31, 30, 60, 61, 200)
_LAST = (("2022-05-01", 0), ("2024-05-01", 0), (None, 1), (None, 2))
_MERGED = (
    *(("alone", None, 0), ("before", None, 0), ("before", None, 0), ("alone", None, 0)),
    *(("alone", "2022-05-01", 0), ("before", None, 0), ("alone", None, 1), ("before", None, 0)),
    *(("after", None, 0), ("before", None, 0), ("nowhere", None, 0)),
)
"""Owners that are merged: into one of those `alone` or the one beside them; when they are closed, whether they are tests."""
_CODES = ("A", "B", "C", "D")
_NO_CODE = "Z"
_UNITS = (("ea", 1), ("bx", 1), ("pk", 3))
_NO_UNIT = "zz"
_SPANS = (
    ("2021-01-01", None),
    ("2021-01-01", None),
    ("2021-01-01", "2024-01-01"),
    ("2021-01-01", AS_OF),
    ("2021-01-01", "2022-12-31"),
    (AS_OF, None),
    ("2023-07-02", None),
)
"""Days from which and to which a price is valid."""
_REVERSALS = 0.25
"""Share of the events that are reversals."""
Rows = dict[str, list[list[JSON]]]


def own_draws(rng: np.random.Generator, purpose: int) -> np.random.Generator:
    """Return draws for one environment alone, so that its question of a seed is not that of another environment, which
    might give it away."""
    return np.random.Generator(np.random.PCG64([purpose, int(rng.integers(2**32))]))


def drawn_rows(rng: np.random.Generator, records: Records, report: Report) -> dict[str, JSON]:
    """Return rows by table, of which many have the constants of the report or their neighbours."""
    maker = _Maker(rng, records, report)
    found = {
        records.domain.owner_words: maker.owners(),
        records.domain.thing_words: maker.things(),
        records.domain.event_words: maker.events(),
        "codes": maker.codes(),
        **maker.others(),
    }
    return {table: list(rows) for table, rows in found.items()}


@dataclass(frozen=True)
class ToldApart:
    """A report on records, with rows on which it gives something else under every other reading of the notes, and each
    of its columns something else than its twins. `essence` is what was drawn before the rows."""

    records: Records
    report: Report
    rows: dict[str, JSON]
    essence: JSON


def draw_told_apart(
    rng: np.random.Generator, domain: Domain, level: int, is_wanted: Callable[[JSON], bool]
) -> ToldApart | JSON:
    """Draw a report whose essence is wanted; the essence alone if the first drawn is not, which costs little."""
    while True:
        records = draw_records(rng, domain, level)
        report = draw_report(rng, domain, level, COLUMNS_OF[level])
        essence: JSON = asked(records, report)
        if not is_wanted(essence):
            return essence
        rows = drawn_rows(rng, records, report)
        db = _loaded(records, rows)
        try:
            found = _separated(rng, db, records, report, level)
            if found is not None and _rules_show(db, records, found):
                return ToldApart(records, found, rows, essence)
        finally:
            db.close()


def _loaded(records: Records, rows: dict[str, JSON]) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.executescript(records.ddl())
    for table, held in rows.items():
        assert isinstance(held, list)
        marks = ", ".join("?" * len(held[0]))
        db.executemany(f"INSERT INTO {table} VALUES ({marks})", held)
    for table, columns in records.tables().items():
        for name, _ in columns:
            if name.endswith(("_id", "_key")):
                db.execute(f"CREATE INDEX {table}_by_{name} ON {table} ({name})")
    return db


def _separated(
    rng: np.random.Generator, db: sqlite3.Connection, records: Records, report: Report, level: int
) -> Report | None:
    """Return the report with other questions, about the same constants, in place of columns that give what a twin
    gives: of the same kind if that helps soon, otherwise of another that the level has; None if there is none for a
    column."""
    kinds = (*SIMPLE, *(kind for at, new in NEW.items() if at <= level for kind in new))
    d = report.domain
    _make_views(db, records)
    columns: list[Variant] = []
    for column in report.columns:
        met = {one.kind.name for one in columns}
        for n in range(_TRIES):
            if column.kind.name not in met and _shows(db, column):
                break
            among = [column.kind] if n < _SAME_KIND else NEW[level] if n < _SAME_LEVEL else kinds
            kind = among[int(rng.integers(len(among)))]
            column = replace(kind.draw(rng, d), constants=column.constants)
        else:
            return None
        columns.append(column)
    return Report(d, tuple(columns))


def _make_views(db: sqlite3.Connection, records: Records) -> None:
    """Put the rows that count into temporary tables, in place of those that stand there."""
    d, parts = records.domain, records.parts()
    for table in (*parts, "undone", "standing"):
        db.execute(f"DROP TABLE IF EXISTS temp.{table}")
    for table, query in parts.items():
        db.execute(
            f"CREATE TEMP TABLE {table} AS WITH RECURSIVE {table} AS ({query}) SELECT * FROM {table}"
        )
    db.execute(f"CREATE INDEX temp.things ON {d.thing} ({d.owner}_id)")
    db.execute(f"CREATE INDEX temp.events ON {d.event} ({d.thing}_id)")


def _shows(db: sqlite3.Connection, column: Variant) -> bool:
    """Return True if a column gives something else than each of its twins."""
    owner = column.domain.owner
    right = _result(db, f"SELECT o.id, {column.query} FROM {owner} o")
    return all(
        _result(db, f"SELECT o.id, {twin.query} FROM {owner} o") != right for twin in column.twins()
    )


@contextmanager
def compared(
    records: Records, rows: dict[str, JSON], query: str
) -> Iterator[Callable[[str], bool]]:
    """Give a function that returns True if a query gives another result than `query` on these rows."""
    db = _loaded(records, rows)
    try:
        right = _result(db, query)
        yield lambda other: _result(db, other) != right
    finally:
        db.close()


def _rules_show(db: sqlite3.Connection, records: Records, report: Report) -> bool:
    """Return True if the report gives something else under every other reading of the notes; the columns are
    compared one by one, those of few clauses first, since the first that differs is enough."""
    columns = sorted(report.columns, key=lambda one: one.steps)
    queries = [f"SELECT o.id, {one.query} FROM {records.domain.owner} o" for one in columns]
    _make_views(db, records)
    right = [_result(db, query) for query in queries]
    for twin in records.twins():
        _make_views(db, twin)
        if all(_result(db, query) == rows for query, rows in zip(queries, right, strict=True)):
            return False
    return True


def _result(db: sqlite3.Connection, query: str) -> list[str]:
    """Return the rows in a fixed order, with 2 and 2.0 alike."""
    rows = db.execute(query).fetchall()
    return sorted(repr([float(v) if isinstance(v, int) else v for v in row]) for row in rows)


def asked(records: Records, report: Report) -> str:
    """Return the query of a report over the rows that count."""
    return f"{records.views()}\n{report.query}"


class _Maker:
    """Draws the rows of each table. Each column of the report has owners of its own, whose things and events have its
    constants, so that no column's bounds are met by luck alone."""

    def __init__(self, rng: np.random.Generator, records: Records, report: Report) -> None:
        self.rng, self.records, self.domain = rng, records, records.domain
        self.constants = [column.constants for column in report.columns[1:]]
        self.n_alone = _EACH * len(self.constants) + len(_LAST)
        self.n_owners = self.n_alone + (len(_MERGED) if "merged" in records.picks else 0)
        sizes = rng.choice(_SIZES, self.n_owners).tolist()
        self.owner_of = [owner for owner, size in enumerate(sizes) for _ in range(size)]
        sizes = rng.choice(_SIZES, len(self.owner_of)).tolist()
        self.thing_of = [thing for thing, size in enumerate(sizes) for _ in range(size)]

    def one(self, items: Sequence[JSON]) -> JSON:
        return items[int(self.rng.integers(len(items)))]

    def near(self, value: int) -> int:
        """Return a constant, or a number on either side of it."""
        return value + _NEAR[int(self.rng.integers(len(_NEAR)))]

    def of_owner(self, owner: int) -> Constants:
        """Return the constants of the column that an owner is for."""
        return self.constants[owner % len(self.constants)]

    def day(self, owner: int) -> str:
        """Return a day near the beginning of a year, of which several events share many; half of them in one year."""
        year = self.of_owner(owner).year + int(self.rng.choice((-1, 0, 1, 1, 1, 1, 2, 3)))
        return str(date(year, 1, 1) + timedelta(_AWAY[int(self.rng.integers(len(_AWAY)))]))

    def owners(self) -> list[list[JSON]]:
        """Return the rows of all owners. Of the last four that are not merged, one is closed, one will be, one is a test, and one a
        training case."""
        ends = [*[(None, 0)] * (self.n_alone - len(_LAST)), *_LAST]
        rows: list[list[JSON]] = [
            [i + 1, f"{self.domain.owner} {i + 1}", (*_CODES[:2], _NO_CODE, None)[i % 4], closed, test]
            for i, (closed, test) in enumerate(ends)
        ]  # fmt: skip
        if "merged" not in self.records.picks:
            return rows
        rows = [[*row, None] for row in rows]
        for into, closed, test in _MERGED:
            place = len(rows) + 1
            others = {"alone": int(self.rng.integers(self.n_alone)) + 1, "before": place - 1, "after": place + 1}  # fmt: skip
            name = f"{self.domain.owner} {place}"
            rows.append([place, name, self.one(_CODES[:2]), closed, test, others.get(into)])
        rows[-1][-1] = len(rows) + 1  # the last is merged into one that is not there
        return rows

    def things(self) -> list[list[JSON]]:
        return [
            [
                i + 1,
                owner + 1,
                self.one((*_CODES, *_CODES, _NO_CODE)),
                self.near(self.of_owner(owner).price),
                self.one((0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2)),
            ]
            for i, owner in enumerate(self.owner_of)
        ]

    def events(self) -> list[list[JSON]]:
        rules, n = self.records.picks, len(self.thing_of)
        keys = self.rng.permutation(n).tolist()
        rows: list[list[JSON]] = []
        for i, place in enumerate(self.rng.permutation(n).tolist()):
            thing = self.thing_of[place]
            owner = self.owner_of[thing]
            row: list[JSON] = [i + 1, thing + 1, self.near(self.of_owner(owner).amount), self.day(owner)]  # fmt: skip
            if "state" in rules:
                row += [self.one("FFFFFFPX"), self.one((None, None, None, self.day(owner)))]
            if "unit" in rules:
                row += [self.one(("ea", "ea", "ea", "bx", "bx", "pk", _NO_UNIT)), self.one((0, 0, 0, 0, 1))]  # fmt: skip
            if "reversed" in rules:
                at = len(row)
                met = {one[at] for one in rows}
                reversals = [one[0] for one in rows if one[at] is not None and one[0] not in met]
                row.append(self._reverses(i + 1, reversals))
            if "twice" in rules:
                row.append(keys[i] if i == 0 or self.rng.random() < 0.8 else rows[-1][-1])
            rows.append(row)
        return rows

    def _reverses(self, number: int, reversals: list[JSON]) -> JSON:
        """Return the row that an event reverses: none for most, and for half of the others one of `reversals`."""
        if number == 1 or self.rng.random() > _REVERSALS:
            return None
        if reversals and self.rng.random() < 0.5:
            return self.one(reversals)
        return 1 + int(self.rng.integers(number + 1))  # itself or the next one now and then

    def codes(self) -> list[list[JSON]]:
        d = self.domain
        # The same codes stand for something else in every list.
        lists = ((d.region, d.regions), (d.kind, d.kinds), ("other", ("one", "two", "three")))
        return [
            [name, code, label]
            for name, labels in lists
            for code, label in zip(_CODES, labels, strict=False)
        ]

    def others(self) -> Rows:
        d, rules = self.domain, self.records.picks
        found: Rows = {}
        if "price" in rules:
            found[f"{d.thing}_rates"] = self._rates()
        if "unit" in rules:
            found["units"] = [[*pair] for pair in _UNITS]
        if "change" in rules:
            found[f"{d.event}_changes"] = self._changes()
        return found

    def _rates(self) -> list[list[JSON]]:
        """Two prices of each thing: before, until, over or after the day that counts."""
        rows: list[list[JSON]] = []
        for thing in self.rng.permutation(np.repeat(np.arange(len(self.owner_of)), 2)).tolist():
            price = self.near(self.of_owner(self.owner_of[thing]).price)
            rows.append([len(rows) + 1, thing + 1, price, *_SPANS[int(self.rng.integers(len(_SPANS)))]])  # fmt: skip
        return rows

    def _changes(self) -> list[list[JSON]]:
        """Two changes of every third event, of which the later one may come first, or both on one day."""
        rows: list[list[JSON]] = []
        first: dict[int, str] = {}
        for event in self.rng.permutation(
            np.repeat(np.arange(0, len(self.thing_of), 3), 2)
        ).tolist():
            owner = self.owner_of[self.thing_of[event]]
            amount = self.near(self.of_owner(owner).amount)
            day = self.day(owner)
            if event in first and self.rng.integers(3) == 0:
                day = first[event]
            first[event] = day
            rows.append([len(rows) + 1, event + 1, amount, day])
        return rows
