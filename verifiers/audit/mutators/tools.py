"""Tool calls and states of worlds: other shapes of the same ones, and ones that differ by a little."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from verigym.canonical import JSON
from verigym.verdict import Verdict
from verigym.verifiers.audit.cases import Case
from verigym.verifiers.tools.read_calls import read_calls

VERIFIERS = frozenset({"tools/call", "tools/state"})


def mutate(case: Case, rng: random.Random) -> Iterator[Case]:
    """Yield other forms of the same calls or state, and ones that differ slightly and must fail."""
    reference = case.task.reference
    if not case.label or not isinstance(reference, dict):
        return
    if "expected" in reference:
        yield from _calls(case, reference, rng)
    elif isinstance(case.submission, dict) and "sqlite" not in case.submission:
        yield from _states(case, reference)


def _calls(case: Case, reference: Mapping[str, JSON], rng: random.Random) -> Iterator[Case]:
    read = read_calls(case.submission)
    if isinstance(read, Verdict) or not read.calls:
        return
    calls: list[dict[str, Any]] = [{"name": c.name, "arguments": c.arguments} for c in read.calls]
    yield _made(case, "as-list", [*calls], 1)
    yield _made(case, "as-json", json.dumps(calls), 1)
    tags = "\n".join(f"<tool_call>{json.dumps(call)}</tool_call>" for call in calls)
    yield _made(case, "tagged", tags, 1)
    yield _made(case, "tagged-after-words", f"I call what is needed.\n{tags}", 1)
    yield _made(case, "fenced", f"```json\n{json.dumps(calls, indent=1)}\n```", 1)
    turned = [{**one, "arguments": dict(reversed([*one["arguments"].items()]))} for one in calls]
    yield _made(case, "arguments-turned", [*turned], 1)
    message = [
        {
            "id": f"c{i}",
            "type": "function",
            "function": {**one, "arguments": json.dumps(one["arguments"])},
        }
        for i, one in enumerate(calls)
    ]
    yield _made(
        case, "as-message", {"role": "assistant", "content": None, "tool_calls": message}, 1
    )
    at = rng.randrange(len(calls))
    one = calls[at]
    for category, changed in (
        ("another-tool", {**one, "name": one["name"] + "_all"}),
        ("argument-more", {**one, "arguments": {**one["arguments"], "zz_more": 1}}),
        ("arguments-as-text", {**one, "arguments": "everything"}),
    ):
        yield _made(case, category, [*calls[:at], changed, *calls[at + 1 :]], 0)
    yield _made(case, "call-more", [*calls, {"name": "zz_more", "arguments": {}}], 0)
    if reference.get("order") != "set":
        yield _made(case, "call-fewer", [*calls[:-1]], 0)
        yield _made(case, "doubled", [*calls, *calls], 0)
    yield _made(case, "spoken-of", f"I have called {', '.join(c['name'] for c in calls)}.", 0)
    yield _made(case, "breaks-off", json.dumps(calls)[:-2], 0)


def _states(case: Case, reference: Mapping[str, JSON]) -> Iterator[Case]:
    submission = case.submission
    assert isinstance(submission, dict)
    tables = submission["tables"] if submission.keys() == {"tables"} else submission
    if not isinstance(tables, dict) or not all(isinstance(rows, list) for rows in tables.values()):
        return
    yield _made(case, "under-tables", {"tables": tables}, 1)
    yield _made(case, "as-json", json.dumps(tables), 1)
    yield _made(case, "rows-turned", {name: rows[::-1] for name, rows in tables.items()}, 1)
    turned = {
        name: [dict(reversed([*row.items()])) for row in rows]
        for name, rows in reversed([*tables.items()])
    }
    yield _made(case, "columns-turned", turned, 1)
    if "allowed" in reference:
        return
    if not reference.get("no_change"):
        yield _made(case, "untouched", reference["initial"], 0)
    yield _made(case, "no-tables", {}, 0)
    yield _made(case, "table-more", {**tables, "zz_more": [{"id": 1}]}, 0)
    yield _made(case, "all-rows-gone", {name: [] for name in tables}, 0)
    yield _made(case, "claimed", {"goals": [{"met": True}], **tables}, 0)
    for name, rows in tables.items():
        if rows and isinstance(rows[0], dict):
            marked = [{**row, "zz_more": 1} for row in rows]
            yield _made(case, "column-more", {**tables, name: marked}, 0)


def _made(case: Case, category: str, submission: JSON, label: int) -> Case:
    name = f"{case.name}>{category}"
    return replace(case, name=name, label=label, category=category, submission=submission)
