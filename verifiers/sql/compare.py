"""The results that a reference allows on one database, and the comparison of a result with them.

A result under ORDER BY is a row of segments: rows of equal sort keys, which may stand in any order.
LIMIT may cut a segment: any of its rows will do then. Without order there is one segment of all.

Numbers: two whole numbers are equal or not; a whole number and a float are equal within a relative 1e-12,
which rounding errors stay below; two floats within 1e-6.
"""

from __future__ import annotations

import datetime
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlglot import exp

from verigym.verifiers.sql.engine import Rows

_DIGITS = 9
_FLOATS = {"rel_tol": 1e-6, "abs_tol": 1e-9}
_EXACT = {"rel_tol": 1e-12, "abs_tol": 1e-12}
_MAX_WHOLE = 2**53
"""Floats beyond hold no fractions, and not every whole number."""


@dataclass(frozen=True)
class Window:
    """A reference to be run so that its ties show: without LIMIT, with its sort keys appended."""

    tree: exp.Expr
    keys: tuple[int, ...]
    """Columns that hold the sort keys; the last `extra` ones are not part of the result."""
    extra: int
    offset: int
    limit: int | None


@dataclass(frozen=True)
class Expected:
    """Segments in order; each gives `take` of its rows."""

    segments: tuple[tuple[Rows, int], ...]
    width: int

    @property
    def count(self) -> int:
        return sum(take for _, take in self.segments)


def window_of(tree: exp.Expr) -> Window | None:
    """Return `tree` as it is run so that ties show; None if that is unknown or not needed."""
    order, limit, offset = (tree.args.get(part) for part in ("order", "limit", "offset"))
    if not (order or limit or offset) or not isinstance(tree, exp.Query):
        return None
    plain = tree.copy()
    for part in ("order", "limit", "offset"):
        plain.set(part, None)
    size, skip = _number(limit), _number(offset) or 0
    if (limit and size is None) or (offset and _number(offset) is None):
        return None
    if limit is not None and limit.args.get("offset") is not None:
        return None
    if not order:
        return Window(plain, (), 0, skip, size)
    names = [item.alias_or_name for item in tree.selects]
    starred = tree.is_star
    keys: list[int] = []
    added: list[exp.Expr] = []
    for item in order.expressions:
        key = item.this
        if isinstance(key, exp.Literal) and not key.is_string and not starred:
            at = int(key.name) - 1
            if not 0 <= at < len(names):
                return None
            keys.append(at)
        elif isinstance(key, exp.Column) and not key.table and key.name in names and not starred:
            keys.append(names.index(key.name))
        elif isinstance(plain, exp.Select) and not plain.args.get("distinct"):
            added.append(_inlined(key.copy(), tree))
            keys.append(-len(added))
        else:
            found = [at for at, one in enumerate(tree.selects) if one.unalias() == key]
            if not found or not isinstance(plain, exp.Select):
                return None
            keys.append(found[0])
    if added:
        for number, key in enumerate(added):
            plain.append("expressions", exp.alias_(key, f"_key{number}", quoted=True))
    # Negative places count from the first added one: -1 is the first.
    total = len(added)
    places = tuple(key if key >= 0 else -(total + key + 1) for key in keys)
    plain.set("order", order.copy())
    return Window(plain, places, total, skip, size)


