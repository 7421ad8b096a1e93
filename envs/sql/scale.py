"""`sql/scale`: questions about up to a million rows in DuckDB, answered by a value found with queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft
from verigym.envs.sql.big import BASE, QUERY_S, ROWS, SPAN, Big, Extent, rows_of
from verigym.envs.sql.commands import MAX_ROWS, SHOWN_ROWS, run_query
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.explorer import STEPS, Explorer, LastResult
from verigym.envs.sql.hidden import described
from verigym.envs.sql.reading import rows_read
from verigym.envs.sql.scale_chain import NAMED, SLACK, draw_chain, planned
from verigym.envs.sql.scale_chain import question as chain_question
from verigym.envs.sql.scale_questions import ask
from verigym.envs.sql.warehouse import Warehouse, draw_warehouse, sizes_of
from verigym.envs.sql.write_query import QueryWriter, names_of, question_in
from verigym.task import Task

if TYPE_CHECKING:
    from sqlglot import exp

LEVELS = {
    1: (100_000, 6),
    2: (200_000, 6),
    3: (300_000, 8),
    4: (500_000, 8),
    5: (800_000, 10),
    6: (1_000_000, 10),
    7: (1_000_000, 12),
    8: (1_000_000, 11),
    9: (1_000_000, 13),
    10: (1_000_000, 14),
}
"""Events, and turns."""

_PROMPT = """\
Answer this question about a DuckDB database whose largest table has {events} rows:
{question}
You do not know its tables yet. Give one command in each reply:
<tables></tables> lists the tables.
<describe>TABLE</describe> shows the columns and keys of a table.
<query>SELECT ...</query> runs a query and shows its first {rows} rows; a query fails if it returns more than {most} \
rows or takes more than {query_s:g} seconds.
<answer>VALUE</answer> gives your answer, for example <answer>42</answer>, and ends the task.
You have {turns} replies."""

_READING = """\
Reading is limited. A query reads all rows of each table that it names, once for each time that it names it, whatever it does \
with them; names that it gives itself by WITH read nothing. All your queries together may read {rows} rows. A query that would go \
beyond that is refused and reads nothing, and neither does one that cannot be started because of an error in it; any other \
reads all of these rows, even if it fails. Parts and summaries of the largest table are among the tables, and the \
description of each says what it leaves out. The {events} are {span}."""
_ROWS = "ROWS-TO-READ"
"""Stands for the limit in a prompt until the plan is known."""
_CHAINED = "chained"
"""Tag of questions of several steps with a limit on the rows read."""

_VALUE = re.compile(r"[\d-]+")


class ScaleQuery(Explorer):
    """Counts, totals, winners and sequences over more rows than can be read; judged by `qa/answer`.

    The answer is what the task's query gives on the task's rows, computed when the task is drawn
    (20 to 300 ms). Winners are unique. The oracle runs that query, then answers. From level 8 on questions have steps, and
    queries may read so many rows; see `warehouse` and `scale_chain`. The oracle follows a plan of two or three queries.
    """

    id: ClassVar[str] = "verigym/sql/scale-v0"
    verifier_id: ClassVar[str] = "qa/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    costly: ClassVar[bool] = True

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        """Draw a question; `_draw` adds the answer, only for tasks of the wanted split."""
        events, turns = LEVELS[level]
        extent = Extent(int(rng.integers(len(DOMAINS))), events, int(rng.integers(2**31)))
        if level in SLACK:
            return _chained(rng, extent, level)
        kind, asked = ask(rng, extent, level)
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
            tags=(extent.names.owner, kind, f"{STEPS}{asked.steps}"),
            essence=asked.query,  # whatever the rows
        )

    @override
    def turns_allowed(self, task: Task) -> int:
        return LEVELS[self.level_of(task.difficulty)][1]

    @override
    def solve(self, state: LastResult) -> str:
        answer = str(self._reference()["answer"])
        if _CHAINED in self.task.tags:
            query = self._next(state)
            return f"<answer>{answer}</answer>" if query is None else f"<query>{query}</query>"
        if answer in _VALUE.findall(state.shown):
            return f"<answer>{answer}</answer>"
        return f"<query>{self._reference()['query']}</query>"

    @override
    def work(self, state: LastResult) -> int:
        """Count the words of the question read and the steps of writing its query; then the values looked at in
        the result, up to the answer. With several queries, the values of a result are looked at before the next is written."""
        if self.solve(state).startswith("<answer>"):
            return self._values_looked_at(state)
        operations = 0
        for _ in question_in(self.task.prompt, _PROMPT).split():
            operations += 1
        if _CHAINED in self.task.tags:
            operations += self._values_looked_at(state)
            query = self._next(state) or ""
            named = NAMED.findall(" ".join(self._reference()["plan"]))
            columns = self._warehouse().columns().items()
            names = [n for t, own in columns if t in named for n in (t, *(pair[0] for pair in own))]
        else:
            query, names = self._reference()["query"], names_of(self._extent().names)
        writer = QueryWriter()
        writer.write(query, names, dict(zip(names, names, strict=True)))
        return operations + writer.operations

    def _values_looked_at(self, state: LastResult) -> int:
        operations = 0
        for value in _VALUE.findall(state.shown):
            operations += 1
            if value == str(self._reference()["answer"]):
                break
        return operations

    def _next(self, state: LastResult) -> str | None:
        """Return the query of the plan that comes next; None if there is none, or queries outside the plan have read rows."""
        read = 0
        for query in self._reference()["plan"]:
            if read == state.rows_read:
                return str(query)
            read += self._rows_read(query)
        return None

    @override
    def tables(self) -> str:
        sizes = self._sizes()
        return "Tables:\n" + "\n".join(f"{name} ({sizes[name]} rows)" for name in sorted(sizes))

    @override
    def describe(self, table: str) -> str | None:
        if _CHAINED not in self.task.tags:
            return described(self._extent().schema(), table, {})
        warehouse = self._warehouse()
        said = described(warehouse.schema(), table, {})
        notes = warehouse.notes(table)
        return said if said is None or not notes else "\n".join((said, "Notes:", *notes))

    @override
    def query(self, text: str) -> tuple[str, bool]:
        return self._run(text, self._extent())

    @override
    def after_query(self, state: LastResult, text: str) -> tuple[LastResult, bool]:
        """Run a query within the rows that are left to be read, where these are limited."""
        if _CHAINED not in self.task.tags:
            return super().after_query(state, text)
        most, read = self._reference()["most_read"], state.rows_read
        sizes = {**self._sizes(), BASE: ROWS}

        from verigym.verifiers.sql.read import RefusedQuery

        def admit(tree: exp.Expr, printed: str, big: Big) -> None:
            nonlocal read
            rows = rows_read(tree, sizes.get)
            if read + rows > most:
                left = f"it would read {rows} rows, and {most - read} are left; it has read nothing"
                raise RefusedQuery("too_many_rows", left)
            big.check(printed)
            read += rows

        shown, valid = self._run(text, self._warehouse(), admit)
        return LastResult(f"{shown}\nRows left to read: {most - read}.", read), valid

    def _run(
        self,
        text: str,
        tables: Extent | Warehouse,
        admit: Callable[[exp.Expr, str, Big], None] = lambda tree, printed, big: None,
    ) -> tuple[str, bool]:
        from verigym.verifiers.sql.schema import read_schema

        big = Big(tables)
        try:
            schema = read_schema(tables.schema())
            return run_query(text, schema, "duckdb", big, lambda tree, sql: admit(tree, sql, big))
        finally:
            big.close()

    @override
    def key(self, state: LastResult) -> JSON:
        """Return what was shown, and the rows that were read where these are limited."""
        return [state.shown, state.rows_read] if _CHAINED in self.task.tags else state.shown

    def _rows_read(self, query: str) -> int:
        sizes = self._sizes()
        return sum(sizes[name] for name in NAMED.findall(query) if name in sizes)

    def _sizes(self) -> dict[str, int]:
        """Return the rows of each table."""
        extent = self._extent()
        own = (extent.owners, extent.things, extent.events)
        found = dict(zip(extent.names.tables(), own, strict=True))
        return {**found, **sizes_of(self._warehouse())} if _CHAINED in self.task.tags else found

    @override
    def _draw(self, rng: np.random.Generator, seed: int, difficulty: str, split: str) -> Task:
        """Draw until the question has one answer that is not by chance 0 or 1."""
        while True:
            task = super()._draw(rng, seed, difficulty, split)
            reference: Any = task.reference
            if _CHAINED in task.tags:
                reference = planned(reference)
                answer = reference["answer"]
                prompt = task.prompt.replace(_ROWS, str(reference["most_read"]))
                task = replace(task, prompt=prompt)
            else:
                answer = answer_of(reference)
            if answer is not None:
                return replace(task, reference={**reference, "answer": answer})

    def _reference(self) -> Any:
        return self.task.reference

    def _extent(self) -> Extent:
        if _CHAINED in self.task.tags:
            return self._warehouse().extent
        return Extent(**self._reference()["extent"])

    def _warehouse(self) -> Warehouse:
        return Warehouse.read(self._reference()["warehouse"])


def _chained(rng: np.random.Generator, extent: Extent, level: int) -> Draft:
    """Return a question of several steps, with a limit on the rows read."""
    warehouse = draw_warehouse(rng, extent, level)
    chain = draw_chain(rng, warehouse, level)
    prompt = _PROMPT.format(
        events=extent.events,
        question=chain_question(chain, warehouse),
        rows=SHOWN_ROWS,
        most=MAX_ROWS,
        query_s=QUERY_S,
        turns=LEVELS[level][1],
    )
    reading = _READING.format(rows=_ROWS, events=extent.names.event_words, span=SPAN)
    return Draft(
        prompt=f"{prompt}\n{reading}",
        reference={
            "chain": chain.plain(),
            "warehouse": warehouse.plain(),
            "kind": "number",
        },
        tags=(extent.names.owner, _CHAINED),
        essence=[extent.domain, chain.plain()],  # whatever the rows
    )


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
