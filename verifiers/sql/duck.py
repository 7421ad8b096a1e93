"""DuckDB in memory, for queries that SQLite cannot express.

Covers: files, the network and extensions (external access off, configuration locked), memory (a
limit, no spilling to disk, functions that make huge values refused, growth watched), time (a watcher that interrupts), rows. Does not cover: bugs of DuckDB.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from verigym.verifiers.sql.cells import Database
from verigym.verifiers.sql.engine import QueryFailed, Rows
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.sqlite import bounded
from verigym.verifiers.sql.translate import Untranslatable, for_engine

TYPES = {
    "int": "BIGINT", "real": "DOUBLE PRECISION", "bool": "BOOLEAN", "date": "DATE",
    "datetime": "TIMESTAMP", "time": "TIME",
}  # fmt: skip
SETTINGS: dict[str, str | int | float | list[str]] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "memory_limit": "512MB",
    "max_temp_directory_size": "0KB",
    "threads": 1,
}
QUIET = "SET enable_progress_bar = false"
"""Setting without which a query of more than two seconds writes a progress bar to standard output."""

_GLANCE_S = 0.05
_MAX_GROWTH = 1 << 30

# Makers of lists and long texts: `range(1000000000)` took 19 GB past DuckDB's own memory limit, and
# an interrupt waits until such a call is over.
_LAVISH = (
    exp.GenerateSeries, exp.ExplodingGenerateSeries, exp.Repeat, exp.Pad, exp.Lambda, exp.Explode,
    exp.Unnest, exp.Array, exp.ArrayConcat, exp.Space, exp.Format,
)  # fmt: skip
# Of functions that sqlglot does not know, only these.
_FUNCTIONS = frozenset(
    (
        "weekday",
        "quarter",
        "dayname",
        "monthname",
        "year",
        "month",
        "day",
        "hour",
        "minute",
        "second",
        "isodow",
        "bool_or",
        "bool_and",
        "every",
        "reverse",
        "sqrt",
        "mod",
        "age",
    )
)


class DuckEngine:
    """DuckDB in memory. `timeout_s` bounds one query, `max_rows` its result."""

    name = "duckdb"

    def __init__(
        self, schema: Schema, dialect: str | None, *, timeout_s: float, max_rows: int
    ) -> None:
        import duckdb

        self._errors = duckdb.Error
        self._schema, self._timeout_s, self._max_rows = schema, timeout_s, max_rows
        self._db = duckdb.connect(":memory:", config=SETTINGS)
        self._db.execute(QUIET)
        for table, columns in schema.tables.items():
            self._db.execute(create(table, columns, folds=dialect == "mysql"))
        self._db.execute("SET lock_configuration = true")
        self._late, self._due = False, math.inf
        self._start = resident()
        self._closed = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="duckdb-deadline", daemon=True)
        self._watcher.start()

    def printed(self, tree: exp.Expr) -> str:
        return printed(tree)

    def load(self, database: Database, *, turned: bool = False) -> None:
        script = []
        for table, columns in self._schema.tables.items():
            script.append(f'DELETE FROM "{table}"')
            rows = database.get(table, [])
            if turned:
                rows = random.Random(len(rows)).sample(rows, len(rows))
            if rows:
                script.append(insert(table, columns, rows))
        self._db.execute("; ".join(script))

    def run(self, sql: str) -> tuple[Sequence[str], Rows]:
        self._late, self._due = False, time.monotonic() + self._timeout_s
        try:
            cursor = self._db.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return names, bounded(cursor.fetchmany, self._max_rows)
        except self._errors as error:
            if self._late:
                raise QueryFailed("time_limit", "it takes too long") from error
            code = "memory_limit" if "Out of Memory" in str(error) else "query_error"
            raise QueryFailed(code, str(error).partition("\n")[0][:200]) from error
        finally:
            self._due = math.inf

    def _watch(self) -> None:
        """Interrupts a query that is overdue, until the engine is closed."""
        while not self._closed.wait(_GLANCE_S):
            grown = self._due < math.inf and resident() > self._start + _MAX_GROWTH
            if grown or time.monotonic() > self._due:
                self._late, self._due = True, math.inf
                self._db.interrupt()

    def close(self) -> None:
        self._closed.set()
        self._watcher.join()
        self._db.close()


def printed(tree: exp.Expr) -> str:
    """Return the query as DuckDB writes it. Raises Untranslatable for functions that DuckDB does not have and for
    makers of huge values."""
    for node in tree.walk():
        name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
        if isinstance(node, _LAVISH):
            raise Untranslatable(f"{node.key} is refused: it can make a list or text of any size")
        if name and name not in _FUNCTIONS:
            raise Untranslatable(f"DuckDB has no function {name}")
    return for_engine(tree, "duckdb")


def resident() -> int:
    """Return the bytes of memory that this process holds; 0 if the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0


def create(table: str, columns: Sequence[Any], kind: str = "TABLE", *, folds: bool = False) -> str:
    """Return a CREATE statement without keys: the generated rows hold to them.

    `folds` makes upper and lower case one in texts.
    """
    text = "VARCHAR COLLATE NOCASE" if folds else "VARCHAR"
    inner = ", ".join(f'"{column.name}" {TYPES.get(column.kind, text)}' for column in columns)
    return f'CREATE {kind} "{table}" ({inner})'


def insert(table: str, columns: Sequence[Any], rows: Rows) -> str:
    """Return one INSERT with all rows written out: far faster than one call a row."""
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