def _inlined(key: exp.Expr, tree: exp.Query) -> exp.Expr:
    """A sort key with the SELECT's own aliases written out."""
    known = {item.alias: item.this for item in tree.selects if isinstance(item, exp.Alias)}

    def swap(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table and node.name in known:
            return exp.Paren(this=known[node.name].copy())
        return node

    return key.transform(swap, copy=False)


def _number(node: exp.Expr | None) -> int | None:
    if node is None:
        return None
    inner = node.args.get("expression") or node.args.get("count")
    if isinstance(inner, exp.Literal) and not inner.is_string and inner.name.isdigit():
        return int(inner.name)
    return None


def cut(rows: Rows, window: Window | None, width: int, ordered: bool) -> Expected:
    """Return the results that a reference allows, from its rows."""
    if window is None:
        if ordered:
            return Expected(tuple(([row], 1) for row in rows), width)
        return Expected(((rows, len(rows)),) if rows else (), width)
    groups: list[tuple[object, Rows]] = []
    for row in rows:
        key = tuple(cell(row[at]) for at in window.keys)
        shown = row[: len(row) - window.extra] if window.extra else row
        if groups and groups[-1][0] == key:
            groups[-1][1].append(shown)
        else:
            groups.append((key, [shown]))
    start, stop = window.offset, math.inf if window.limit is None else window.offset + window.limit
    segments: list[tuple[Rows, int]] = []
    at = 0
    for _, group in groups:
        take = int(min(stop, at + len(group)) - max(start, at))
        if take > 0:
            segments.append((group, take))
        at += len(group)
    return Expected(tuple(segments), width)


def allows(expected: Expected, rows: Rows, *, ordered: bool, bag: bool) -> bool:
    """Return True if `rows` is a result that the reference could have given."""
    if not bag:
        if any(take < len(group) for group, take in expected.segments):
            return _allows_bag(expected, rows)
        everything = [row for group, _ in expected.segments for row in group]
        return same_bag(_distinct(everything), _distinct(rows))
    if len(rows) != expected.count:
        return False
    if not ordered:
        return _allows_bag(expected, rows)
    at = 0
    for group, take in expected.segments:
        part = rows[at : at + take]
        at += take
        if not (same_bag(group, part) if take == len(group) else within(group, part)):
            return False
    return True


def _allows_bag(expected: Expected, rows: Rows) -> bool:
    whole: Rows = []
    partial: Rows = []
    for group, take in expected.segments:
        (whole if take == len(group) else partial).extend(group)
    if len(rows) != expected.count:
        return False
    if not partial:
        return same_bag(whole, rows)
    return within(whole + partial, rows) and within(rows, whole)


def _distinct(rows: Rows) -> Rows:
    return list({tuple(map(cell, row)): row for row in rows}.values())


def cell(value: Any) -> Any:
    """Return a cell as it is compared: numbers by value, days and moments as texts."""
    if value is None or isinstance(value, str):
        if isinstance(value, str) and value.endswith(" 00:00:00"):
            return value[:-9]
        return value
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, float | Decimal):
        number = float(value)
        if not math.isfinite(number):
            return str(number)
        whole = round(number)
        if abs(number) < _MAX_WHOLE and math.isclose(number, whole, **_EXACT):
            return whole
        rounded = float(f"{number:.{_DIGITS}g}")
        # 29.0000000001 is no 29, which it would be equal to if it were rounded.
        return number if rounded.is_integer() else rounded
    if isinstance(value, datetime.datetime):
        return cell(value.replace(tzinfo=None).isoformat(sep=" ", timespec="seconds"))
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.days if not value.seconds else value.total_seconds()
    if isinstance(value, list | tuple):
        return tuple(cell(item) for item in value)
    return str(value)


def same_bag(left: Rows, right: Rows) -> bool:
    """Compare two bags of rows, numbers as the module says."""
    if len(left) != len(right):
        return False
    one, other = ([tuple(map(cell, row)) for row in rows] for rows in (left, right))
    if one == other or Counter(one) == Counter(other):
        return True
    if not any(
        isinstance(value, float | Decimal) for rows in (left, right) for r in rows for value in r
    ):
        return False
    pairs = zip(_ranked(left, one), _ranked(right, other), strict=True)
    return all(len(a) == len(b) and all(map(_is_close, a, b)) for a, b in pairs)


def within(bag: Rows, part: Rows) -> bool:
    """Return True if `part` is a sub-bag of `bag`."""
    left = Counter(tuple(map(cell, row)) for row in bag)
    left.subtract(tuple(map(cell, row)) for row in part)
    return min(left.values(), default=0) >= 0


