"""Repair a query that answers another question than the one asked; one turn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.questions import judged_by
from verigym.envs.sql.report import draw
from verigym.envs.sql.write_query import operations_of, question_in
from verigym.question import Ask, Question, QuestionState

_PROMPT = """\
{ddl}

{question}
This SQLite query was meant to answer the question, but one part of it is wrong:
```sql
{broken}
```
Answer with the corrected query in a fenced block:
```sql
SELECT ...
```
Return exactly the columns asked for, in that order. Rows may come in any order unless the question asks for one."""


class Repair(Question):
    """A question with a query that has one mistake; the reply is a right query.

    The query is the right one for a twin of the question, which differs by one choice, and all twins
    are equally likely: without the question nothing shows what is wrong with it. Judged like
    `sql/questions`: by what is returned on many databases, however the query is written.
    """

    id: ClassVar[str] = "verigym/sql/repair-v0"
    verifier_id: ClassVar[str] = "sql/query"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    costly: ClassVar[bool] = True
    chance: ClassVar[float] = 0.12  # a question has 8 to 12 twins; to undo one at random is a guess
    form: ClassVar[str] = ""

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        domain = DOMAINS[int(rng.integers(len(DOMAINS)))]
        drawn = draw(rng, domain, level)
        twins = drawn.twins()
        broken = twins[int(rng.integers(len(twins)))].query
        return Ask(
            prompt=_PROMPT.format(ddl=domain.ddl(), question=drawn.question, broken=broken),
            answer=drawn.query,
            steps=1 + drawn.steps // 2,
            reference=judged_by(drawn),
            tags=(domain.owner, drawn.name),
            # Broken in another way, a question has the same answer: it belongs to the same split.
            essence=drawn.query,
        )

    @override
    def reply(self, reference: Any) -> str:
        return f"```sql\n{reference['query']}\n```"

    @override
    def work(self, state: QuestionState) -> int:
        """Count the steps of writing the query anew, from the words and the schema."""
        return operations_of(question_in(state.task.prompt, _PROMPT), state.task.tags[0])
