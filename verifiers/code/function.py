"""`code/function`: one function of a program, judged by what it returns.

Each test is a process of its own in the sandbox, which gets the policy's program, a driver and the
arguments of this one call. The driver prints the value as plain data; whether it is right is decided
here, or in another job by the task's checker program. So the expected value is never in a process
that runs the policy's code, and objects of the policy's classes never come where values are compared.
Covers: early exits, patched modules and builtins, searches through frames, the heap and /proc, forged
and repeated answers, values that equal everything, late threads and children, writes to every
descriptor, changed arguments, NaN, huge, deep and endless answers. What the policy can forge is the
answer to a call that it knows, which it might as well return. Does not cover: a program that knows the
answers by heart, so keep tests hidden (and see `verigym tests strengthen`).
"""

from __future__ import annotations

import json
import re
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
from verigym.verifiers.code.checker import CheckerProgram
from verigym.verifiers.code.drivers import KEYWORDS, SOLUTIONS, driver
from verigym.verifiers.code.program import JobPlan, ProgramParams, ProgramVerifier
from verigym.verifiers.code.runs import ENDINGS, shown, trouble
from verigym.verifiers.code.values import VALUE_CHECKERS, BadValue, Normal, normal, read_answer

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}(?:\.[A-Za-z_][A-Za-z0-9_]{0,99})?")


@dataclass(frozen=True)
class _Test:
    call: bytes
    result: JSON
    want: Normal
    visible: bool


class FunctionParams(ProgramParams, frozen=True):
    """Parameters of `FunctionVerifier`."""

    checker: Annotated[
        Literal["exact", "unordered", "unordered_deep", "values"],
        Meta(description="How results are compared."),
    ] = "values"
    tolerance: Annotated[
        float, Meta(ge=0, description="Absolute, or relative to the wanted number.")
    ] = 1e-9


class FunctionVerifier(ProgramVerifier[FunctionParams]):
    """Full marks for a program whose function returns what every test wants, else 0.

    `Task.reference` is `{"function": name, "tests": [{"args": [...], "kwargs": {...}, "result": value,
    "visible": bool}, ...]}`; a name with a dot is a method of a class that is made without arguments.
    Values are JSON, or tagged where JSON lacks them (values.py). It may hold `limits`, `language` and
    `checker` as in `code/stdio`; a checker program reads input, answer and expected value as JSON.
    Checkers: `values` (numbers with a fraction within `tolerance`), `exact`, `unordered` (the outermost
    list in any order), `unordered_deep`.
    Reasons: `correct`; `wrong_value`, `no_answer` (it ended without one), `bad_answer` (two, or no plain
    data) and the names of `JobStatus` where a test failed; `not_text`, `no_program`, `too_long`. Parts,
    `run_all`, `partial`, `per_test` and `sandbox` are those of `code/stdio`.
    """

    id: ClassVar[str] = "code/function"
    version: ClassVar[int] = 2
    about: ClassVar[str] = (
        "Calls one function of a program in the sandbox, a process for each call, and compares what it "
        "returns outside; the submission is the program's text, fenced or bare."
    )
    languages: ClassVar[frozenset[str] | None] = frozenset(SOLUTIONS)
    checkers: ClassVar[Mapping[str, Any]] = VALUE_CHECKERS
    evidence: ClassVar[str] = (
        "The plain value that the function returns for each call, compared outside the "
        "sandbox; what is printed counts for nothing."
    )

    @override
    def plan(self, task: Task, source: str) -> JobPlan:
        numbered = list(self._tests_of(task.reference))
        reference = task.reference
        assert isinstance(reference, dict)
        function = reference.get("function")
        if not isinstance(function, str) or not _NAME.fullmatch(function):
            raise TaskError(f'"function" must be a name or Class.method, got {function!r}')
        language = self._language_of(reference)
        tests = [_read(number, test, function, language) for number, test in numbered]
        limits, checker = self._limits_of(reference), self._checker_of(reference)
        files = {SOLUTIONS[language]: source.encode("utf-8", "surrogatepass")}

        def judge(index: int, result: Result) -> Verdict | None:
            return self._judge_test(index + 1, tests[index], result, checker)

        return JobPlan(
            [
                Job(
                    source=driver(language),
                    language=language,
                    stdin=test.call,
                    files=files,
                    limits=limits,
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
        if result.status is not JobStatus.OK:
            evidence = f"{where}: {ENDINGS[result.status]}"
            return unusable(
                result.status.value, evidence + (trouble(result) if test.visible else "")
            )
        try:
            answer = read_answer(result.stdout)
            got = normal(answer)
        except BadValue as error:
            reason = "no_answer" if str(error) == "no answer" else "bad_answer"
            said = {
                "no_answer": "the program ended without an answer",
                "bad_answer": "the answer is not one value of plain data",
            }
            return unusable(reason, f"{where}: {said[reason]}")
        if self._right(test, answer, got, checker):
            return None
        evidence = f"{where}: wrong value"
        if test.visible:
            evidence += f"; wanted {_shown(test.result)}, got {_shown(answer)}"
        return scored(0.0, "wrong_value", evidence)

    def _right(self, test: _Test, answer: JSON, got: Normal, checker: str | CheckerProgram) -> bool:
        if isinstance(checker, CheckerProgram):
            expected, output = (json.dumps(value).encode() for value in (test.result, answer))
            return checker.accepts(self._place(), test.call, expected, output)
        return VALUE_CHECKERS[checker](got, test.want, self.settings.tolerance)


def _shown(value: JSON) -> str:
    return shown(json.dumps(value).encode())[1:-1]


def _read(number: int, test: Mapping[str, JSON], function: str, language: str) -> _Test:
    args, kwargs = test.get("args", []), test.get("kwargs") or {}
    if not isinstance(args, list | tuple) or not isinstance(kwargs, dict) or "result" not in test:
        raise TaskError(f'test {number} must have a list "args", an object "kwargs", a "result"')
    if kwargs and language not in KEYWORDS:
        raise TaskError(f"test {number}: {language} has no arguments by name; use args alone")
    try:
        for value in (*args, *kwargs.values()):
            normal(value)  # refuses what the drivers could not read
        want = normal(test["result"])
    except BadValue as error:
        raise TaskError(f"test {number}: {error}") from error
    call = json.dumps({"function": function, "args": args, "kwargs": kwargs}).encode()
    return _Test(call, test["result"], want, bool(test.get("visible", False)))
