"""Several systems that hold tables of the same names, and documents that say which of them leads for which table.

A copy has the columns of the table that leads, but other rows and notes of its own: who does not read the documents
takes the wrong one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from verigym.canonical import JSON
from verigym.envs.sql.notes import AS_OF

NAMES = ("crm", "erp", "web", "pos", "hub")
DOCUMENTS = "documents"
COLUMNS = (
    *(("id", "INT"), ("written_on", "DATE"), ("topic", "VARCHAR")),
    *(("system", "VARCHAR"), ("says", "VARCHAR")),
)
NULLABLE = ("system",)
N_SYSTEMS = {9: 3, 10: 4}
"""Systems by level."""
_FIRST_DAY, _DAYS = date(2021, 1, 1), 1200
_WITHDRAWN = {9: 0.3, 10: 0.45}
"""Share of the documents that a later one withdraws, by level; at level 10 these may be withdrawn in turn."""

NOTES = (
    "- The name of a table is that of its system, and that of its topic: {example} is the table of the system {system} on the topic "
    "{topic}. Where several systems have a table on a topic, one of them leads; the tables of the others are copies, and what they "
    "hold counts for nothing, their notes included. Notes name tables by their topics; the one that leads is meant.",
    "- A document that says 'leads' makes its system the one that leads on its topic, in place of the one before. It is the document "
    f"written last that counts; of several on a day, the one with the highest id. Documents written after {AS_OF} are drafts and say "
    "nothing, neither who leads nor what is withdrawn.",
    "- A document that says 'withdraws' and a number withdraws the document with this id: it is as if that had never been written.{turn}",
)
_IN_TURN = " That may be one that withdraws another, which then holds again, unless something else withdraws it."


@dataclass(frozen=True)
class Document:
    """A row of the table of documents; `withdraws` is the id of another, or 0 if it says that `system` leads."""

    id: int
    written_on: str
    topic: str
    system: str
    withdraws: int = 0

    def row(self) -> list[JSON]:
        """Return the row of the table."""
        says = f"withdraws {self.withdraws}" if self.withdraws else "leads"
        return [self.id, self.written_on, self.topic, None if self.withdraws else self.system, says]


def leading(documents: Sequence[Document], *, in_turn: bool = True) -> dict[str, str]:
    """Return the system that leads on each topic, as the documents say; without `in_turn`, as it looks to someone who takes a
    document as withdrawn even if what withdraws it is withdrawn itself."""
    in_force = [one for one in documents if one.written_on <= AS_OF]
    gone: set[int] = set()
    for one in sorted(in_force, key=lambda one: -one.id):
        # Only documents of higher numbers withdraw it, and whether these hold is known already.
        if one.withdraws and not (in_turn and one.id in gone):
            gone.add(one.withdraws)
    held = [one for one in in_force if not one.withdraws and one.id not in gone]
    return {one.topic: one.system for one in sorted(held, key=lambda one: (one.written_on, one.id))}


@dataclass(frozen=True)
class SourceSystems:
    """Systems that hold tables on `topics`, drawn from a seed."""

    topics: tuple[str, ...]
    level: int
    seed: int

    @cached_property
    def _drawn(self) -> tuple[dict[str, list[str]], list[Document]]:
        """The systems that have a table on each topic, and the documents."""
        rng = np.random.Generator(np.random.PCG64([7, self.seed]))
        names = [NAMES[i] for i in rng.permutation(len(NAMES))[: N_SYSTEMS[self.level]].tolist()]
        while True:
            holders = {
                topic: sorted(names[i] for i in rng.permutation(len(names))[:3].tolist())
                for topic in self.topics
            }
            documents = self._documents(rng, holders)
            found = leading(documents)
            last = {one.topic: one.system for one in documents if not one.withdraws}
            misled = sum(last.get(topic) != found.get(topic) for topic in self.topics)
            at_once = leading(documents, in_turn=False)
            in_turn = sum(at_once.get(topic) != found.get(topic) for topic in self.topics)
            shows = misled >= len(self.topics) // 2 and in_turn >= (2 if self.level >= 10 else 0)
            if len(found) == len(self.topics) and shows:
                return holders, documents

    def _documents(
        self, rng: np.random.Generator, holders: Mapping[str, Sequence[str]]
    ) -> list[Document]:
        """Return documents in the order of their days, each about a topic; some withdraw an earlier one."""
        topics = [topic for topic in self.topics for _ in range(int(rng.integers(2, 5)))]
        days = np.sort(rng.integers(0, _DAYS, 2 * len(topics))).tolist()
        found: list[Document] = []
        waiting = [topics[i] for i in rng.permutation(len(topics)).tolist()]
        for day in days:
            number, written = len(found) + 1, str(_FIRST_DAY + timedelta(day))
            gone = {one.withdraws for one in found}
            open_ = [
                one
                for one in found
                if one.id not in gone and (self.level >= 10 or not one.withdraws)
            ]
            if open_ and rng.random() < _WITHDRAWN[self.level]:
                other = open_[int(rng.integers(len(open_)))]
                found.append(Document(number, written, other.topic, "", other.id))
            elif waiting:
                topic = waiting.pop()
                system = holders[topic][int(rng.integers(len(holders[topic])))]
                found.append(Document(number, written, topic, system))
        return found

    @cached_property
    def leads(self) -> dict[str, str]:
        """The name of the table that leads on each topic."""
        return {topic: f"{system}_{topic}" for topic, system in leading(self._drawn[1]).items()}

    def copies(self) -> dict[str, str]:
        """Return the topic of each table that does not lead."""
        tables = {
            f"{system}_{topic}": topic for topic, its in self._drawn[0].items() for system in its
        }
        led = set(self.leads.values())
        return {table: topic for table, topic in tables.items() if table not in led}

    def documents(self) -> list[list[JSON]]:
        """Return the rows of the table of documents."""
        return [one.row() for one in self._drawn[1]]

    def notes(self) -> list[str]:
        """Return the notes on the table of documents."""
        topic = self.topics[0]
        system = self._drawn[0][topic][0]
        turn = _IN_TURN if self.level >= 10 else ""
        example = f"{system}_{topic}"
        return [one.format(example=example, system=system, topic=topic, turn=turn) for one in NOTES]

    def copied(self, table: str, rows: Sequence[Sequence[Any]], n_keys: int) -> list[list[Any]]:
        """Return the rows of a copy: fewer, and with the values of each column but its keys among others of them."""
        rng = np.random.Generator(np.random.PCG64([8, self.seed, *table.encode()]))
        kept = [*rows][: max(1, int(len(rows) * rng.uniform(0.75, 1.0)))]
        columns = [list(column) for column in zip(*kept, strict=True)]
        for number in range(n_keys, len(columns)):
            columns[number] = [columns[number][i] for i in rng.permutation(len(kept)).tolist()]
        return [list(row) for row in zip(*columns, strict=True)]

    def picks(self, table: str, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return an option of each rule of the notes on a copy, given the number of options of each."""
        rng = np.random.Generator(np.random.PCG64([9, self.seed, *table.encode()]))
        return {name: int(rng.integers(size)) for name, size in sizes.items()}
