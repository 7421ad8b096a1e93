"""A folder of reward hacks against a verifier: none may be paid, every honest control must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from verigym.canonical import JSON
from verigym.errors import RequestError
from verigym.verifiers.audit.cases import package_of
from verigym.verifiers.pool import VerifierPool


def judge_hacks(
    pool: VerifierPool,
    verifier: str,
    folder: Path,
    *,
    params: Mapping[str, JSON] | None = None,
    on_case: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """`total` files, names of those `paid` that are hacks, of `controls_failed`, and of `errors`.

    The family's module `cases` says with `hack_tasks(folder)` what each file is tried on. A hack is
    paid where it earns anything on any of its tasks. A fault is neither: it is an error.
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
