"""`code/stdio`: a program that reads standard input, judged by what it prints.

Law 4 in full: each test is a process of its own in the sandbox, which gets the program and this
test's input and nothing else, and no network; the comparison happens here, with text that no code of
the policy ever shares a process with, or in a job of its own where the task brings a checker program.
Covers: early exits, printed markers, patched builtins, forged results, reading ahead. Does not cover:
a program that knows the answers by heart, so keep tests hidden (and see `verigym tests strengthen`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.sandbox.job import Job, JobStatus, Result
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifiers.code.check import CHECKERS
from verigym.verifiers.code.checker import CheckerProgram
from verigym.verifiers.code.conversation import JudgeProgram, read_judge
from verigym.verifiers.code.program import JobPlan, ProgramParams, ProgramVerifier
from verigym.verifiers.code.runs import ENDINGS, shown, trouble


@dataclass(frozen=True)
class _Test:
    stdin: bytes
    stdout: bytes
    visible: bool


class StdioParams(ProgramParams, frozen=True):
    """Parameters of `StdioVerifier`."""

    checker: Annotated[
        Literal["exact", "floats", "lines", "tokens"], Meta(description="How results are compared.")
    ] = "tokens"


class StdioVerifier(ProgramVerifier[StdioParams]):
    """Full marks for a program that passes every test of the task, else 0.

    `Task.reference` is `{"tests": [{"stdin", "stdout", "visible"}, ...]}`, and may hold `limits` (fields
    of `sandbox.job.Limits`), `language`, `checker` (a name, or `{"program": text, "language": name}`,
    see checker.py), which go before the parameters; other keys are left alone. With `judge`, a program as
    conversation.py has it, the program talks to that judge, which alone gets "stdin" and "stdout". The submission is the
    program's text, perhaps in a fenced block (`extract_program`).
    Reasons: `correct`; `wrong_output` and the names of `JobStatus` where a test failed; `not_text`,
    `no_program`, `too_long`. `parts["passed"]` is the share of tests that passed, those not run
    counted as failed: the first failure ends the run unless `run_all`. With `partial` that share is
    the score; with `per_test` each test that ran is a part, too.
    `sandbox` may be set to another `Sandbox`; None is this process's shared one.
    """

    id: ClassVar[str] = "code/stdio"
    version: ClassVar[int] = 2
    about: ClassVar[str] = (
        "Runs a program on the task's inputs in the sandbox and compares what it prints; "
        "the submission is the program's text, fenced or bare."
    )
    checkers: ClassVar[Mapping[str, Any]] = CHECKERS
    evidence: ClassVar[str] = (
        "What the program prints for each test's input, in a process of its own; its "
        "exit, messages and files count for nothing but a failure."
    )

    @override
    def plan(self, task: Task, source: str) -> JobPlan:
        tests = [_read(number, test) for number, test in self._tests_of(task.reference)]
        reference = task.reference
        assert isinstance(reference, dict)
        limits, checker = self._limits_of(reference), self._checker_of(reference)
        with_judge = read_judge(reference["judge"]) if "judge" in reference else None
        language = self._language_of(reference)

        def judge(index: int, result: Result) -> Verdict | None:
            test = tests[index]
            if with_judge is not None:
                return self._judge_talk(index + 1, test, result, with_judge)
            return self._judge_test(index + 1, test, result, checker)

        return JobPlan(
            [
                Job(source=source, language=language, stdin=test.stdin, limits=limits)
                if with_judge is None
                else Job(
                    source=source,
                    language=language,
                    limits=limits,
                    partner=with_judge.job(test.stdin, test.stdout),
                )
                for test in tests
            ],
            [test.visible for test in tests],
            judge,
        )

    def _judge_test(
        self, number: int, test: _Test, result: Result, checker: str | CheckerProgram
    ) -> Verdict | None:
        """None if the test passed. Evidence on a hidden test says only that it failed and how."""
        where = f"visible test {number}" if test.visible else "a hidden test"
        if result.status is JobStatus.OK:
            if self._right(test, result.stdout, checker):
                return None
            evidence = f"{where}: wrong output"
            if test.visible:
                evidence += f"; wanted {shown(test.stdout)}, got {shown(result.stdout)}"
            return scored(0.0, "wrong_output", evidence)
        evidence = f"{where}: {ENDINGS[result.status]}"
        if test.visible or result.status is JobStatus.COMPILE_ERROR:
            # A hidden test's input could be sent out through the text of an error.
            evidence += trouble(result)
        return unusable(result.status.value, evidence)

    def _judge_talk(
        self, number: int, test: _Test, result: Result, judge: JudgeProgram
    ) -> Verdict | None:
        """None if the judge that the program talked to accepts it; the judge's words show on visible tests alone."""
        where = f"visible test {number}" if test.visible else "a hidden test"
        accepted, said = False, ""
        if result.partner is not None:  # it does if the program compiles
            accepted = judge.accepts(self._place(), test.stdin, test.stdout, result.partner)
            words = result.partner.stderr.rstrip().rpartition(b"\n")[2]
            said = f"; the judge ended with {shown(words)}"
        if accepted:
            return None
        if result.status is not JobStatus.OK:
            evidence = f"{where}: {ENDINGS[result.status]}"
            if result.status is JobStatus.COMPILE_ERROR:
                evidence += trouble(result)
            elif test.visible:
                evidence += trouble(result) + said
            return unusable(result.status.value, evidence)
        evidence = f"{where}: the judge did not accept what the program said"
        if test.visible:
            evidence += f"{said}, the program with {shown(result.stdout[-200:])}"
        return scored(0.0, "wrong_output", evidence)

    def _right(self, test: _Test, printed: bytes, checker: str | CheckerProgram) -> bool:
        if isinstance(checker, CheckerProgram):
            return checker.accepts(self._place(), test.stdin, test.stdout, printed)
        return CHECKERS[checker](printed, test.stdout, self.settings.tolerance)


def _read(number: int, test: Mapping[str, JSON]) -> _Test:
    stdin, stdout = test.get("stdin"), test.get("stdout")
    if not isinstance(stdin, str) or not isinstance(stdout, str):
        raise TaskError(f'test {number} must have text "stdin" and "stdout", bool "visible"')
    try:
        return _Test(stdin.encode(), stdout.encode(), bool(test.get("visible", False)))
    except UnicodeEncodeError as error:
        raise TaskError(f"test {number} is not Unicode text: {error}") from error
