"""Questions about a sheet that take more than one pass over its rows; for levels above the named ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from verigym.envs.sql.statements import Sheet, StatementAnswer, facts


def above_average(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Compare each row with the average of its group, over a join."""
    d, column = s.domain, [*s.numbers][int(rng.integers(2))]
    region_of = dict(zip(s.owners, s.regions, strict=True))
    groups: dict[str, list[int]] = {}
    for owner, value in zip(s.owner, s.numbers[column], strict=True):
        groups.setdefault(region_of[owner], []).append(value)
    n = sum(value * len(group) > sum(group) for group in groups.values() for value in group)
    question = (
        f"How many of the {d.thing_words} have a `{column}` above the average `{column}` of all "
        f"{d.thing_words} whose {d.owner} has the same {d.region}?"
    )
    return StatementAnswer(question, n, 4 * len(s.names)) if n > 1 else None


def spread(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Compare the sums of groups, over a join."""
    d, column = s.domain, [*s.numbers][int(rng.integers(2))]
    kind = d.kinds[int(rng.integers(len(d.kinds)))]
    region_of = dict(zip(s.owners, s.regions, strict=True))
    totals: dict[str, int] = {}
    for owner, its_kind, value in zip(s.owner, s.kind, s.numbers[column], strict=True):
        if its_kind != kind:
            totals[region_of[owner]] = totals.get(region_of[owner], 0) + value
    by = max(totals.values()) - min(totals.values()) if len(totals) == len(set(s.regions)) else 0
    question = (
        f"Leave out the {d.thing_words} with the {d.kind} {kind}. For each {d.region}, add up the `{column}` "
        f"of the other {d.thing_words} whose {d.owner} has that {d.region}. By how much is the highest of "
        "these totals above the lowest?"
    )
    return StatementAnswer(question, by, 4 * len(s.names)) if by > 1 and len(totals) > 1 else None


def leaders(rng: np.random.Generator, s: Sheet) -> StatementAnswer:
    """Add up a column over the best rows of all groups."""
    d = s.domain
    column, other = ([*s.numbers][i] for i in rng.permutation(2).tolist())
    best: dict[str, int] = {}
    for i, owner in enumerate(s.owner):
        if owner not in best or s.numbers[column][i] > s.numbers[column][best[owner]]:
            best[owner] = i
    question = (
        f"For each {d.owner} that has {d.thing_words}, take the one with the highest `{column}`; if several "
        f"share it, take the one that comes first in the table. What is the total `{other}` of the "
        f"{d.thing_words} taken?"
    )
    return StatementAnswer(question, s.sum(best.values(), other), 3 * len(s.names))


def true_statements(rng: np.random.Generator, s: Sheet) -> StatementAnswer | None:
    """Return five statements, of which two or three hold, so that no fixed reply is worth much."""
    n_true = int(rng.integers(2, 4))
    holds = [i < n_true for i in rng.permutation(5).tolist()]
    said = facts(rng, s, holds)
    if said is None:
        return None
    question = "Which of these statements are true? Give their numbers, separated by commas.\n"
    question += "\n".join(f"{i}. {text}" for i, text in enumerate(said, 1))
    numbers = [str(i) for i, true in enumerate(holds, 1) if true]
    return StatementAnswer(question, numbers, 5 * len(s.names))


PASSES: tuple[Callable[[np.random.Generator, Sheet], StatementAnswer | None], ...] = (
    above_average,
    spread,
    leaders,
    true_statements,
)
