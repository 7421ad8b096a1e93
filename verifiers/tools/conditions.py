"""Conditions on rows: `{column: value or {operator: operand}}`, all of which must hold.

Operators: `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `in` (a list), `not_in`, `contains` (text in a text, or a
value in a list), `null` (true or false), `exists` (whether the row has the column), `near`
(`[value, absolute tolerance]`). Several operators in one object must all hold. A value that is itself an
object is compared by `{"eq": ...}`. Order compares numbers with numbers and texts with texts; all else
is false.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.tools.tables import Row
from verigym.verifiers.tools.values import Sameness

Condition = Callable[[Row], bool]
_MISSING = object()


def compile_where(where: JSON, sameness: Sameness, what: str) -> Condition:
    """Return a test of rows. Raises TaskError, whose message begins with `what`, if it cannot be
    used."""
    if not isinstance(where, dict):
        raise TaskError(f"{what}: where must be an object of columns, got {type(where).__name__}")
    tests: list[tuple[str, Callable[[Any], bool]]] = []
    for column, wanted in where.items():
        if isinstance(wanted, dict):
            if not wanted:
                raise TaskError(f"{what}: the condition on {column!r} is empty")
            for name, operand in wanted.items():
                tests.append((column, _operator(name, operand, sameness, f"{what}, {column!r}")))
        else:
            tests.append((column, _operator("eq", wanted, sameness, what)))

    def holds(row: Row) -> bool:
        return all(test(row.get(column, _MISSING)) for column, test in tests)

    return holds


def _operator(name: str, operand: Any, sameness: Sameness, what: str) -> Callable[[Any], bool]:
    same = sameness.same

    def equal(value: Any) -> bool:
        return value is not _MISSING and same(value, operand)

    if name == "eq":
        return equal
    if name == "ne":
        return lambda value: value is not _MISSING and not same(value, operand)
    if name in _ORDERS:
        order = _ORDERS[name]
        return lambda value: _comparable(value, operand) and order(value, operand)
    if name in ("in", "not_in"):
        if not isinstance(operand, list | tuple):
            raise TaskError(f"{what}: {name} needs a list")
        wanted = name == "in"
        return lambda value: (
            value is not _MISSING and any(same(value, one) for one in operand) is wanted
        )
    if name == "contains":
        return lambda value: (
            sameness.text(operand) in sameness.text(value)
            if isinstance(value, str) and isinstance(operand, str)
            else isinstance(value, list | tuple) and any(same(one, operand) for one in value)
        )
    if name in ("null", "exists"):
        if not isinstance(operand, bool):
            raise TaskError(f"{what}: {name} needs true or false")
        if name == "null":
            return lambda value: value is not _MISSING and (value is None) is operand
        return lambda value: (value is not _MISSING) is operand
    if name == "near":
        if not (
            isinstance(operand, list | tuple) and len(operand) == 2 and all(map(_number, operand))
        ):
            raise TaskError(f"{what}: near needs [value, tolerance]")
        centre, reach = operand
        return lambda value: _number(value) and abs(value - centre) <= reach
    raise TaskError(f"{what}: no operator {name!r}; known: {', '.join(OPERATORS)}")


_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "lt": lambda left, right: left < right,
    "le": lambda left, right: left <= right,
    "gt": lambda left, right: left > right,
    "ge": lambda left, right: left >= right,
}
OPERATORS = ("eq", "ne", *_ORDERS, "in", "not_in", "contains", "null", "exists", "near")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _comparable(left: Any, right: Any) -> bool:
    return (_number(left) and _number(right)) or (isinstance(left, str) and isinstance(right, str))
