"""Questions that ask for a report: a row for each owner, with columns that are asked for one by one.

Every column is a question of its own, with its own constants and choices, so a mistake in one shows in the
result whatever the others hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from verigym.canonical import JSON
from verigym.envs.sql.columns_beside_others import CALENDAR, COVERAGE, PAIRS, RANK
from verigym.envs.sql.columns_in_order import CHANGED, GAPS, MEDIAN, MODE, NTH, RUNNING, RUNS
from verigym.envs.sql.columns_in_store import COUNTERS, LAYERS
from verigym.envs.sql.columns_step_by_step import APART, COVER, SPELLS, TANK
from verigym.envs.sql.columns_with_memory import DESK, LEAVING, SPOILT
from verigym.envs.sql.crowded import crowded
from verigym.envs.sql.domains import Domain
from verigym.envs.sql.kinds import COMPARED, DATED, IS, JOINT, KINDS, Choice, Kind, Option, Variant

HEAD = (
    "For each of the {d.owner_words}, including those without {d.thing_words}, give one row with these columns in this "
    "order. Over no rows a number is 0, and a total, a highest, lowest or latest value or an id is null."
)

SHOWN = Kind(
    name="shown",
    question="the {shown}",
    query="o.{shown}",
    steps=1,
    choices={"shown": (Option("id", "id"), Option("name", "name"))},
)
_OWN = "FROM {d.thing} t WHERE t.{d.owner}_id = o.id"
_EVENTS = "FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id WHERE t.{d.owner}_id = o.id"
_BEST: Choice = (Option("highest", "DESC"), Option("lowest", "ASC"))

THINGS = Kind(
    name="things",
    question="{what} its {d.thing_words} whose {d.kind} {sort} '{c.kind}' {joint} whose {d.price} is {price} {c.price}",
    query=f"(SELECT {{what}} {_OWN} AND (t.{{d.kind}} {{sort}} '{{c.kind}}' {{joint}} "
    "t.{d.price} {price} {c.price}))",
    steps=5,
    choices={
        "sort": IS,
        "joint": JOINT,
        "price": COMPARED,
        "what": (
            Option("the number of", "COUNT(*)"),
            Option("the total {d.price} of", "SUM(t.{d.price})"),
            Option("the highest {d.price} of", "MAX(t.{d.price})"),
            Option("the lowest {d.price} of", "MIN(t.{d.price})"),
        ),
    },
)
EVENTS = Kind(
    name="events",
    question="{what} the {d.event_words} of its {d.thing_words} whose {d.amount} is {amount} {c.amount} {joint} whose {d.day} is {day} {c.year}-01-01",
    query=f"(SELECT {{what}} {_EVENTS} AND (e.{{d.amount}} {{amount}} {{c.amount}} {{joint}} "
    "e.{d.day} {day} '{c.year}-01-01'))",
    steps=7,
    choices={
        "amount": COMPARED,
        "joint": JOINT,
        "day": DATED,
        "what": (
            Option("the number of", "COUNT(*)"),
            Option("the total {d.amount} of", "SUM(e.{d.amount})"),
            Option("the number of different {d.thing_words} in", "COUNT(DISTINCT t.id)"),
            Option("the latest {d.day} of", "MAX(e.{d.day})"),
        ),
    },
)
_WITH_EVENTS = (
    "(SELECT 1 FROM {d.event} e WHERE e.{d.thing}_id = t.id AND e.{d.amount} {amount} {c.amount})"
)
QUANTIFIED = Kind(
    name="quantified",
    question="1 if {any} {d.event} with {d.amount} {amount} {c.amount}, otherwise 0",
    query=f"CASE WHEN {{any}} {_WITH_EVENTS}) THEN 1 ELSE 0 END",
    steps=8,
    choices={
        "any": (
            Option(
                "at least one of its {d.thing_words} has a", f"EXISTS (SELECT 1 {_OWN} AND EXISTS"
            ),
            Option("none of its {d.thing_words} has a", f"NOT EXISTS (SELECT 1 {_OWN} AND EXISTS"),
            Option(
                "each of its {d.thing_words}, if there are any, has a",
                f"NOT EXISTS (SELECT 1 {_OWN} AND NOT EXISTS",
            ),
            Option(
                "at least one of its {d.thing_words} has no",
                f"EXISTS (SELECT 1 {_OWN} AND NOT EXISTS",
            ),
        ),
        "amount": COMPARED,
    },
)
BESIDE_MEAN = Kind(
    name="beside_mean",
    question="the number of its {d.thing_words} whose {d.price} is {beside} the average {d.price} of all {group} with {d.price} {price} {c.price}",
    query=f"(SELECT COUNT(*) {_OWN} AND t.{{d.price}} {{beside}} (SELECT AVG(s.{{d.price}}) FROM {{d.thing}} s "
    "WHERE {group}s.{d.price} {price} {c.price}))",
    steps=8,
    choices={
        "beside": COMPARED,
        "group": (
            Option("{d.thing_words} of the same {d.kind}", "s.{d.kind} = t.{d.kind} AND "),
            Option("{d.thing_words}, of any {d.owner},", ""),
        ),
        "price": COMPARED,
    },
)
BEST = Kind(
    name="best",
    question="the id of its {d.thing} with the {best} {d.price} among those whose {d.price} is {price} {c.price}; if several share it, the {ties} id",
    query=f"(SELECT t.id {_OWN} AND t.{{d.price}} {{price}} {{c.price}} "
    "ORDER BY t.{d.price} {best}, t.id {ties} LIMIT 1)",
    steps=6,
    choices={"best": _BEST, "price": COMPARED, "ties": _BEST},
)
SIZES = {7: 2, 8: 3, 9: 5, 10: 9}
"""Columns of a report beside the name or id, by level."""
NEW = {
    7: (NTH, MEDIAN, MODE),
    8: (CHANGED, RUNNING, PAIRS),
    9: (RUNS, GAPS, RANK, SPELLS, COVER),
    10: (COVERAGE, CALENDAR, TANK, APART, LAYERS, COUNTERS, DESK, SPOILT, LEAVING),
}
"""Columns that a level brings in; each report has `OWN` of its own level, and others of those of the levels below."""
OWN = {9: 2, 10: 6}
SIMPLE = (THINGS, EVENTS, QUANTIFIED, BESIDE_MEAN, BEST)
COLUMNS = (*SIMPLE, *(kind for kinds in NEW.values() for kind in kinds))


@dataclass(frozen=True)
class Report:
    """A question for several columns, each of them a `Variant`."""

    domain: Domain
    columns: tuple[Variant, ...]

    @property
    def name(self) -> str:
        """The kind of question, for tags."""
        return "report"

    @property
    def steps(self) -> int:
        """The number of clauses that the query takes."""
        return sum(column.steps for column in self.columns)

    @property
    def question(self) -> str:
        """The question in words, a line for each column."""
        lines = [f"{i}. {column.question}" for i, column in enumerate(self.columns, 1)]
        return "\n".join((HEAD.format(d=self.domain), *lines))

    @property
    def query(self) -> str:
        """A query that answers the question."""
        shown = ", ".join(column.query for column in self.columns)
        return f"SELECT {shown} FROM {self.domain.owner} o"

    def crowded(self) -> dict[str, JSON]:
        """Return rows on which a query for another question shows; see `crowded`."""
        return crowded(self.domain, in_order=True)

    def twins(self) -> list[Report]:
        """Return the reports that differ by one choice in one column."""
        return [*self._twins()]

    def _twins(self) -> Iterator[Report]:
        for place, column in enumerate(self.columns):
            for twin in column.twins():
                columns = (*self.columns[:place], twin, *self.columns[place + 1 :])
                yield replace(self, columns=columns)


def draw_report(
    rng: np.random.Generator, domain: Domain, level: int, n: int | None = None
) -> Report:
    """Draw a report of a level, with its number of columns or `n`: a third of them are simple ones, the others are of
    kinds that this level or one below brings in, `OWN` of this level among them. At the two highest levels one is
    simple."""
    n = SIZES[level] if n is None else n
    n_own = OWN.get(level, 1)
    n_simple = 1 if level in OWN else (n + 1) // 3
    own = _some(rng, NEW[level], n_own)
    below = [kind for at in NEW if at <= level for kind in NEW[at] if kind not in own]
    kinds = [*own, *_some(rng, below, n - n_simple - n_own), *_some(rng, SIMPLE, n_simple)]
    shown = SHOWN.draw(rng, domain)
    return Report(domain, (shown, *(kind.draw(rng, domain) for kind in _some(rng, kinds, n))))


def _some(rng: np.random.Generator, kinds: Sequence[Kind], n: int) -> list[Kind]:
    """Return n different ones of some kinds in any order."""
    return [kinds[number] for number in rng.permutation(len(kinds))[:n].tolist()]


def draw(rng: np.random.Generator, domain: Domain, level: int) -> Variant | Report:
    """Draw a question about `domain`; the kinds of a level are equally likely."""
    if level in SIZES:
        return draw_report(rng, domain, level)
    kinds = KINDS[level]
    return kinds[int(rng.integers(len(kinds)))].draw(rng, domain)
