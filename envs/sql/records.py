"""The tables of a domain as an old system keeps them, with the notes that say how they are to be read.

What a question calls a seller, a product or a sale is what the rules leave of the rows: coded, deleted, priced for a
while, corrected, reversed, entered twice. Each rule has options, so the notes have to be read; see `notes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from verigym.envs.sql.domains import DOMAINS, Domain
from verigym.envs.sql.notes import FIXED, RULES

BY_LEVEL = {
    8: ("closed", "test", "deleted"),
    9: ("closed", "test", "deleted", "price", "state", "day", "merged"),
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
                *((("merged_into", "INT"),) if "merged" in rules else ()),
            ],
            d.thing_words: [
                *(("id", "INT"), (f"{d.owner}_id", "INT"), (f"{d.kind}_code", "VARCHAR")),
                *((d.price, "INT"), ("deleted", "INT")),
            ],
            d.event_words: [
                *(("id", "INT"), (f"{d.thing}_id", "INT"), (d.amount, "INT"), (d.day, "DATE")),
                *((("state", "VARCHAR"), ("corrected_on", "DATE")) if "state" in rules else ()),
                *((("unit", "VARCHAR"), ("is_bulk", "INT")) if "unit" in rules else ()),
                *((("reverses_id", "INT"),) if "reversed" in rules else ()),
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
        nullable = {
            *(f"{d.region}_code", "closed_on", "corrected_on", "valid_to"),
            *("merged_into", "reverses_id"),
        }
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
        """Return the rows that count, as a WITH clause under the names of the domain."""
        parts = self.parts()
        head = "WITH RECURSIVE" if "merged" in self.picks else "WITH"
        return f"{head} " + ",\n".join(f"{name} AS ({query})" for name, query in parts.items())

    def parts(self) -> dict[str, str]:
        """Return the queries of the WITH clause by name, each of which may use those before."""
        d = self.domain
        found = {d.owner: self._owners()}
        if "merged" in self.picks:
            found["home"] = self._homes()
        found[d.thing] = self._things()
        if "reversed" in self.picks and " standing " in self._rule("reversed"):
            found |= self._reversals()
        found[d.event] = self._events()
        return found

    def _rule(self, name: str, kept: str = "") -> str:
        return RULES[name][self.picks[name]].sql.format(d=self.domain, kept=kept)

    def _homes(self) -> str:
        """The owner that counts for every row of owners, its own or the one that it was merged into."""
        d = self.domain
        kept = self._rule("merged", f"{self._rule('closed')} AND {self._rule('test')}")
        return (
            f"SELECT o.id AS id, o.id AS {d.owner}_id FROM {d.owner} o UNION ALL "
            f"SELECT s.id, h.{d.owner}_id FROM {d.owner_words} s JOIN home h ON h.id = s.merged_into{kept}"
        )

    def _reversals(self) -> dict[str, str]:
        """The reversal of each row that has one, and which rows stand at the end: from the last of each chain back."""
        d = self.domain
        return {
            "undone": f"SELECT MIN(x.id) AS id, x.reverses_id AS target FROM {d.event_words} x "
            "WHERE x.reverses_id < x.id GROUP BY x.reverses_id",
            "standing": f"SELECT e.id AS id, 1 AS stands FROM {d.event_words} e WHERE NOT EXISTS "
            "(SELECT 1 FROM undone n WHERE n.target = e.id) UNION ALL "
            "SELECT n.target, 1 - y.stands FROM standing y JOIN undone n ON n.id = y.id",
        }

    def _owners(self) -> str:
        d = self.domain
        return (
            f"SELECT s.id AS id, s.name AS name, c.label AS {d.region} FROM {d.owner_words} s "
            f"LEFT JOIN codes c ON c.list = '{d.region}' AND c.code = s.{d.region}_code "
            f"WHERE {self._rule('closed')} AND {self._rule('test')}"
            f"{' AND s.merged_into IS NULL' if 'merged' in self.picks else ''}"
        )

    def _things(self) -> str:
        d = self.domain
        price, rates = f"p.{d.price}", ""
        home = "home" if "merged" in self.picks else d.owner
        of_owner = f"q.{d.owner}_id" if "merged" in self.picks else f"p.{d.owner}_id"
        if "price" in self.picks:
            price = f"v.{d.price}"
            rates = (
                f"JOIN {d.thing}_rates v ON v.id = (SELECT MAX(w.id) FROM {d.thing}_rates w "
                f"WHERE w.{d.thing}_id = p.id AND {self._rule('price')}) "
            )
        return (
            f"SELECT p.id AS id, {of_owner} AS {d.owner}_id, c.label AS {d.kind}, "
            f"{price} AS {d.price} FROM {d.thing_words} p JOIN {home} q ON q.id = p.{d.owner}_id "
            f"JOIN codes c ON c.list = '{d.kind}' AND c.code = p.{d.kind}_code {rates}WHERE {self._rule('deleted')}"
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
        if "reversed" in self.picks:
            kept += ["e.reverses_id IS NULL", self._rule("reversed")]
        if "twice" in self.picks:
            kept.append(
                f"e.id = (SELECT {self._rule('twice')}(g.id) FROM {d.event_words} g WHERE g.source_key = e.source_key)"
            )
        where = f" WHERE {' AND '.join(kept)}" if kept else ""
        return (
            f"SELECT e.id AS id, e.{d.thing}_id AS {d.thing}_id, {amount} AS {d.amount}, {day} AS {d.day} "
            f"FROM {d.event_words} e JOIN {d.thing} t ON t.id = e.{d.thing}_id{joins}{where}"
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
