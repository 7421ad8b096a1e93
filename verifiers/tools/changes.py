"""Changes between two states: rows inserted, deleted and updated, and tables removed or added.

Rows of a table with a key are matched by it; a table without a key is a multiset of rows, and a
changed row counts as one deleted and one inserted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from verigym.canonical import JSON, to_json
from verigym.verifiers.tools.tables import BadState, Row, ToolTables
from verigym.verifiers.tools.values import Sameness

Key = tuple[bytes, ...]


@dataclass(frozen=True)
class Change:
    """One row that differs. `kind` is insert, delete or update; `columns` are those that differ."""

    table: str
    kind: str
    old: Row | None
    new: Row | None
    columns: frozenset[str] = frozenset()


def find_keys(
    initial: ToolTables, named: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Return the key of each table: as the reference names it, else the declared one, else `id` where every
    row of the initial state has one of its own."""
    keys: dict[str, tuple[str, ...]] = {}
    for table, rows in initial.rows.items():
        key = tuple(named.get(table, ())) or initial.keys.get(table, ())
        if not key and rows and all("id" in row for row in rows):
            key = ("id",) if len({_key(row, ("id",)) for row in rows}) == len(rows) else ()
        if key:
            keys[table] = key
    return keys


def by_key(rows: Sequence[Row], key: Sequence[str], table: str) -> dict[Key, Row]:
    """Return the rows by key. Raises BadState if two rows share a key or a column of the key is
    missing."""
    found: dict[Key, Row] = {}
    for row in rows:
        if any(column not in row for column in key):
            raise BadState("bad_rows", f"a row of table {table!r} lacks a column of its key")
        found[_key(row, key)] = row
    if len(found) != len(rows):
        raise BadState("bad_rows", f"two rows of table {table!r} share a key")
    return found


def find_changes(
    initial: ToolTables, final: ToolTables, keys: Mapping[str, tuple[str, ...]], sameness: Sameness
) -> list[Change]:
    """Return every row that differs, in an order that does not depend on that of rows.

    Raises BadState as `by_key` does.
    """
    changes: list[Change] = []
    for table in sorted(initial.rows.keys() | final.rows.keys()):
        old, new = initial.rows.get(table, ()), final.rows.get(table, ())
        if table in keys:
            changes += _keyed(table, old, new, keys[table], sameness)
        else:
            changes += _bag(table, old, new, sameness)
    changes.sort(key=_order)
    return changes


def _order(change: Change) -> tuple[str, str, bytes]:
    row = change.new if change.old is None else change.old
    return change.table, change.kind, to_json(row)


def _keyed(
    table: str, old: Sequence[Row], new: Sequence[Row], key: Sequence[str], sameness: Sameness
) -> list[Change]:
    before, after = by_key(old, key, table), by_key(new, key, table)
    changes: list[Change] = []
    for name, row in before.items():
        if name not in after:
            changes.append(Change(table, "delete", row, None))
            continue
        other = after[name]
        if row == other and not _has_bool(row, other):
            continue
        columns = frozenset(
            column
            for column in row.keys() | other.keys()
            if (column in row) != (column in other) or not sameness.same(row[column], other[column])
        )
        if columns:
            changes.append(Change(table, "update", row, other, columns))
    changes += [
        Change(table, "insert", None, row) for name, row in after.items() if name not in before
    ]
    return changes


def _bag(table: str, old: Sequence[Row], new: Sequence[Row], sameness: Sameness) -> list[Change]:
    before = Counter(_whole(row, sameness) for row in old)
    after = Counter(_whole(row, sameness) for row in new)
    gone, come = before - after, after - before
    changes: list[Change] = []
    for kind, rows, left in (("delete", old, gone), ("insert", new, come)):
        for row in rows:
            name = _whole(row, sameness)
            if left[name]:
                left[name] -= 1
                changes.append(
                    Change(table, kind, row, None)
                    if kind == "delete"
                    else Change(table, kind, None, row)
                )
    return changes


def booleans_as_numbers(tables: ToolTables) -> ToolTables:
    """Return the same tables as SQLite would hold them: true is 1, false is 0."""
    return replace(
        tables,
        rows={
            name: [
                {c: int(v) if isinstance(v, bool) else v for c, v in row.items()} for row in rows
            ]
            for name, rows in tables.rows.items()
        },
    )


def count_rows(tables: ToolTables) -> int:
    """Return the number of rows of all tables."""
    return sum(len(rows) for rows in tables.rows.values())


def changed_by_table(changes: Sequence[Change]) -> dict[str, Counter[str]]:
    """Return the number of changed rows of each table, by kind of change."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for change in changes:
        found[change.table][change.kind] += 1
    return dict(found)


def _key(row: Row, key: Sequence[str]) -> Key:
    return tuple(to_json(_plain(row[column])) for column in key)


def _whole(row: Row, sameness: Sameness) -> bytes:
    return to_json({column: _normal(value, sameness) for column, value in row.items()})


def _normal(value: JSON, sameness: Sameness) -> JSON:
    if isinstance(value, str):
        return sameness.text(value)
    if isinstance(value, dict):
        return {key: _normal(inner, sameness) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(inner, sameness) for inner in value]
    return _plain(value)


def _plain(value: JSON) -> JSON:
    """1.0 as 1, so that equal numbers are equal keys."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _has_bool(*rows: Row) -> bool:
    # Python's True equals 1; ours does not.
    return any(isinstance(value, bool | list | dict) for row in rows for value in row.values())
