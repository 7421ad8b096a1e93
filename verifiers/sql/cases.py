"""Labelled pairs of queries as cases for the audit.

A row is `{"schema", "query_a", "query_b", "equivalent", "dialect"}`; `query_a` is the reference. Without
a schema it is guessed from the reference.
Public sets label queries as relations: they call two queries equal although only one of them has a
top-level ORDER BY. So a row is compared in order where both queries order, unless it says otherwise
(`"order": "auto"`, as tasks do).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import msgspec

from verigym.errors import RequestError
from verigym.task import Task

_KEPT = ("rows", "setup", "compare", "columns")


def task_of(row: Mapping[str, Any]) -> tuple[Task, str, bool]:
    """Return the task, submission and label of a row. Raises RequestError if a field is missing."""
    missing = {"query_a", "query_b", "equivalent"} - set(row)
    if missing:
        raise RequestError(f"an SQL case needs {', '.join(sorted(missing))}; it has {sorted(row)}")
    reference = {
        "query": row["query_a"],
        "schema": _listed(row.get("schema") or None),
        "dialect": row.get("dialect") or "",
        "order": row.get("order") or "both",
        **{name: row[name] for name in _KEPT if row.get(name) is not None},
    }
    task = Task(
        id=str(row.get("id") or row.get("name") or "case"),
        env_id="sql/case",
        seed=0,
        prompt="",
        difficulty="",
        reference=reference,
    )
    return task, row["query_b"], _label(row["equivalent"])


def _listed(schema: Any) -> Any:
    """The schema with columns as lists, so that a worker sees them in the order of the file."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("tables"), Mapping):
        return schema
    tables = {
        table: [list(pair) for pair in columns.items()] if isinstance(columns, Mapping) else columns
        for table, columns in schema["tables"].items()
    }
    return {**schema, "tables": tables}


def _label(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in ("true", "yes", "1", "equ", "eq", "equivalent")
    return bool(value)


def seeds() -> Iterator[dict[str, Any]]:
    """Return our own labelled pairs, written for this project.

    The file has a row a reference, with the queries that are equivalent to it and the near misses.
    """
    text = files("verigym.verifiers.sql").joinpath("seeds.jsonl").read_text(encoding="utf-8")
    for line in text.splitlines():
        group = msgspec.json.decode(line)
        for label in ("equivalent", "different"):
            for number, query in enumerate(group[label], 1):
                row = {
                    "id": f"{group['category']}/{label}/{number}",
                    "category": group["category"],
                    "schema": group["schema"],
                    "dialect": group["dialect"],
                    "query_a": group["reference"],
                    "query_b": query,
                    "equivalent": label == "equivalent",
                }
                yield {**row, "order": group["order"]} if "order" in group else row
