"""Reads the state of a world: tables of rows, from plain data, JSON text or an SQLite dump.

A dump is SQL, so it is run in a fresh database in memory whose authoriser lets through only what dumps
of tables are made of: CREATE TABLE and INDEX, INSERT, transactions, and plain functions of text and
numbers (`_FUNCTIONS`). Blobs are read as hexadecimal text, infinities as text. No recursion, no ATTACH, no PRAGMA (but `foreign_keys`), no trigger, view
or virtual table; steps and sizes are bounded, and neither clock nor chance is read.
"""

from __future__ import annotations

import math
import re
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verigym.canonical import JSON, to_json
from verigym.verifiers.text.evidence import show
from verigym.verifiers.text.strict_json import NotJson, check_value, read_json
from verigym.verifiers.tools.dump_functions import bound_functions

MAX_CHARS = 8 << 20
MAX_ROWS = 50_000
_STEPS = 20_000_000
_STEPS_AT_ONCE = 100
_CPU_S = 4.0
"""Processor seconds for loading a dump: a step may work on megabytes. Ordinary dumps of 8 MiB take
less than two."""

Row = Mapping[str, JSON]


class BadState(ValueError):
    """Raised if the given value is not a state: `reason` is a code for verdicts."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class ToolTables:
    """Rows of each table; `keys` are the primary keys, if the source declares them."""

    rows: Mapping[str, Sequence[Row]]
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    from_sqlite: bool = False


def read_tables(state: JSON) -> ToolTables:
    """Return the tables of a state: `{table: [row, ...]}`, `{"tables": ...}`, `{"sqlite": dump}`, or text
    that is one of these in JSON, or a dump. Raises BadState."""
    try:
        if isinstance(state, str):
            if len(state) > MAX_CHARS:
                raise BadState("too_long", f"a state has at most {MAX_CHARS} characters")
            if not state.lstrip().startswith("{"):
                return _from_dump(state)
            state = read_json(state, MAX_CHARS)
        else:
            if len(to_json(state)) > MAX_CHARS:
                raise BadState("too_long", f"a state has at most {MAX_CHARS} bytes")
            check_value(state)
    except NotJson as error:
        raise BadState(error.reason, str(error)) from error
    if not isinstance(state, dict):
        raise BadState("bad_state", f"a state is tables of rows, not {show(state)}")
    if state.keys() == {"sqlite"}:
        if not isinstance(state["sqlite"], str):
            raise BadState("bad_state", "sqlite must be the text of a dump")
        return _from_dump(state["sqlite"])
    tables = state["tables"] if state.keys() == {"tables"} else state
    if not isinstance(tables, dict):
        raise BadState("bad_state", "tables must be an object of lists of rows")
    total = 0
    for name, rows in tables.items():
        if not isinstance(rows, list | tuple) or not all(isinstance(row, dict) for row in rows):
            raise BadState("bad_state", f"table {show(name)} must be a list of rows")
        total += len(rows)
        if total > MAX_ROWS:
            raise BadState("too_long", f"more than {MAX_ROWS} rows")
    return ToolTables(tables)


_ALLOWED = frozenset(
    {
        sqlite3.SQLITE_CREATE_TABLE,
        sqlite3.SQLITE_CREATE_INDEX,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_REINDEX,
        sqlite3.SQLITE_SELECT,  # VALUES with several rows is a SELECT to SQLite
    }
)
# The first three write values; the others stand in checks and defaults of ordinary tables.
_FUNCTION_NAMES = (
    "replace char unistr abs coalesce glob ifnull instr json_valid length like lower ltrim max min "
    "nullif round rtrim substr trim typeof upper"
)
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
# A default of a column is not shown to the authoriser, so these are replaced by ones that fail.
_CHANCE_NAMES = (
    "random randomblob current_timestamp current_date current_time datetime date time julianday "
    "strftime unixepoch timediff"
)
_CHANCE = tuple(_CHANCE_NAMES.split())
_CATALOGUES = frozenset({"sqlite_master", "sqlite_schema", "sqlite_sequence"})
# No white space before it: a million blanks would each be tried as the first, which takes hours.
_PRAGMA = re.compile(r"\bPRAGMA\s+foreign_keys\s*=\s*(?:OFF|ON|0|1)\s*;", re.IGNORECASE)


def _from_dump(dump: str) -> ToolTables:
    if len(dump) > MAX_CHARS:
        raise BadState("too_long", f"a dump has at most {MAX_CHARS} characters")
    if "\0" in dump:
        raise BadState("bad_dump", "a dump holds no NUL characters")
    # No transaction of the module's own; the dump brings its own, or none.
    connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CHARS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 50)
        connection.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, 500)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        # SQLite may use 8 MiB of pages for 8 MiB of text, and some more: 64 MiB are never passed.
        connection.execute("PRAGMA max_page_count = 16384")
        left = _STEPS // _STEPS_AT_ONCE
        ends = time.thread_time() + _CPU_S

        def is_late() -> bool:
            return time.thread_time() > ends

        def count_down() -> bool:
            nonlocal left
            left -= 1
            return left < 0 or is_late()

        def authorise(*asked: Any) -> int:
            # Short statements end before the progress handler is called, but each must be authorised.
            return sqlite3.SQLITE_DENY if is_late() else _authorise(*asked)

        bound_functions(connection, MAX_CHARS, is_late)

        for function in _CHANCE:
            connection.create_function(function, -1, _no_chance)
        connection.set_progress_handler(count_down, _STEPS_AT_ONCE)
        connection.set_authorizer(authorise)
        connection.executescript(_PRAGMA.sub("", dump, count=1))
        connection.set_authorizer(None)
        # Generated columns are computed only when they are read.
        return _read_out(connection, is_late)
    except (sqlite3.Error, sqlite3.Warning, UnicodeEncodeError) as error:
        raise BadState("bad_dump", f"the dump does not load: {show(str(error), 120)}") from error
    finally:
        connection.close()


def _no_chance(*_: object) -> None:
    raise ValueError("neither chance nor clocks")


def _authorise(
    action: int, first: str | None, second: str | None, schema: str | None, trigger: str | None
) -> int:
    if action in _ALLOWED:
        return sqlite3.SQLITE_OK if schema in ("main", None) else sqlite3.SQLITE_DENY
    if action in (sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_READ, sqlite3.SQLITE_DELETE):
        # CREATE TABLE writes the catalogue so; checks and defaults read their own table.
        own = first in _CATALOGUES or action == sqlite3.SQLITE_READ
        return sqlite3.SQLITE_OK if own else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _read_out(connection: sqlite3.Connection, is_late: Callable[[], bool]) -> ToolTables:
    names = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        )
        if not name.startswith("sqlite_")
    ]
    rows: dict[str, list[Row]] = {}
    keys: dict[str, tuple[str, ...]] = {}
    total = 0
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        columns = list(connection.execute(f"PRAGMA table_info({quoted})"))
        primary = tuple(c[1] for c in sorted(columns, key=lambda c: int(c[5])) if c[5])
        if primary:
            keys[name] = primary
        cursor = connection.execute(f"SELECT * FROM {quoted}")
        titles = [column[0] for column in cursor.description]
        rows[name] = []
        for values in cursor:
            total += 1
            if total > MAX_ROWS:
                raise BadState("too_long", f"more than {MAX_ROWS} rows")
            if is_late():
                raise BadState("bad_dump", "the dump takes too long to read")
            rows[name].append(dict(zip(titles, map(_plain, values), strict=True)))
    return ToolTables(rows, keys, True)


def _plain(value: JSON | bytes) -> JSON:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
