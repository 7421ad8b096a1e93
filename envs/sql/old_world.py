"""The tables of an old system to be explored: names and notes are shown as they are looked at, beside other tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from verigym.canonical import JSON
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.hidden import HiddenWorld, described
from verigym.envs.sql.notes import FIXED, RULES
from verigym.envs.sql.read_notes import NotesReader
from verigym.envs.sql.records import Records
from verigym.envs.sql.records_rows import ToldApart, asked
from verigym.envs.sql.report import Report

NOTED = {
    "closed": "{d.owner_words}",
    "test": "{d.owner_words}",
    "merged": "{d.owner_words}",
    "deleted": "{d.thing_words}",
    "price": "{d.thing}_rates",
    "unit": "units",
    "change": "{d.event}_changes",
}
"""Tables whose description has the note on a rule; others stand with the events."""


@dataclass(frozen=True)
class OldWorld:
    """An old system's tables with their rows, and the tables of other domains with rows from a seed."""

    records: Records
    own_rows: Mapping[str, Any]
    seed: int

    @staticmethod
    def plain(drawn: ToldApart, seed: int) -> JSON:
        """Return the plain data that a reference holds."""
        records = drawn.records
        return {
            "domain": DOMAINS.index(records.domain),
            "picks": dict(records.picks),
            "others": list(records.others),
            "seed": seed,
        }

    @staticmethod
    def read(raw: Any, rows: Mapping[str, Any]) -> OldWorld:
        """Convert the data of `plain` back to a world."""
        records = Records(DOMAINS[raw["domain"]], raw["picks"], tuple(raw["others"]))
        return OldWorld(records, rows, raw["seed"])

    @cached_property
    def _others(self) -> HiddenWorld:
        return HiddenWorld(self.records.others, "plain", self.seed)

    def schema(self) -> dict[str, object]:
        """Return the schema of all tables as `sql/query` reads it."""
        own: dict[str, Any] = self.records.schema()
        other: dict[str, Any] = self._others.schema()
        return {
            "tables": {**own["tables"], **other["tables"]},
            **{key: [*own[key], *other[key]] for key in ("primary", "foreign", "notnull")},
        }

    def rows(self) -> dict[str, Any]:
        """Return the rows of all tables."""
        return {**self.own_rows, **self._others.rows()}

    def needed(self) -> list[str]:
        """Return the tables that a question is about."""
        return list(self.records.tables())

    def tables_text(self) -> str:
        """Return the list of tables with their numbers of rows."""
        rows = self.rows()
        return "Tables:\n" + "\n".join(f"{name} ({len(rows[name])} rows)" for name in sorted(rows))

    def describe_text(self, table: str) -> str | None:
        """Return the columns and keys of a table with the notes on it; None if there is no table of that name."""
        said = described(self.schema(), table, {})
        notes = self.notes_on(table)
        return said if said is None or not notes else "\n".join((said, "Notes:", *notes))

    def notes_on(self, table: str) -> list[str]:
        """Return the notes in the description of a table."""
        d = self.records.domain
        coded, cascading = self.records.notes().splitlines()[: len(FIXED)]
        found = [coded] if table == "codes" else [cascading] if table == d.thing_words else []
        for name, pick in self.records.picks.items():
            if table == NOTED.get(name, "{d.event_words}").format(d=d):
                found.append(f"- {RULES[name][pick].words.format(d=d)}")
        return found

    def write(self, reader: NotesReader, question: str) -> str:
        """Return the query for a question as `reader` writes it, from the descriptions of the tables."""
        shown = "\n".join(self.describe_text(table) or "" for table in self.needed())
        domain = self.records.domain
        records, report = reader.read_notes(shown, domain), reader.read(question, domain)
        assert isinstance(report, Report)
        schema: Any = self.schema()
        names = [name for table, columns in schema["tables"].items() for name in (table, *(pair[0] for pair in columns))]  # fmt: skip
        return reader.write(asked(records, report), names, dict(zip(names, names, strict=True)))
