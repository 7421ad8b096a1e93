"""Jobs in a PostgreSQL database, which processes on any number of machines may share.

Times are the database's. Durability is the server's `synchronous_commit`, on by default.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from verigym.errors import ConfigError
from verigym.server.jobs.sql import TABLES, Store
from verigym.server.jobs.store import StoreError

try:
    import psycopg
except ImportError as missing:  # pragma: no cover
    raise ConfigError(
        "a store at postgresql:// needs psycopg: pip install 'verigym[postgres]'"
    ) from missing

_LOCK = 0x7665_7269_6779_6D31
"""Advisory lock for accepting jobs and making the tables; any number that nothing else uses."""

_CLOCK_S = 10.0
"""Seconds between queries of the database's clock."""

_LIMITS = "-c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=60s"


class PostgresStore(Store):
    """`url` as libpq takes it; passwords may come from PGPASSWORD or ~/.pgpass instead."""

    skip_locked = "FOR UPDATE SKIP LOCKED"

    def __init__(self, url: str) -> None:
        with _failing():
            self._db = psycopg.connect(
                url,
                autocommit=True,
                connect_timeout=10,
                options=_LIMITS,
                tcp_user_timeout=20_000,
                application_name="verigym",
            )
        try:
            self._ask_time()
            tables = TABLES.format(
                blob="BYTEA",
                real="DOUBLE PRECISION",
                seq="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            )
            with self.transaction(accept=True):
                for statement in tables.split(";"):
                    if statement.strip():
                        self._do(statement)
                self._check_version()
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def transaction(self, *, accept: bool = False) -> Iterator[None]:
        with _failing(), self._db.transaction():
            if accept:
                self._db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            yield

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._do(sql, values).fetchall()

    def each(self, sql: str, rows: Iterable[Sequence[Any]]) -> list[int]:
        rows = list(rows)
        if not rows:
            return []
        with _failing(), self._db.pipeline():
            cursors = [self._do(sql, row) for row in rows]
        return [cursor.rowcount for cursor in cursors]

    def lock_jobs(self, ids: Sequence[str]) -> None:
        self.run(
            "SELECT id FROM verigym_jobs WHERE id = ANY(?) ORDER BY id FOR UPDATE", (list(ids),)
        )

    def close(self) -> None:
        with contextlib.suppress(psycopg.Error):
            self._db.close()

    def now(self) -> float:
        if time.monotonic() - self._asked > _CLOCK_S:
            self._ask_time()
        return time.monotonic() + self._offset_s

    def _ask_time(self) -> None:
        ((now,),) = self.run("SELECT extract(epoch FROM clock_timestamp())::double precision")
        self._asked = time.monotonic()
        self._offset_s: float = now - self._asked

    def _do(self, sql: str, values: Sequence[Any] = ()) -> psycopg.Cursor[tuple[Any, ...]]:
        with _failing():
            # The SQL is this package's own; psycopg's type wants it literal.
            return self._db.execute(sql.replace("?", "%s").encode(), values or None)


@contextlib.contextmanager
def _failing() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        # psycopg's messages name host, user and database, never the password.
        raise StoreError(f"the job store at postgresql:// cannot be used: {error}") from error
