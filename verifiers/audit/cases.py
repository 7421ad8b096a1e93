"""Labelled cases: from files of rows, and from the seed set that ships with a verifier.

A row is one line of JSON. The general form works for every verifier:

    {"task": {"reference": ..., "prompt": ""}, "submission": ..., "label": 1, "category": "units"}

`task` needs only what the verifier reads; `"grow": false` keeps a seed from being mutated, and
`"hostile": false` says that noise, too, may be right. A family may
read rows of its own: its module `cases` has `task_of(row)`, which gives the task or task, submission and
label. Seeds are what its `seeds()` gives, or lie beside the verifier's module as `seeds/<name>.jsonl`;
a first row `{"params": {...}}` there says with which parameters they are to be judged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from verigym.canonical import JSON
from verigym.errors import RequestError, TaskError, suggestion
from verigym.registry import list_verifiers
from verigym.task import Task

MAIN = {
    "code": "code/function",
    "games": "games/replay",
    "judge": "judge/rubric",
    "math": "math/answer",
    "qa": "qa/answer",
    "sql": "sql/query",
    "text": "text/constraints",
    "tools": "tools/call",
}
"""The verifier to audit if only its family is named."""

TaskOf = Callable[[dict[str, Any]], Task | tuple[Task, JSON, int]]
"""Reads a row of a family's own format: returns the task, the submission and the label, or only
the task if the row's `submission` or `answer` and its `label` are the other two."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One submission with what its verdict should be: `label` 1 for right, 0 for wrong."""

    name: str
    task: Task
    submission: JSON
    label: int
    category: str
    contested: bool = False
    grows: bool = True
    """True if rewrites and near misses can be made from it; False for a task where any submission
    is right."""
    hostile: bool = True
    """True if noise and orders to the judge are wrong answers; False if the task only forbids
    something."""


def resolve_verifier(name: str) -> str:
    """Return the id that `name` means, an id or a family. Raises RequestError with suggestions."""
    known = list_verifiers()
    if name in known:
        return name
    main = MAIN.get(name)
    if main in known:
        return str(main)
    family = [one for one in known if one.startswith(f"{name}/")]
    if len(family) == 1:
        return family[0]
    if family:
        raise RequestError(f"family {name!r} has several verifiers: {', '.join(family)}")
    families = [one for one, main in MAIN.items() if main in known]
    raise RequestError(f"unknown verifier {name!r}; {suggestion(name, [*known, *families])}")


def read_cases(path: Path | str, verifier: str) -> list[Case]:
    """Return the cases in a file of JSON lines. Raises RequestError that names the line."""
    path = Path(path)
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise RequestError(f"cases cannot be read from {path}: {error}") from error
    own = task_of(verifier)
    cases = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if isinstance(row, dict) and row.keys() == {"params"}:
                continue
            cases.append(case_of(row, own, f"{path.stem}:{number}"))
        except (ValueError, KeyError, TypeError, TaskError, RecursionError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise RequestError(
                f"{path}, line {number}: not a case for {verifier}: {what}"
            ) from error
    if not cases:
        raise RequestError(f"{path} holds no cases")
    return cases


def case_of(row: dict[str, Any], own: TaskOf | None, name: str) -> Case:
    """Return the case of one row, in the general form or, if `own` is given, in that of a family."""
    if not isinstance(row, dict):
        raise RequestError(f"a case is an object, got {type(row).__name__}")
    label: Any
    if "task" in row:
        task, submission, label = general_task(row["task"], name), row["submission"], row["label"]
    elif own is not None:
        made = own(row)
        if isinstance(made, Task):
            made = made, row["submission"] if "submission" in row else row["answer"], row["label"]
        task, submission, label = made
    else:
        raise RequestError('a case needs "task", "submission" and "label"')
    if label not in (0, 1):
        raise RequestError(f"a label is 0 or 1, got {label!r}")
    category = row.get("category") or ("right" if label else "wrong")
    contested = bool(row.get("contested"))
    return Case(
        name=str(row.get("id") or row.get("name") or name),
        task=task,
        submission=submission,
        label=int(label),
        category=str(category),
        contested=contested,
        grows=bool(row.get("grow", True)),
        hostile=bool(row.get("hostile", True)),
    )


def general_task(given: Any, name: str) -> Task:
    """Return a task of what a row says of it; what a verifier seldom reads may be left out."""
    if not isinstance(given, dict):
        raise RequestError(f"a task is an object, got {type(given).__name__}")
    fields = {"id": name, "env_id": "", "seed": 0, "prompt": "", "difficulty": "", **given}
    return Task.from_json(json.dumps(fields))


def seeds_of(verifier: str) -> list[Case]:
    """Return the seed set that ships with a verifier; empty if there is none."""
    path = beside(verifier, "seeds", "jsonl")
    if path is not None and path.is_file():
        return read_cases(path, verifier)
    own = task_of(verifier)
    if own is None:
        return []
    module = import_module(f"{package_of(verifier)}.cases")
    rows: Iterable[dict[str, Any]] = module.seeds() if hasattr(module, "seeds") else ()
    return [case_of(row, own, f"seed:{number}") for number, row in enumerate(rows, 1)]


def seed_params(verifier: str) -> dict[str, Any]:
    """Return the parameters that the seeds of a verifier are made for; empty for the defaults."""
    path = beside(verifier, "seeds", "jsonl")
    if path is None or not path.is_file():
        return {}
    with path.open(encoding="utf-8") as file:
        first = json.loads(file.readline())
    return dict(first["params"]) if first.keys() == {"params"} else {}


def task_of(verifier: str) -> TaskOf | None:
    """Return the reader of a family's own rows for its main verifier; None if there is no such
    format."""
    family = verifier.partition("/")[0]
    if MAIN.get(family, verifier) != verifier:
        return None
    module = f"{package_of(verifier)}.cases"
    if find_spec(module) is None:
        return None
    found: TaskOf | None = getattr(import_module(module), "task_of", None)
    return found


def beside(verifier: str, folder: str, suffix: str) -> Path | None:
    """Return the path of `folder/<short name>.<suffix>` beside a verifier's module; None for a
    lone module."""
    spec = find_spec(package_of(verifier))
    if spec is None or not spec.submodule_search_locations:
        return None
    return (
        Path(next(iter(spec.submodule_search_locations))) / folder / f"{_short(verifier)}.{suffix}"
    )


def categories(cases: Iterable[Case]) -> list[str]:
    """Return the categories in order of appearance."""
    return list(dict.fromkeys(case.category for case in cases))


def package_of(verifier: str) -> str:
    """Return the package that a registered verifier's module lies in; not imported."""
    place = list_verifiers()[verifier].partition(":")[0]
    return place.rpartition(".")[0] or place


def _short(verifier: str) -> str:
    return verifier.rpartition("/")[2]
