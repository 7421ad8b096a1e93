"""Labelled cases as tasks: rows of JSON with `gold`, `answer`, `label` and perhaps `question`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verigym.task import Task


def task_of(row: Mapping[str, Any]) -> Task:
    """The task that a row asks about; its submission is `row["answer"]`."""
    reference: dict[str, Any] = {"answer": row["gold"]}
    if row.get("question"):
        reference["question"] = row["question"]
    return Task(
        id=str(row.get("id", "case")),
        env_id="verigym/math/cases",
        seed=0,
        prompt=row.get("question") or "Give the value.",
        difficulty="any",
        reference=reference,
    )
