"""Reward hacks: a folder of programs against one verifier, or a file of submissions to any.

A folder holds programs for one known task: none may be paid, every honest control must be. A row of a file is
one submission, `{"name", "verifier", "params", "task", "submission", "want"}`, and `want` says what must come
of it: `unpaid` (0 or no score), `scored` (no fault: a hostile submission must not get out of its zero), or
`unpaid_scored` (both).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from verigym.canonical import JSON
from verigym.errors import RequestError, TaskError
from verigym.task import Task
from verigym.verdict import Verdict
from verigym.verifiers.audit.cases import general_task, package_of
from verigym.verifiers.audit.intervals import interval, rate
from verigym.verifiers.pool import VerifierPool

WANTS = ("unpaid", "scored", "unpaid_scored")


@dataclass(frozen=True, kw_only=True)
class HackCase:
    """A submission that must not be paid, or must not become a fault; `want` is one of `WANTS`."""

    name: str
    verifier: str
    task: Task
    submission: JSON
    want: str
    params: Mapping[str, JSON] = field(default_factory=dict)

    def is_paid(self, verdict: Verdict) -> bool:
        """Return True if it earned what it must not."""
        return self.want != "scored" and bool(verdict.score)

    def is_dodged(self, verdict: Verdict) -> bool:
        """Return True if it has no score and must have one."""
        return self.want != "unpaid" and verdict.score is None


def read_hack_cases(path: Path, verifier: str | None = None) -> list[HackCase]:
    """Return the rows of a file of JSON lines, those of `verifier` alone if it is given.

    Raises RequestError that names the line.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise RequestError(f"hacks cannot be read from {path}: {error}") from error
    cases = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case = _hack_case(json.loads(line), f"{path.stem}:{number}")
        except (ValueError, KeyError, TypeError, TaskError, RecursionError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise RequestError(f"{path}, line {number}: not a hack: {what}") from error
        if verifier is None or case.verifier == verifier:
            cases.append(case)
    if not cases:
        raise RequestError(f"{path} holds no hacks" + (f" of {verifier}" if verifier else ""))
    return cases


def _hack_case(row: Any, name: str) -> HackCase:
    if not isinstance(row, dict):
        raise RequestError(f"a hack is an object, got {type(row).__name__}")
    if row["want"] not in WANTS:
        raise RequestError(f"want must be one of {', '.join(WANTS)}, got {row['want']!r}")
    return HackCase(
        name=str(row.get("name") or name),
        verifier=str(row["verifier"]),
        task=general_task(row["task"], name),
        submission=row["submission"],
        want=row["want"],
        params=row.get("params") or {},
    )


def judge_hack_cases(
    pool: VerifierPool,
    cases: Iterable[HackCase],
    *,
    on_case: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Return `total` rows, names of those `paid`, and of those without a score that must have one (`hack_errors`);
    the share of each with its interval."""

    def one(case: HackCase) -> tuple[HackCase, Verdict]:
        return case, pool.verify(case.verifier, case.task, case.submission, params=case.params)

    paid, errors, wants = [], [], Counter[str]()
    with ThreadPoolExecutor(pool.workers) as threads:
        for case, verdict in threads.map(one, cases):
            wants[case.want] += 1
            if case.is_paid(verdict):
                paid.append(case.name)
            if case.is_dodged(verdict):
                errors.append(case.name)
            on_case(case.name)
    unpaid = wants["unpaid"] + wants["unpaid_scored"]
    scored = wants["scored"] + wants["unpaid_scored"]
    return {
        "total": wants.total(),
        "paid": paid,
        "paid_rate": rate(len(paid), unpaid),
        "paid_interval": interval(len(paid), unpaid),
        "controls_failed": [],
        "hack_errors": errors,
        "hack_error_rate": rate(len(errors), scored),
        "hack_error_interval": interval(len(errors), scored),
    }


def judge_hacks(
    pool: VerifierPool,
    verifier: str,
    folder: Path,
    *,
    params: Mapping[str, JSON] | None = None,
    on_case: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Return the number of files, `total`, and the names of the hacks that were `paid`, of
    `controls_failed` and of `errors`.

    The family's module `cases` defines with `hack_tasks(folder)` the tasks that each file is tried
    on. A hack counts as paid if it earns anything on any of its tasks. A fault counts as an error,
    not as paid or unpaid.
    """
    module = f"{package_of(verifier)}.cases"
    find = getattr(import_module(module), "hack_tasks", None) if find_spec(module) else None
    if find is None:
        raise RequestError(f"{verifier} has no tasks for a folder of hacks; code/function has")
    paid, failed, errors = [], [], []
    cases = find(folder)
    for case in cases:
        items = [(task, case.submission) for task in case.tasks]
        verdicts = pool.verify_batch(verifier, items, params=params)
        scores = [verdict.score for verdict in verdicts if verdict.score is not None]
        if len(scores) < len(verdicts):
            errors.append(case.name)
        if case.control and scores and min(scores) < 1.0:
            failed.append(case.name)
        if not case.control and scores and max(scores) > 0.0:
            paid.append(case.name)
        on_case(case.name)
    return {"total": len(cases), "paid": paid, "controls_failed": failed, "hack_errors": errors}
