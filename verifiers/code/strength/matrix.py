"""Many programs on many inputs: which answers they give, and which of those are the wanted ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final

from verigym.canonical import JSON
from verigym.errors import SandboxError, TaskError
from verigym.sandbox.base import Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits
from verigym.verifiers.code.check import CHECKERS
from verigym.verifiers.code.drivers import SOLUTIONS, driver
from verigym.verifiers.code.runs import run_in_order, run_one
from verigym.verifiers.code.strength.problem import Input, StrengthProblem
from verigym.verifiers.code.values import VALUE_CHECKERS, BadValue, normal, read_answer

Answer = list[JSON] | None
"""`[value]`, or None if the program failed."""

_BATCH: Final = Limits(
    wall_s=120.0,
    cpu_s=120.0,
    memory_mib=1024,
    processes=32,
    disk_mib=256,
    output_bytes=64 << 20,
)
_AT_ONCE = 25


def answers(
    sandbox: Sandbox,
    problem: StrengthProblem,
    programs: Sequence[str],
    given: Sequence[Input],
    *,
    seconds: float,
) -> list[list[Answer]]:
    """Return the answer of each program to each input; each program may take `seconds` of
    processor time."""
    if not programs or not given:
        return [[None] * len(given) for _ in programs]
    if problem.language == "python":
        kind, function = "stdio", ""
        if problem.is_function:
            kind, function = "function", str(problem.reference["function"])
        return run_batch(sandbox, kind, function, programs, given, seconds)
    return [_one_by_one(sandbox, problem, program, given) for program in programs]


def run_batch(
    sandbox: Sandbox,
    kind: str,
    function: str,
    programs: Sequence[str],
    given: Sequence[Input],
    seconds: float,
) -> list[list[Answer]]:
    """Return `answers` for programs in Python, some in one job. Raises SandboxError, TaskError."""
    jobs = []
    for start in range(0, len(programs), _AT_ONCE):
        asked = {
            "kind": kind,
            "function": function,
            "programs": programs[start : start + _AT_ONCE],
            "inputs": given,
            "seconds": seconds,
        }
        jobs.append(
            Job(
                source=_text("batch.py"),
                files={"call_python.py": driver("python").encode()},
                stdin=json.dumps(asked).encode(),
                limits=_BATCH,
            )
        )
    found: list[list[Answer]] = []
    for job, result in zip(jobs, run_in_order(sandbox, jobs, sandbox.max_jobs), strict=True):
        if result.status is JobStatus.OK:
            found += json.loads(result.stdout)
            continue
        # One of them took the job down: see which, by itself.
        some = json.loads(job.stdin)["programs"]
        if len(some) == 1:
            found.append([None] * len(given))
        else:
            for program in some:
                found += run_batch(sandbox, kind, function, [program], given, seconds)
    return found


def _one_by_one(
    sandbox: Sandbox, problem: StrengthProblem, program: str, given: Sequence[Input]
) -> list[Answer]:
    """Run one job for each input; for languages without a batch."""
    language, jobs = problem.language, []
    for item in given:
        if problem.is_function:
            call = {"function": problem.reference["function"], "args": item[0], "kwargs": item[1]}
            job = Job(
                source=driver(language),
                language=language,
                files={SOLUTIONS[language]: program.encode()},
                stdin=json.dumps(call).encode(),
            )
        else:
            job = Job(source=program, language=language, stdin=item.encode())
        jobs.append(job)
    found: list[Answer] = []
    for result in run_in_order(sandbox, jobs, sandbox.max_jobs):
        try:
            if result.status is not JobStatus.OK:
                found.append(None)
            elif problem.is_function:
                found.append([read_answer(result.stdout)])
            else:
                found.append([result.stdout.decode()])
        except (BadValue, UnicodeDecodeError):
            found.append(None)
    return found


def mutants_of(
    sandbox: Sandbox, programs: Sequence[str], limit: int, seed: int
) -> list[tuple[str, str]]:
    """Return at most `limit` changed programs for each program, without repeats, with the kind of
    each change."""
    asked = {"programs": list(programs), "limit": limit, "seed": seed}
    job = Job(source=_text("mutate.py"), stdin=json.dumps(asked).encode(), limits=_BATCH)
    result = run_one(sandbox, job)
    if result.status is not JobStatus.OK:
        raise SandboxError(
            f"the mutator ended with {result.status.value}: {result.stderr[-200:]!r}"
        )
    made: dict[str, str] = {}
    for some in json.loads(result.stdout):
        for text, kind in some:
            made.setdefault(text, kind)
    return [(text, kind) for text, kind in made.items() if text not in programs]


def same(problem: StrengthProblem, got: Answer, want: Answer) -> bool:
    """Return True if an answer equals the expected one by the rule of the task's checker."""
    if got is None or want is None:
        return False
    verifier = problem.verifier()
    checker = problem.reference.get("checker", verifier.params["checker"])
    tolerance = problem.reference.get("tolerance", verifier.params["tolerance"])
    assert isinstance(tolerance, int | float)
    if not isinstance(checker, str):
        raise TaskError("tests cannot be grown for a task with a checker program of its own")
    if problem.is_function:
        try:
            return VALUE_CHECKERS[checker](normal(got[0]), normal(want[0]), tolerance)
        except BadValue:
            return False
    return CHECKERS[checker](str(got[0]).encode(), str(want[0]).encode(), tolerance)


def _text(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def truths(found: list[Answer]) -> list[Any]:
    """Return the first item of each answer; None if there was none."""
    return [answer[0] if answer else None for answer in found]
