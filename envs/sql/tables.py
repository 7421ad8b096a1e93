"""Questions about tables that stand in the prompt; the answer is a value or a list of values."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.ledger import SIZES
from verigym.envs.sql.ledger_book import ledger_question
from verigym.envs.sql.passes import PASSES, true_statements
from verigym.envs.sql.read_ledger import LedgerReader
from verigym.envs.sql.read_sheet import SheetReader
from verigym.envs.sql.statements import OWNERS, Sheet, StatementAnswer
from verigym.question import Ask, Question, QuestionState
from verigym.task import Task

LEVELS = {
    1: (5, 7, 4),
    2: (9, 13, 4),
    3: (12, 15, 4),
    4: (15, 21, 4),
    5: (24, 30, 4),
    6: (24, 34, 8),
    7: (42, 48, 10),
}
"""Rows of the first table (from, below) and names in its second column, by level; above them see `ledger`."""
LEDGER = "ledger"
"""Tag of questions about the book of a store."""
JOINED = 6
"""Lowest level with a second table."""


class Tables(Question):
    """One table, or two to be joined, as Markdown or CSV, and a question; judged by `qa/answer`.

    Levels differ in rows, in the second table from level 6 on, and in questions, which take several
    passes over the rows at level 7. From level 8 on the book of a store is to be cleaned by its rules and played
    through. Winners are unique, means have at most two decimals, and every answer follows from the tables alone.
    """

    id: ClassVar[str] = "verigym/sql/tables-v0"
    verifier_id: ClassVar[str] = "qa/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    max_observation_chars: ClassVar[int] = 1 << 14

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        """Draw until the question has one answer that is not by chance 0 or 1."""
        if level in SIZES:
            return _of_ledger(rng, level)
        kinds = KINDS[level]
        kind = kinds[int(rng.integers(len(kinds)))]
        while True:
            sheet = draw_sheet(rng, level)
            if (found := kind(rng, sheet)) is not None:
                break
        shown = as_markdown if rng.integers(2) else as_csv
        parts = [f"Table {sheet.domain.thing_words}:\n{shown(*sheet.table())}"]
        if level >= JOINED:
            parts.append(f"Table {sheet.domain.owner_words}:\n{shown(*sheet.owner_table())}")
        reference = _reference(found.answer)
        return Ask(
            prompt="\n\n".join((*parts, found.question)),
            answer="",
            steps=found.steps,
            reference=reference,
            tags=(sheet.domain.thing, kind.__name__),
            essence=[kind.__name__, sheet.names, sheet.owner, sheet.kind, sheet.numbers],
        )

    @override
    def reply(self, reference: Any) -> str:
        answer = reference["answer"]
        return f"<answer>{', '.join(answer) if isinstance(answer, list) else answer}</answer>"

    @override
    def work(self, state: QuestionState) -> int:
        """Count the cells compared, the rows found and the numbers added by a reader of the tables."""
        prompt = state.task.prompt
        reader = LedgerReader(prompt) if LEDGER in state.task.tags else SheetReader(prompt)
        reader.answer()
        return reader.operations

    @override
    def candidates(self, task: Task) -> list[str]:
        """Return the names in the tables if the answer is one of them."""
        reference: Any = task.reference
        return sorted(OWNERS) if reference["answer"] in OWNERS else []


def _of_ledger(rng: np.random.Generator, level: int) -> Ask:
    """Return the question about the book of a store."""
    book, found, moved = ledger_question(rng, level)
    return Ask(
        prompt=f"{book}\n\n{found.question}",
        answer="",
        steps=found.steps,
        reference=_reference(found.answer),
        tags=(LEDGER,),
        essence=[LEDGER, moved],
    )


def draw_sheet(rng: np.random.Generator, level: int) -> Sheet:
    """Return the tables of one of the domains, filled at random; names of things are unique."""
    domain = DOMAINS[int(rng.integers(len(DOMAINS)))]
    low, high, n_owners = LEVELS[level]
    n = int(rng.integers(low, high))
    codes = rng.choice(26 * 90, n, replace=False).tolist()
    owners = [OWNERS[i] for i in rng.choice(len(OWNERS), n_owners, replace=False).tolist()]
    return Sheet(
        domain=domain,
        names=[f"{chr(65 + code // 90)}{10 + code % 90}" for code in codes],
        owner=[owners[i] for i in rng.integers(0, n_owners, n).tolist()],
        kind=[domain.kinds[i] for i in rng.integers(0, len(domain.kinds), n).tolist()],
        numbers={
            domain.price: rng.integers(*domain.prices, n).tolist(),
            domain.amount: rng.integers(*domain.amounts, n).tolist(),
        },
        owners=owners,
        regions=[
            domain.regions[i] for i in rng.integers(0, len(domain.regions), n_owners).tolist()
        ],
        founded=(1900 + rng.choice(120, n_owners, replace=False)).tolist(),
    )


def as_markdown(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def as_csv(header: list[str], rows: list[list[str]]) -> str:
    """Return the values separated by commas; none holds one."""
    return "\n".join(",".join(line) for line in (header, *rows))


def _reference(answer: int | Fraction | str | list[str]) -> JSON:
    if isinstance(answer, list):
        return {"answer": answer, "kind": "list"}
    if isinstance(answer, str):
        return {"answer": answer, "kind": "text"}
    # Two decimals at most, so the shortest form of the float is exact.
    return {"answer": str(float(answer) if answer % 1 else answer), "kind": "number"}


def _one(rng: np.random.Generator, values: list[str] | tuple[str, ...]) -> str:
    return values[int(rng.integers(len(values)))]


def lookup(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Ask for one cell."""
    i = int(rng.integers(len(s.names)))
    column = _one(rng, [*s.numbers, s.domain.owner])
    question = f"What is the `{column}` of the {s.domain.thing} {s.names[i]}?"
    value = s.owner[i] if column == s.domain.owner else s.numbers[column][i]
    return StatementAnswer(question, value, 3) if value not in (0, 1) else None


