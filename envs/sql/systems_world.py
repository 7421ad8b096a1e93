"""The tables of an old system spread over several systems that have copies of each other's, to be explored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from verigym.canonical import JSON
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.hidden import described
from verigym.envs.sql.notes import RULES
from verigym.envs.sql.old_world import OldWorld
from verigym.envs.sql.read_notes import NotesReader
from verigym.envs.sql.records_rows import asked
from verigym.envs.sql.report import Report
from verigym.envs.sql.systems import COLUMNS, DOCUMENTS, NULLABLE, SourceSystems

_WORD = re.compile(r"'[^']*'|\b[a-z_]+\b")


@dataclass(frozen=True)
class SystemsWorld:
    """The tables of `old` under the names of the systems that lead, with copies of them in others."""

    old: OldWorld
    level: int

    @staticmethod
    def read(raw: Any, rows: Mapping[str, Any]) -> SystemsWorld:
        """Convert plain data back to a world; `rows` are those of the tables that lead, under their names there."""
        old = OldWorld.read(raw, {})
        world = SystemsWorld(old, raw["level"])
        own = {topic: rows[table] for topic, table in world.systems.leads.items() if table in rows}
        return SystemsWorld(replace(old, own_rows=own), raw["level"])

    def plain(self) -> dict[str, JSON]:
        """Return the plain data that a reference holds, without the rows."""
        records = self.old.records
        return {
            "domain": self.domain,
            "picks": dict(records.picks),
            "others": list(records.others),
            "seed": self.old.seed,
            "level": self.level,
        }

    @property
    def domain(self) -> int:
        """The number of the domain that the question is about."""
        return DOMAINS.index(self.old.records.domain)

    @cached_property
    def systems(self) -> SourceSystems:
        """The systems, and the documents on them."""
        return SourceSystems(tuple(self.old.records.tables()), self.level, self.old.seed)

    def query(self, text: str) -> str:
        """Return a query on the topics with the names of the tables that lead; texts in quotes stay."""
        leads = self.systems.leads
        return _WORD.sub(lambda match: leads.get(match[0], match[0]), text)

    def own_rows(self) -> dict[str, Any]:
        """Return the rows of the tables that lead."""
        return {self.systems.leads[topic]: rows for topic, rows in self.old.own_rows.items()}

    def schema(self) -> dict[str, object]:
        """Return the schema of all tables as `sql/query` reads it. Keys between copies are not known."""
        plain: dict[str, Any] = self.old.schema()
        leads, copies = self.systems.leads, self.systems.copies()
        topics = {**{table: topic for topic, table in leads.items()}, **copies}
        tables = {table: plain["tables"][topic] for table, topic in sorted(topics.items())}
        tables |= {t: c for t, c in plain["tables"].items() if t not in leads}
        tables[DOCUMENTS] = [[*pair] for pair in COLUMNS]

        def led(place: str) -> str:
            table, _, column = place.partition(".")
            return f"{leads.get(table, table)}.{column}"

        def everywhere(place: str) -> list[str]:
            topic, _, column = place.partition(".")
            return [f"{table}.{column}" for table, its in copies.items() if its == topic]

        primary = [[led(one) for one in key] for key in plain["primary"]]
        for key in plain["primary"]:
            primary += [
                list(one) for one in zip(*(everywhere(place) for place in key), strict=True)
            ]
        notnull = [led(place) for place in plain["notnull"]]
        notnull += [one for place in plain["notnull"] for one in everywhere(place)]
        notnull += [f"{DOCUMENTS}.{name}" for name, _ in COLUMNS if name not in NULLABLE]
        return {
            "tables": tables,
            "primary": [*primary, [f"{DOCUMENTS}.id"]],
            "foreign": [[led(one) for one in pair] for pair in plain["foreign"]],
            "notnull": notnull,
        }

    def rows(self) -> dict[str, Any]:
        """Return the rows of all tables."""
        found = {t: rows for t, rows in self.old.rows().items() if t not in self.systems.leads}
        found |= self.own_rows()
        n_keys = {topic: 2 if topic == "codes" else 1 for topic in self.systems.leads}
        for table, topic in self.systems.copies().items():
            found[table] = self.systems.copied(table, self.old.own_rows[topic], n_keys[topic])
        found[DOCUMENTS] = self.systems.documents()
        return found

    def needed(self) -> list[str]:
        """Return the tables whose descriptions have to be read, those of the documents first."""
        return [DOCUMENTS, *self.systems.leads.values()]

    def tables_text(self) -> str:
        """Return the list of tables with their numbers of rows."""
        rows = self.rows()
        return "Tables:\n" + "\n".join(f"{name} ({len(rows[name])} rows)" for name in sorted(rows))

    def describe_text(self, table: str) -> str | None:
        """Return the columns of a table with the notes on it; None if there is no table of that name. References between
        systems are not declared, those within other domains are."""
        schema: Any = self.schema()
        led = set(self.systems.leads.values())
        shown = [pair for pair in schema["foreign"] if pair[0].partition(".")[0] not in led]
        said = described({**schema, "foreign": shown}, table, {})
        notes = self._notes_on(table)
        return said if said is None or not notes else "\n".join((said, "Notes:", *notes))

    def _notes_on(self, table: str) -> list[str]:
        if table == DOCUMENTS:
            return self.systems.notes()
        topics = {name: topic for topic, name in self.systems.leads.items()}
        if table in topics:
            return self.old.notes_on(topics[table])
        topic = self.systems.copies().get(table)
        if topic is None:
            return []
        sizes = {name: len(RULES[name]) for name in self.old.records.picks}
        records = replace(self.old.records, picks=self.systems.picks(table, sizes))
        return replace(self.old, records=records).notes_on(topic)

    def write(self, reader: NotesReader, question: str) -> str:
        """Return the query for a question as `reader` writes it, from the documents and the descriptions of the tables."""
        for row in self.systems.documents():
            for _ in row:
                reader.operations += 1
        shown = "\n".join(self.describe_text(table) or "" for table in self.systems.leads.values())
        domain = self.old.records.domain
        records, report = reader.read_notes(shown, domain), reader.read(question, domain)
        assert isinstance(report, Report)
        plain: Any = self.old.records.schema()
        names = [n for t, columns in plain["tables"].items() for n in (t, *(c[0] for c in columns))]
        written = dict(zip(names, names, strict=True)) | self.systems.leads
        return reader.write(asked(records, report), names, written)
