"""A million rows in DuckDB, made once in each process, and views on them for each task.

The rows hold whole numbers that arithmetic alone makes of the row's number, so they are the same on
any machine and with any version. A task's tables are views that move and fold these numbers by its
seed; so every task has data of its own, and none has to be loaded.

Covers: files, the network, extensions and settings (external access off, configuration locked),
memory, rows, and time (a timer that interrupts). Does not cover: a query close to the time limit
may end in time on one machine and not on another.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from verigym.canonical import JSON
from verigym.envs.sql.commands import MAX_ROWS
from verigym.envs.sql.domains import DOMAINS, Domain
from verigym.missing import raise_explained

if TYPE_CHECKING:
    import duckdb
    from sqlglot import exp

    from verigym.verifiers.sql.engine import Rows

ROWS = 1_000_000
BASE = "base"
"""The table of all numbers, which no query may name."""
QUERY_S = 10.0
FIRST_DAY = "2019-01-01"
DAYS = 2192
"""Six years."""
SPAN = f"from {FIRST_DAY} to 2024-12-31"
PRIME = 1_073_741_789
"""Below 2^30, so that no product leaves 64 bits."""
SALTS = (1001, 2003, 3005)

_connections: dict[int, Any] = {}
_making = threading.Lock()


@dataclass(frozen=True)
class Extent:
    """The parameters of a task's tables: the domain, the number of events, and a seed."""

    domain: int
    events: int
    seed: int

    def plain(self) -> JSON:
        """Return the plain data that a reference holds."""
        return {"domain": self.domain, "events": self.events, "seed": self.seed}

    @property
    def names(self) -> Domain:
        """The names of tables and columns."""
        return DOMAINS[self.domain]

    @property
    def things(self) -> int:
        """Number of rows of the table of things."""
        return self.events // 50

    @property
    def owners(self) -> int:
        """Number of rows of the table of owners."""
        return self.events // 5000

    def schema(self) -> dict[str, Any]:
        """Return the schema as `sql/query` reads it; no column is ever null."""
        schema: dict[str, Any] = self.names.schema()
        schema["notnull"] = [
            f"{t}.{name}" for t, cs in self.names.tables().items() for name, _ in cs
        ]
        return schema

    def views(self) -> str:
        """Return the statements that make the tables of a task, as views of a connection's own."""
        made = self.queries().items()
        return "; ".join(f'CREATE TEMP VIEW "{table}" AS {query}' for table, query in made)

    def queries(self) -> dict[str, str]:
        """Return the query that gives the rows of each table."""
        d = self.names
        moves = np.random.Generator(np.random.PCG64(self.seed)).integers(0, PRIME, 6).tolist()

        def folded(salt: int, move: int, span: int) -> str:
            return f"((r{salt} + {moves[move]}) % {span})::INTEGER"

        def named(salt: int, move: int, names: Sequence[str]) -> str:
            cases = " ".join(f"WHEN {i} THEN '{name}'" for i, name in enumerate(names))
            return f"CASE {folded(salt, move, len(names))} {cases} END"

        columns = {
            d.owner: (self.owners, [f"'{d.owner} ' || i AS name", f"{named(1, 0, d.regions)} AS {d.region}"]),
            d.thing: (
                self.things,
                [
                    f"1 + {folded(1, 1, self.owners)} AS {d.owner}_id",
                    f"{named(2, 2, d.kinds)} AS {d.kind}",
                    f"{d.prices[0]} + {folded(3, 3, d.prices[1] - d.prices[0])} AS {d.price}",
                ],
            ),
            d.event: (
                self.events,
                [
                    f"1 + {folded(1, 4, self.things)} AS {d.thing}_id",
                    f"{d.amounts[0]} + {folded(2, 5, d.amounts[1] - d.amounts[0])} AS {d.amount}",
                    f"DATE '{FIRST_DAY}' + {folded(3, 0, DAYS)} AS {d.day}",
                ],
            ),
        }  # fmt: skip
        return {
            table: f"SELECT i AS id, {', '.join(made)} FROM {BASE} WHERE i <= {size}"
            for table, (size, made) in columns.items()
        }


class Viewed(Protocol):
    """Tables of a task that are views."""

    def views(self) -> str:
        """Return the statements that make them."""


class Big:
    """The tables of one task, to be queried; takes what `run_query` asks of an engine."""

    def __init__(self, tables: Viewed) -> None:
        self._db = _connection().cursor()
        self._db.execute(tables.views())

    def printed(self, tree: exp.Expr) -> str:
        """Return the query in DuckDB's words. Raises Untranslatable."""
        from verigym.verifiers.sql.duck import printed

        return printed(tree)

    def run(self, sql: str) -> tuple[Sequence[str], Rows]:
        """Return the names and rows of a result. Raises QueryFailed, after `QUERY_S` seconds at the latest."""
        import duckdb

        from verigym.verifiers.sql.engine import QueryFailed
        from verigym.verifiers.sql.sqlite import bounded

        late = threading.Timer(QUERY_S, self._db.interrupt)
        late.daemon = True
        late.start()
        try:
            cursor = self._db.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return names, bounded(cursor.fetchmany, MAX_ROWS)
        except duckdb.InterruptException as error:
            raise QueryFailed("time_limit", "it takes too long") from error
        except duckdb.Error as error:
            raise QueryFailed("query_error", str(error).partition("\n")[0][:200]) from error
        finally:
            late.cancel()

    def check(self, sql: str) -> None:
        """Raise QueryFailed if a query cannot be started: planned, it has read no row."""
        import duckdb

        from verigym.verifiers.sql.engine import QueryFailed

        try:
            self._db.execute(f"EXPLAIN {sql}")
        except duckdb.Error as error:
            raise QueryFailed("query_error", str(error).partition("\n")[0][:200]) from error

    def close(self) -> None:
        """Return the connection to the pool; the rows stay in the process."""
        self._db.close()


@lru_cache(maxsize=4096)
def rows_of(tables: Viewed, query: str) -> tuple[tuple[Any, ...], ...]:
    """Return the rows that a query of a task gives."""
    big = Big(tables)
    try:
        return tuple(big.run(query)[1])
    finally:
        big.close()


def _connection() -> duckdb.DuckDBPyConnection:
    """The database of this process. A fork makes its own: DuckDB does not survive one."""
    with _making:
        if os.getpid() not in _connections:
            _connections[os.getpid()] = _made()
        found: duckdb.DuckDBPyConnection = _connections[os.getpid()]
        return found


def _unlock() -> None:
    """Replace the lock in a forked process, where the thread that held it does not exist."""
    global _making
    _making = threading.Lock()


os.register_at_fork(after_in_child=_unlock)


def _made() -> duckdb.DuckDBPyConnection:
    try:
        import duckdb

        from verigym.verifiers.sql.duck import QUIET, SETTINGS
    except ModuleNotFoundError as error:
        raise_explained(error, "sql/scale")

    db = duckdb.connect(":memory:", config=SETTINGS)
    db.execute(QUIET)
    columns = []
    for number, salt in enumerate(SALTS, 1):
        step = f"(i * 48271 + {salt}) % {PRIME}"
        square = f"({step}) * ({step}) % {PRIME}"
        columns.append(f"((({square}) * 69621 + {salt}) % {PRIME})::INTEGER AS r{number}")
    db.execute(
        f"CREATE TABLE {BASE} AS SELECT i::INTEGER AS i, {', '.join(columns)} FROM range(1, {ROWS + 1}) t(i)"
    )
    db.execute("SET lock_configuration = true")
    return db
