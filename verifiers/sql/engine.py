"""The protocol of engines that run a query: SQLite or DuckDB in memory, or PostgreSQL at a URL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sqlglot import exp

from verigym.verifiers.sql.cells import Database

Rows = list[tuple[Any, ...]]


class QueryFailed(Exception):
    """A query that an engine refused or stopped; `code` is the verdict's reason."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


class SqlEngine(Protocol):
    """Holds the tables of one schema; loads one database after another."""

    name: str

    def printed(self, tree: exp.Expr) -> str:
        """Return the query in the engine's words. Raises Untranslatable."""

    def load(self, database: Database, *, turned: bool = False) -> None:
        """Replace all rows; `turned` stores them in another order, to show what hangs on it."""

    def run(self, sql: str) -> tuple[Sequence[str], Rows]:
        """Return the names and rows of a result. Raises QueryFailed."""

    def close(self) -> None:
        """Release the engine's resources."""
