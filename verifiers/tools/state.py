"""`tools/state`: the final state of a world against goals, and against damage beside them.

The submission is the final state (`tables.py` has the forms); usually the environment hands it in, not
the policy. The reference is

    {"initial": state, "keys": {table: [columns]}, "goals": [goal, ...], "allowed": [effect, ...]}

`goals.py` has the kinds of goals. Whatever differs from the initial state and is neither paid for by a
goal nor allowed is damage. `keys` may be left out where a dump declares them or an `id` is unique.
`"no_change": true` says that the right thing is to change nothing; `env` is whatever the environment keeps
there for itself, and is not read.

Conditions compare by the parameters; damage is exact, but for 1 and 1.0. Where one of the states is an
SQLite dump, booleans are 1 and 0 in both.

Covers: goals met by brute force (rows inserted in masses, others overwritten or deleted, tables gone),
SQL in dumps beyond tables and rows, large input. Does not cover: how the state came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.tools.changes import (
    Change,
    booleans_as_numbers,
    changed_by_table,
    count_rows,
    find_changes,
    find_keys,
)
from verigym.verifiers.tools.goals import (
    Allowed,
    is_met,
    pay_for_allowed,
    pay_for_goals,
    read_allowed,
    read_goal,
)
from verigym.verifiers.tools.tables import BadState, ToolTables, read_tables
from verigym.verifiers.tools.values import Sameness, Strings

MAX_GOALS = 200
_REFERENCE_KEYS = frozenset({"initial", "keys", "goals", "allowed", "no_change", "env"})
_EXACT = Sameness("exact", 0.0)
_VERBS = (("insert", "inserted"), ("update", "updated"), ("delete", "deleted"))


class StateParams(Struct, frozen=True):
    """Parameters of `StateVerifier`."""

    strings: Annotated[
        Strings,
        Meta(
            description="How conditions compare texts: as they are; white space aside; marks and case aside."
        ),
    ] = "trimmed"
    tolerance: Annotated[
        float,
        Meta(
            ge=0,
            lt=1,
            description="Relative difference allowed between numbers that are not both whole.",
        ),
    ] = 1e-9
    collateral: Annotated[bool, Meta(description="Whether damage beside the goals counts.")] = True
    credit: Annotated[
        Literal["all", "parts"],
        Meta(description="The score: 1 or 0, or the share of goals met where nothing is damaged."),
    ] = "all"


class StateVerifier(Verifier[StateParams]):
    """Score 1 if every goal is met and nothing else was touched, else 0.

    Judged with `correct`, `goal_not_met`, `collateral` (goals met, but damage) or `bad_rows` (rows
    that share or lack a key); unusable with `bad_state`, `bad_json`, `bad_dump`, `duplicate_key`,
    `too_long`, `too_deep`. `parts`: `goals`, the share met; `unharmed`, 1 without damage; `kept`, the
    share of the initial rows not damaged. `credit="parts"` scores `goals` where unharmed.
    """

    id: ClassVar[str] = "tools/state"
    version: ClassVar[int] = 2
    about: ClassVar[str] = (
        "The final state of a world (tables of rows, or an SQLite dump) must meet the task's goals "
        "and be untouched elsewhere."
    )

    evidence: ClassVar[str] = (
        "The rows of the final state, against the goals and the initial state; how the state came "
        "about counts for nothing."
    )
    weights: ClassVar[Mapping[str, float]] = {"goals": 0.5, "unharmed": 0.5, "kept": 0.0}

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self._sameness = Sameness(self.settings.strings, self.settings.tolerance)

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        reference = task.reference
        if not isinstance(reference, dict) or not reference.keys() <= _REFERENCE_KEYS:
            raise TaskError(
                f"the reference must be an object with keys of {sorted(_REFERENCE_KEYS)}"
            )
        try:
            initial = read_tables(reference.get("initial"))
        except BadState as error:
            raise TaskError(f"the initial state: {error}") from error
        try:
            final = read_tables(submission)
        except BadState as error:
            return unusable(error.reason, str(error))
        if initial.from_sqlite != final.from_sqlite:
            initial, final = booleans_as_numbers(initial), booleans_as_numbers(final)
        try:
            return self._compare(reference, initial, final)
        except BadState as error:
            return scored(0.0, error.reason, str(error), _parts(0.0, False, 0.0))

    def _compare(
        self, reference: Mapping[str, JSON], initial: ToolTables, final: ToolTables
    ) -> Verdict:
        keys = find_keys(initial, _named_keys(reference.get("keys", {}), initial))
        try:
            find_changes(initial, initial, keys, _EXACT)
        except BadState as error:
            raise TaskError(f"the initial state: {error}") from error
        raw = reference.get("goals", [])
        if not isinstance(raw, list | tuple) or len(raw) > MAX_GOALS:
            raise TaskError(f"goals must be a list of at most {MAX_GOALS}")
        no_change = reference.get("no_change", False)
        if not raw and no_change is not True:
            raise TaskError('a reference without goals must say "no_change": true')
        goals = [read_goal(i, g, initial, keys, self._sameness) for i, g in enumerate(raw, 1)]
        entries = reference.get("allowed", [])
        if not isinstance(entries, list | tuple):
            raise TaskError("allowed must be a list")
        allowed = [read_allowed(i, e, self._sameness) for i, e in enumerate(entries, 1)]

        changes = find_changes(initial, final, keys, _EXACT)
        failed = [goal.name for goal in goals if not is_met(goal, initial, final, keys, changes)]
        met = 1 - len(failed) / len(goals) if goals else 1.0
        if goals and not failed and not changes and no_change is not True:
            raise TaskError(
                "the initial state meets every goal, so doing nothing would be paid; "
                'say "no_change": true if that is meant'
            )
        paid = pay_for_goals(goals, initial, changes)
        pay_for_allowed(allowed, changes, paid)
        damage = [c for i, c in enumerate(changes) if not paid.covers(i, c)]
        tables = _odd_tables(initial, final, allowed)
        if not self.settings.collateral:
            damage, tables = [], []
        harmed = sum(change.old is not None for change in damage)
        kept = 1 - harmed / max(1, count_rows(initial))
        unharmed = not damage and not tables
        parts = _parts(met, unharmed, kept)
        score = float(unharmed and not failed)
        if self.settings.credit == "parts":
            score = met if unharmed else 0.0
        notes = []
        if failed:
            shown = ", ".join(failed[:5]) + (", ..." if len(failed) > 5 else "")
            notes.append(f"not met: {shown}")
        if not unharmed:
            notes.append(_told(damage, tables))
        reason = "goal_not_met" if failed else "correct" if unharmed else "collateral"
        return scored(score, reason, "; ".join(notes) or "every goal is met", parts)


def _named_keys(keys: JSON, initial: ToolTables) -> dict[str, list[str]]:
    if not isinstance(keys, dict):
        raise TaskError("keys must be an object of lists of columns")
    for table, columns in keys.items():
        if table not in initial.rows:
            raise TaskError(f"keys: {table!r} is not a table of the initial state")
        if not isinstance(columns, list | tuple) or not columns:
            raise TaskError(f"keys: {table!r} needs a list of columns")
    return keys


def _odd_tables(initial: ToolTables, final: ToolTables, allowed: list[Allowed]) -> list[str]:
    """Tables that are gone or new and are not allowed to be."""
    free = {entry.table for entry in allowed if entry.whole_table}
    return sorted((initial.rows.keys() ^ final.rows.keys()) - free)


def _told(damage: list[Change], tables: list[str]) -> str:
    told = [f"table {name[:40]!a} is gone or new" for name in tables[:5]]
    for table, kinds in list(changed_by_table(damage).items())[:5]:
        counts = ", ".join(f"{kinds[kind]} {verb}" for kind, verb in _VERBS if kinds[kind])
        told.append(f"table {table[:40]!a}: rows touched that had to stay: {counts}")
    return "; ".join(told)


def _parts(goals: float, unharmed: bool, kept: float) -> dict[str, float]:
    return {"goals": goals, "unharmed": float(unharmed), "kept": kept}
