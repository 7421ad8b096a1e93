"""Copies of the rows that a query needs for one result, and the databases that hold them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from verigym.verifiers.sql.assign import Values
from verigym.verifiers.sql.cells import Cell, Database, Row, fitted, numbered
from verigym.verifiers.sql.classes import Classes
from verigym.verifiers.sql.foreign_keys import with_parents
from verigym.verifiers.sql.schema import Column, Schema
from verigym.verifiers.sql.scopes import Cell as Place


@dataclass(frozen=True)
class Copy:
    """One row for each occurrence, under `values`; free cells differ from copy to copy."""

    values: Values
    number: int = 0
    changed: Values = field(default_factory=dict)
    """Single cells that leave their class."""
    missing: frozenset[int] = frozenset()
    doubled: int = -1
    """An occurrence whose row is there twice, -1 for none."""
    together: bool = False
    """True if copies share the values that groups are made by."""


class CopyBuilder:
    """Writes copies as rows of a schema, which has all that the query names and may have more."""

    def __init__(
        self,
        classes: Classes,
        bound: set[Place],
        schema: Schema,
        kinds: Mapping[tuple[str, str], str],
    ) -> None:
        self.classes, self.scene, self.bound = classes, classes.scene, bound
        self.schema, self.kinds = schema, kinds

    def database(self, copies: Iterable[Copy]) -> Database:
        database: dict[str, list[Row]] = {table: [] for table in self.schema.tables}
        seen: dict[tuple[str, tuple[str, ...]], set[Row]] = defaultdict(set)
        for copy in copies:
            for at, occurrence in enumerate(self.scene.occurrences):
                if at in copy.missing:
                    continue
                for again in (False, True)[: 1 + (copy.doubled == at)]:
                    row = self._row(copy, at, again=again)
                    self._add(database, seen, occurrence.table, row)
        return with_parents(self.schema, self.kinds, database)

    def _add(
        self,
        database: dict[str, list[Row]],
        seen: dict[tuple[str, tuple[str, ...]], set[Row]],
        table: str,
        row: Row,
    ) -> None:
        index = {column.name: at for at, column in enumerate(self.schema.tables[table])}
        parts = [
            (seen[(table, key)], tuple(row[index[name]] for name in key))
            for key in self.schema.keys.get(table, ())
        ]
        if any(part in known and None not in part for known, part in parts):
            return
        for known, part in parts:
            known.add(part)
        database[table].append(row)

    def _row(self, copy: Copy, at: int, *, again: bool) -> Row:
        occurrence = self.scene.occurrences[at]
        cells: list[Cell] = []
        width = len(self.scene.occurrences)
        number = 1 + at + width * (copy.number + 50 * again)
        for column in self.schema.tables[occurrence.table]:
            cell = (at, column.name)
            root = self.classes.root(cell)
            kind = self.kinds.get((occurrence.table, column.name), "int")
            own = number
            if again and (root in self.classes.members and len(self.classes.members[root]) > 1):
                own = 1 + self._at(root) + width * copy.number  # What others are joined by stays.
            elif root in self.classes.members:
                own = 1 + self._at(root) + width * (copy.number + 50 * again)
            if copy.together and any(
                c in self.scene.grouped for c in self.classes.members.get(root, ())
            ):
                own = 1 + self._at(root)
            value: Cell
            if cell in copy.changed:
                value = copy.changed[cell]
            elif root in copy.values and not (
                again and cell in self.classes.keys and self._is_free(root)
            ):
                value = copy.values[root]
                value = None if value is None else fitted(value, kind)
            else:
                value = _free(column, kind, own)
            if value is None and not column.nullable:
                value = _free(column, kind, own)
            if column.values and value is not None and value not in column.values:
                value = column.values[own % len(column.values)]
            cells.append(value)
        return tuple(cells)

    def _at(self, root: Place) -> int:
        """The occurrence that a class's own values are numbered by: of its key, if the table stands there again.

        Else the employee of `e.boss = b.id` would get the id of the boss.
        """
        tables = [occurrence.table for occurrence in self.scene.occurrences]
        return min(
            (
                at
                for at, name in self.classes.members.get(root, ())
                if (at, name) in self.classes.keys and tables.count(tables[at]) > 1
            ),
            default=root[0],
        )

    def _is_free(self, root: Place) -> bool:
        return root not in self.bound and len(self.classes.members.get(root, ())) < 2


def _free(column: Column, kind: str, number: int) -> Cell:
    """A value of a column that nothing is asked of."""
    if column.values:
        return column.values[number % len(column.values)]
    if kind == "bool":
        return number % 2
    if kind == "time":
        return f"{number % 24:02}:30:00"
    return numbered(number, kind)
