"""DuckDB in memory, for what SQLite has no words for.

Covers: files, the network and extensions (external access off, configuration locked), memory (a
limit, no spilling to disk), time (a timer that interrupts), rows. Does not cover: bugs of DuckDB.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlglot import exp

from verigym.verifiers.sql.databases import Database
from verigym.verifiers.sql.engine import QueryFailed, Rows
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.sqlite import bounded
from verigym.verifiers.sql.translate import for_engine

TYPES = {
    "int": "BIGINT", "real": "DOUBLE PRECISION", "bool": "BOOLEAN", "date": "DATE",
    "datetime": "TIMESTAMP", "time": "TIME",
}  # fmt: skip
_SETTINGS: dict[str, str | int | float | list[str]] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "memory_limit": "512MB",
    "max_temp_directory_size": "0KB",
    "threads": 1,
}


class DuckEngine:
    """See the module. `timeout_s` bounds one query, `max_rows` its result."""

    name = "duckdb"

    def __init__(self, schema: Schema, *, timeout_s: float, max_rows: int) -> None:
        import duckdb

        self._errors = duckdb.Error
        self._schema, self._timeout_s, self._max_rows = schema, timeout_s, max_rows
        self._db = duckdb.connect(":memory:", config=_SETTINGS)
        for table, columns in schema.tables.items():
            self._db.execute(create(table, columns))
        self._db.execute("SET lock_configuration = true")

    def printed(self, tree: exp.Expr) -> str:
        return for_engine(tree, "duckdb")

    def load(self, database: Database, *, turned: bool = False) -> None:
        for table, columns in self._schema.tables.items():
            self._db.execute(f'DELETE FROM "{table}"')
            rows = database.get(table, [])
            if turned:
                rows = random.Random(len(rows)).sample(rows, len(rows))
            if rows:
                self._db.execute(insert(table, columns, rows))

    def run(self, sql: str) -> tuple[Sequence[str], Rows]:
        with self._deadline() as late:
            try:
                cursor = self._db.execute(sql)
                names = [column[0] for column in cursor.description or ()]
                return names, bounded(cursor.fetchmany, self._max_rows)
            except self._errors as error:
                if late.is_set():
                    raise QueryFailed("time_limit", "it takes too long") from error
                code = "memory_limit" if "Out of Memory" in str(error) else "query_error"
                raise QueryFailed(code, str(error).partition("\n")[0][:200]) from error

    @contextmanager
    def _deadline(self) -> Iterator[threading.Event]:
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._db.interrupt()

        timer = threading.Timer(self._timeout_s, stop)
        timer.daemon = True
        timer.start()
        try:
            yield late
        finally:
            timer.cancel()

    def close(self) -> None:
        self._db.close()


def create(table: str, columns: Sequence[Any], kind: str = "TABLE") -> str:
    """A CREATE statement without keys: the generated rows hold to them."""
    inner = ", ".join(f'"{column.name}" {TYPES.get(column.kind, "VARCHAR")}' for column in columns)
    return f'CREATE {kind} "{table}" ({inner})'


def insert(table: str, columns: Sequence[Any], rows: Rows) -> str:
    """One INSERT with all rows written out: far faster than one call a row."""
    lines = (
        "("
        + ", ".join(_literal(cell, column.kind) for cell, column in zip(row, columns, strict=True))
        + ")"
        for row in rows
    )
    return f'INSERT INTO "{table}" VALUES {", ".join(lines)}'


def _literal(cell: Any, kind: str) -> str:
    if cell is None:
        return "NULL"
    if kind == "bool":
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, int | float) and kind in ("int", "real"):
        return repr(cell)
    return "'" + str(cell).replace("'", "''").replace("\0", "") + "'"
