"""Jobs in an SQLite file, which the processes of one machine may share.

The file is in WAL mode. Acceptance of a job is written with `synchronous = FULL`: it is on the disk
before the caller gets the answer, and survives a power failure and kill -9. All else is written with
NORMAL, which survives kill -9; a power failure may undo the last verdicts, which are then judged again.
Not for network file systems: WAL needs shared memory.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from verigym.server.jobs.sql import TABLES, Store
from verigym.server.jobs.store import StoreError

_BUSY_S = 10.0
"""Maximum seconds to wait for other processes that use the file."""


class SqliteStore(Store):
    """Creates the file and its folders if missing; readable by the owner only, as it holds references."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._failing():
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
        try:
            with self._failing():
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = NORMAL")
            tables = TABLES.format(blob="BLOB", real="REAL", seq="INTEGER PRIMARY KEY")
            with self.transaction():
                for statement in tables.split(";"):
                    self.run(statement)
                self._check_version()
        except BaseException:
            self._db.close()
            raise

    @contextlib.contextmanager
    def transaction(self, *, accept: bool = False) -> Iterator[None]:
        with self._failing():
            if accept:
                self._db.execute("PRAGMA synchronous = FULL")
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield
                    self._db.execute("COMMIT")
                finally:
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
            finally:
                if accept:
                    self._db.execute("PRAGMA synchronous = NORMAL")

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._failing():
            return self._db.execute(sql, values).fetchall()

    def each(self, sql: str, rows: Iterable[Sequence[Any]]) -> list[int]:
        with self._failing():
            return [self._db.execute(sql, row).rowcount for row in rows]

    def lock_jobs(self, ids: Sequence[str]) -> None:
        """Do nothing: one process writes at a time."""

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._db.close()

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"the job store {self._path} cannot be used: {error}") from error
