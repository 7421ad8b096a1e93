"""`World`: tables and tools. A state is plain tuples of rows; a call sees them through SQLite, in memory.

States are values: equal ones are equal, a snapshot costs nothing, and a call that fails leaves nothing. The
databases that calls run in hold the tables only while a call runs, inside a transaction that is rolled back,
so which of them is used can never be seen.
"""

from __future__ import annotations

import atexit
import operator
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from verigym.canonical import JSON
from verigym.envs.tools.tool import Refused, Tool

Row = tuple[JSON, ...]
Tables = tuple[tuple[Row, ...], ...]
"""Rows by table, in the order of the world's tables; each sorted by id, the first column."""

MAX_ROWS = 500
"""Maximum number of rows in one table, which bounds memory."""
_KEPT = 8


@dataclass(frozen=True)
class World:
    """A kind of world: `tables` names the columns of each, the first being `id`."""

    name: str
    tables: Mapping[str, tuple[str, ...]]
    tools: Mapping[str, Tool]
    plain: Mapping[str, Tool] | None = None
    """The tools without faults and pages, if `tools` have them."""

    @cached_property
    def _order(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.tables)}

    @cached_property
    def _idle(self) -> list[sqlite3.Connection]:
        idle: list[sqlite3.Connection] = []
        atexit.register(_close, idle)
        return idle

    def call(
        self, tables: Tables, tool: Tool, arguments: Mapping[str, JSON]
    ) -> tuple[Tables, JSON]:
        """Return the tables after a call, and its answer. Raises Refused, and then nothing has changed."""
        tool.check(arguments)
        if not tool.tables:
            return tables, tool.run(None, **arguments)
        # Taken and given back: pop and append are safe between threads.
        db = self._idle.pop() if self._idle else self._open()
        try:
            db.execute("BEGIN")
            for name in tool.tables:
                marks = ",".join("?" * len(self.tables[name]))
                db.executemany(f"INSERT INTO {name} VALUES ({marks})", tables[self._order[name]])
            answer = tool.run(db, **arguments)
            after = list(tables)
            for name in tool.writes:
                found = tuple(db.execute(f"SELECT * FROM {name} ORDER BY id"))
                if len(found) > MAX_ROWS:
                    raise Refused(f"there is no room for more than {MAX_ROWS} {name}")
                if found != tables[self._order[name]]:
                    after[self._order[name]] = found
        finally:
            db.execute("ROLLBACK")
            if len(self._idle) < _KEPT:
                self._idle.append(db)
            else:
                db.close()
        # The same object where nothing has changed, so that nobody has to compare.
        return (tables if all(map(operator.is_, after, tables)) else tuple(after)), answer

    def play(self, tables: Tables, calls: Iterable[tuple[str, Mapping[str, JSON]]]) -> Tables:
        """Return the tables after calls of plain tools, each with its arguments."""
        tools = self.tools if self.plain is None else self.plain
        db = self._idle.pop() if self._idle else self._open()
        try:
            db.execute("BEGIN")
            for name, columns in self.tables.items():
                marks = ",".join("?" * len(columns))
                db.executemany(f"INSERT INTO {name} VALUES ({marks})", tables[self._order[name]])
            for name, arguments in calls:
                tools[name].run(db, **arguments)
            return tuple(
                tuple(db.execute(f"SELECT * FROM {name} ORDER BY id")) for name in self.tables
            )
        finally:
            db.execute("ROLLBACK")
            self._idle.append(db)

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        for name, columns in self.tables.items():
            db.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, {', '.join(columns[1:])})")
        return db

    def as_rows(self, tables: Tables) -> dict[str, list[dict[str, Any]]]:
        """Return the tables as objects, as `tools/state` reads them."""
        return {
            name: [dict(zip(columns, row, strict=True)) for row in found]
            for (name, columns), found in zip(self.tables.items(), tables, strict=True)
        }

    def as_tables(self, state: Mapping[str, Sequence[Mapping[str, JSON]]]) -> Tables:
        """Convert plain rows back to tables."""
        return tuple(
            tuple(tuple(row[column] for column in columns) for row in state[name])
            for name, columns in self.tables.items()
        )


def _close(idle: list[sqlite3.Connection]) -> None:
    while idle:
        idle.pop().close()
