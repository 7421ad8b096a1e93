"""`KNOWN` and `KNOWN_TO_SOLVERS`: the operators, functions and methods of programs that the library itself wrote.

Python's own, which cost nothing but are bounded in what they make: numbers of 256 bits, and 5,000 items or
characters. Nothing here reaches a file, a module, an attribute or the interpreter itself.
"""

from __future__ import annotations

import operator
import types
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from verigym.verifiers.code.counted.library import ProgramLibrary
from verigym.verifiers.code.counted.state import FailedProgram, OutOfSteps, RefusedProgram

MAX_ITEMS = 5_000
_LARGEST = 1 << 256
_MOST_SHIFT, _MOST_SHIFT_FOR_SOLVERS = 64, 1000
_SIZED = (str, list, tuple, dict, set, deque)

FAILURES = (
    *(
        ArithmeticError,
        AttributeError,
        EOFError,
        FailedProgram,
        LookupError,
        MemoryError,
        NameError,
    ),
    *(RecursionError, RuntimeError, StopIteration, TypeError, ValueError),
)
"""Exceptions that a program may raise, as in Python; OutOfSteps is none of its own, so catch that first."""


def check_items(count: int) -> None:
    """Raise OutOfSteps for more items than a value may have."""
    if count > MAX_ITEMS:
        raise OutOfSteps(f"more than {MAX_ITEMS} items")


def check_size(value: Any) -> None:
    """Raise OutOfSteps for a value with more items than it may have."""
    if isinstance(value, _SIZED):
        check_items(len(value))


def _bounded(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def run(meter: Any, a: Any, b: Any) -> Any:
        value = operate(a, b)
        if isinstance(value, int) and abs(value) > _LARGEST:
            raise OutOfSteps("a number of more than 256 bits")
        if isinstance(value, str | list | tuple):
            check_items(len(value))
        return value

    return run


def _multiply(a: Any, b: Any) -> Any:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, str | list | tuple) and isinstance(other, int):
            check_items(len(one) * other)
    return a * b


def _modulo(a: Any, b: Any) -> Any:
    if isinstance(a, str):
        raise RefusedProgram("formatting by % is not available")
    return a % b


def _limited(
    operate: Callable[[int, int], int], most: int = _MOST_SHIFT
) -> Callable[[Any, Any, Any], int]:
    """A power or a shift, whose right side is limited instead of its value."""

    def run(meter: Any, a: Any, b: Any) -> int:
        if not (isinstance(a, int) and isinstance(b, int) and 0 <= b <= most):
            raise RefusedProgram("this power or shift is not available")
        return operate(a, b)

    return run


def _store(meter: Any, holder: Any, at: Any, value: Any) -> None:
    if type(holder) not in (list, dict, deque):
        raise TypeError("no item of it can be set")
    holder[at] = value


def _map(function: Callable[..., Any], *sources: Iterable[Any]) -> Iterator[Any]:
    return map(function, *sources)


def _method(name: str) -> Callable[..., Any]:
    return lambda holder, *args, **named: getattr(holder, name)(*args, **named)


def _methods(names: str) -> dict[str, Callable[..., Any]]:
    return {name: _method(name) for name in names.split()}


def _plain(operate: Callable[..., Any]) -> Callable[..., Any]:
    return lambda meter, *values: operate(*values)


_FUNCTIONS: dict[str, Callable[..., Any]] = {"map": _map} | {
    function.__name__: function
    for function in (
        *(abs, all, any, bool, chr, dict, divmod, enumerate, int, len, list, max, min, ord),
        *(range, reversed, set, sorted, str, sum, tuple, zip),
    )
}
_METHODS: Mapping[type, Mapping[str, Callable[..., Any]]] = {
    str: _methods(
        "split join upper lower startswith endswith isdigit isalpha isupper islower find count replace strip index"
    ),
    list: _methods("append pop insert reverse sort index count extend remove clear"),
    dict: _methods("get items keys values setdefault pop update"),
    set: _methods("add discard remove update"),
    deque: _methods("append appendleft pop popleft"),
    tuple: _methods("index count"),
}

KNOWN = ProgramLibrary(
    operators={
        "Add": _bounded(operator.add),
        "Sub": _bounded(operator.sub),
        "Mult": _bounded(_multiply),
        "FloorDiv": _bounded(operator.floordiv),
        "Div": _bounded(operator.truediv),
        "Mod": _bounded(_modulo),
        "BitAnd": _bounded(operator.and_),
        "BitOr": _bounded(operator.or_),
        "BitXor": _bounded(operator.xor),
        "Pow": _limited(operator.pow),
        "LShift": _limited(operator.lshift),
    },
    in_place={},
    unary={"Not": _plain(operator.not_), "USub": _plain(operator.neg)},
    comparisons={
        "Eq": _plain(operator.eq),
        "NotEq": _plain(operator.ne),
        "Lt": _plain(operator.lt),
        "LtE": _plain(operator.le),
        "Gt": _plain(operator.gt),
        "GtE": _plain(operator.ge),
        "In": lambda meter, a, b: a in b,
        "NotIn": lambda meter, a, b: a not in b,
        "Is": _plain(operator.is_),
        "IsNot": _plain(operator.is_not),
    },
    functions=_FUNCTIONS,
    methods=_METHODS,
    load_item=_plain(operator.getitem),
    store_item=_store,
    load_slice=lambda meter, holder, low, high, step: holder[low:high:step],
    make_set=_plain(set),
)
KNOWN_TO_SOLVERS = replace(
    KNOWN,
    operators={
        **KNOWN.operators,
        "LShift": _limited(operator.lshift, _MOST_SHIFT_FOR_SOLVERS),
        "RShift": _limited(operator.rshift, _MOST_SHIFT_FOR_SOLVERS),
    },
    functions=_FUNCTIONS
    | {
        function.__name__: function
        for function in (bin, frozenset, isinstance, iter, next, pow, repr, round)
    },
    methods={
        **_METHODS,
        int: _methods("bit_count bit_length"),
        type: _methods("fromkeys"),
        types.ModuleType: _methods("findall"),
        Counter: _METHODS[dict],
        str: {**_METHODS[str], **_methods("ljust rjust title rfind splitlines isalnum islower")},
    },
)
"""Wider, for programs that were not made by changing others at random."""
