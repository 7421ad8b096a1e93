"""The kinds of questions over a domain, each with choices: above or at least, and or or, some or none.

A question is drawn as one option of each choice. Its twins differ from it by the option of one choice:
the same words and constants but for that one, and another query. So the query of a twin looks as right
as any other, and only the question says that it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from verigym.canonical import JSON
from verigym.envs.sql.crowded import crowded
from verigym.envs.sql.domains import Domain


class Option(NamedTuple):
    """One way to decide a choice: its words in the question and its text in the query."""

    words: str
    sql: str
    tail: str = ""
    """A second text in the query, at `{NAME_tail}`."""


Choice = tuple[Option, ...]


@dataclass(frozen=True)
class Constants:
    """The constants of a question, of which its kind uses some."""

    kind: str
    region: str
    price: int
    amount: int
    year: int
    total: int = 0
    """An amount that several events reach together."""


@dataclass(frozen=True, eq=False)
class Kind:
    """Templates of a question and of its query, with a field for each choice, `d` and `c`.

    `d` is the `Domain`, `c` the `Constants`; options are templates over the two as well. `steps` is the
    number of clauses that the query takes.
    """

    name: str
    question: str
    query: str
    steps: int
    choices: Mapping[str, Choice]

    def draw(self, rng: np.random.Generator, domain: Domain) -> Variant:
        """Draw a question of this kind; every option of every choice is as likely as the others."""
        constants = Constants(
            kind=domain.kinds[int(rng.integers(len(domain.kinds)))],
            region=domain.regions[int(rng.integers(len(domain.regions)))],
            price=int(rng.integers(*domain.prices)),
            amount=int(rng.integers(domain.amounts[0] + 1, domain.amounts[1])),
            year=int(rng.integers(2020, 2025)),
        )
        constants = replace(constants, total=3 * constants.amount)
        picks = {name: int(rng.integers(len(choice))) for name, choice in self.choices.items()}
        return Variant(self, domain, constants, picks)


@dataclass(frozen=True)
class Variant:
    """A question of a kind: its constants, and the number of the option of each choice."""

    kind: Kind
    domain: Domain
    constants: Constants
    picks: Mapping[str, int]

    @property
    def name(self) -> str:
        """The kind of question, for tags."""
        return self.kind.name

    @property
    def steps(self) -> int:
        """Return the number of clauses of the query."""
        return self.kind.steps

    @property
    def question(self) -> str:
        """The question in words."""
        return self._filled(self.kind.question, {n: o.words for n, o in self._options()})

    @property
    def query(self) -> str:
        """A query that answers the question."""
        parts = {n: o.sql for n, o in self._options()}
        parts |= {f"{n}_tail": o.tail for n, o in self._options()}
        return self._filled(self.kind.query, parts)

    def crowded(self) -> dict[str, JSON]:
        """Return rows on which a query for another question shows; see `crowded`."""
        return crowded(self.domain)

    def twins(self) -> list[Variant]:
        """Return the questions that differ in one choice."""
        return [
            replace(self, picks={**self.picks, name: number})
            for name, choice in self.kind.choices.items()
            for number in range(len(choice))
            if number != self.picks[name]
        ]

    def words(self, choice: str) -> str:
        """Return the words of the option that is picked for a choice."""
        return self._filled(self.kind.choices[choice][self.picks[choice]].words, {})

    def _options(self) -> Iterator[tuple[str, Option]]:
        for name, choice in self.kind.choices.items():
            yield name, choice[self.picks[name]]

    def _filled(self, template: str, parts: Mapping[str, str]) -> str:
        d, c = self.domain, self.constants
        return template.format(d=d, c=c, **{n: text.format(d=d, c=c) for n, text in parts.items()})


COMPARED: Choice = (
    Option("above", ">"),
    Option("at least", ">="),
    Option("below", "<"),
    Option("at most", "<="),
)
DATED: Choice = (
    Option("after", ">"),
    Option("on or after", ">="),
    Option("before", "<"),
    Option("on or before", "<="),
)
JOINT: Choice = (Option("and", "AND"), Option("or", "OR"))
IS: Choice = (Option("is", "="), Option("is not", "<>"))


def _ordered(key: str) -> Choice:
    """Orders by a column or by id, upwards or downwards; ids break ties."""
    return (
        Option("by ascending id", "id"),
        Option("by descending id", "id DESC"),
        Option(f"by ascending {key}, equal ones by ascending id", f"{key}, id"),
        Option(f"by descending {key}, equal ones by ascending id", f"{key} DESC, id"),
    )


BOUNDED = Kind(
    name="bounded",
    question="Take the {d.thing_words} whose {d.price} is {price} {c.price}. Give {shown}.",
    query="SELECT {shown} FROM {d.thing} WHERE {d.price} {price} {c.price}",
    steps=2,
    choices={
        "shown": (
            Option("the id of each", "id"),
            Option("the {d.kind} of each", "{d.kind}"),
            Option("each {d.kind} among them once", "DISTINCT {d.kind}"),
            Option("their number", "COUNT(*)"),
            Option("their total {d.price}", "SUM({d.price})"),
            Option("their highest {d.price}", "MAX({d.price})"),
            Option("their lowest {d.price}", "MIN({d.price})"),
        ),
        "price": COMPARED,
    },
)
FILTERED = Kind(
    name="filtered",
    question="List {shown} of the {d.thing_words} whose {d.kind} {sort} '{c.kind}' {joint} whose {d.price} is "
    "{price} {c.price}, {order}.",
    query="SELECT {shown} FROM {d.thing} WHERE {d.kind} {sort} '{c.kind}' {joint} {d.price} {price} {c.price} "
    "ORDER BY {order}",
    steps=4,
    choices={
        "shown": (
            Option("the id and {d.price}", "id, {d.price}"),
            Option("the id and {d.kind}", "id, {d.kind}"),
        ),
        "sort": IS,
        "joint": JOINT,
        "price": COMPARED,
        "order": _ordered("{d.price}"),
    },
)
COUNTED = Kind(
    name="counted",
    question="Take the {d.event_words} whose {d.amount} is {amount} {c.amount} {joint} whose {d.day} is {day} "
    "{c.year}-01-01. {shown}?",
    query="SELECT COUNT({shown}) FROM {d.event} WHERE {d.amount} {amount} {c.amount} {joint} {d.day} {day} "
    "'{c.year}-01-01'",
    steps=4,
    choices={
        "shown": (
            Option("How many are there", "*"),
            Option("How many different {d.thing_words} do they belong to", "DISTINCT {d.thing}_id"),
            Option("On how many different days were they", "DISTINCT {d.day}"),
        ),
        "amount": COMPARED,
        "joint": JOINT,
        "day": DATED,
    },
)
UNKNOWN = Kind(
    name="unknown",
    question="List {shown} of the {d.owner_words} whose {d.region} {sort} '{c.region}', {null} those whose "
    "{d.region} is unknown (null), {order}.",
    query="SELECT {shown} FROM {d.owner} WHERE {d.region} {sort} '{c.region}' {null} ORDER BY {order}",
    steps=5,
    choices={
        "shown": (
            Option("the name", "name"),
            Option("the id and name", "id, name"),
            Option("the name and id", "name, id"),
            Option("the id and {d.region}", "id, {d.region}"),
        ),
        "sort": IS,
        "null": (
            Option("and also", "OR {d.region} IS NULL"),
            Option("but not", "AND {d.region} IS NOT NULL"),
        ),
        "order": _ordered("name"),
    },
)
OWNED = Kind(
    name="owned",
    question="List {shown} of the {d.thing_words} whose {d.price} is {price} {c.price} {joint} whose {d.owner} has a "
    "{d.region} that {sort}, {order}.",
    query="SELECT t.{shown} FROM {d.thing} t JOIN {d.owner} o ON o.id = t.{d.owner}_id WHERE t.{d.price} {price} "
    "{c.price} {joint} o.{d.region} {sort} '{c.region}' ORDER BY {order}",
    steps=5,
    choices={
        "shown": (
            Option("the id", "id"),
            Option("the {d.kind}", "{d.kind}"),
            Option("the {d.price}", "{d.price}"),
        ),
        "price": COMPARED,
        "joint": JOINT,
        "sort": (Option("is '{c.region}'", "="), Option("is known but is not '{c.region}'", "<>")),
        "order": (
            Option("by ascending id", "t.id"),
            Option("by descending id", "t.id DESC"),
            Option("by ascending {d.price}, equal ones by ascending id", "t.{d.price}, t.id"),
        ),
    },
)
GROUPED = Kind(
    name="grouped",
    question="Give {shown} of each {d.owner}, and {sum} its {d.thing_words} with {d.price} {price} {c.price}. {none}.",
    query="SELECT {shown}, {sum} FROM {d.owner} o {none} {d.thing} t ON t.{d.owner}_id = o.id "
    "AND t.{d.price} {price} {c.price} GROUP BY o.id, o.name",
    steps=7,
    choices={
        "shown": (
            Option("the id", "o.id"),
            Option("the name", "o.name"),
            Option("the id and name", "o.id, o.name"),
        ),
        "price": COMPARED,
        "sum": (
            Option("the number of", "COUNT(t.id)"),
            Option(
                "the number of different values of {d.kind} among", "COUNT(DISTINCT t.{d.kind})"
            ),
            Option("the total {d.price} of", "COALESCE(SUM(t.{d.price}), 0)"),
        ),
        "none": (
            Option("For {d.owner_words} without such {d.thing_words}, give 0", "LEFT JOIN"),
            Option("Leave out {d.owner_words} without such {d.thing_words}", "JOIN"),
        ),
    },
)
HAVING = Kind(
    name="having",
    question="Give the id of each {d.thing} whose {d.kind} {sort} '{c.kind}', and the {sum} {d.amount} of its {d.event_words}. Keep only rows in which this value is {bound} {c.amount}. Sort them by this value, the {first} first, and equal values by {ties} id.",
    query="SELECT t.id, {sum}(e.{d.amount}) AS value FROM {d.thing} t JOIN {d.event} e ON e.{d.thing}_id = t.id "
    "WHERE t.{d.kind} {sort} '{c.kind}' GROUP BY t.id HAVING {sum}(e.{d.amount}) {bound} {c.amount} "
    "ORDER BY value {first}, t.id {ties}",
    steps=8,
    choices={
        "sort": IS,
        "sum": (
            Option("total", "SUM"),
            Option("average", "AVG"),
            Option("highest", "MAX"),
            Option("lowest", "MIN"),
        ),
        "bound": COMPARED,
        "first": (Option("highest", "DESC"), Option("lowest", "ASC")),
        "ties": (Option("ascending", "ASC"), Option("descending", "DESC")),
    },
)
JOINED = Kind(
    name="joined",
    question="Each {d.event} belongs to one {d.thing}, and each {d.thing} to one {d.owner}. Take the {d.event_words} for which the {d.region} of the {d.owner} {sort}, {joint} the {d.amount} is {amount} {c.amount}. For these, give {shown}, {once}.",
    query="SELECT {once}{shown} FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id "
    "JOIN {d.owner} o ON o.id = t.{d.owner}_id WHERE o.{d.region} {sort} '{c.region}' {joint} "
    "e.{d.amount} {amount} {c.amount}",
    steps=8,
    choices={
        "shown": (
            Option("the {d.kind} of the {d.thing}", "t.{d.kind}"),
            Option("the id of the {d.thing}", "t.id"),
            Option("the name of the {d.owner}", "o.name"),
        ),
        "sort": (Option("is '{c.region}'", "="), Option("is known but is not '{c.region}'", "<>")),
        "joint": JOINT,
        "amount": COMPARED,
        "once": (
            Option("each value once", "DISTINCT "),
            Option("one row for each {d.event}", ""),
        ),
    },
)
ABOVE_ALL = Kind(
    name="above_all",
    question="Take the {d.thing_words} whose {d.price} is {beside} the average {d.price} of all {d.thing_words} and whose "
    "{d.kind} {sort} '{c.kind}'. For each {d.owner}_id among them, give the {d.owner}_id and {what}, in {order} order of {d.owner}_id.",
    query="SELECT {d.owner}_id, {what} FROM {d.thing} AS t WHERE t.{d.price} {beside} (SELECT AVG(s.{d.price}) "
    "FROM {d.thing} s) AND {d.kind} {sort} '{c.kind}' GROUP BY {d.owner}_id ORDER BY {d.owner}_id {order}",
    steps=9,
    choices={
        "beside": COMPARED,
        "sort": IS,
        "what": (
            Option("their average {d.price}", "AVG(t.{d.price})"),
            Option("the number of different values of {d.price}", "COUNT(DISTINCT t.{d.price})"),
            Option("their total {d.price}", "SUM(t.{d.price})"),
            Option("their highest {d.price}", "MAX(t.{d.price})"),
            Option("their lowest {d.price}", "MIN(t.{d.price})"),
        ),
        "order": (
            Option("ascending", "ASC"),
            Option("descending", "DESC"),
        ),
    },
)
_OF_OWNER = "(SELECT 1 FROM {d.thing} t WHERE t.{d.owner}_id = o.id AND"
WITHOUT = Kind(
    name="without",
    question="List {shown} of the {d.owner_words} that have {any} {d.thing} with {d.price} {price} {c.price}, {joint} {had} {d.event} with {d.amount} {amount} {c.amount}.",
    query="SELECT {shown} FROM {d.owner} o WHERE {any} (SELECT 1 FROM {d.thing} t WHERE t.{d.owner}_id = o.id "
    "AND t.{d.price} {price} {c.price}) {joint} {had} (SELECT 1 FROM {d.event} e WHERE e.{d.thing}_id = t.id "
    "AND e.{d.amount} {amount} {c.amount}))",
    steps=12,
    choices={
        "shown": (
            Option("the id and name", "o.id, o.name"),
            Option("the id", "o.id"),
            Option("the name", "o.name"),
        ),
        "any": (
            Option("at least one", "EXISTS"),
            Option("no", "NOT EXISTS"),
        ),
        "price": COMPARED,
        "joint": JOINT,
        "had": (
            Option("at least one of whose {d.thing_words} has a", f"EXISTS {_OF_OWNER} EXISTS"),
            Option("none of whose {d.thing_words} has a", f"NOT EXISTS {_OF_OWNER} EXISTS"),
            Option(
                "each of whose {d.thing_words} (if there are any) has a",
                f"NOT EXISTS {_OF_OWNER} NOT EXISTS",
            ),
        ),
        "amount": COMPARED,
    },
)
ABOVE_AVERAGE = Kind(
    name="above_average",
    question="List {shown} of the {d.thing_words} whose {d.price} is {beside} the {mean} all {d.thing_words} "
    "{group}, {joint} whose {d.price} is {price} {c.price}.",
    query="SELECT {shown} FROM {d.thing} t WHERE t.{d.price} {price} {c.price} {joint} t.{d.price} {beside} "
    "(SELECT AVG({mean}s.{d.price}) FROM {d.thing} s WHERE s.{group} = t.{group})",
    steps=11,
    choices={
        "shown": (
            Option("the id", "t.id"),
            Option("the id and {d.price}", "t.id, t.{d.price}"),
        ),
        "beside": COMPARED,
        "mean": (
            Option("average {d.price} of", ""),
            Option("average of the different values of {d.price} among", "DISTINCT "),
        ),
        "group": (
            Option("with the same {d.kind}", "{d.kind}"),
            Option("of the same {d.owner}", "{d.owner}_id"),
        ),
        "joint": JOINT,
        "price": COMPARED,
    },
)
BEST_OF_EACH = Kind(
    name="best_of_each",
    question="For each {group}, look at the {d.thing_words} with that {group} whose {d.price} is {price} {c.price}, and take those with the {best} {d.price} among them. Give the {group} and {shown}. Leave out every {group} that has none.",
    query="SELECT t.{group}, {shown} FROM {d.thing} t WHERE t.{d.price} = (SELECT {best}(s.{d.price}) "
    "FROM {d.thing} s WHERE s.{group} = t.{group} AND s.{d.price} {price} {c.price}){shown_tail}",
    steps=12,
    choices={
        "group": (
            Option("{d.kind}", "{d.kind}"),
            Option("{d.owner}_id", "{d.owner}_id"),
        ),
        "best": (Option("highest", "MAX"), Option("lowest", "MIN")),
        "price": COMPARED,
        "shown": (
            Option("their ids, one row for each id", "t.id"),
            Option("the lowest of their ids", "MIN(t.id)", " GROUP BY 1"),
            Option("the highest of their ids", "MAX(t.id)", " GROUP BY 1"),
            Option("their number", "COUNT(*)", " GROUP BY 1"),
        ),
    },
)

KINDS: dict[int, tuple[Kind, ...]] = {
    1: (BOUNDED,),
    2: (FILTERED, COUNTED, UNKNOWN),
    3: (OWNED,),
    4: (GROUPED, HAVING, JOINED),
    5: (ABOVE_ALL,),
    6: (WITHOUT, ABOVE_AVERAGE, BEST_OF_EACH),
}
"""Kinds of questions by level; above these levels reports are asked for (see `report`)."""
