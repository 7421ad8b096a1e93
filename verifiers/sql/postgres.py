"""PostgreSQL at a URL, as a plain role: temporary tables, then a read-only transaction.

Each query runs in its own transaction that is rolled back. Covers: writing, files and programs (the
role must not be a superuser and is refused if it is), time (statement_timeout), rows. Does not
cover: what the role may read elsewhere in that server, so give it a database of its own.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from sqlglot import exp

from verigym.errors import SandboxError
from verigym.verifiers.sql.cells import Database
from verigym.verifiers.sql.duck import create, insert
from verigym.verifiers.sql.engine import QueryFailed, Rows
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.sqlite import bounded
from verigym.verifiers.sql.translate import for_engine


class PostgresEngine:
    """PostgreSQL at a URL. `timeout_s` bounds one query, `max_rows` its result."""

    name = "postgres"

    def __init__(self, url: str, schema: Schema, *, timeout_s: float, max_rows: int) -> None:
        import psycopg

        self._errors = psycopg.Error
        self._cancelled = psycopg.errors.QueryCanceled
        self._schema, self._timeout_s, self._max_rows = schema, timeout_s, max_rows
        try:
            self._db = psycopg.connect(url, connect_timeout=10, autocommit=True)
            row = self._db.execute(
                "SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
            if row is None or row[0]:
                self._db.close()
                raise SandboxError(
                    "the PostgreSQL role may do too much; give the URL of a plain role"
                )
            for table, columns in schema.tables.items():
                self._db.execute(create(table, columns, "TEMP TABLE").encode())
        except psycopg.Error as error:
            raise SandboxError(f"PostgreSQL cannot be used: {error}") from error

    def printed(self, tree: exp.Expr) -> str:
        return for_engine(tree, "postgres")

    def load(self, database: Database, *, turned: bool = False) -> None:
        try:
            with self._db.transaction():
                for table, columns in self._schema.tables.items():
                    self._db.execute(f'TRUNCATE pg_temp."{table}"'.encode())
                    rows = database.get(table, [])
                    if turned:
                        rows = random.Random(len(rows)).sample(rows, len(rows))
                    if rows:
                        self._db.execute(insert(table, columns, rows).encode())
        except self._errors as error:
            raise SandboxError(f"PostgreSQL did not take the rows: {error}") from error

    def run(self, sql: str) -> tuple[Sequence[str], Rows]:
        try:
            self._db.execute("BEGIN READ ONLY")
            self._db.execute(
                f"SET LOCAL statement_timeout = {int(self._timeout_s * 1000)}".encode()
            )
            cursor = self._db.execute(sql.encode())
            names = [column.name for column in cursor.description or ()]
            return names, bounded(cursor.fetchmany, self._max_rows)
        except self._cancelled as error:
            raise QueryFailed("time_limit", "it takes too long") from error
        except self._errors as error:
            if self._db.broken:
                raise SandboxError(f"PostgreSQL went away: {error}") from error
            raise QueryFailed("query_error", str(error).partition("\n")[0][:200]) from error
        finally:
            if not self._db.broken:
                self._db.execute("ROLLBACK")

    def close(self) -> None:
        self._db.close()
