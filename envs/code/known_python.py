"""The part of Python that our interpreter (interpret.py) knows: operators, functions and methods.

Nothing here reaches a file, a module, an attribute or the interpreter itself.
"""

from __future__ import annotations

import ast
import operator
from collections import deque
from collections.abc import Callable
from typing import Any

BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        [
            *("split", "join", "upper", "lower", "startswith", "endswith", "isdigit", "isalpha"),
            *("isupper", "islower", "find", "count", "replace", "strip", "index"),
        ]
    ),
    list: frozenset(
        [
            *("append", "pop", "insert", "reverse", "sort", "index", "count", "extend"),
            *("remove", "clear"),
        ]
    ),
    dict: frozenset(["get", "items", "keys", "values", "setdefault", "pop", "update"]),
    set: frozenset(["add", "discard", "remove", "update"]),
    deque: frozenset(["append", "appendleft", "pop", "popleft"]),
    tuple: frozenset(["index", "count"]),
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        *(abs, all, any, bool, chr, dict, divmod, enumerate, int, len, list, max, min, ord),
        *(range, reversed, set, sorted, str, sum, tuple, zip),
    )
}
FAILURES = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, NameError),
    *(RecursionError, RuntimeError, StopIteration, TypeError, ValueError),
)
"""Exceptions that a program may raise, as in Python."""
