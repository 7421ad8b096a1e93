"""The tables of a task: columns with a kind each, keys and foreign keys; read from plain JSON.

    {"tables": {"R": {"A": "INT"}}, "primary": [["R.A"]], "foreign": [["R.A", "S.B"]], "notnull": ["R.A"]}

A composite key lists its columns; a composite foreign key is `[["R.A", "R.B"], ["S.A", "S.B"]]`.
`unique` is read as `primary` is, without the refusal of nulls. Names are compared without case.
A table may list its columns, `"R": [["A", "INT"], ["B", "INT"]]`: the members of a JSON object have
no order, and a task that travels to a worker gets them sorted, which `SELECT *` shows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from verigym.canonical import JSON
from verigym.errors import TaskError

# First match wins. A column of another or no type has kind "", and `hints.py` infers one.
_KINDS = (
    ("enum", re.compile(r"enum|set\b", re.I)),
    ("datetime", re.compile(r"datetime|timestamp", re.I)),
    ("date", re.compile(r"date", re.I)),
    ("time", re.compile(r"time", re.I)),
    ("bool", re.compile(r"bool|bit\b", re.I)),
    ("text", re.compile(r"char|text|string|clob|uuid|json", re.I)),
    ("real", re.compile(r"dec|num|real|float|double|money", re.I)),
    ("int", re.compile(r"int|serial|long|year|number", re.I)),
)


@dataclass(frozen=True)
class Column:
    """One column; `values` are the only values it may hold, if its type lists them."""

    name: str
    kind: str
    nullable: bool = True
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Foreign:
    """`columns` of `table` hold values of `parent_columns` of `parent`, or nulls."""

    table: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]


@dataclass(frozen=True)
class Schema:
    """Tables by name; `keys` are the sets of columns that are unique together, by table."""

    tables: Mapping[str, tuple[Column, ...]]
    keys: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    foreign: tuple[Foreign, ...] = ()

    def column(self, table: str, name: str) -> Column | None:
        """Return the column of this name; None if there is none."""
        return next((c for c in self.tables.get(table, ()) if c.name == name), None)

    def having(self, name: str) -> list[str]:
        """Return the tables that have a column of this name."""
        return [table for table, cols in self.tables.items() if any(c.name == name for c in cols)]

    def with_kinds(self, kinds: Mapping[tuple[str, str], str]) -> Schema:
        """Return the same with the kinds of some columns set."""
        tables = {
            table: tuple(replace(c, kind=kinds.get((table, c.name), c.kind)) for c in cols)
            for table, cols in self.tables.items()
        }
        return replace(self, tables=tables)

    def only(self, tables: Collection[str], columns: Collection[str] | None) -> Schema:
        """Return the schema of these tables and columns (None for all); key columns are kept.

        A parent that no query names bears on nothing: a foreign key to it may hold any value.
        """
        foreign = tuple(f for f in self.foreign if f.table in tables and f.parent in tables)
        kept: dict[str, tuple[Column, ...]] = {}
        for table in (t for t in self.tables if t in tables):
            bound = {c for key in self.keys.get(table, ()) for c in key}
            bound |= {c for f in foreign if f.table == table for c in f.columns}
            bound |= {c for f in foreign if f.parent == table for c in f.parent_columns}
            found = tuple(
                c
                for c in self.tables[table]
                if columns is None or c.name in columns or c.name in bound
            )
            kept[table] = found or self.tables[table][:1]
        return Schema(kept, {t: keys for t, keys in self.keys.items() if t in kept}, foreign)

    def parents_first(self) -> list[str]:
        """Return the tables so that, but for circles, a parent stands before its children."""
        left, order = list(self.tables), list[str]()
        while left:
            free = [
                table
                for table in left
                if not any(
                    f.table == table and f.parent != table and f.parent in left
                    for f in self.foreign
                )
            ]
            order += free or left[:1]
            left = [table for table in left if table not in order]
        return order


def kind_of(declared: str) -> tuple[str, tuple[str, ...]]:
    """Return the kind and listed values of a declared type: `("enum", ("a", "b"))` for `ENUM('a', 'b')`."""
    for kind, pattern in _KINDS:
        if pattern.match(declared.strip()) or (kind != "enum" and pattern.search(declared)):
            if kind != "enum":
                return kind, ()
            inner = re.sub(r"^\s*\w+\s*[(,:]?|\)\s*$", "", declared.strip())
            values = [part.strip().strip("'\"") for part in re.split(r"[,|]", inner)]
            return "enum", tuple(value for value in values if value)
    return "", ()


def read_schema(raw: JSON) -> Schema:
    """Return the schema in a reference. Raises TaskError if it cannot be used."""
    if not isinstance(raw, dict) or not isinstance(raw.get("tables"), dict):
        raise TaskError(f'schema must be {{"tables": {{"R": {{"A": "INT"}}}}}}, got {raw!r:.80}')
    plain: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {}
    for table, columns in raw["tables"].items():
        plain[table.lower()] = {
            str(name).lower(): kind_of(str(declared or ""))
            for name, declared in _columns(table, columns)
        }
    primary = _keys(raw.get("primary"), plain, "primary")
    notnull = {tuple(_place(item, plain)) for item in _flat(raw.get("notnull"))}
    notnull |= {(table, column) for table, columns in primary for column in columns}
    keys: dict[str, list[tuple[str, ...]]] = {table: [] for table in plain}
    for table, columns in primary + _keys(raw.get("unique"), plain, "unique"):
        if columns not in keys[table]:
            keys[table].append(columns)
    tables = {
        table: tuple(
            Column(name, kind, (table, name) not in notnull, values)
            for name, (kind, values) in columns.items()
        )
        for table, columns in plain.items()
    }
    return Schema(
        tables,
        {table: tuple(found) for table, found in keys.items()},
        tuple(_foreign(item, plain) for item in raw.get("foreign") or ()),
    )


def _columns(table: str, raw: JSON) -> list[Any]:
    """Pairs of name and declared type."""
    pairs = list(raw.items()) if isinstance(raw, dict) else raw
    if (
        not isinstance(pairs, list)
        or not pairs
        or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs)
    ):
        raise TaskError(
            f"table {table!r} must map its columns to types or list pairs of both, got {raw!r:.80}"
        )
    return pairs


def _flat(raw: Any) -> Iterable[str]:
    for item in raw or ():
        if isinstance(item, str):
            yield item
        else:
            yield from item


def _place(
    name: str, tables: Mapping[str, Mapping[str, object]], default: str = ""
) -> tuple[str, str]:
    """`R.A` (or `R__A`) as table and column."""
    text = str(name).lower()
    table, dot, column = text.rpartition(".")
    if not dot:
        table, dot, column = text.partition("__")
    if not dot or table not in tables or column not in tables[table]:
        raise TaskError(f"{name!r} is not a column of the schema; write it as table.column")
    return table, column


def _keys(
    raw: Any, tables: Mapping[str, Mapping[str, object]], what: str
) -> list[tuple[str, tuple[str, ...]]]:
    found = []
    for item in raw or ():
        places = [_place(name, tables) for name in ([item] if isinstance(item, str) else item)]
        if len({table for table, _ in places}) != 1:
            raise TaskError(f"a {what} key lies in one table, got {item!r}")
        found.append((places[0][0], tuple(column for _, column in places)))
    return found


def _foreign(item: JSON, tables: Mapping[str, Mapping[str, object]]) -> Foreign:
    if not isinstance(item, list | tuple) or len(item) != 2:
        raise TaskError(f'a foreign key is ["R.A", "S.B"], got {item!r}')
    child, parent = (
        [_place(name, tables) for name in ([side] if isinstance(side, str) else side)]
        for side in item
    )
    if (
        len(child) != len(parent)
        or len({t for t, _ in child}) != 1
        or len({t for t, _ in parent}) != 1
    ):
        raise TaskError(f"a foreign key has as many columns on both sides, got {item!r}")
    return Foreign(
        child[0][0], tuple(c for _, c in child), parent[0][0], tuple(c for _, c in parent)
    )
