"""Questions in words over a schema, answered by one query; one turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from verigym.canonical import JSON
from verigym.envs.sql.crowded import crowded
from verigym.envs.sql.domains import DOMAINS, Domain
from verigym.question import Ask, Question

_PROMPT = """\
{ddl}

{question}
Answer with one SQLite query in a fenced block: ```sql ... ```. Give exactly the columns asked for, in \
that order; rows may come in any order unless one is asked for."""

Text = tuple[str, str, int]
"""Question, query, and how many clauses it takes."""


class Questions(Question):
    """A question over one of eight business-like schemas; the reply is a query.

    Judged on many small databases made for the query and the reference, not on one; see `sql/query`.
    """

    id: ClassVar[str] = "verigym/sql/questions-v0"
    verifier_id: ClassVar[str] = "sql/query"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    costly: ClassVar[bool] = True
    form: ClassVar[str] = ""

    def ask(self, rng: np.random.Generator, difficulty: str) -> Ask:
        """See `Question`."""
        domain = DOMAINS[int(rng.integers(len(DOMAINS)))]
        kinds = KINDS[difficulty]
        kind = kinds[int(rng.integers(len(kinds)))]
        question, query, steps = kind(rng, domain)
        return Ask(
            prompt=_PROMPT.format(ddl=domain.ddl(), question=question),
            answer=query,
            steps=steps,
            reference=judged_by(domain, query),
            tags=(domain.owner, kind.__name__),
        )

    def reply(self, reference: Any) -> str:
        """See `Question`."""
        return f"```sql\n{reference['query']}\n```"


def judged_by(domain: Domain, query: str) -> JSON:
    """The reference of a question on a domain, as `sql/query` reads it."""
    return {
        "query": query,
        "schema": domain.schema(),
        "rows": crowded(domain),
        "dialect": "sqlite",
    }


def _price(rng: np.random.Generator, d: Domain) -> int:
    return int(rng.integers(*d.prices))


def _amount(rng: np.random.Generator, d: Domain) -> int:
    return int(rng.integers(d.amounts[0] + 1, d.amounts[1]))


def _one(rng: np.random.Generator, names: tuple[str, ...]) -> str:
    return names[int(rng.integers(len(names)))]


def filtered(rng: np.random.Generator, d: Domain) -> Text:
    """Rows of one table under two conditions."""
    kind, price = _one(rng, d.kinds), _price(rng, d)
    return (
        f"List id and {d.price} of the {d.thing_words} whose {d.kind} is '{kind}' and whose {d.price} is "
        f"above {price}.",
        f"SELECT id, {d.price} FROM {d.thing} WHERE {d.kind} = '{kind}' AND {d.price} > {price}",
        3,
    )


def counted(rng: np.random.Generator, d: Domain) -> Text:
    """How many rows of one table."""
    amount = _amount(rng, d)
    year = int(rng.integers(2020, 2025))
    return (
        f"How many {d.event_words} with {d.amount} of at least {amount} were there from {year}-01-01 on?",
        f"SELECT COUNT(*) FROM {d.event} WHERE {d.amount} >= {amount} AND {d.day} >= '{year}-01-01'",
        4,
    )


def unknown(rng: np.random.Generator, d: Domain) -> Text:
    """Where a value is missing, or another one."""
    region = _one(rng, d.regions)
    return (
        f"List the names of the {d.owner_words} whose {d.region} is unknown (null) or is not '{region}'.",
        f"SELECT name FROM {d.owner} WHERE {d.region} IS NULL OR {d.region} <> '{region}'",
        4,
    )


def grouped(rng: np.random.Generator, d: Domain) -> Text:
    """A sum for each owner, with those that have none."""
    price = _price(rng, d)
    return (
        f"For each of the {d.owner_words}, give id and the number of its {d.thing_words} with {d.price} "
        f"below {price}; those with none count 0.",
        f"SELECT o.id, COUNT(t.id) FROM {d.owner} o LEFT JOIN {d.thing} t "
        f"ON t.{d.owner}_id = o.id AND t.{d.price} < {price} GROUP BY o.id",
        7,
    )


def having(rng: np.random.Generator, d: Domain) -> Text:
    """Groups whose sum passes a bound, in order."""
    bound = _amount(rng, d) * 3
    kind = _one(rng, d.kinds)
    return (
        f"For the {d.thing_words} whose {d.kind} is not '{kind}', give the id and the total {d.amount} of "
        f"the {d.event_words} of each, where that total is above {bound}; the highest total first, equal "
        "totals by ascending id.",
        f"SELECT t.id, SUM(e.{d.amount}) AS total FROM {d.thing} t JOIN {d.event} e "
        f"ON e.{d.thing}_id = t.id WHERE t.{d.kind} <> '{kind}' GROUP BY t.id "
        f"HAVING SUM(e.{d.amount}) > {bound} ORDER BY total DESC, t.id",
        8,
    )


def joined(rng: np.random.Generator, d: Domain) -> Text:
    """Different values over two joins."""
    region, amount = _one(rng, d.regions), _amount(rng, d)
    return (
        f"Which different values of {d.kind} do {d.thing_words} have that belong to {d.owner_words} with "
        f"{d.region} '{region}' and had at least one of the {d.event_words} with {d.amount} above {amount}?",
        f"SELECT DISTINCT t.{d.kind} FROM {d.thing} t JOIN {d.owner} o ON o.id = t.{d.owner}_id "
        f"JOIN {d.event} e ON e.{d.thing}_id = t.id "
        f"WHERE o.{d.region} = '{region}' AND e.{d.amount} > {amount}",
        8,
    )


def without(rng: np.random.Generator, d: Domain) -> Text:
    """Owners all of whose things lack something."""
    amount = _amount(rng, d)
    return (
        f"List id and name of the {d.owner_words} that have at least one of the {d.thing_words}, but none "
        f"of whose {d.thing_words} had any of the {d.event_words} with {d.amount} above {amount}.",
        f"SELECT o.id, o.name FROM {d.owner} o WHERE EXISTS (SELECT 1 FROM {d.thing} t "
        f"WHERE t.{d.owner}_id = o.id) AND NOT EXISTS (SELECT 1 FROM {d.thing} t JOIN {d.event} e "
        f"ON e.{d.thing}_id = t.id WHERE t.{d.owner}_id = o.id AND e.{d.amount} > {amount})",
        12,
    )


def above_average(rng: np.random.Generator, d: Domain) -> Text:
    """Things above the average of their own kind."""
    price = _price(rng, d)
    return (
        f"List the ids of the {d.thing_words} whose {d.price} is above the average {d.price} of all "
        f"{d.thing_words} with the same {d.kind}, and above {price}.",
        f"SELECT t.id FROM {d.thing} t WHERE t.{d.price} > {price} AND t.{d.price} > "
        f"(SELECT AVG(s.{d.price}) FROM {d.thing} s WHERE s.{d.kind} = t.{d.kind})",
        11,
    )


def best_of_each(rng: np.random.Generator, d: Domain) -> Text:
    """The greatest of each group, ties included, of those under a condition."""
    price = _price(rng, d)
    return (
        f"For each {d.kind}, give the {d.kind} and the ids of the {d.thing_words} with the highest "
        f"{d.price} among those with {d.price} up to {price}; all of them where several are equal.",
        f"SELECT t.{d.kind}, t.id FROM {d.thing} t WHERE t.{d.price} = (SELECT MAX(s.{d.price}) "
        f"FROM {d.thing} s WHERE s.{d.kind} = t.{d.kind} AND s.{d.price} <= {price})",
        12,
    )


KINDS: dict[str, tuple[Callable[[np.random.Generator, Domain], Text], ...]] = {
    "easy": (filtered, counted, unknown),
    "medium": (grouped, having, joined),
    "hard": (without, above_average, best_of_each),
}
