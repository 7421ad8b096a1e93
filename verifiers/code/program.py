"""`ProgramVerifier`: the common base of `code/stdio` and `code/function`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct
from typing_extensions import TypeVar

from verigym.canonical import JSON
from verigym.errors import RequestError, TaskError, suggestion
from verigym.sandbox.base import Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.sandbox.local import default_sandbox
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.code.checker import CheckerProgram, read_checker
from verigym.verifiers.code.extract import extract_program
from verigym.verifiers.code.languages import canonical
from verigym.verifiers.code.runs import run_in_order

_LIMIT_NAMES = frozenset(Limits.__dataclass_fields__)


@dataclass(frozen=True, kw_only=True)
class TestReport:
    """Outcome of one test; for the task's author, not for the policy."""

    __test__ = False  # pytest would collect it

    number: int
    visible: bool
    passed: bool
    reason: str
    status: JobStatus
    wall_s: float
    cpu_s: float
    memory_mib: float


@dataclass(frozen=True)
class JobPlan:
    """Jobs of one submission, one for each test, and the function that judges their results."""

    jobs: Sequence[Job]
    visible: Sequence[bool]
    judge: Callable[[int, Result], Verdict | None]
    """(index, result) -> None if the test passed, else the verdict on it."""


class ProgramParams(Struct, frozen=True):
    """Parameters of all verifiers that run a program once per test."""

    language: Annotated[
        str, Meta(description="What the program is written in; a task may say another.")
    ] = "python"
    checker: str = ""
    tolerance: Annotated[
        float, Meta(ge=0, description="Absolute, or relative to the wanted number.")
    ] = 1e-6
    wall_s: Annotated[float, Meta(ge=0, description="Seconds by the clock for one test.")] = 10.0
    cpu_s: Annotated[float, Meta(ge=0, description="Seconds of processor time for one test.")] = 5.0
    memory_mib: Annotated[int, Meta(ge=0, description="Memory of one test's processes.")] = 512
    max_chars: Annotated[int, Meta(ge=0, description="Characters of a submission at most.")] = 65536
    run_all: Annotated[bool, Meta(description="Go on after the first failure.")] = False
    partial: Annotated[bool, Meta(description="The share of tests passed is the score.")] = False
    per_test: Annotated[bool, Meta(description="Each test that ran is a part.")] = False


Q = TypeVar("Q", bound=ProgramParams, default=ProgramParams, covariant=True)


