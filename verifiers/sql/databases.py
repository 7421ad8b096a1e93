"""Families of small databases: random, seeded, and full of the edges that hints name.

Each database draws a few active values for every class of columns and repeats them, so that joins
match, groups form and ties occur. Keys are unique, foreign keys have parents, columns that may not
be null are not. The first databases are the smallest: empty, then one row a table.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from verigym.verifiers.sql.cells import Database
from verigym.verifiers.sql.database_maker import DatabaseMaker
from verigym.verifiers.sql.database_plan import draw_plan, few_of
from verigym.verifiers.sql.hints import Hints
from verigym.verifiers.sql.schema import Schema


def family(
    schema: Schema, hints: Hints, count: int, seed: int, name: str = ""
) -> Iterator[Database]:
    """Yield `count` databases from `seed`, small ones first; more rows where sizes are asked for."""
    maker = DatabaseMaker(schema, hints)
    sizes = sorted(few_of(hints.sizes))
    for number in range(count):
        rng = random.Random(f"{seed}:{name}{number}")
        yield maker.make(draw_plan(rng, number, count, sizes), rng)


class Extender:
    """Adds the tables and columns that a submission names to databases of a reference.

    What the reference reads stays as it is.
    """

    def __init__(self, known: Schema, schema: Schema, hints: Hints, seed: int) -> None:
        self._known, self._schema, self._seed = known, schema, seed
        self._maker = DatabaseMaker(schema, hints)

    def extend(self, database: Database, number: int) -> Database:
        """Return the database in the larger schema; the same for the same number."""
        rng = random.Random(f"{self._seed}:more{number}")
        plan = draw_plan(rng, rng.randint(20, 80), 90, [])
        return self._maker.extend(database, self._known, replace(plan, lone=False), rng)
