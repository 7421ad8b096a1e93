"""Makes a counterexample small: drops rows as long as the queries still differ."""

from __future__ import annotations

from collections.abc import Callable

from verigym.verifiers.sql.cells import Database
from verigym.verifiers.sql.difference import Difference
from verigym.verifiers.sql.foreign_keys import without_orphans
from verigym.verifiers.sql.schema import Schema

_MAX_TRIES = 300


def shrink(
    start: Difference, schema: Schema, again: Callable[[Database], Difference | None]
) -> Difference:
    """Return a difference from which no single row can be dropped, or the best within some hundred tries."""
    best, tries, shorter = start, 0, True
    while shorter and tries < _MAX_TRIES:
        shorter = False
        for table in best.database:
            at = 0
            while at < len(best.database[table]) and tries < _MAX_TRIES:
                tries += 1
                rows = best.database[table]
                smaller = {**best.database, table: rows[:at] + rows[at + 1 :]}
                found = again(without_orphans(schema, smaller))
                if found is None:
                    at += 1
                else:
                    best, shorter = found, True
    return best
