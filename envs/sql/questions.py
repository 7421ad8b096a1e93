"""Questions in words over a schema, answered by one query; one turn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft
from verigym.envs.sql.domains import DOMAINS, Domain
from verigym.envs.sql.kinds import Variant
from verigym.envs.sql.read_notes import query_from
from verigym.envs.sql.records import BY_LEVEL, Records
from verigym.envs.sql.records_rows import ToldApart, asked, draw_told_apart
from verigym.envs.sql.report import Report, draw
from verigym.envs.sql.write_query import operations_of, question_in
from verigym.question import Ask, Question, QuestionState
from verigym.task import Task

RECORDS = "records"
"""Tag of questions over the tables of an old system."""

_PROMPT = """\
{ddl}

{question}
Answer with one SQLite query in a fenced block:
```sql
SELECT ...
```
Return exactly the columns asked for, in that order. Rows may come in any order unless the question asks for one."""


class Questions(Question):
    """A question over one of eight business-like schemas; the reply is a query.

    Each kind of question has choices (above or at least, and or or, with those that have none or without),
    so that a query by heart does not answer the next one. From level 7 on several columns are asked for,
    each a question of its own, and each level brings in ideas: medians and the most frequent value (7), neighbours,
    running totals and pairs (8), runs, gaps and ranks (9), coverage and calendars (10). From level 8 on the tables are
    those of an old system, among others, and notes say which rows count and what they mean. Judged on many small
    databases made for the query and the reference, not on one; see `sql/query`.
    """

    id: ClassVar[str] = "verigym/sql/questions-v0"
    verifier_id: ClassVar[str] = "sql/query"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    costly: ClassVar[bool] = True
    max_observation_chars: ClassVar[int] = 1 << 14
    form: ClassVar[str] = ""

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        domain = DOMAINS[int(rng.integers(len(DOMAINS)))]
        if level in BY_LEVEL:
            return self.ask_records(rng, domain, level)
        drawn = draw(rng, domain, level)
        return Ask(
            prompt=_PROMPT.format(ddl=domain.ddl(), question=drawn.question),
            answer=drawn.query,
            steps=drawn.steps,
            reference=judged_by(drawn),
            tags=(domain.owner, drawn.name),
            essence=drawn.query,
        )

    def ask_records(self, rng: np.random.Generator, domain: Domain, level: int) -> Ask:
        """Return a question over the tables of an old system; an empty one for another split than is drawn."""

        def is_wanted(essence: JSON) -> bool:
            return self.split_of(Draft(prompt="", reference=None, essence=essence)) == self._drawing

        drawn = draw_told_apart(rng, domain, level, is_wanted)
        if not isinstance(drawn, ToldApart):
            return Ask(prompt="", answer="", essence=drawn)
        query = asked(drawn.records, drawn.report)
        return Ask(
            prompt=self.prompt_for(rng, drawn, level),
            answer=query,
            steps=drawn.report.steps + 5 * len(drawn.records.picks),
            reference={
                "query": query,
                "schema": drawn.records.schema(),
                "rows": drawn.rows,
                "dialect": "sqlite",
            },
            tags=(domain.owner, RECORDS),
            essence=drawn.essence,
        )

    def prompt_for(self, rng: np.random.Generator, drawn: ToldApart, level: int) -> str:
        """Return the prompt of a question over the tables of an old system, with the notes on them."""
        return _PROMPT.format(ddl=described(drawn.records), question=drawn.report.question)

    @override
    def reply(self, reference: Any) -> str:
        return f"```sql\n{reference['query']}\n```"

    @override
    def work(self, state: QuestionState) -> int:
        """Count the steps of writing the query from the words and the schema."""
        return operations_for(state.task, _PROMPT)


def operations_for(task: Task, template: str) -> int:
    """Return the number of steps of writing the query for the question in a prompt that was made from `template`."""
    question, owner = question_in(task.prompt, template), task.tags[0]
    if RECORDS in task.tags:
        return query_from(task.prompt, question, owner)[1]
    return operations_of(question, owner)


def described(records: Records) -> str:
    """Return the tables of an old system with the notes on them."""
    return f"{records.ddl()}\nNotes on these tables. The question is about the rows that count by them.\n{records.notes()}"


def judged_by(drawn: Variant | Report) -> JSON:
    """Return the reference of a question, as `sql/query` reads it."""
    return {
        "query": drawn.query,
        "schema": drawn.domain.schema(),
        "rows": drawn.crowded(),
        "dialect": "sqlite",
    }
