"""SQLite in memory: nothing but reading, bounded work, bounded sizes.

Covers: other databases, files and extensions (authorizer), endless recursion and joins (a budget of
virtual-machine steps, the same on every machine), huge texts and results (limits of SQLite, of rows
and of the heap, the last for the whole process). Does not cover: bugs of SQLite itself; where those
matter, run verifiers in the worker pool.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from verigym.verifiers.sql.aggregates import AGGREGATES
from verigym.verifiers.sql.cells import Database
from verigym.verifiers.sql.engine import QueryFailed, Rows
from verigym.verifiers.sql.functions import MAX_TEXT, SCALARS
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.translate import for_sqlite

_TYPES = {"int": "INTEGER", "real": "REAL", "bool": "INTEGER"}
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
_BANNED = {
    "load_extension",
    "random",
    "randomblob",
    "zeroblob",
    "fts3_tokenizer",
    "readfile",
    "writefile",
    "edit",
}
_STEP = 1000
_LARGE = 100
_MAX_BYTES = 8 << 20
_HEAP = 512 << 20


class SqliteEngine:
    """SQLite in memory. `steps` bounds one query, `max_rows` its result."""

    name = "sqlite"

    def __init__(self, schema: Schema, dialect: str | None, *, steps: int, max_rows: int) -> None:
        self._schema, self._dialect = schema, dialect
        self._max_rows, self._steps, self._left = max_rows, steps, 0
        self._larger = 1
        self._reading = False
        self._db = sqlite3.connect(
            ":memory:", isolation_level=None, cached_statements=64, check_same_thread=False
        )
        self._db.execute(f"PRAGMA hard_heap_limit={_HEAP}")
        self._db.execute("PRAGMA temp_store=2")
        if dialect not in ("sqlite", "mysql", None):
            self._db.execute("PRAGMA case_sensitive_like=ON")
        for limit, value in (
            (sqlite3.SQLITE_LIMIT_LENGTH, 50 * MAX_TEXT),
            (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
            (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
            (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200),
            (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 100),
        ):
            self._db.setlimit(limit, value)
        for name, (count, function) in SCALARS.items():
            self._db.create_function(name, count, function, deterministic=True)
        for name, (count, kind) in AGGREGATES.items():
            self._db.create_aggregate(name, count, kind)
        # Upper and lower case are one to MySQL.
        fold = " COLLATE NOCASE" if dialect == "mysql" else ""
        self._inserts: dict[str, str] = {}
        self._loaded: Database | None = None
        self._turned = False
        for table, columns in schema.tables.items():
            inner = ", ".join(f"`{c.name}` {_TYPES.get(c.kind, 'TEXT' + fold)}" for c in columns)
            self._db.execute(f"CREATE TABLE `{table}` ({inner})")
            self._inserts[table] = f"INSERT INTO `{table}` VALUES ({', '.join('?' * len(columns))})"
        # From here on queries may only read; loading lifts that for a moment.
        self._db.set_authorizer(self._authorize)
        self._db.set_progress_handler(self._progress, _STEP)

    def _authorize(self, action: int, one: str | None, two: str | None, *_: Any) -> int:
        if not self._reading or action in _ALLOWED:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and (two or "").lower() not in _BANNED:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _progress(self) -> int:
        self._left -= 1
        return int(self._reading and self._left < 0)

    def printed(self, tree: exp.Expr) -> str:
        return for_sqlite(tree, self._schema, self._dialect)

    def load(self, database: Database, *, turned: bool = False) -> None:
        if database is self._loaded and turned == self._turned:
            return  # The reference has run on it, and queries only read.
        self._loaded = None
        self._reading = False
        # A table of a thousand rows may take a nested loop over it; both queries get the same.
        self._larger = 1 + max(map(len, database.values()), default=0) // _LARGE
        self._db.execute(f"PRAGMA reverse_unordered_selects={int(turned)}")
        self._db.execute("BEGIN")
        for table, insert in self._inserts.items():
            self._db.execute(f"DELETE FROM `{table}`")
            rows = database.get(table, [])
            if turned:
                rows = random.Random(len(rows)).sample(rows, len(rows))
            self._db.executemany(insert, _stored(rows))
        self._db.execute("COMMIT")
        self._loaded, self._turned = database, turned

    def run(self, sql: str) -> tuple[Sequence[str], Rows]:
        self._reading, self._left = True, self._steps * self._larger // _STEP
        try:
            cursor = self._db.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return names, bounded(cursor.fetchmany, self._max_rows)
        except sqlite3.DatabaseError as error:
            if "interrupted" in str(error):
                raise QueryFailed("time_limit", "it takes too long") from error
            raise QueryFailed("query_error", str(error)[:200]) from error
        except (MemoryError, OverflowError) as error:
            raise QueryFailed("memory_limit", "it takes too much memory") from error
        except sqlite3.Warning as error:
            raise QueryFailed("query_error", str(error)[:200]) from error
        finally:
            self._reading = False

    def close(self) -> None:
        self._db.close()


_LARGEST = 2**63 - 1


def _stored(rows: Rows) -> Rows:
    """Rows with whole numbers that SQLite can hold."""
    if not any(type(cell) is int and abs(cell) > _LARGEST for row in rows for cell in row):
        return rows
    return [
        tuple(max(-_LARGEST, min(_LARGEST, c)) if type(c) is int else c for c in row)
        for row in rows
    ]


def bounded(fetch: Callable[[int], list[Any]], max_rows: int) -> Rows:
    """Return all rows of a result. Raises QueryFailed above `max_rows` rows or some megabytes."""
    rows: Rows = []
    size = 0
    while more := fetch(200):
        rows += more
        size += sum(len(cell) for row in more for cell in row if isinstance(cell, str | bytes))
        if len(rows) > max_rows or size > _MAX_BYTES:
            raise QueryFailed(
                "too_many_rows", f"more than {max_rows} rows or {_MAX_BYTES >> 20} MiB"
            )
    return rows
