"""Mends databases whose foreign keys have no parents: adds the parents, or leaves the rows out."""

from __future__ import annotations

from collections.abc import Mapping

from verigym.verifiers.sql.cells import Cell, Database, Row, numbered
from verigym.verifiers.sql.hints import Place
from verigym.verifiers.sql.schema import Schema


def with_parents(
    schema: Schema, kinds: Mapping[Place, str], database: Mapping[str, list[Row]]
) -> Database:
    """Return the database with a parent added for each foreign key that has none."""
    found = {table: list(database.get(table, ())) for table in schema.tables}
    for table in reversed(schema.parents_first()):
        for key in (key for key in schema.foreign if key.table == table):
            mine, theirs = (
                [[c.name for c in schema.tables[t]].index(name) for name in names]
                for t, names in ((key.table, key.columns), (key.parent, key.parent_columns))
            )
            known = {tuple(row[at] for at in theirs) for row in found[key.parent]}
            for row in list(found[table]):
                part = tuple(row[at] for at in mine)
                if None not in part and part not in known:
                    known.add(part)
                    number = 500 + len(found[key.parent])
                    found[key.parent].append(
                        _parent(
                            schema, kinds, key.parent, dict(zip(theirs, part, strict=True)), number
                        )
                    )
    return without_orphans(schema, found)


def _parent(
    schema: Schema, kinds: Mapping[Place, str], table: str, given: Mapping[int, Cell], number: int
) -> Row:
    """Return a row with some cells given; its own foreign keys are null if they may be."""
    bound = {name for key in schema.foreign if key.table == table for name in key.columns}
    cells: list[Cell] = []
    for at, column in enumerate(schema.tables[table]):
        if at in given:
            cells.append(given[at])
        elif column.nullable and column.name in bound:
            cells.append(None)
        elif column.values:
            cells.append(column.values[number % len(column.values)])
        else:
            cells.append(numbered(number, kinds[(table, column.name)]))
    return tuple(cells)


def without_orphans(schema: Schema, database: Database) -> Database:
    """Return the database without rows whose foreign keys have no parent."""
    left = dict(database)
    changed = bool(schema.foreign)
    while changed:
        changed = False
        for key in schema.foreign:
            mine, theirs = (
                [[c.name for c in schema.tables[table]].index(name) for name in names]
                for table, names in ((key.table, key.columns), (key.parent, key.parent_columns))
            )
            known = {tuple(row[at] for at in theirs) for row in left[key.parent]}
            kept = [
                row
                for row in left[key.table]
                if None in (part := tuple(row[at] for at in mine)) or part in known
            ]
            if len(kept) < len(left[key.table]):
                left[key.table], changed = kept, True
    return left
