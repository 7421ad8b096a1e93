"""The tables of a domain as an old system keeps them, with the notes that say how they are to be read.

What a question calls a seller, a product or a sale is what the rules leave of the rows: coded, deleted, priced for a
while, corrected, entered twice. Each rule has options, so the notes have to be read. All of them are defined for any
rows, so that a query is right or wrong on every database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from verigym.envs.sql.domains import DOMAINS, Domain
from verigym.envs.sql.kinds import Choice, Option

AS_OF = "2023-07-01"
"""The day on which prices have to be valid."""

RULES: dict[str, Choice] = {
    "closed": (
        Option(
            "A row of {d.owner_words} with a closed_on does not count, whatever the day.",
            "s.closed_on IS NULL",
        ),
        Option(
            "A row of {d.owner_words} does not count if its closed_on is before 2023-01-01; a later closed_on is only "
            "planned.",
            "(s.closed_on IS NULL OR s.closed_on >= '2023-01-01')",
        ),
    ),
    "test": (
        Option("Rows of {d.owner_words} with is_test = 1 do not count.", "s.is_test <> 1"),
        Option(
            "Only rows of {d.owner_words} with is_test = 0 count; 1 is a test and 2 a training case.",
            "s.is_test = 0",
        ),
    ),
    "deleted": (
        Option("A row of {d.thing_words} does not count if deleted is 1.", "p.deleted <> 1"),
        Option(
            "A row of {d.thing_words} does not count if deleted is 1 or above.", "p.deleted < 1"
        ),
    ),
    "price": (
        Option(
            "The {d.price} of a {d.thing} is that of its row in {d.thing}_rates which is valid on "
            + AS_OF
            + ": from valid_from on and until the day before valid_to (without end if that is null). If several are, the "
            "one with the highest id counts; if none is, the {d.thing} does not count. {d.thing_words}.{d.price} is what "
            "was planned once, and counts for nothing.",
            f"w.valid_from <= '{AS_OF}' AND (w.valid_to IS NULL OR w.valid_to > '{AS_OF}')",
        ),
        Option(
            "The {d.price} of a {d.thing} is that of its row in {d.thing}_rates which is valid on "
            + AS_OF
            + ": from valid_from on up to and including valid_to (without end if that is null). If several are, the one "
            "with the highest id counts; if none is, the {d.thing} does not count. {d.thing_words}.{d.price} is what was "
            "planned once, and counts for nothing.",
            f"w.valid_from <= '{AS_OF}' AND (w.valid_to IS NULL OR w.valid_to >= '{AS_OF}')",
        ),
    ),
    "state": (
        Option("Only {d.event_words} with the state 'F' (final) count.", "e.state = 'F'"),
        Option(
            "All {d.event_words} count but those with the state 'X' (cancelled).", "e.state <> 'X'"
        ),
    ),
    "day": (
        Option(
            "The {d.day} of a {d.event} is its corrected_on, or, if that is null, what stands in {d.day}.",
            "COALESCE(e.corrected_on, e.{d.day})",
        ),
        Option(
            "The {d.day} of a {d.event} is what stands in {d.day}; corrected_on is the day on which somebody looked at it.",
            "e.{d.day}",
        ),
    ),
    "unit": (
        Option(
            "The {d.amount} of a {d.event} is what stands there times the factor of its unit in the table units; if its "
            "unit is not in that table, it does not count.",
            "u.factor",
        ),
        Option(
            "The {d.amount} of a {d.event} is what stands there times the factor of its unit in the table units, or ten "
            "times that if the row is bulk (is_bulk = 1); if its unit is not in that table, it does not count.",
            "u.factor * CASE WHEN e.is_bulk = 1 THEN 10 ELSE 1 END",
        ),
    ),
    "change": (
        Option(
            "If a {d.event} has rows in {d.event}_changes, the {d.amount} of the one with the latest made_on stands in "
            "place of its own (of several on that day, the one with the highest id); its unit stays.",
            "ORDER BY h.made_on DESC, h.id DESC",
        ),
        Option(
            "If a {d.event} has rows in {d.event}_changes, the {d.amount} of the one with the latest made_on stands in "
            "place of its own (of several on that day, the one with the lowest id); its unit stays.",
            "ORDER BY h.made_on DESC, h.id",
        ),
        Option(
            "If a {d.event} has rows in {d.event}_changes, the {d.amount} of the one with the highest id stands in place of "
            "its own, whatever its made_on; its unit stays.",
            "ORDER BY h.id DESC",
        ),
    ),
    "twice": (
        Option(
            "Rows of {d.event_words} with the same source_key are one {d.event}, entered several times: the row with the "
            "lowest id counts, if the other rules let it, and the others do not in any case.",
            "MIN",
        ),
        Option(
            "Rows of {d.event_words} with the same source_key are one {d.event}, entered several times: the row with the "
            "highest id counts, if the other rules let it, and the others do not in any case.",
            "MAX",
        ),
    ),
}
"""Rules on the tables: what the notes say, and its text in a query."""
FIXED = (
    "{d.region}_code and {d.kind}_code are codes; the table codes has the {d.region} and the {d.kind} that they stand for, "
    "as label, in the rows whose list is '{d.region}' or '{d.kind}'. A code that is not in its list is an unknown "
    "{d.region}; a {d.thing} whose {d.kind} is unknown does not count.",
    "{D.thing_words} of {d.owner_words} that do not count do not count either, and neither do the {d.event_words} of "
    "{d.thing_words} that do not count.",
)
"""Notes that hold for all."""
BY_LEVEL = {
    8: ("closed", "test", "deleted"),
    9: ("closed", "test", "deleted", "price", "state", "day"),
    10: tuple(RULES),
}
"""Rules by level."""
DECOYS = {8: 1, 9: 2, 10: 4}
"""Other domains whose tables are in the schema, by level."""


@dataclass(frozen=True)
class Records:
    """The physical tables of a domain, with the option of each rule that holds; `others` are other domains beside it."""

    domain: Domain
    picks: Mapping[str, int]
    others: tuple[int, ...]

    def tables(self) -> dict[str, list[tuple[str, str]]]:
        """Return the columns with their types, by table; without those of other domains."""
        d, rules = self.domain, self.picks
        found = {
            d.owner_words: [
                *(("id", "INT"), ("name", "VARCHAR"), (f"{d.region}_code", "VARCHAR")),
                *(("closed_on", "DATE"), ("is_test", "INT")),
            ],
            d.thing_words: [
                *(("id", "INT"), (f"{d.owner}_id", "INT"), (f"{d.kind}_code", "VARCHAR")),
                *((d.price, "INT"), ("deleted", "INT")),
            ],
            d.event_words: [
                *(("id", "INT"), (f"{d.thing}_id", "INT"), (d.amount, "INT"), (d.day, "DATE")),
                *((("state", "VARCHAR"), ("corrected_on", "DATE")) if "state" in rules else ()),
                *((("unit", "VARCHAR"), ("is_bulk", "INT")) if "unit" in rules else ()),
                *((("source_key", "INT"),) if "twice" in rules else ()),
            ],
            "codes": [("list", "VARCHAR"), ("code", "VARCHAR"), ("label", "VARCHAR")],
        }
        if "price" in rules:
            found[f"{d.thing}_rates"] = [
                *(("id", "INT"), (f"{d.thing}_id", "INT"), (d.price, "INT")),
                *(("valid_from", "DATE"), ("valid_to", "DATE")),
            ]
        if "unit" in rules:
            found["units"] = [("unit", "VARCHAR"), ("factor", "INT")]
        if "change" in rules:
            found[f"{d.event}_changes"] = [
                *(("id", "INT"), (f"{d.event}_id", "INT"), (d.amount, "INT"), ("made_on", "DATE")),
            ]
        return found

    def schema(self) -> dict[str, object]:
        """Return the schema as `sql/query` reads it."""
        d, tables = self.domain, self.tables()
        primary = {name: ["id"] for name in tables} | {"codes": ["list", "code"], "units": ["unit"]}
        nullable = {f"{d.region}_code", "closed_on", "corrected_on", "valid_to"}
        foreign = [
            [f"{d.thing_words}.{d.owner}_id", f"{d.owner_words}.id"],
            [f"{d.event_words}.{d.thing}_id", f"{d.thing_words}.id"],
            [f"{d.thing}_rates.{d.thing}_id", f"{d.thing_words}.id"],
            [f"{d.event}_changes.{d.event}_id", f"{d.event_words}.id"],
        ]
        return {
            "tables": {name: [list(pair) for pair in columns] for name, columns in tables.items()},
            "primary": [[f"{name}.{one}" for one in primary[name]] for name in tables],
            "foreign": [pair for pair in foreign if pair[0].partition(".")[0] in tables],
            "notnull": [
                f"{name}.{column}"
                for name, columns in tables.items()
                for column, _ in columns
                if column not in nullable
            ],
        }

    def ddl(self) -> str:
        """Return the CREATE TABLE statements, those of other domains last."""
        schema = self.schema()
        lines = []
        for name, columns in self.tables().items():
            primary = next(key for key in schema["primary"] if key[0].startswith(f"{name}."))  # type: ignore[attr-defined]
            parts = [
                f"{column} {kind}{' NOT NULL' if f'{name}.{column}' in schema['notnull'] else ''}"  # type: ignore[operator]
                for column, kind in columns
            ]
            parts.append(f"PRIMARY KEY ({', '.join(one.partition('.')[2] for one in primary)})")
            parts += [
                f"FOREIGN KEY ({here.partition('.')[2]}) REFERENCES {there.replace('.', '(')})"
                for here, there in schema["foreign"]  # type: ignore[attr-defined]
                if here.startswith(f"{name}.")
            ]
            lines.append(f"CREATE TABLE {name} ({', '.join(parts)});")
        return "\n".join((*lines, *(DOMAINS[one].ddl() for one in self.others)))

    def notes(self) -> str:
        """Return the rules in words, a line each."""
        d = self.domain
        rules = [RULES[name][pick].words.format(d=d) for name, pick in self.picks.items()]
        fixed = [one.replace("{D.thing_words}", d.thing_words.capitalize()).format(d=d) for one in FIXED]  # fmt: skip
        return "\n".join(f"- {rule}" for rule in (*fixed, *rules))

    def views(self) -> str:
        """Return the rows that count, as common table expressions under the names of the domain."""
        return ",\n".join((self._owners(), self._things(), self._events()))

    def _rule(self, name: str) -> str:
        return RULES[name][self.picks[name]].sql.format(d=self.domain)

    def _owners(self) -> str:
        d = self.domain
        return (
            f"{d.owner} AS (SELECT s.id AS id, s.name AS name, c.label AS {d.region} FROM {d.owner_words} s "
            f"LEFT JOIN codes c ON c.list = '{d.region}' AND c.code = s.{d.region}_code "
            f"WHERE {self._rule('closed')} AND {self._rule('test')})"
        )

    def _things(self) -> str:
        d = self.domain
        price, rates = f"p.{d.price}", ""
        if "price" in self.picks:
            price = f"v.{d.price}"
            rates = (
                f"JOIN {d.thing}_rates v ON v.id = (SELECT MAX(w.id) FROM {d.thing}_rates w "
                f"WHERE w.{d.thing}_id = p.id AND {self._rule('price')}) "
            )
        return (
            f"{d.thing} AS (SELECT p.id AS id, p.{d.owner}_id AS {d.owner}_id, c.label AS {d.kind}, "
            f"{price} AS {d.price} FROM {d.thing_words} p JOIN {d.owner} q ON q.id = p.{d.owner}_id "
            f"JOIN codes c ON c.list = '{d.kind}' AND c.code = p.{d.kind}_code {rates}WHERE {self._rule('deleted')})"
        )

    def _events(self) -> str:
        d = self.domain
        amount, day, joins, kept = f"e.{d.amount}", f"e.{d.day}", "", []
        if "state" in self.picks:
            day = self._rule("day")
            kept.append(self._rule("state"))
        if "change" in self.picks:
            amount = (
                f"COALESCE((SELECT h.{d.amount} FROM {d.event}_changes h WHERE h.{d.event}_id = e.id "
                f"{self._rule('change')} LIMIT 1), {amount})"
            )
        if "unit" in self.picks:
            amount = f"{amount} * {self._rule('unit')}"
            joins = " JOIN units u ON u.unit = e.unit"
        if "twice" in self.picks:
            kept.append(
                f"e.id = (SELECT {self._rule('twice')}(g.id) FROM {d.event_words} g WHERE g.source_key = e.source_key)"
            )
        where = f" WHERE {' AND '.join(kept)}" if kept else ""
        return (
            f"{d.event} AS (SELECT e.id AS id, e.{d.thing}_id AS {d.thing}_id, {amount} AS {d.amount}, {day} AS {d.day} "
            f"FROM {d.event_words} e JOIN {d.thing} t ON t.id = e.{d.thing}_id{joins}{where})"
        )

    def twins(self) -> Iterator[Records]:
        """Yield the records that differ by the option of one rule."""
        for name, pick in self.picks.items():
            for other in range(len(RULES[name])):
                if other != pick:
                    yield replace(self, picks={**self.picks, name: other})


def draw_records(rng: np.random.Generator, domain: Domain, level: int) -> Records:
    """Draw an option of each rule of a level, and the domains beside."""
    picks = {name: int(rng.integers(len(RULES[name]))) for name in BY_LEVEL[level]}
    own = DOMAINS.index(domain)
    others = [one for one in rng.permutation(len(DOMAINS)).tolist() if one != own]
    return Records(domain, picks, tuple(others[: DECOYS[level]]))
