"""Repair a query that answers its question wrongly; one turn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.questions import KINDS, judged_by
from verigym.question import Ask, Question

_PROMPT = """\
{ddl}

{question}
This SQLite query was meant to answer it, and does not:
```sql
{broken}
```
Answer with a right query in a fenced block: ```sql ... ```. Give exactly the columns asked for, in that \
order; rows may come in any order unless one is asked for."""

MISTAKES: dict[str, tuple[tuple[str, str], ...]] = {
    "filtered": ((" > ", " >= "), (" AND ", " OR ")),
    "counted": ((">= '", "> '"), ("COUNT(*)", "COUNT(*) + 1")),
    "unknown": ((" IS NULL OR ", " IS NOT NULL AND "), (" OR ", " AND ")),
    "grouped": (("LEFT JOIN", "JOIN"), ("COUNT(t.id)", "COUNT(*)")),
    "having": (("total DESC", "total"), ("<>", "="), ("SUM", "COUNT")),
    "joined": (("SELECT DISTINCT", "SELECT"), (" > ", " >= ")),
    "without": (("NOT EXISTS", "EXISTS"), (" AND NOT EXISTS", " OR NOT EXISTS")),
    "above_average": (("AVG", "MIN"), (" AND t.", " OR t.")),
    "best_of_each": (("MAX", "MIN"), (" <= ", " < ")),
}
"""By kind of question, what to replace once in the right query, and by what."""


class Repair(Question):
    """A question with a query that has one mistake; the reply is a right query.

    Judged like `sql/questions`: by what is returned on many databases, whatever the way there.
    """

    id: ClassVar[str] = "verigym/sql/repair-v0"
    verifier_id: ClassVar[str] = "sql/query"
    difficulties: ClassVar[tuple[str, ...]] = tuple(KINDS)
    costly: ClassVar[bool] = True
    form: ClassVar[str] = ""

    def ask(self, rng: np.random.Generator, difficulty: str) -> Ask:
        """See `Question`."""
        domain = DOMAINS[int(rng.integers(len(DOMAINS)))]
        kinds = KINDS[difficulty]
        kind = kinds[int(rng.integers(len(kinds)))]
        question, query, steps = kind(rng, domain)
        mistakes = MISTAKES[kind.__name__]
        old, new = mistakes[int(rng.integers(len(mistakes)))]
        prompt = _PROMPT.format(
            ddl=domain.ddl(), question=question, broken=query.replace(old, new, 1)
        )
        return Ask(
            prompt=prompt,
            answer=query,
            steps=1 + steps // 2,
            reference=judged_by(domain, query),
            tags=(domain.owner, kind.__name__),
        )

    def reply(self, reference: Any) -> str:
        """See `Question`."""
        return f"```sql\n{reference['query']}\n```"
