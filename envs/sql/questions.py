"""Questions in words over a schema, answered by one query; one turn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.kinds import Variant
from verigym.envs.sql.report import Report, draw
from verigym.envs.sql.write_query import operations_of, question_in
from verigym.question import Ask, Question, QuestionState

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
    running totals and pairs (8), runs, gaps and ranks (9), coverage and calendars (10). Judged on many small databases made for the query and the reference, not on
    one; see `sql/query`.
    """

    id: ClassVar[str] = "verigym/sql/questions-v0"
    verifier_id: ClassVar[str] = "sql/query"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    costly: ClassVar[bool] = True
    form: ClassVar[str] = ""

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        domain = DOMAINS[int(rng.integers(len(DOMAINS)))]
        drawn = draw(rng, domain, level)
        return Ask(
            prompt=_PROMPT.format(ddl=domain.ddl(), question=drawn.question),
            answer=drawn.query,
            steps=drawn.steps,
            reference=judged_by(drawn),
            tags=(domain.owner, drawn.name),
            essence=drawn.query,
        )

    @override
    def reply(self, reference: Any) -> str:
        return f"```sql\n{reference['query']}\n```"

    @override
    def work(self, state: QuestionState) -> int:
        """Count the steps of writing the query from the words and the schema."""
        return operations_of(question_in(state.task.prompt, _PROMPT), state.task.tags[0])


def judged_by(drawn: Variant | Report) -> JSON:
    """Return the reference of a question, as `sql/query` reads it."""
    return {
        "query": drawn.query,
        "schema": drawn.domain.schema(),
        "rows": drawn.crowded(),
        "dialect": "sqlite",
    }
