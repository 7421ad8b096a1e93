"""Reads the hidden reference of an SQL task: query, schema, dialect, and rows of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verifiers.sql.cells import Database
from verigym.verifiers.sql.guess import guessed_tables
from verigym.verifiers.sql.read import RefusedQuery, dialect_of
from verigym.verifiers.sql.schema import Schema, read_schema

_OPTIONS = {
    "order": ("auto", "both", "never", "always"),
    "compare": ("bag", "set"),
    "columns": ("position", "any", "names"),
}


@dataclass(frozen=True)
class Reference:
    """The hidden part of a task."""

    query: str
    schema: Schema
    dialect: str
    rows: Database | None
    options: Mapping[str, Any]


def read_reference(task: Task) -> Reference:
    """Return the reference of `task`. Raises TaskError if it cannot be used."""
    raw = task.reference
    if not isinstance(raw, dict) or not isinstance(raw.get("query"), str):
        raise TaskError(
            f'task {task.id}: the reference must be {{"query": "...", "schema": {{...}}}}'
        )
    dialect = str(raw.get("dialect") or "")
    options = {name: raw[name] for name in _OPTIONS if raw.get(name) is not None}
    for name, value in options.items():
        if value not in _OPTIONS[name]:
            raise TaskError(f"task {task.id}: {name} is one of {_OPTIONS[name]}, got {value!r}")
    schema_raw, rows = raw.get("schema"), raw.get("rows")
    if raw.get("setup"):
        found, rows = _from_script(str(raw["setup"]), dialect, task.id)
        schema_raw = schema_raw or found
    if schema_raw is None:
        schema_raw = _guessed(raw["query"], dialect, task.id)
    schema = read_schema(schema_raw)
    return Reference(raw["query"], schema, dialect, _rows(rows, schema, task.id), options)


def _rows(raw: JSON, schema: Schema, task_id: str) -> Database | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise TaskError(f"task {task_id}: rows must be {{table: [[...]]}}")
    tables: dict[str, list[tuple[Any, ...]]] = {table: [] for table in schema.tables}
    for table, rows in raw.items():
        name = str(table).lower()
        width = len(schema.tables.get(name, ()))
        if not width or any(not isinstance(row, list | tuple) or len(row) != width for row in rows):
            raise TaskError(f"task {task_id}: rows of {table!r} must be lists of {width} values")
        tables[name] = [tuple(row) for row in rows]
    return tables


def _from_script(script: str, dialect: str, task_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Schema and rows that a script of CREATE TABLE and INSERT makes in SQLite."""
    db = sqlite3.connect(":memory:")
    try:
        db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        for statement in sqlglot.parse(script, read=dialect_of(dialect)):
            if isinstance(statement, exp.Create | exp.Insert | exp.Drop | exp.Alter):
                db.execute(statement.sql("sqlite"))
        names = [
            row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        schema: dict[str, Any] = {
            "tables": {},
            "primary": [],
            "unique": [],
            "foreign": [],
            "notnull": [],
        }
        rows = {}
        for name in names:
            quoted = name.replace('"', '""')
            info = list(db.execute(f'PRAGMA table_info("{quoted}")'))
            schema["tables"][name] = [[row[1], row[2]] for row in info]
            schema["notnull"] += [f"{name}.{row[1]}" for row in info if row[3]]
            key = [f"{name}.{row[1]}" for row in sorted(info, key=lambda row: row[5]) if row[5]]
            if key:
                schema["primary"].append(key)
            for index in db.execute(f'PRAGMA index_list("{quoted}")').fetchall():
                if index[2] and index[3] == "u":
                    parts = db.execute(f'PRAGMA index_info("{index[1]}")').fetchall()
                    schema["unique"].append([f"{name}.{part[2]}" for part in parts])
            foreign: dict[int, list[Any]] = {}
            for row in db.execute(f'PRAGMA foreign_key_list("{quoted}")'):
                foreign.setdefault(row[0], []).append(row)
            for parts in foreign.values():
                if all(part[4] for part in parts):
                    schema["foreign"].append(
                        [
                            [f"{name}.{p[3]}" for p in parts],
                            [f"{parts[0][2]}.{p[4]}" for p in parts],
                        ]
                    )
            rows[name] = [list(row) for row in db.execute(f'SELECT * FROM "{quoted}"')]
        return schema, rows
    except (sqlite3.Error, SqlglotError, RefusedQuery) as error:
        raise TaskError(f"task {task_id}: the setup script fails: {error}") from error
    finally:
        db.close()


def _guessed(query: str, dialect: str, task_id: str) -> dict[str, Any]:
    """Tables and columns as far as the reference query names them; kinds are inferred later."""
    try:
        tree = sqlglot.parse_one(query, read=dialect_of(dialect))
    except (SqlglotError, RefusedQuery) as error:
        raise TaskError(f"task {task_id}: the reference query cannot be used: {error}") from error
    tables = guessed_tables(tree)
    if not tables:
        raise TaskError(f"task {task_id}: give a schema; the query names no table")
    return {"tables": tables}
