"""Repair a query that answers another question than the one asked; one turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.sql.domains import DOMAINS, Domain
from verigym.envs.sql.notes import RULES
from verigym.envs.sql.questions import (
    Questions,
    described,
    judged_by,
    operations_for,
)
from verigym.envs.sql.records import BY_LEVEL, Records
from verigym.envs.sql.records_rows import ToldApart, asked, compared, own_draws
from verigym.envs.sql.report import Report, draw
from verigym.envs.sql.slips import Slip, slips_for
from verigym.question import Ask, QuestionState

FAULTS = {8: (1, 1, 1), 9: (2, 2, 3), 10: (3, 3, 6)}
"""Rules that are misread, columns that are mistaken, and slips, by level."""
MISSING = {8: 0, 9: 2, 10: 6}
"""Columns that are still to be written, by level: those whose queries have most clauses."""
_TRIES = 6
_SHARED = 6
"""Up to this level, the questions of a seed are those of `sql/questions`."""
_PROMPT = """\
{ddl}

{question}
This SQLite query was meant to answer the question, but {parts} wrong:
```sql
{broken}
```
Answer with the corrected query in a fenced block:
```sql
SELECT ...
```
Return exactly the columns asked for, in that order. Rows may come in any order unless the question asks for one."""


class Repair(Questions):
    """A question with a query that has a mistake, or several; the reply is a right query.

    The query is the right one for a twin of the question, which differs by one choice, and all twins
    are equally likely: without the question nothing shows what is wrong with it. Judged like
    `sql/questions`: by what is returned on many databases, however the query is written. From level 8 on notes on the
    tables are misread, columns mistaken, and parts of the query slip so that they no longer act together as they
    should; how many is not said. From level 9 on some columns are still to be written.
    """

    id: ClassVar[str] = "verigym/sql/repair-v0"
    chance: ClassVar[float] = 0.12  # a question has 8 to 12 twins; to undo one at random is a guess

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        rng = own_draws(rng, 1) if level > _SHARED else rng
        domain = DOMAINS[int(rng.integers(len(DOMAINS)))]
        if level in BY_LEVEL:
            return self.ask_records(rng, domain, level)
        drawn = draw(rng, domain, level)
        twins = drawn.twins()
        broken = twins[int(rng.integers(len(twins)))].query
        return Ask(
            prompt=_PROMPT.format(
                ddl=domain.ddl(), question=drawn.question, parts="one part of it is", broken=broken
            ),
            answer=drawn.query,
            steps=1 + drawn.steps // 2,
            reference=judged_by(drawn),
            tags=(domain.owner, drawn.name),
            # Broken in another way, a question has the same answer: it belongs to the same split.
            essence=drawn.query,
        )

    @override
    def prompt_for(self, rng: np.random.Generator, drawn: ToldApart, level: int) -> str:
        """Show a query that misreads notes and columns."""
        n_rules, n_columns, n_slips = FAULTS[level]
        query = asked(drawn.records, drawn.report)
        with compared(drawn.records, drawn.rows, query) as differs:
            shown = _shown_slips(rng, drawn.records.domain, query, differs, n_slips + 2)
            for n in count():
                misread = _misread(rng, drawn.records, n_rules)
                mistaken = _mistaken(rng, drawn.report, n_columns)
                broken = _without(asked(misread, mistaken), mistaken, MISSING[level])
                broken, made = _slipped(rng, broken, shown, n_slips)
                # Some slips exclude each other, or a note that is misread leaves no place for them.
                if (made == n_slips or n >= _TRIES) and differs(broken):
                    break
        return _PROMPT.format(
            ddl=described(drawn.records),
            question=drawn.report.question,
            parts="columns that stand as NULL are still to be written, and several other parts of it are"
            if MISSING[level]
            else "several parts of it are",
            broken=broken,
        )

    @override
    def work(self, state: QuestionState) -> int:
        """Count the steps of writing the query anew, from the words and the schema."""
        return operations_for(state.task, _PROMPT)


def _shown_slips(
    rng: np.random.Generator, domain: Domain, query: str, differs: Callable[[str], bool], most: int
) -> list[Slip]:
    """Return up to `most` slips, each of which alone changes the result of a right query."""
    slips = slips_for(domain)
    found: list[Slip] = []
    for place in rng.permutation(len(slips)).tolist():
        made = slips[place].made(query)
        if made != query and differs(made):
            found.append(slips[place])
            if len(found) == most:
                break
    return found


def _slipped(
    rng: np.random.Generator, query: str, slips: Sequence[Slip], n: int
) -> tuple[str, int]:
    """Return a query with up to `n` of the slips, and their number."""
    made = 0
    for place in rng.permutation(len(slips)).tolist():
        slipped = slips[place].made(query)
        if made < n and slipped != query:
            query = slipped
            made += 1
    return query, made


def _without(query: str, report: Report, n: int) -> str:
    """Return the query of a report with NULL in place of the `n` columns that take most clauses."""
    for column in sorted(report.columns, key=lambda one: -one.steps)[:n]:
        query = query.replace(column.query, "NULL")
    return query


def _misread(rng: np.random.Generator, records: Records, n: int) -> Records:
    """Return the records with another option of `n` rules."""
    picks = dict(records.picks)
    for place in rng.permutation(len(picks))[:n].tolist():
        name = list(picks)[place]
        picks[name] = (picks[name] + 1) % len(RULES[name])
    return replace(records, picks=picks)


def _mistaken(rng: np.random.Generator, report: Report, n: int) -> Report:
    """Return the report with a twin in place of `n` columns."""
    columns = list(report.columns)
    for place in (1 + rng.permutation(len(columns) - 1)[:n]).tolist():
        twins = columns[place].twins()
        columns[place] = twins[int(rng.integers(len(twins)))]
    return replace(report, columns=tuple(columns))
