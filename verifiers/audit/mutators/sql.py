"""Queries: other clothes for a right one; emptied, doubled and unreadable ones that are wrong."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace

from verigym.verifiers.audit.cases import Case

VERIFIERS = frozenset({"sql/query"})

_ORDERED = re.compile(r"\b(order\s+by|limit|offset|fetch|union|intersect|except|with)\b", re.I)
_KEYWORD = re.compile(r"\b(SELECT|FROM|WHERE|GROUP|ORDER|BY|HAVING|JOIN|ON|AND|OR|AS|IN)\b")
_WRITES = ("DELETE FROM {0}", "DROP TABLE {0}", "UPDATE {0} SET x = 1", "PRAGMA table_info({0})")
_EVERY = 4
"""One seed in this many is rewritten; the rewriting does not depend on the query."""


def mutate(case: Case, rng: random.Random) -> Iterator[Case]:
    """Yield rewrites of a right query, and queries that must fail."""
    query = case.submission
    if not case.label or not isinstance(query, str) or "```" in query or rng.randrange(_EVERY):
        return
    bare = query.strip().rstrip(";")
    yield _made(case, "fenced", f"```sql\n{bare};\n```", 1)
    yield _made(case, "comments", f"-- the answer\n{bare} /* the end */;", 1)
    yield _made(case, "white-space", re.sub(r" (?=[^']*(?:'[^']*'[^']*)*$)", "\n  ", bare), 1)
    yield _made(case, "keyword-case", _KEYWORD.sub(lambda found: found[0].lower(), bare), 1)
    table = _table(case)
    yield _made(case, "writes", rng.choice(_WRITES).format(table), 0)
    yield _made(case, "two-statements", f"{bare}; DROP TABLE {table}", 0)
    yield _made(case, "breaks-off", bare[: len(bare) // 2], 0)
    yield _made(case, "constant", "SELECT 'no such row' AS x", 0)
    if not _ORDERED.search(bare):
        yield _made(case, "doubled", f"{bare} UNION ALL {bare}", 0)
        yield _made(case, "emptied", f"{bare} LIMIT 0", 0)


def _table(case: Case) -> str:
    reference = case.task.reference
    tables = reference["schema"]["tables"] if isinstance(reference, dict) else {}
    return next(iter(tables), "t")


def _made(case: Case, category: str, submission: str, label: int) -> Case:
    name = f"{case.name}>{category}"
    return replace(case, name=name, label=label, category=category, submission=submission)
