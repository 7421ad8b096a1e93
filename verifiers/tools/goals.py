"""Goals over two states: whether each is met, and which changes each one pays for.

    {"kind": "present", "table", "where", "rows": 1}    at least so many rows like this
    {"kind": "absent", "table", "where"}                no row like this
    {"kind": "equal", "table", "where", "set"}          the rows that were like `where` at the start
                                                        are still there, and now like `set`
    {"kind": "count", "table", "where", "count" | "min", "max"}
    {"kind": "unchanged", "table", "where"}             no row like this was touched

Each may have a `name`, which is shown to people. A goal pays for the least that meets it: `present`
for as many inserted rows (or updates of columns that `where` names) as were wanting, `absent` for
deleting the rows, `equal` for updates of the columns of `set`, `count` for inserting or deleting as
many as were wanting or too many, `unchanged` for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.tools.changes import Change, by_key
from verigym.verifiers.tools.conditions import Condition, compile_where
from verigym.verifiers.tools.tables import ToolTables
from verigym.verifiers.tools.values import Sameness

KINDS = ("present", "absent", "equal", "count", "unchanged")
_KEYS = frozenset({"kind", "name", "table", "where", "set", "rows", "count", "min", "max"})
CHANGE_KINDS = ("insert", "delete", "update")


@dataclass(frozen=True)
class Goal:
    """A goal that can be checked; see the module."""

    kind: str
    name: str
    table: str
    where: Condition
    columns: frozenset[str]
    """Columns whose updates the goal may pay for."""
    apart: Mapping[str, Condition]
    """The condition `where`, one column at a time."""
    then: Condition
    least: int
    most: int | None


@dataclass(frozen=True)
class Allowed:
    """A side effect that is no damage."""

    table: str
    where: Condition
    columns: frozenset[str] | None
    kinds: frozenset[str]
    whole_table: bool


class Payments:
    """Changes that are paid for: whole ones by their index, updates by column."""

    def __init__(self) -> None:
        self.whole: set[int] = set()
        self.columns: dict[int, set[str]] = {}

    def pay(self, index: int, change: Change, columns: Iterable[str]) -> None:
        """Pay for a change; of an update, for these columns only."""
        if change.kind == "update":
            self.columns.setdefault(index, set()).update(columns)
        else:
            self.whole.add(index)

    def has(self, index: int) -> bool:
        """Return True if the change is paid for at least in part."""
        return index in self.whole or index in self.columns

    def covers(self, index: int, change: Change) -> bool:
        """Return True if the change is paid for in full."""
        if change.kind == "update":
            return change.columns <= self.columns.get(index, set())
        return index in self.whole


def read_goal(
    number: int,
    goal: JSON,
    initial: ToolTables,
    keys: Mapping[str, Sequence[str]],
    sameness: Sameness,
) -> Goal:
    """Return a goal as the reference writes it. Raises TaskError."""
    what = f"goal {number}"
    if not isinstance(goal, dict) or not goal.keys() <= _KEYS:
        raise TaskError(f"{what} must be an object with keys of {sorted(_KEYS)}")
    kind, table = goal.get("kind"), goal.get("table")
    if not isinstance(kind, str) or kind not in KINDS:
        raise TaskError(f"{what}: kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if not isinstance(table, str) or table not in initial.rows:
        raise TaskError(f"{what}: {table!r} is not a table of the initial state")
    name = goal.get("name", what)
    if not isinstance(name, str):
        raise TaskError(f"{what}: name must be text")
    raw = goal.get("where", {})
    where = compile_where(raw, sameness, what)
    if kind in ("present", "absent", "equal") and not raw:
        raise TaskError(f"{what}: {kind} needs a 'where'")
    columns = frozenset(raw)
    then = where
    least, most = 0, None
    if kind == "equal":
        if table not in keys:
            raise TaskError(f"{what}: table {table!r} needs a key for goals of kind equal")
        if not goal.get("set"):
            raise TaskError(f"{what}: equal needs a set")
        then = compile_where(goal["set"], sameness, what)
        columns = frozenset(goal["set"])
        if not any(map(where, initial.rows[table])):
            raise TaskError(f"{what}: no row of the initial state is like its where")
    elif kind == "present":
        least = _whole(goal.get("rows", 1), what)
    elif kind == "count":
        if "count" in goal:
            least = most = _whole(goal["count"], what)
        elif "min" in goal or "max" in goal:
            least = _whole(goal.get("min", 0), what)
            most = _whole(goal["max"], what) if "max" in goal else None
        else:
            raise TaskError(f"{what}: count needs count, min or max")
    apart = {column: compile_where({column: raw[column]}, sameness, what) for column in raw}
    return Goal(kind, name, table, where, columns, apart, then, least, most)


def read_allowed(number: int, entry: JSON, sameness: Sameness) -> Allowed:
    """Return an allowed side effect, `{"table", "where", "columns", "kinds"}`. Raises TaskError."""
    what = f"allowed {number}"
    if not isinstance(entry, dict) or not entry.keys() <= {"table", "where", "columns", "kinds"}:
        raise TaskError(f"{what} must be an object with table, where, columns and kinds")
    table, columns, kinds = entry.get("table"), entry.get("columns"), entry.get("kinds")
    if not isinstance(table, str):
        raise TaskError(f"{what} must have a table")
    for names in (columns, kinds):
        if names is not None and not (
            isinstance(names, list | tuple) and all(isinstance(n, str) for n in names)
        ):
            raise TaskError(f"{what}: columns and kinds must be lists of names")
    if kinds is None:
        kinds = CHANGE_KINDS if columns is None else ("update",)
    if not set(kinds) <= set(CHANGE_KINDS):
        raise TaskError(f"{what}: kinds are {', '.join(CHANGE_KINDS)}")
    return Allowed(
        table,
        compile_where(entry.get("where", {}), sameness, what),
        None if columns is None else frozenset(columns),
        frozenset(kinds),
        entry.keys() == {"table"},
    )


def is_met(
    goal: Goal,
    initial: ToolTables,
    final: ToolTables,
    keys: Mapping[str, tuple[str, ...]],
    changes: Sequence[Change],
) -> bool:
    """Return True if the final state meets the goal."""
    rows = final.rows.get(goal.table, ())
    if goal.kind == "unchanged":
        return not any(
            change.table == goal.table and _touches(change, goal.where) for change in changes
        )
    if goal.kind == "equal":
        key = keys[goal.table]
        after = by_key(rows, key, goal.table)
        before = by_key(initial.rows[goal.table], key, goal.table)
        return all(
            name in after and goal.then(after[name])
            for name, row in before.items()
            if goal.where(row)
        )
    found = sum(map(goal.where, rows))
    if goal.kind == "absent":
        return found == 0
    return goal.least <= found and (goal.most is None or found <= goal.most)


def pay_for_goals(
    goals: Sequence[Goal], initial: ToolTables, changes: Sequence[Change]
) -> Payments:
    """Return the changes that the goals pay for, each goal the least that meets it.

    `changes` must be in an order that does not depend on that of rows. Goals with the fewest
    candidates choose first, and a change that is paid for already is chosen before others.
    """
    paid = Payments()
    for goal in goals:
        for index, change in enumerate(changes):
            if change.table != goal.table or change.old is None or not goal.where(change.old):
                continue
            if (goal.kind == "equal" and change.kind == "update") or (
                goal.kind == "absent" and change.kind == "delete"
            ):
                paid.pay(index, change, goal.columns)
    choosing: list[tuple[list[int], int, Goal]] = []
    for goal in goals:
        candidates, wanting = _candidates(goal, initial, changes)
        if wanting > 0:
            choosing.append((candidates, wanting, goal))
    choosing.sort(key=lambda item: len(item[0]) - item[1])
    for candidates, wanting, goal in choosing:
        candidates.sort(key=lambda index: (not paid.has(index), changes[index].kind == "update"))
        for index in candidates[:wanting]:
            paid.pay(index, changes[index], goal.columns)
    return paid


def pay_for_allowed(allowed: Sequence[Allowed], changes: Sequence[Change], paid: Payments) -> None:
    """Add the side effects that the task allows."""
    for entry in allowed:
        for index, change in enumerate(changes):
            row = change.old if change.old is not None else change.new
            if (
                change.table == entry.table
                and change.kind in entry.kinds
                and row is not None
                and entry.where(row)
            ):
                paid.pay(index, change, change.columns if entry.columns is None else entry.columns)


def _candidates(
    goal: Goal, initial: ToolTables, changes: Sequence[Change]
) -> tuple[list[int], int]:
    """Changes that could bring a goal of number about, and how many of them it pays for."""
    if goal.kind not in ("present", "count"):
        return [], 0
    before = sum(map(goal.where, initial.rows[goal.table]))
    here = [(i, change) for i, change in enumerate(changes) if change.table == goal.table]
    if before < goal.least:
        brought = [
            i
            for i, change in here
            if change.new is not None
            and goal.where(change.new)
            and (change.old is None or _is_same_thing(goal, initial, change))
        ]
        return brought, goal.least - before
    if goal.most is not None and before > goal.most:
        gone = [
            i
            for i, change in here
            if change.kind == "delete" and change.old is not None and goal.where(change.old)
        ]
        return gone, before - goal.most
    return [], 0


def _is_same_thing(goal: Goal, initial: ToolTables, change: Change) -> bool:
    """Return True if an update gave the values that `present` wants to a row that its unchanged
    columns already identified."""
    if goal.kind != "present" or change.old is None or goal.where(change.old):
        return False
    still = [test for column, test in goal.apart.items() if column not in change.columns]
    if not still:
        return False
    alike = sum(all(test(row) for test in still) for row in initial.rows[goal.table])
    return alike <= goal.least


def _touches(change: Change, where: Condition) -> bool:
    return any(row is not None and where(row) for row in (change.old, change.new))


def _whole(value: JSON, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TaskError(f"{what}: numbers of rows must be whole and not below 0, got {value!r}")
    return value
