"""`sql/scale`: questions about up to a million rows in DuckDB, answered by a value found with queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft
from verigym.envs.sql.big import DAYS, QUERY_S, Big, Extent, rows_of
from verigym.envs.sql.commands import MAX_ROWS, SHOWN_ROWS, run_query
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.explorer import STEPS, Explorer, Seen
from verigym.envs.sql.hidden import described
from verigym.task import Task

LEVELS = {2: (200_000, 6), 4: (500_000, 8), 6: (1_000_000, 10)}
"""Events, and turns."""
YEARS = range(2019, 2025)

_PROMPT = """\
A DuckDB database with some {events} rows, whose tables you do not know yet, holds the answer to this \
question:
{question}
Give one command in each reply:
<tables></tables> lists the tables.
<describe>TABLE</describe> shows the columns and keys of a table.
<query>SELECT ...</query> runs a query and shows its first {rows} rows; it may give {most} rows and take \
{query_s:g} seconds.
<answer>...</answer> gives your answer, the value alone, and ends the task.
You have {turns} replies."""


@dataclass(frozen=True)
class Asked:
    """A question with the query that answers it. With `alone` the second row must hold less."""

    question: str
    query: str
    steps: int
    kind: str = "number"
    alone: bool = False


class Scale(Explorer):
    """Counts, totals, winners and sequences over more rows than can be read; judged by `qa/answer`.

    The answer is what the task's query gives on the task's rows, computed when the task is drawn
    (20 to 200 ms). Winners are unique. The oracle runs that query, then answers.
    """

    id: ClassVar[str] = "verigym/sql/scale-v0"
    verifier_id: ClassVar[str] = "qa/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True
    costly: ClassVar[bool] = True

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        """Draw a question; `_draw` adds the answer, only for tasks of the wanted split."""
        events, turns = LEVELS[level]
        extent = Extent(int(rng.integers(len(DOMAINS))), events, int(rng.integers(2**31)))
        kinds = KINDS[level]
        kind = kinds[int(rng.integers(len(kinds)))]
        asked = kind(rng, extent)
        prompt = _PROMPT.format(
            events=events,
            question=asked.question,
            rows=SHOWN_ROWS,
            most=MAX_ROWS,
            query_s=QUERY_S,
            turns=turns,
        )
        return Draft(
            prompt=prompt,
            reference={
                "query": asked.query,
                "kind": asked.kind,
                "alone": asked.alone,
                "extent": extent.plain(),
            },
            tags=(extent.names.owner, kind.__name__, f"{STEPS}{asked.steps}"),
        )

    @override
    def split_of(self, draft: Draft) -> str:
        """Return the split of the question, whatever the rows."""
        reference: Any = draft.reference
        return super().split_of(replace(draft, prompt="", reference=reference["query"]))

    @override
    def turns_allowed(self, task: Task) -> int:
        return LEVELS[self.level_of(task.difficulty)][1]

    @override
    def solve(self, state: Seen) -> str:
        answer = str(self._reference()["answer"])
        if answer in re.findall(r"[\d-]+", state.shown):
            return f"<answer>{answer}</answer>"
        return f"<query>{self._reference()['query']}</query>"

    @override
    def tables(self) -> str:
        extent = self._extent()
        sizes = dict(
            zip(extent.names.tables(), (extent.owners, extent.things, extent.events), strict=True)
        )
        return "Tables:\n" + "\n".join(f"{name} ({sizes[name]} rows)" for name in sorted(sizes))

    @override
    def describe(self, table: str) -> str | None:
        return described(self._extent().schema(), table, {})

    @override
    def query(self, text: str) -> tuple[str, bool]:
        from verigym.verifiers.sql.schema import read_schema

        extent = self._extent()
        big = Big(extent)
        try:
            return run_query(text, read_schema(extent.schema()), "duckdb", big)
        finally:
            big.close()

    @override
    def _draw(self, rng: np.random.Generator, seed: int, difficulty: str, split: str) -> Task:
        """Draw until the question has one answer that is not by chance 0 or 1."""
        while True:
            task = super()._draw(rng, seed, difficulty, split)
            reference: Any = task.reference
            answer = answer_of(reference)
            if answer is not None:
                return replace(task, reference={**reference, "answer": answer})

    def _reference(self) -> Any:
        return self.task.reference

    def _extent(self) -> Extent:
        return Extent(**self._reference()["extent"])


def answer_of(reference: Any) -> JSON:
    """Return the answer that the query of a reference gives on its rows; None if that is no fair answer."""
    rows = rows_of(Extent(**reference["extent"]), reference["query"])
    if not rows or rows[0][0] is None:
        return None
    if reference["alone"] and len(rows) > 1 and rows[0][1] == rows[1][1]:
        return None
    value = rows[0][0]
    if isinstance(value, date):
        return value.isoformat()
    return None if value in (0, 1) else str(value)


def _kind(rng: np.random.Generator, s: Extent) -> str:
    return s.names.kinds[int(rng.integers(len(s.names.kinds)))]


def _year(rng: np.random.Generator) -> int:
    return int(rng.integers(YEARS.start, YEARS.stop))


def _amount(rng: np.random.Generator, s: Extent) -> int:
    low, high = s.names.amounts
    return int(rng.integers(low + (high - low) // 3, high))


def counted(rng: np.random.Generator, s: Extent) -> Asked:
    """Events under two conditions."""
    d, year, amount = s.names, _year(rng), _amount(rng, s)
    months = sorted(rng.choice(np.arange(1, 13), 2, replace=False).tolist())
    low, high = (f"{year}-{month:02}-{day:02}" for month, day in zip(months, (5, 20), strict=True))
    return Asked(
        f"How many {d.event_words} with {d.amount} of at least {amount} were there from {low} to {high}, "
        "both included?",
        f"SELECT COUNT(*) FROM {d.event} WHERE {d.amount} >= {amount} AND {d.day} >= '{low}' "
        f"AND {d.day} <= '{high}'",
        4,
    )


def different(rng: np.random.Generator, s: Extent) -> Asked:
    """Things that something happened to."""
    d, year, amount = s.names, _year(rng), _amount(rng, s)
    return Asked(
        f"How many different {d.thing_words} had at least one of the {d.event_words} with {d.amount} of at "
        f"least {amount} in {year}?",
        f"SELECT COUNT(DISTINCT {d.thing}_id) FROM {d.event} WHERE {d.amount} >= {amount} "
        f"AND {d.day} >= '{year}-01-01' AND {d.day} <= '{year}-12-31'",
        5,
    )


def summed(rng: np.random.Generator, s: Extent) -> Asked:
    """Over a month."""
    d, year, month = s.names, _year(rng), int(rng.integers(1, 13))
    after = f"{year + month // 12}-{month % 12 + 1:02}-01"
    return Asked(
        f"What is the total {d.amount} of all {d.event_words} in month {month} of {year}?",
        f"SELECT SUM({d.amount}) FROM {d.event} WHERE {d.day} >= '{year}-{month:02}-01' "
        f"AND {d.day} < '{after}'",
        4,
    )


def joined(rng: np.random.Generator, s: Extent) -> Asked:
    """A total over three tables."""
    d, year, kind = s.names, _year(rng), _kind(rng, s)
    region = d.regions[int(rng.integers(len(d.regions)))]
    return Asked(
        f"What is the total {d.amount} of the {d.event_words} in {year} of {d.thing_words} whose {d.kind} is "
        f"'{kind}' and whose {d.owner} has the {d.region} '{region}'?",
        f"SELECT SUM(e.{d.amount}) FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id "
        f"JOIN {d.owner} o ON o.id = t.{d.owner}_id WHERE t.{d.kind} = '{kind}' "
        f"AND o.{d.region} = '{region}' AND e.{d.day} >= '{year}-01-01' AND e.{d.day} <= '{year}-12-31'",
        9,
    )


def busiest(rng: np.random.Generator, s: Extent) -> Asked:
    """The thing with the highest total."""
    d, year, kind = s.names, _year(rng), _kind(rng, s)
    return Asked(
        f"Which of the {d.thing_words} whose {d.kind} is '{kind}' has the highest total {d.amount} of its "
        f"{d.event_words} in {year}? Give its id.",
        f"SELECT t.id, SUM(e.{d.amount}) AS total FROM {d.event} e JOIN {d.thing} t "
        f"ON t.id = e.{d.thing}_id WHERE t.{d.kind} = '{kind}' AND e.{d.day} >= '{year}-01-01' "
        f"AND e.{d.day} <= '{year}-12-31' GROUP BY t.id ORDER BY total DESC, t.id LIMIT 2",
        9,
        alone=True,
    )


def frequent(rng: np.random.Generator, s: Extent) -> Asked:
    """The number of large groups."""
    d, year, least = s.names, _year(rng), int(rng.integers(6, 14))
    return Asked(
        f"How many of the {d.thing_words} had at least {least} {d.event_words} in {year}?",
        f"SELECT COUNT(*) FROM (SELECT {d.thing}_id FROM {d.event} WHERE {d.day} >= '{year}-01-01' "
        f"AND {d.day} <= '{year}-12-31' GROUP BY {d.thing}_id HAVING COUNT(*) >= {least}) AS g",
        8,
    )


def gaps(rng: np.random.Generator, s: Extent) -> Asked:
    """Between one event and the next."""
    d, year, days = s.names, _year(rng), int(rng.integers(40, 150))
    return Asked(
        f"Take the {d.event_words} of {year} of each of the {d.thing_words} in the order of their days. How "
        f"often, over all {d.thing_words}, do more than {days} days lie between one and the next?",
        f"SELECT COUNT(*) FROM (SELECT {d.day} - LAG({d.day}) OVER (PARTITION BY {d.thing}_id "
        f"ORDER BY {d.day}) AS gap FROM {d.event} WHERE {d.day} >= '{year}-01-01' "
        f"AND {d.day} <= '{year}-12-31') AS g WHERE gap > {days}",
        13,
    )


def passed(rng: np.random.Generator, s: Extent) -> Asked:
    """The day on which a running total passes a bound."""
    d, year, kind = s.names, _year(rng), _kind(rng, s)
    mean = sum(d.amounts) / 2
    whole = s.events * 365 / DAYS * mean / len(d.kinds)
    bound = int(whole * rng.uniform(0.15, 0.9))
    return Asked(
        f"Add up the {d.amount} of the {d.event_words} of {d.thing_words} whose {d.kind} is '{kind}', day by "
        f"day from {year}-01-01 on. On which day does the total first exceed {bound}? Answer as YYYY-MM-DD.",
        f"SELECT day FROM (SELECT e.{d.day} AS day, SUM(SUM(e.{d.amount})) OVER (ORDER BY e.{d.day}) AS "
        f"total FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id WHERE t.{d.kind} = '{kind}' "
        f"AND e.{d.day} >= '{year}-01-01' GROUP BY e.{d.day}) AS g WHERE total > {bound} ORDER BY day LIMIT 1",
        13,
        kind="date",
    )


def ranked(rng: np.random.Generator, s: Extent) -> Asked:
    """Far down a list of totals."""
    d, year, kind, place = s.names, _year(rng), _kind(rng, s), int(rng.integers(30, 1000))
    return Asked(
        f"Order the {d.thing_words} whose {d.kind} is '{kind}' by the total {d.amount} of their "
        f"{d.event_words} in {year}, the highest first, and equal ones by ascending id. Give the id of number "
        f"{place} in that order.",
        f"SELECT t.id FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id "
        f"WHERE t.{d.kind} = '{kind}' AND e.{d.day} >= '{year}-01-01' AND e.{d.day} <= '{year}-12-31' "
        f"GROUP BY t.id ORDER BY SUM(e.{d.amount}) DESC, t.id LIMIT 1 OFFSET {place - 1}",
        12,
    )


KINDS: dict[int, tuple[Callable[[np.random.Generator, Extent], Asked], ...]] = {
    2: (counted, different, summed),
    4: (joined, busiest, frequent),
    6: (gaps, passed, ranked),
}