def _rank(row: tuple[Any, ...]) -> tuple[tuple[int, Any], ...]:
    return tuple(
        (0, 0) if v is None else (1, v) if isinstance(v, int | float) else (2, str(v)) for v in row
    )


def _ranked(rows: Rows, cells: Sequence[tuple[Any, ...]]) -> Rows:
    """Rows in the order of their cells."""
    order = sorted(range(len(rows)), key=lambda at: _rank(cells[at]))
    return [rows[at] for at in order]


def _is_close(left: Any, right: Any) -> bool:
    one, other = cell(left), cell(right)
    if one == other or not (isinstance(one, int | float) and isinstance(other, int | float)):
        return bool(one == other)
    exact = _is_exact(left) + _is_exact(right)
    if exact == 2 or max(abs(one), abs(other)) > sys.float_info.max:
        return False
    return math.isclose(one, other, **(_EXACT if exact else _FLOATS))


def _is_exact(value: Any) -> bool:
    """Return True if a number is whole by its type; SUM in PostgreSQL gives whole decimals."""
    if isinstance(value, Decimal):
        return int(value.as_tuple().exponent) >= 0 if value.is_finite() else False
    return isinstance(value, int)


def fragile(tree: exp.Expr) -> bool:
    """Return True if a result may depend on the order in which rows are stored."""
    for node in tree.walk():
        if isinstance(
            node, exp.Limit | exp.Fetch | exp.Window | exp.AnyValue | exp.ArrayAgg | exp.First
        ):
            return True
        if isinstance(node, exp.Select) and _loose(node):
            return True
    return False


def is_case_fragile(tree: exp.Expr) -> bool:
    """Return True if a result shows one of several texts that differ by case alone, in a dialect that folds."""
    return tree.find(
        exp.Group, exp.Distinct, exp.Min, exp.Max, exp.Intersect, exp.Except
    ) is not None or any(node.args.get("distinct") for node in tree.find_all(exp.Union))


def has_case_twins(database: Mapping[str, Sequence[tuple[Any, ...]]]) -> bool:
    """Return True if two texts of a database differ by case alone."""
    texts = {
        cell for rows in database.values() for row in rows for cell in row if isinstance(cell, str)
    }
    return len({text.casefold() for text in texts}) < len(texts)


def _loose(select: exp.Select) -> bool:
    """Return True if a SELECT shows a column that is neither grouped nor aggregated."""
    group = select.args.get("group")
    shown = [*select.expressions, *([select.args["having"]] if select.args.get("having") else [])]
    if not group and not any(_aggregates(item) for item in shown):
        return False
    keys: Sequence[exp.Expr] = group.expressions if group else ()
    names = {key.name for key in keys if isinstance(key, exp.Column)}
    names |= {shown[int(k.name) - 1].alias_or_name for k in keys if _ordinal(k, len(shown))}
    names |= {item.alias for item in select.expressions if item.alias and item.unalias() in keys}
    return any(
        column.name not in names
        for item in shown
        if item.unalias() not in keys and item.alias_or_name not in names
        for column in _outside(item)
    )


def _ordinal(key: exp.Expr, count: int) -> bool:
    return isinstance(key, exp.Literal) and key.name.isdigit() and 0 < int(key.name) <= count


def _aggregates(item: exp.Expr) -> bool:
    stack = [item]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Window):
            return True
        if not isinstance(node, exp.Query | exp.Window):
            stack.extend(node.iter_expressions())
    return False


def _outside(item: exp.Expr) -> list[exp.Column]:
    """Columns that stand outside aggregates and subqueries."""
    found: list[exp.Column] = []
    stack = [item]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Column):
            found.append(node)
        elif not isinstance(node, exp.Query | exp.AggFunc | exp.Subquery):
            stack.extend(node.iter_expressions())
    return found