def count(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Count the rows with at least some value."""
    column = _one(rng, list(s.numbers))
    bound = int(rng.choice(s.numbers[column]))
    n = sum(value >= bound for value in s.numbers[column])
    question = f"How many of the {s.domain.thing_words} have `{column}` of at least {bound}?"
    return StatementAnswer(question, n, len(s.names)) if n > 1 else None


def extreme(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Find the row with the highest or lowest value of a column."""
    column = _one(rng, list(s.numbers))
    word, best = (("highest", max), ("lowest", min))[int(rng.integers(2))]
    name = s.winner(range(len(s.names)), column, best)
    question = f"Which of the {s.domain.thing_words} has the {word} `{column}`? Give its name."
    return StatementAnswer(question, name, len(s.names)) if name else None


def count_two(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Count the rows that meet two conditions."""
    kind, column = _one(rng, s.domain.kinds), _one(rng, list(s.numbers))
    bound = int(rng.choice(s.numbers[column]))
    n = sum(s.kind[i] == kind and v >= bound for i, v in enumerate(s.numbers[column]))
    question = (
        f"How many of the {s.domain.thing_words} have the {s.domain.kind} {kind} and `{column}` of at "
        f"least {bound}?"
    )
    return StatementAnswer(question, n, 2 * len(s.names)) if n > 1 else None


def total(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Return a sum over one kind."""
    kind, column = _one(rng, s.domain.kinds), _one(rng, list(s.numbers))
    rows = s.rows(kind=kind)
    question = f"What is the total `{column}` of all {s.domain.thing_words} with the {s.domain.kind} {kind}?"
    return (
        StatementAnswer(question, s.sum(rows, column), 2 * len(s.names)) if len(rows) > 1 else None
    )


def mean(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Return an average that two decimals write in full."""
    kind, column = _one(rng, s.domain.kinds), _one(rng, list(s.numbers))
    rows = s.rows(kind=kind)
    if len(rows) < 2 or 100 * s.sum(rows, column) % len(rows):
        return None
    question = f"What is the average `{column}` of the {s.domain.thing_words} with the {s.domain.kind} {kind}?"
    return StatementAnswer(question, Fraction(s.sum(rows, column), len(rows)), 2 * len(s.names) + 4)


def difference(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Return the difference of two sums."""
    column = _one(rng, list(s.numbers))
    one, two = (s.domain.kinds[i] for i in rng.permutation(len(s.domain.kinds))[:2].tolist())
    by = s.sum(s.rows(kind=one), column) - s.sum(s.rows(kind=two), column)
    question = (
        f"By how much is the total `{column}` of the {s.domain.thing_words} with the {s.domain.kind} {one} "
        f"higher than that of those with the {s.domain.kind} {two}?"
    )
    return StatementAnswer(question, by, 3 * len(s.names)) if by > 1 else None


def listed(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Return the names under two conditions."""
    kind, column = _one(rng, s.domain.kinds), _one(rng, list(s.numbers))
    bound = int(rng.choice(s.numbers[column]))
    names = [s.names[i] for i in s.rows(kind=kind) if s.numbers[column][i] < bound]
    question = (
        f"Which of the {s.domain.thing_words} have the {s.domain.kind} {kind} and `{column}` below {bound}? "
        "Give their names, separated by commas."
    )
    return StatementAnswer(question, names, 2 * len(s.names)) if 2 <= len(names) <= 6 else None


def total_in_region(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Return a sum over a join."""
    d, column = s.domain, _one(rng, list(s.numbers))
    region = _one(rng, d.regions)
    rows = s.rows(region=region)
    question = f"What is the total `{column}` of all {d.thing_words} whose {d.owner} has the {d.region} {region}?"
    return (
        StatementAnswer(question, s.sum(rows, column), 3 * len(s.names)) if len(rows) > 1 else None
    )


def best_owner(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Return the greatest group of a join."""
    d, column = s.domain, _one(rng, list(s.numbers))
    region = _one(rng, d.regions)
    owners = [o for o, r in zip(s.owners, s.regions, strict=True) if r == region]
    sums = {o: s.sum([i for i, x in enumerate(s.owner) if x == o], column) for o in owners}
    best = [o for o in owners if sums[o] == max(sums.values())]
    question = (
        f"Which of the {d.owner_words} with the {d.region} {region} has the highest total `{column}` over "
        f"its {d.thing_words}? Give its name."
    )
    return (
        StatementAnswer(question, best[0], 3 * len(s.names))
        if len(owners) > 2 > len(best)
        else None
    )


def second_since(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Return the one after the first, over a join."""
    d, column = s.domain, _one(rng, list(s.numbers))
    year = int(rng.choice(s.founded))
    rows = s.rows(since=year)
    first = s.winner(rows, column, max)
    rest = [i for i in rows if s.names[i] != first]
    second = s.winner(rest, column, max)
    question = (
        f"Among the {d.thing_words} whose {d.owner} was founded in {year} or later, which has the second "
        f"highest `{column}`? Give its name."
    )
    return (
        StatementAnswer(question, second, 3 * len(s.names))
        if first and second and len(rest) > 4
        else None
    )


def listed_before(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Return the names under conditions on both tables."""
    d, kind = s.domain, _one(rng, s.domain.kinds)
    year = int(rng.choice(s.founded))
    late = set(s.rows(since=year))
    names = [s.names[i] for i in s.rows(kind=kind) if i not in late]
    question = (
        f"Which of the {d.thing_words} with the {d.kind} {kind} belong to {d.owner_words} founded before "
        f"{year}? Give their names, separated by commas."
    )
    return StatementAnswer(question, names, 3 * len(s.names)) if 2 <= len(names) <= 7 else None


KINDS: dict[int, tuple[Callable[[np.random.Generator, Sheet], StatementAnswer | None], ...]] = {
    1: (lookup, count, extreme),
    2: (lookup, count, extreme),
    3: (count_two, total, listed),
    4: (count_two, total, mean, difference, listed),
    5: (total, mean),
    6: (total_in_region, best_owner, second_since, listed_before, true_statements),
    7: PASSES,
}
