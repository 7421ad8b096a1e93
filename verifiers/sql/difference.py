"""A counterexample: a database on which the submitted query and the reference differ."""

from __future__ import annotations

import json
from dataclasses import dataclass

from verigym.verifiers.sql.cells import Database
from verigym.verifiers.sql.engine import Rows


@dataclass(frozen=True)
class Difference:
    """A database on which the queries differ."""

    code: str
    database: Database
    wanted: Rows
    got: Rows

    def told(self) -> str:
        """Return the database and both results as text for people; it gives the reference away."""
        shown = {table: rows for table, rows in self.database.items() if rows}
        return json.dumps(
            {"database": shown, "wanted": self.wanted[:20], "got": self.got[:20]}, default=str
        )[:4000]
