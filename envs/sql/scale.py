"""`sql/scale`: questions about up to a million rows in DuckDB, answered by a value found with queries."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft
from verigym.envs.sql.big import QUERY_S, Big, Extent, rows_of
from verigym.envs.sql.commands import MAX_ROWS, SHOWN_ROWS, run_query
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.explorer import STEPS, Explorer, LastResult
from verigym.envs.sql.hidden import described
from verigym.envs.sql.scale_questions import ask
from verigym.envs.sql.write_query import QueryWriter, names_of, question_in
from verigym.task import Task

LEVELS = {
    1: (100_000, 6),
    2: (200_000, 6),
    3: (300_000, 8),
    4: (500_000, 8),
    5: (800_000, 10),
    6: (1_000_000, 10),
    7: (1_000_000, 12),
    8: (1_000_000, 14),
    9: (1_000_000, 16),
    10: (1_000_000, 20),
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

_VALUE = re.compile(r"[\d-]+")


class ScaleQuery(Explorer):
    """Counts, totals, winners and sequences over more rows than can be read; judged by `qa/answer`.

    The answer is what the task's query gives on the task's rows, computed when the task is drawn
    (20 to 200 ms). Winners are unique. The oracle runs that query, then answers.
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
        if answer in _VALUE.findall(state.shown):
            return f"<answer>{answer}</answer>"
        return f"<query>{self._reference()['query']}</query>"

    @override
    def work(self, state: LastResult) -> int:
        """Count the words of the question read and the steps of writing its query; then the values looked at in
        the result, up to the answer."""
        if self.solve(state).startswith("<answer>"):
            return self._values_looked_at(state)
        operations = 0
        for _ in question_in(self.task.prompt, _PROMPT).split():
            operations += 1
        writer, names = QueryWriter(), names_of(self._extent().names)
        writer.write(self._reference()["query"], names, dict(zip(names, names, strict=True)))
        return operations + writer.operations

    def _values_looked_at(self, state: LastResult) -> int:
        operations = 0
        for value in _VALUE.findall(state.shown):
            operations += 1
            if value == str(self._reference()["answer"]):
                break
        return operations

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