class ProgramVerifier(Verifier[Q]):
    """Base class of verifiers that run a program once per test. Subclasses read the reference and
    judge one result.

    `sandbox` may be set to another `Sandbox`; None is this process's shared one.
    """

    languages: ClassVar[frozenset[str] | None] = None
    """Languages that can be judged; None for all that the sandbox knows."""
    checkers: ClassVar[Mapping[str, Any]] = {}
    weights: ClassVar[Mapping[str, float]] = {"passed": 0.0}

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self.sandbox: Sandbox | None = None
        made = self.settings
        self._language = self._known_language(made.language)
        self._limits: dict[str, Any] = {
            "wall_s": made.wall_s,
            "cpu_s": made.cpu_s,
            "memory_mib": made.memory_mib,
        }
        Limits(**self._limits)  # refuses what cannot be, at once

    @abstractmethod
    def plan(self, task: Task, source: str) -> JobPlan:
        """Return the jobs that judge `source`. Raises TaskError for a reference that cannot be
        used."""

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """Judge a program's text."""
        verdict, _ = self._judged(task, submission, all_tests=self.settings.run_all)
        return verdict

    def report(self, task: Task, submission: JSON) -> list[TestReport]:
        """Return the outcome of each test, for the task's author; empty if there was no program to
        run.

        Raises TaskError and SandboxError. The report names the hidden tests that failed and how
        long they took, so it does not belong in an observation.
        """
        return self._judged(task, submission, all_tests=True)[1]

    def _judged(
        self, task: Task, submission: JSON, *, all_tests: bool
    ) -> tuple[Verdict, list[TestReport]]:
        language = self._language_of(task.reference)
        source = self._program(submission, language)
        # The reference is read in any case: a task that cannot be used is never the policy's fault.
        plan = self.plan(task, source if isinstance(source, str) else "")
        if isinstance(source, Verdict):
            return source, []
        all_tests = all_tests or self.settings.partial
        failure: Verdict | None = None
        reports: list[TestReport] = []
        place = self._place()
        results = run_in_order(place, plan.jobs, getattr(place, "max_jobs", 1))
        try:
            for index, result in enumerate(results):
                found = plan.judge(index, result)
                failure = failure or found
                reports.append(_report(index + 1, plan.visible[index], found, result))
                # A program that does not compile fails everywhere alike.
                hopeless = result.status is JobStatus.COMPILE_ERROR
                if found is not None and (hopeless or not all_tests):
                    break
        finally:
            results.close()
        return self._sum(failure, reports, len(plan.jobs)), reports

    def _sum(self, failure: Verdict | None, reports: list[TestReport], total: int) -> Verdict:
        share = sum(report.passed for report in reports) / total
        parts = {"passed": share}
        if self.settings.per_test:
            width = len(str(total))
            parts |= {f"test_{r.number:0{width}}": float(r.passed) for r in reports}
        if failure is None:
            return scored(1.0, "correct", f"all {total} tests passed", parts)
        if self.settings.partial and share > 0:
            return scored(share, failure.reason, failure.evidence, parts)
        return replace(failure, parts=parts)

    def _place(self) -> Sandbox:
        return self.sandbox or default_sandbox()

    def _program(self, submission: JSON, language: str) -> str | Verdict:
        if not isinstance(submission, str):
            return unusable("not_text", "a submission is a program's text")
        if len(submission) > self.settings.max_chars:
            return unusable(
                "too_long", f"{len(submission)} characters, {self.settings.max_chars:g} are allowed"
            )
        source = extract_program(submission, language)
        return source if source.strip() else unusable("no_program", "the reply holds no program")

    def _tests_of(self, reference: JSON) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return each test with its number. Raises TaskError if there are none."""
        if not isinstance(reference, dict) or not isinstance(reference.get("tests"), list | tuple):
            raise TaskError('the reference must be {"tests": [...]}')
        if not reference["tests"]:
            # all([]) would be full marks for anything.
            raise TaskError("the reference has no tests")
        for number, test in enumerate(reference["tests"], 1):
            if not isinstance(test, dict) or not isinstance(test.get("visible", False), bool):
                raise TaskError(f'test {number} must be an object, "visible" true or false')
            yield number, test

    def _limits_of(self, reference: Mapping[str, JSON]) -> Limits:
        overrides = reference.get("limits") or {}
        if not isinstance(overrides, dict) or not overrides.keys() <= _LIMIT_NAMES:
            raise TaskError(f"limits must be an object with keys of {sorted(_LIMIT_NAMES)}")
        try:
            return Limits(**{**self._limits, **overrides})
        except (RequestError, TypeError) as error:
            raise TaskError(f"limits cannot be used: {error}") from error

    def _checker_of(self, reference: Mapping[str, JSON]) -> str | CheckerProgram:
        """Return the task's checker, or else the parameter."""
        value = reference.get("checker", self.settings.checker)
        if not isinstance(value, str):
            return read_checker(value)
        if value not in self.checkers:
            raise TaskError(f"unknown checker {value!r}; {suggestion(value, self.checkers)}")
        return value

    def _language_of(self, reference: JSON) -> str:
        """Return the task's language, or else the parameter."""
        if not isinstance(reference, dict) or "language" not in reference:
            return self._language
        try:
            return self._known_language(reference["language"])
        except RequestError as error:
            raise TaskError(str(error)) from error

    def _known_language(self, name: JSON) -> str:
        language = canonical(name)
        if self.languages is not None and language not in self.languages:
            raise RequestError(
                f"{self.id} has no driver for {language}: use one of "
                f"{', '.join(sorted(self.languages))}, or judge what it prints with code/stdio"
            )
        return language


def _report(number: int, visible: bool, found: Verdict | None, result: Result) -> TestReport:
    return TestReport(
        number=number,
        visible=visible,
        passed=found is None,
        reason="correct" if found is None else found.reason,
        status=result.status,
        wall_s=result.wall_s,
        cpu_s=result.cpu_s,
        memory_mib=result.memory_mib,
    )
