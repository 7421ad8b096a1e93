"""Questions of several steps over a warehouse, each about what the one before found, and a plan that reads few rows for it.

A plan reads a summary to find where to look, then one part of the large table; what a table leaves out is added from the
late events, and void ones are taken away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verigym.canonical import JSON
from verigym.envs.sql.big import DAYS, Big
from verigym.envs.sql.warehouse import MOST, Warehouse

SLACK = {8: 1.4, 9: 1.15, 10: 1.05}
"""Rows that may be read, in those that the plan reads."""

NAMED = re.compile(r"(?:FROM|JOIN) (\w+)")
"""Tables that a query of a plan names, among names of its own."""

Run = Callable[[str], Sequence[Sequence[Any]]]


@dataclass(frozen=True)
class QuestionChain:
    """The constants of a question. `level` says which steps it has."""

    level: int
    region: str
    year: int
    since: int
    bound: int
    amount: int
    kind: str

    def plain(self) -> JSON:
        """Return the plain data that a reference holds."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def draw_chain(rng: np.random.Generator, warehouse: Warehouse, level: int) -> QuestionChain:
    """Draw the constants of a question."""
    d, extent = warehouse.extent.names, warehouse.extent
    year, since = (int(rng.integers(2019, 2024)) for _ in range(2))
    low, high = d.amounts
    a_year = extent.events / extent.owners * 365 / DAYS * (low + high - 1) / 2
    return QuestionChain(
        level=level,
        region=d.regions[int(rng.integers(len(d.regions)))],
        year=year,
        since=since,
        bound=int(a_year * rng.uniform(0.15, 0.9)),
        amount=int(rng.integers(low + (high - low) // 3, high)),
        kind=d.kinds[int(rng.integers(len(d.kinds)))],
    )


def question(chain: QuestionChain, warehouse: Warehouse) -> str:
    """Return the question in words."""
    d = warehouse.extent.names
    e, t = d.event_words, d.thing_words
    steps = [
        f"A is the {d.owner} with the {d.region} '{chain.region}' whose {t} have the highest total {d.amount} of {e} in "
        f"{chain.year}; of several, the one with the lowest id.",
        f"Add up the {d.amount} of the {e} of A's {t}, day by day, from {chain.since}-01-01 on. D is the first day at the end of "
        f"which this total is above {chain.bound}.",
    ]
    quarter = "the calendar quarter that D lies in"
    if chain.level == 8:
        last = f"How many {e} with {d.amount} of at least {chain.amount} did A's {t} have in {quarter}, from D on (D included)?"
    else:
        total = (
            f" N is the total {d.amount} of the {e} of all of A's {t} in this quarter."
            if chain.level >= 10
            else ""
        )
        steps.append(
            f"T is the one of A's {t} that has the highest total {d.amount} of {e} in {quarter}; of several, the one with the "
            f"lowest id.{total}"
        )
        in_order = f"Sort all {e} of T, of all years, by {d.day}, and by id on the same day."
        if chain.level == 9:
            last = (
                f"{in_order} Multiply the {d.amount} of each by its place in this order, the first place being 1. What is the sum of "
                "these products?"
            )
        else:
            steps.append(
                f"{in_order} Look at how many days each of them but the first comes after the one before it. E is the {d.day} of "
                f"the one for which these are most; of several, the earliest. Multiply the {d.amount} of each {d.event} of T by its place "
                "in this order, the first place being 1. M is the sum of these products."
            )
            last = (
                f"What is N + M + the total {d.amount} of the {e} of all {t} whose {d.kind} is '{chain.kind}' in the calendar month "
                "that E lies in?"
            )
    lines = "\n".join(f"{number}. {words}" for number, words in enumerate((*steps, last), 1))
    void = (
        f" The {e} whose rows also stand in {warehouse.void} are void and do not count in any step; all others do, the late ones "
        f"too. If a row of {warehouse.amended} is about one of the {e}, its {d.amount} is what stands there as `now`."
        if warehouse.has_void
        else f" All {e} count, the late ones too."
        if warehouse.has_late
        else ""
    )
    return (
        f"Follow these steps; the answer is the number that the last one asks for.{void}\n{lines}"
    )


def budget(queries: Sequence[str], level: int, warehouse: Warehouse) -> int:
    """Return the rows that may be read if these queries answer the question, in whole thousands."""
    d = warehouse.extent.names
    families = {**warehouse.families, d.owner: "owner", d.thing: "thing"}
    named = (name for query in queries for name in NAMED.findall(query))
    rows = sum(MOST[families[name]] for name in named if name in families)
    return -(-int(rows * SLACK[level]) // 1000) * 1000


class ReadingPlan:
    """Answers a question by queries that read few rows, which it keeps in `queries`; `run` runs one."""

    def __init__(self, chain: QuestionChain, warehouse: Warehouse, run: Run) -> None:
        self._chain, self._warehouse, self._run = chain, warehouse, run
        self.queries: list[str] = []
        self.level = chain.level

    def answer(self) -> Any:
        """Return the number that the last step asks for; None if a step finds nothing."""
        chain, w, d = self._chain, self._warehouse, self._warehouse.extent.names
        owner, month, before = self._first()
        quarter = w.quarter(month.year, (month.month + 2) // 3)
        last, wanted, total = self._in_quarter(quarter, owner, month, before)
        if last is None or wanted is None or chain.level == 8:
            return wanted
        events = self._complete(w.range_of(wanted), f"{d.thing}_id = {wanted}")
        if chain.level == 9:
            return self._one(
                f"SELECT SUM({d.amount} * place) AS answer FROM (SELECT {d.amount}, ROW_NUMBER() OVER (ORDER BY {d.day}, id) AS place "
                f"FROM ({events}) x) y"
            )
        # The last step is in the same query, which reads late, void and amended events once for both.
        ordered = f"OVER (ORDER BY {d.day}, id)"
        return self._one(
            f"WITH x AS (SELECT {d.day} AS day, {d.amount} AS v, {d.day} - LAG({d.day}) {ordered} AS gap, ROW_NUMBER() {ordered} AS place "
            f"FROM ({events}) w), e AS (SELECT day FROM x WHERE gap IS NOT NULL ORDER BY gap DESC, day LIMIT 1) "
            f"SELECT {total} + (SELECT SUM(v * place) FROM x) + SUM(y.total) AS answer FROM ({self._corrected('kind_day')}) y, e "
            f"WHERE y.{d.kind} = '{chain.kind}' AND date_trunc('month', y.{d.day}) = date_trunc('month', e.day)"
        )

    def _ask(self, query: str) -> Sequence[Sequence[Any]]:
        query = self._naming_once(query)
        self.queries.append(query)
        return self._run(query)

    def _naming_once(self, query: str) -> str:
        """Return a query that names the tables of late, void and amended events once each, by a name of its own for what it reads."""
        w, own = self._warehouse, []
        for table in (w.late, w.void, w.amended):
            if re.search(rf"\b{table}\b", query):
                query = re.sub(rf"\b{table}\b", f"all_{table}", query)
                own.append(f"all_{table} AS (SELECT * FROM {table})")
        if not own:
            return query
        return f"WITH {', '.join(own)}{', ' if query.startswith('WITH ') else ' '}{query.removeprefix('WITH ')}"

    def _one(self, query: str) -> Any:
        rows = self._ask(query)
        return rows[0][0] if rows else None

    def _first(self) -> Sequence[Any]:
        """Return A, the month that D lies in, and the total before this month."""
        chain, d = self._chain, self._warehouse.extent.names
        y, since = chain.year, chain.since
        return self._ask(
            f"WITH m AS MATERIALIZED ({self._corrected('owner_month')}), "
            f"a AS (SELECT o.id AS id FROM {d.owner} o JOIN m ON m.{d.owner}_id = o.id WHERE o.{d.region} = '{chain.region}' "
            f"AND m.month >= '{y}-01-01' AND m.month <= '{y}-12-31' GROUP BY o.id ORDER BY SUM(m.total) DESC, o.id LIMIT 1), "
            f"s AS (SELECT m.month AS month, SUM(m.total) AS total FROM m JOIN a ON a.id = m.{d.owner}_id "
            f"WHERE m.month >= '{since}-01-01' GROUP BY m.month), "
            f"r AS (SELECT month, total, SUM(total) OVER (ORDER BY month) AS after FROM s) "
            f"SELECT a.id, r.month, r.after - r.total AS before FROM r, a WHERE r.after > {chain.bound} ORDER BY r.month LIMIT 1"
        )[0]

    def _in_quarter(self, table: str, owner: int, month: Any, before: int) -> Sequence[Any]:
        """Return D, then T, or at level 8 the number that is asked for, and the total of A's events in the quarter."""
        chain, d = self._chain, self._warehouse.extent.names
        of = f"SELECT e.* FROM ({{}}) e JOIN {d.thing} t ON t.id = e.{d.thing}_id WHERE t.{d.owner}_id = {owner}"
        wanted = (
            f"(SELECT COUNT(*) FROM p, d WHERE p.{d.day} >= d.day AND p.{d.amount} >= {chain.amount})"
            if chain.level == 8
            else f"(SELECT p.{d.thing}_id FROM p GROUP BY p.{d.thing}_id ORDER BY SUM(p.{d.amount}) DESC, p.{d.thing}_id LIMIT 1)"
        )
        # Late events of the quarter are found by its days, as the table that leaves them out has them.
        low, high = _quarter(month)
        events = self._complete(table, f"{d.day} >= '{low}' AND {d.day} < '{high}'")
        (row,) = self._ask(
            f"WITH p AS ({of.format(events)}), s AS (SELECT {d.day} AS day, SUM({d.amount}) AS total FROM p WHERE {d.day} >= '{month}' "
            f"GROUP BY {d.day}), r AS (SELECT day, SUM(total) OVER (ORDER BY day) AS after FROM s), "
            f"d AS (SELECT MIN(day) AS day FROM r WHERE after > {chain.bound - before}) SELECT d.day, {wanted} AS answer, (SELECT SUM(p.{d.amount}) FROM p) "
            "AS total FROM d"
        )
        return row

    def _complete(self, table: str, condition: str) -> str:
        """Return a query for the events of a part that count, under a condition that late ones have to meet too."""
        w, d = self._warehouse, self._warehouse.extent.names
        events = f"SELECT * FROM {table} WHERE {condition}"
        if w.lacks_late(table):
            events += f" UNION ALL SELECT * FROM {w.late} WHERE {condition}"
        if not w.has_void or w.overlooked == "void":
            return events
        amended, amount = "", f"u.{d.amount}"
        if w.is_before_amended(table):
            amended = f" LEFT JOIN {w.amended} a ON a.{d.event}_id = u.id"
            amount = f"COALESCE(a.now, u.{d.amount})"
        return (
            f"SELECT u.id, u.{d.thing}_id, {amount} AS {d.amount}, u.{d.day} FROM ({events}) u{amended} "
            f"WHERE u.id NOT IN (SELECT id FROM {w.void})"
        )

    def _corrected(self, family: str) -> str:
        """Return a query for the rows of a summary with what has to be added to it: amendments of the events that are in it,
        then late events, and void ones less."""
        w, d = self._warehouse, self._warehouse.extent.names
        keys = {
            "owner_month": (f"{d.owner}_id, month", f"t.{d.owner}_id, date_trunc('month', c.{d.day})::DATE"),
            "kind_day": (f"{d.kind}, {d.day}", f"t.{d.kind}, c.{d.day}"),
        }[family]  # fmt: skip
        table = w.summary(family)
        lacks, counts = w.lacks_late(table), w.counts_void(table)
        parts = []
        if w.is_before_amended(table):
            held = [f"{d.event}_id <= {w.cutoff}"] if lacks else []
            held += [] if counts else [f"{d.event}_id NOT IN (SELECT id FROM {w.void})"]
            where = f" WHERE {' AND '.join(held)}" if held else ""
            parts.append(f"SELECT {d.thing}_id, {d.day}, now - before AS v FROM {w.amended}{where}")
        if lacks:
            parts.append(f"SELECT {d.thing}_id, {d.day}, {d.amount} AS v FROM {w.late}")
        if w.has_void and (lacks or counts) and w.overlooked != "void":
            # Of void events that did not come in late, it has none unless they count in it.
            which = "" if counts else f" WHERE id > {w.cutoff}"
            parts.append(f"SELECT {d.thing}_id, {d.day}, -{d.amount} AS v FROM {w.void}{which}")
        found = f"SELECT {keys[0]}, total FROM {table}"
        if not parts:
            return found
        return f"{found} UNION ALL SELECT {keys[1]}, c.v FROM ({' UNION ALL '.join(parts)}) c JOIN {d.thing} t ON t.id = c.{d.thing}_id"


def planned(reference: Any) -> Any:
    """Return the reference of a question of several steps with its plan and its answer, None if that is no fair answer."""
    warehouse = Warehouse.read(reference["warehouse"])
    big = Big(warehouse)
    try:
        plan = ReadingPlan(
            QuestionChain(**reference["chain"]), warehouse, lambda query: big.run(query)[1]
        )
        found = plan.answer()
    finally:
        big.close()
    answer = str(found) if found is not None and found > 1 else None
    most_read = budget(plan.queries, plan.level, warehouse)
    return {**reference, "plan": plan.queries, "most_read": most_read, "answer": answer}


def _quarter(day: Any) -> tuple[str, str]:
    """Return the first day of the quarter of a day, and of the next one."""
    first = 3 * ((day.month - 1) // 3) + 1
    return f"{day.year}-{first:02}-01", f"{day.year + first // 10}-{(first + 2) % 12 + 1:02}-01"
