"""`code/cost`: a program that does the same as a slow one, paid by how few steps it takes.

Python never runs the policy's program: `counted/program.py` interprets it over an allow-list of
syntax, in the sandbox, with the arguments of the calls and nothing else. The program cannot reach
the interpreter's objects, so it cannot touch the counter. Steps are counted instead of seconds, so
the same program earns the same on each machine. The task's own two programs run in a separate job,
and their results are compared here (law 4).

Covers: programs that patch, exit, print, import, fork or inspect their surroundings (refused:
there is no such syntax); work hidden in builtins (counted by items, characters and words of long
numbers); results kept from one call to the next (each call starts fresh); programs that return
wrong values quickly (nothing is paid before all values are right). Does not cover: a program that
knows the hidden calls by heart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.sandbox.base import Sandbox
from verigym.sandbox.job import JobStatus, Limits
from verigym.sandbox.local import default_sandbox
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.code.counted.run import (
    Counted,
    counted_job,
    read_or_fail,
    run_trusted,
)
from verigym.verifiers.code.extract import extract_program
from verigym.verifiers.code.runs import ENDINGS, run_one
from verigym.verifiers.code.values import BadValue

# Two jobs must fit into the 30 s that a service gives one verdict.
_LIMITS = Limits(wall_s=14.0, cpu_s=10.0, memory_mib=512)


class CostParams(Struct, frozen=True):
    """Parameters of `CostVerifier`."""

    within: Annotated[
        float, Meta(ge=1, description="Times the best known steps that earn full marks.")
    ] = 1.5
    steps: Annotated[
        int, Meta(ge=1, description="Steps of one call of the task's own programs.")
    ] = 5_000_000
    max_chars: Annotated[int, Meta(ge=0, description="Characters of a submission at most.")] = (
        16_384
    )


class CostVerifier(Verifier[CostParams]):
    """1 at most `within` times the steps of the best known program, 0 at as many as the slow one, and
    by the logarithm between; 0 for a program with a wrong value.

    `Task.reference` is `{"function": name, "slow": text, "fast": text, "calls": [[argument, ...], ...]}`.
    All programs are written in the part of Python that `counted/program.py` describes; steps are summed
    over the calls. It may hold `within`, which then counts instead of the parameter. Other keys are left alone. The submission is the program's text, fenced or bare.
    Reasons: `cheapest`, `cheaper`, `no_cheaper`, `wrong_value`, `failed`; `not_text`, `too_long`, `no_program`,
    `refused_syntax` (it uses what is not there), and names of `JobStatus`. `parts["steps_ratio"]` is its
    steps over those of the best known one.
    """

    id: ClassVar[str] = "code/cost"
    version: ClassVar[int] = 3
    about: ClassVar[str] = (
        "Counts the steps that a function takes under an interpreter of a small part of Python, and "
        "pays for fewer than a slow version takes; the submission is the program's text."
    )
    evidence: ClassVar[str] = (
        "The values that the function returns, all of which must be those of the slow version, and the "
        "steps that it took; time counts for nothing."
    )
    weights: ClassVar[Mapping[str, float]] = {"steps_ratio": 0.0}

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self.sandbox: Sandbox | None = None

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        reference = _checked(task.reference)
        if not isinstance(submission, str):
            return unusable("not_text", "a submission is a program's text")
        if len(submission) > self.settings.max_chars:
            return unusable("too_long", f"{len(submission)} characters are too many")
        source = extract_program(submission, "python")
        if not source.strip():
            return unusable("no_program", "the reply holds no program")
        place = self.sandbox or default_sandbox()
        function, calls = reference["function"], reference["calls"]
        slow, fast = run_trusted(
            place,
            [reference["slow"], reference["fast"]],
            function,
            calls,
            self.settings.steps,
            _LIMITS,
        )
        most, best = _total(slow, fast)
        # Nothing is left to be earned once it has taken as many steps as the slow one.
        result = run_one(place, counted_job([source], function, calls, most, _LIMITS, total=most))
        if result.status is not JobStatus.OK:
            return unusable(result.status.value, ENDINGS[result.status])
        try:
            (ours,) = read_or_fail(result)
        except (BadValue, ValueError) as error:
            return unusable("failed", f"what it returned cannot be read: {error}")
        if isinstance(ours, str):
            return unusable("refused_syntax", ours)
        return self._compared(
            ours, slow, most, best * reference.get("within", self.settings.within), best
        )

    def _compared(
        self, ours: list[Counted], slow: list[Counted], most: int, enough: float, best: int
    ) -> Verdict:
        total = 0
        for mine, wanted in zip(ours, slow, strict=True):
            total += mine.steps
            if total >= most:
                break
            if mine.value is None:
                # The message is the program's own trouble; it may name values, not answers.
                return unusable("failed", f"a call failed: {mine.failure}")
            if mine.value != wanted.value:
                return scored(0.0, "wrong_value", "a call returned another value")
        parts = {"steps_ratio": total / best}
        said = f"{total} steps; the version given takes {most}, the best known {best}"
        if total >= most:
            return scored(0.0, "no_cheaper", said, parts)
        if total <= enough:
            return scored(1.0, "cheapest", said, parts)
        return scored(math.log(most / total) / math.log(most / enough), "cheaper", said, parts)


def _total(slow: list[Counted], fast: list[Counted]) -> tuple[int, int]:
    """Return the steps of both programs. Raises TaskError if their results differ or the fast one
    is not faster."""
    for one, other in zip(slow, fast, strict=True):
        if one.value is None or one.value != other.value:
            raise TaskError(
                f"the slow and the fast program do not agree: {one.failure or other.failure or 'values'}"
            )
    most, best = (sum(one.steps for one in program) for program in (slow, fast))
    if best >= most:
        raise TaskError(f"the fast program takes {best} steps, the slow one {most}")
    return most, best


def _checked(reference: JSON) -> dict[str, Any]:
    if not isinstance(reference, dict):
        raise TaskError("the reference must be an object with function, slow, fast and calls")
    for name in ("function", "slow", "fast"):
        if not isinstance(reference.get(name), str):
            raise TaskError(f"{name} must be text, got {reference.get(name)!r}")
    calls = reference.get("calls")
    if not isinstance(calls, list | tuple) or not calls:
        raise TaskError("calls must be a list of at least one list of arguments")
    if not all(isinstance(call, list | tuple) for call in calls):
        raise TaskError("each call must be a list of arguments")
    within = reference.get("within", 1)
    if isinstance(within, bool) or not isinstance(within, int | float) or within < 1:
        raise TaskError(f"within must be a number of at least 1, got {within!r}")
    return dict(reference)
