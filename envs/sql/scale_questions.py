"""The kinds of questions of `sql/scale`: counts, totals, winners and sequences, with the queries that answer them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verigym.envs.sql.big import DAYS, Extent

YEARS = range(2019, 2025)


@dataclass(frozen=True)
class ScaleQuestion:
    """A question with the query that answers it. With `alone` the second row must hold less."""

    question: str
    query: str
    steps: int
    kind: str = "number"
    alone: bool = False


def _kind(rng: np.random.Generator, s: Extent) -> str:
    return s.names.kinds[int(rng.integers(len(s.names.kinds)))]


def _year(rng: np.random.Generator) -> int:
    return int(rng.integers(YEARS.start, YEARS.stop))


def _amount(rng: np.random.Generator, s: Extent) -> int:
    low, high = s.names.amounts
    return int(rng.integers(low + (high - low) // 3, high))


def on_day(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Ask for events of one day."""
    d, year = s.names, _year(rng)
    day = f"{year}-{int(rng.integers(1, 13)):02}-{int(rng.integers(1, 29)):02}"
    return ScaleQuestion(
        f"How many {d.event_words} were there on {day}?",
        f"SELECT COUNT(*) FROM {d.event} WHERE {d.day} = '{day}'",
        2,
    )


def counted(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Ask for events under two conditions."""
    d, year, amount = s.names, _year(rng), _amount(rng, s)
    months = sorted(rng.choice(np.arange(1, 13), 2, replace=False).tolist())
    low, high = (f"{year}-{month:02}-{day:02}" for month, day in zip(months, (5, 20), strict=True))
    return ScaleQuestion(
        f"How many {d.event_words} with {d.amount} of at least {amount} were there from {low} to {high}, "
        "both included?",
        f"SELECT COUNT(*) FROM {d.event} WHERE {d.amount} >= {amount} AND {d.day} >= '{low}' "
        f"AND {d.day} <= '{high}'",
        4,
    )


def different(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Ask for things that something happened to."""
    d, year, amount = s.names, _year(rng), _amount(rng, s)
    return ScaleQuestion(
        f"How many different {d.thing_words} had at least one {d.event} with {d.amount} of at "
        f"least {amount} in {year}?",
        f"SELECT COUNT(DISTINCT {d.thing}_id) FROM {d.event} WHERE {d.amount} >= {amount} "
        f"AND {d.day} >= '{year}-01-01' AND {d.day} <= '{year}-12-31'",
        5,
    )


def summed(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Ask for a sum over a month."""
    d, year, month = s.names, _year(rng), int(rng.integers(1, 13))
    after = f"{year + month // 12}-{month % 12 + 1:02}-01"
    return ScaleQuestion(
        f"What is the total {d.amount} of all {d.event_words} in month {month} of {year}?",
        f"SELECT SUM({d.amount}) FROM {d.event} WHERE {d.day} >= '{year}-{month:02}-01' "
        f"AND {d.day} < '{after}'",
        4,
    )


def of_kind(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Return a total over two tables."""
    d, year, kind = s.names, _year(rng), _kind(rng, s)
    return ScaleQuestion(
        f"What is the total {d.amount} of the {d.event_words} in {year} of {d.thing_words} whose {d.kind} is "
        f"'{kind}'?",
        f"SELECT SUM(e.{d.amount}) FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id "
        f"WHERE t.{d.kind} = '{kind}' AND e.{d.day} >= '{year}-01-01' AND e.{d.day} <= '{year}-12-31'",
        7,
    )


def joined(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Return a total over three tables."""
    d, year, kind = s.names, _year(rng), _kind(rng, s)
    region = d.regions[int(rng.integers(len(d.regions)))]
    return ScaleQuestion(
        f"What is the total {d.amount} of the {d.event_words} in {year} of {d.thing_words} whose {d.kind} is "
        f"'{kind}' and whose {d.owner} has the {d.region} '{region}'?",
        f"SELECT SUM(e.{d.amount}) FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id "
        f"JOIN {d.owner} o ON o.id = t.{d.owner}_id WHERE t.{d.kind} = '{kind}' "
        f"AND o.{d.region} = '{region}' AND e.{d.day} >= '{year}-01-01' AND e.{d.day} <= '{year}-12-31'",
        9,
    )


def busiest(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Return the thing with the highest total."""
    d, year, kind = s.names, _year(rng), _kind(rng, s)
    return ScaleQuestion(
        f"Which of the {d.thing_words} whose {d.kind} is '{kind}' has the highest total {d.amount} of its "
        f"{d.event_words} in {year}? Give its id.",
        f"SELECT t.id, SUM(e.{d.amount}) AS total FROM {d.event} e JOIN {d.thing} t "
        f"ON t.id = e.{d.thing}_id WHERE t.{d.kind} = '{kind}' AND e.{d.day} >= '{year}-01-01' "
        f"AND e.{d.day} <= '{year}-12-31' GROUP BY t.id ORDER BY total DESC, t.id LIMIT 2",
        9,
        alone=True,
    )


def frequent(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Return the number of large groups."""
    d, year, least = s.names, _year(rng), int(rng.integers(6, 14))
    return ScaleQuestion(
        f"How many of the {d.thing_words} had at least {least} {d.event_words} in {year}?",
        f"SELECT COUNT(*) FROM (SELECT {d.thing}_id FROM {d.event} WHERE {d.day} >= '{year}-01-01' "
        f"AND {d.day} <= '{year}-12-31' GROUP BY {d.thing}_id HAVING COUNT(*) >= {least}) AS g",
        8,
    )


def busy(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Return the number of groups with a large total, over two tables."""
    d, year, kind = s.names, _year(rng), _kind(rng, s)
    # Over six years a thing has 50 events, in one about 8; the bound is not far from their usual total.
    bound = int(50 * 365 / DAYS * sum(d.amounts) / 2 * rng.uniform(0.8, 1.4))
    return ScaleQuestion(
        f"For each of the {d.thing_words} whose {d.kind} is '{kind}', add up the {d.amount} of its "
        f"{d.event_words} in {year}. How many of these {d.thing_words} have a total above {bound}?",
        f"SELECT COUNT(*) FROM (SELECT t.id FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id "
        f"WHERE t.{d.kind} = '{kind}' AND e.{d.day} >= '{year}-01-01' AND e.{d.day} <= '{year}-12-31' "
        f"GROUP BY t.id HAVING SUM(e.{d.amount}) > {bound}) AS g",
        11,
    )


def gaps(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Ask for the time between one event and the next."""
    d, year, days = s.names, _year(rng), int(rng.integers(40, 150))
    return ScaleQuestion(
        f"For each of the {d.thing_words}, sort its {d.event_words} in {year} by day. How often, over all "
        f"{d.thing_words}, do more than {days} days lie between one of the {d.event_words} and the next?",
        f"SELECT COUNT(*) FROM (SELECT {d.day} - LAG({d.day}) OVER (PARTITION BY {d.thing}_id "
        f"ORDER BY {d.day}) AS gap FROM {d.event} WHERE {d.day} >= '{year}-01-01' "
        f"AND {d.day} <= '{year}-12-31') AS g WHERE gap > {days}",
        13,
    )


def passed(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Return the day on which a running total passes a bound."""
    d, year, kind = s.names, _year(rng), _kind(rng, s)
    mean = sum(d.amounts) / 2
    whole = s.events * 365 / DAYS * mean / len(d.kinds)
    bound = int(whole * rng.uniform(0.15, 0.9))
    return ScaleQuestion(
        f"Add up the {d.amount} of the {d.event_words} of {d.thing_words} whose {d.kind} is '{kind}', day by "
        f"day from {year}-01-01 on. On which day does the total first exceed {bound}? Answer as YYYY-MM-DD.",
        f"SELECT day FROM (SELECT e.{d.day} AS day, SUM(SUM(e.{d.amount})) OVER (ORDER BY e.{d.day}) AS "
        f"total FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id WHERE t.{d.kind} = '{kind}' "
        f"AND e.{d.day} >= '{year}-01-01' GROUP BY e.{d.day}) AS g WHERE total > {bound} ORDER BY day LIMIT 1",
        13,
        kind="date",
    )


def ranked(rng: np.random.Generator, s: Extent) -> ScaleQuestion:
    """Ask for one far down a list of totals."""
    d, year, kind, place = s.names, _year(rng), _kind(rng, s), int(rng.integers(30, 1000))
    return ScaleQuestion(
        f"Sort the {d.thing_words} whose {d.kind} is '{kind}' and that have {d.event_words} in {year} by the total "
        f"{d.amount} of these {d.event_words}, the highest first, and equal totals by ascending id. Which id is "
        f"at place {place} of this list? The first place is 1.",
        f"SELECT t.id FROM {d.event} e JOIN {d.thing} t ON t.id = e.{d.thing}_id "
        f"WHERE t.{d.kind} = '{kind}' AND e.{d.day} >= '{year}-01-01' AND e.{d.day} <= '{year}-12-31' "
        f"GROUP BY t.id ORDER BY SUM(e.{d.amount}) DESC, t.id LIMIT 1 OFFSET {place - 1}",
        12,
    )


ADDED = (counted, different, summed, joined, frequent, gaps)


def added_up(rng: np.random.Generator, s: Extent, n: int) -> ScaleQuestion:
    """Ask for the sum of `n` numbers, each the answer to a question of its own."""
    parts = [ADDED[i](rng, s) for i in rng.permutation(len(ADDED)).tolist()[:n]]
    lines = [f"{i}. {part.question}" for i, part in enumerate(parts, 1)]
    total = " + ".join(f"({part.query})" for part in parts)
    return ScaleQuestion(
        "What is the sum of the answers to these questions?\n" + "\n".join(lines),
        f"SELECT {total} AS total",
        sum(part.steps for part in parts),
    )


KINDS: dict[int, tuple[Callable[[np.random.Generator, Extent], ScaleQuestion], ...]] = {
    1: (on_day,),
    2: (counted, different, summed),
    3: (of_kind,),
    4: (joined, busiest, frequent),
    5: (busy,),
    6: (gaps, passed, ranked),
}
ADDED_AT = {7: 2}
"""Numbers that are added up, by level."""


def ask(rng: np.random.Generator, extent: Extent, level: int) -> tuple[str, ScaleQuestion]:
    """Draw a question of a level; with the name of its kind."""
    if level in ADDED_AT:
        return added_up.__name__, added_up(rng, extent, ADDED_AT[level])
    kinds = KINDS[level]
    kind = kinds[int(rng.integers(len(kinds)))]
    return kind.__name__, kind(rng, extent)
