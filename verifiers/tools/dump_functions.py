"""SQLite's functions of text that take quadratic time, in linear time, for dumps that nobody vouches for.

A dump of a kilobyte could keep SQLite's own `instr`, `replace` and `trim` busy for hours inside of one step,
where no progress handler can stop them. Results are those of SQLite for text, numbers and NULL; blobs are
refused, since no dump of ordinary tables hands them to these functions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

Value = str | int | float | bytes | None


def bound_functions(
    connection: sqlite3.Connection, max_chars: int, is_late: Callable[[], bool]
) -> None:
    """Give `connection` these functions. They fail once it is late, or for a text above `max_chars`."""

    def replace(text: Value, old: Value, new: Value) -> str | None:
        if text is None or old is None or new is None:
            return None
        whole, what, by = _text(text), _text(old), _text(new)
        if not what:
            return whole
        if len(whole) + whole.count(what) * (len(by) - len(what)) > max_chars:
            raise ValueError("too long")
        return whole.replace(what, by)

    def in_time(function: Callable[..., Value]) -> Callable[..., Value]:
        def call(*given: Value) -> Value:
            if is_late():
                raise TimeoutError
            return function(*given)

        return call

    functions: dict[str, tuple[int, Callable[..., Value]]] = {
        "replace": (3, replace),
        "instr": (2, _instr),
        "trim": (-1, lambda *given: _trim(True, True, *given)),
        "ltrim": (-1, lambda *given: _trim(True, False, *given)),
        "rtrim": (-1, lambda *given: _trim(False, True, *given)),
    }
    for name, (arguments, function) in functions.items():
        connection.create_function(name, arguments, in_time(function), deterministic=True)


def _instr(text: Value, part: Value) -> int | None:
    if text is None or part is None:
        return None
    return _text(text).find(_text(part)) + 1


def _trim(left: bool, right: bool, text: Value, signs: Value = " ") -> str | None:
    if text is None or signs is None:
        return None
    whole, away = _text(text), frozenset(_text(signs))
    start, end = 0, len(whole)
    while left and start < end and whole[start] in away:
        start += 1
    while right and end > start and whole[end - 1] in away:
        end -= 1
    return whole[start:end]


def _text(value: Value) -> str:
    if isinstance(value, bytes):
        raise ValueError("no blobs")
    return value if isinstance(value, str) else str(value)
