"""`code/mutants`: inputs on which wrong versions of a function give themselves away.

The submission is data, not a program: nothing of the policy's runs anywhere. The right program and
the mutants are the task's; they run in the sandbox under the step-counting interpreter of `counted/`,
so that a mutant that never ends is seen to, the same on each machine, and all of them in one job. What
they gave is compared here. Covers: inputs outside the bounds (a mutant must not die of nonsense),
floods (the number of inputs is bounded, and one too many is no answer), inputs that the right program
does not survive or that take too long: they are refused, if the programs run on the plainest input within
the bounds, else the fault is the task's. Does not cover: mutants that no input tells from the
right program; the author has to leave them out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.reply import program
from verigym.sandbox.base import Sandbox
from verigym.sandbox.job import Limits
from verigym.sandbox.local import default_sandbox
from verigym.task import Task
from verigym.verdict import Verdict, scored_by_parts, unusable
from verigym.verifier import Verifier
from verigym.verifiers.code.counted.run import Counted, OutOfTime, run_trusted
from verigym.verifiers.code.inputs import breach, read_bounds, smallest

# Twice, since a failure is checked on an input of the verifier's own, and a service gives 30 s.
_LIMITS = Limits(wall_s=14.0, cpu_s=10.0, memory_mib=512)


class MutantsParams(Struct, frozen=True):
    """Parameters of `MutantsVerifier`."""

    steps: Annotated[
        int, Meta(ge=1, description="Steps of one call before it counts as endless.")
    ] = 20_000
    max_chars: Annotated[int, Meta(ge=0, description="Characters of a submission at most.")] = (
        16_384
    )


class MutantsVerifier(Verifier[MutantsParams]):
    """Score: the share of mutants that behave differently from the right program on some given
    input.

    `Task.reference` is `{"function": name, "program": text, "mutants": [text, ...], "args": [bound, ...],
    "inputs": n}`; bounds are those of `inputs.py`, `inputs` is how many may be given. Programs are written
    in the part of Python that `counted/program.py` describes. Other keys are left alone.
    The submission is a reply with a JSON list of argument lists in its last fenced block, or bare.
    A mutant is killed if it returns another value, fails, or takes more than `steps` steps.
    Reasons: `all_killed`, `some_killed`, `none_killed`; `not_text`, `too_long`, `no_inputs` (no such
    list), `too_many`, `invalid_input`, `unusable_input` (the right program fails on one).
    """

    id: ClassVar[str] = "code/mutants"
    version: ClassVar[int] = 2
    about: ClassVar[str] = (
        "Runs a right function and wrong versions of it on the inputs submitted, a JSON list of "
        "argument lists, and pays the share that they tell from the right one."
    )
    evidence: ClassVar[str] = (
        "What the task's own programs return on the inputs; one input outside the bounds, or one too "
        "many, and nothing is paid."
    )
    weights: ClassVar[Mapping[str, float]] = {"killed": 1.0}

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self.sandbox: Sandbox | None = None

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        reference = _checked(task.reference)
        bounds = read_bounds(reference["args"])
        if not isinstance(submission, str):
            return unusable("not_text", "a submission is a reply with a JSON list of inputs")
        if len(submission) > self.settings.max_chars:
            return unusable("too_long", f"{len(submission)} characters are too many")
        calls = read_calls(submission)
        if calls is None:
            return unusable("no_inputs", "the reply holds no JSON list of argument lists")
        if len(calls) > reference["inputs"]:
            return unusable("too_many", f"{len(calls)} inputs, at most {reference['inputs']}")
        for number, call in enumerate(calls, 1):
            if len(call) != len(bounds):
                return unusable("invalid_input", f"input {number} has {len(call)} arguments")
            for value, bound in zip(call, bounds, strict=True):
                if said := breach(value, bound):
                    return unusable("invalid_input", f"input {number}: {said}")
        return self._counted(reference, calls)

    def _counted(self, reference: dict[str, Any], calls: list[list[JSON]]) -> Verdict:
        try:
            right, *wrong = self._run(reference, calls)
        except (TaskError, OutOfTime) as error:
            self._check(reference)
            return unusable(
                "unusable_input", f"the task's programs do not take the inputs: {error}"
            )
        for number, one in enumerate(right, 1):
            if one.value is None:
                self._check(reference)
                return unusable("unusable_input", f"the right program fails on input {number}")
        killed = sum(
            any(ours.value != theirs.value for ours, theirs in zip(right, mutant, strict=True))
            for mutant in wrong
        )
        reason = "all" if killed == len(wrong) else "some" if killed else "none"
        return scored_by_parts(
            {"killed": killed / len(wrong)},
            self.weights,
            f"{reason}_killed",
            f"{killed} of {len(wrong)} wrong versions told from the right one",
        )

    def _run(self, reference: dict[str, Any], calls: list[list[JSON]]) -> list[list[Counted]]:
        return run_trusted(
            self.sandbox or default_sandbox(),
            [reference["program"], *reference["mutants"]],
            reference["function"],
            calls,
            self.settings.steps,
            _LIMITS,
        )

    def _check(self, reference: dict[str, Any]) -> None:
        """Raise TaskError or SandboxError if the task's programs do not even run on the plainest input."""
        bounds = read_bounds(reference["args"])
        right, *_ = self._run(reference, [[smallest(bound) for bound in bounds]])
        if right[0].value is None:
            raise TaskError(f"the right program fails within the bounds: {right[0].failure}")


def read_calls(reply: str) -> list[list[JSON]] | None:
    """Return the argument lists in a reply; None if there are none."""
    try:
        calls = json.loads(program(reply, ("json",)), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(calls, list) or not calls or not all(isinstance(c, list) for c in calls):
        return None
    return calls


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _checked(reference: JSON) -> dict[str, Any]:
    if not isinstance(reference, dict):
        raise TaskError("the reference must be an object with program, mutants, args and inputs")
    for name in ("function", "program"):
        if not isinstance(reference.get(name), str):
            raise TaskError(f"{name} must be text, got {reference.get(name)!r}")
    mutants = reference.get("mutants")
    if not isinstance(mutants, list | tuple) or not mutants:
        raise TaskError("mutants must be a list of at least one program")
    if not all(isinstance(mutant, str) for mutant in mutants):
        raise TaskError("each mutant must be a program's text")
    inputs = reference.get("inputs")
    if isinstance(inputs, bool) or not isinstance(inputs, int) or inputs < 1:
        raise TaskError(f"inputs must be a whole number of at least 1, got {inputs!r}")
    return {**reference, "args": reference.get("args")}
