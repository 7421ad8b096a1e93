"""`code/stdio`: a program that reads standard input, judged by what it prints.

Law 4 in full: each test is a process of its own in the sandbox, which gets the program and this
test's input and nothing else; the comparison happens here, with text that no code of the policy
ever shares a process with. Covers: early exits, printed markers, patched builtins, forged results,
reading ahead. Does not cover: a program that knows the answers by heart, so keep tests hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from verigym.canonical import JSON
from verigym.errors import RequestError, SandboxError, TaskError, suggestion
from verigym.sandbox.base import Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.sandbox.local import default_sandbox
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.code.check import CHECKERS
from verigym.verifiers.code.extract import extract_program

LANGUAGES = ("bash", "c", "python")
_SHOWN_CHARS = 300
_LIMIT_NAMES = frozenset(Limits.__dataclass_fields__)

# What each way to end means, in words that give nothing of a hidden test away.
_ENDINGS = {
    JobStatus.NONZERO_EXIT: "the program ended with an error",
    JobStatus.SIGNAL: "the program crashed",
    JobStatus.TIME_LIMIT: "the program took too long",
    JobStatus.MEMORY_LIMIT: "the program used too much memory",
    JobStatus.OUTPUT_LIMIT: "the program printed too much",
    JobStatus.DISK_LIMIT: "the program wrote too much to disk",
    JobStatus.COMPILE_ERROR: "the program does not compile",
}


@dataclass(frozen=True)
class _Test:
    stdin: bytes
    stdout: bytes
    visible: bool


class StdioVerifier(Verifier):
    """Full marks for a program that passes every test of the task, else 0.

    `Task.reference` is `{"tests": [{"stdin", "stdout", "visible"}, ...], "limits": {...}}`; `limits`
    may be left out and overrides fields of `sandbox.job.Limits`; other keys are left alone. The
    submission is the program's text, perhaps in a fenced block (`extract_program`).
    Reasons: `correct`; `wrong_output` and the names of `JobStatus` where a test failed; `not_text`,
    `no_program`, `too_long`. `parts["passed"]` is the share of tests that passed, those not run
    counted as failed: the first failure ends the run unless `run_all`.
    `sandbox` may be set to another `Sandbox`; None is this process's shared one.
    """

    id: ClassVar[str] = "code/stdio"
    version: ClassVar[int] = 1
    about: ClassVar[str] = (
        "Runs a program on the task's inputs in the sandbox and compares what it prints; "
        "the submission is the program's text, fenced or bare."
    )
    defaults: ClassVar[Mapping[str, JSON]] = {
        "language": "python",
        "checker": "tokens",
        "tolerance": 1e-6,
        "wall_s": 10.0,
        "cpu_s": 5.0,
        "memory_mib": 512,
        "max_chars": 65536,
        "run_all": False,
    }

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self.sandbox: Sandbox | None = None
        self._language = self._one_of("language", LANGUAGES)
        self._same = CHECKERS[self._one_of("checker", CHECKERS)]
        self._tolerance = self._number("tolerance")
        self._max_chars = self._number("max_chars")
        self._limits: dict[str, Any] = {
            name: self._number(name) for name in ("wall_s", "cpu_s", "memory_mib")
        }
        Limits(**self._limits)  # refuses what cannot be, at once

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """The verdict on a program's text."""
        tests, limits = self._read(task.reference)
        if not isinstance(submission, str):
            return unusable("not_text", "a submission is a program's text")
        if len(submission) > self._max_chars:
            return unusable(
                "too_long", f"{len(submission)} characters, {self._max_chars:g} are allowed"
            )
        source = extract_program(submission, self._language)
        if not source.strip():
            return unusable("no_program", "the reply holds no program")
        passed = 0
        failure: Verdict | None = None
        for number, test in enumerate(tests, 1):
            result = self._run(source, test, limits)
            verdict = self._judge_test(number, test, result)
            if verdict is None:
                passed += 1
                continue
            failure = failure or verdict
            # A program that does not compile fails everywhere alike.
            if not self.params["run_all"] or result.status is JobStatus.COMPILE_ERROR:
                break
        parts = {"passed": passed / len(tests)}
        if failure is not None:
            return replace(failure, parts=parts)
        return scored(1.0, "correct", f"all {len(tests)} tests passed", parts)

    def _run(self, source: str, test: _Test, limits: Limits) -> Result:
        sandbox = self.sandbox or default_sandbox()
        if self._language not in sandbox.languages:
            raise SandboxError(
                f"this machine does not run {self._language!r}; "
                f"{suggestion(self._language, sandbox.languages)}"
            )
        result = sandbox.run(
            Job(source=source, language=self._language, stdin=test.stdin, limits=limits)
        )
        if result.status is JobStatus.SANDBOX_ERROR:
            raise SandboxError(result.detail)
        return result

    def _judge_test(self, number: int, test: _Test, result: Result) -> Verdict | None:
        """None where the test passed. Evidence on a hidden test says only that it failed and how."""
        where = f"visible test {number}" if test.visible else "a hidden test"
        if result.status is JobStatus.OK:
            if self._same(result.stdout, test.stdout, self._tolerance):
                return None
            evidence = f"{where}: wrong output"
            if test.visible:
                evidence += f"; wanted {_shown(test.stdout)}, got {_shown(result.stdout)}"
            return scored(0.0, "wrong_output", evidence)
        evidence = f"{where}: {_ENDINGS[result.status]}"
        if test.visible or result.status is JobStatus.COMPILE_ERROR:
            # A hidden test's input could be sent out through the text of an error.
            trouble = result.stderr.rstrip().rpartition(b"\n")[2]
            if result.status is JobStatus.COMPILE_ERROR:
                trouble = result.detail.encode()
            evidence += f": {_shown(trouble)}" if trouble else ""
        return unusable(result.status.value, evidence)

    def _read(self, reference: JSON) -> tuple[list[_Test], Limits]:
        """Tests and limits of a reference. Raises TaskError where they cannot be used."""
        if not isinstance(reference, dict) or not isinstance(reference.get("tests"), list | tuple):
            raise TaskError('the reference must be {"tests": [...]}')
        tests = []
        for number, test in enumerate(reference["tests"], 1):
            if not (
                isinstance(test, dict)
                and isinstance(test.get("stdin"), str)
                and isinstance(test.get("stdout"), str)
                and isinstance(test.get("visible", False), bool)
            ):
                raise TaskError(
                    f'test {number} must have text "stdin" and "stdout", bool "visible"'
                )
            try:
                stdin, stdout = test["stdin"].encode(), test["stdout"].encode()
            except UnicodeEncodeError as error:
                raise TaskError(f"test {number} is not Unicode text: {error}") from error
            tests.append(_Test(stdin, stdout, test.get("visible", False)))
        if not tests:
            # all([]) would be full marks for anything.
            raise TaskError("the reference has no tests")
        overrides = reference.get("limits") or {}
        if not isinstance(overrides, dict) or not overrides.keys() <= _LIMIT_NAMES:
            raise TaskError(f"limits must be an object with keys of {sorted(_LIMIT_NAMES)}")
        try:
            return tests, Limits(**{**self._limits, **overrides})
        except (RequestError, TypeError) as error:
            raise TaskError(f"limits cannot be used: {error}") from error

    def _one_of(self, name: str, known: Any) -> str:
        value = self.params[name]
        if not isinstance(value, str) or value not in known:
            raise RequestError(
                f"{self.id} has no {name} {value!r}; {suggestion(str(value), known)}"
            )
        return value

    def _number(self, name: str) -> float | int:
        value = self.params[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise RequestError(f"{name} must be a number of at least 0, got {value!r}")
        return value


def _shown(data: bytes) -> str:
    """At most 300 characters of `data` in printable ASCII, in quotes."""
    text = data[: 4 * _SHOWN_CHARS].decode("utf-8", "replace")
    shown = ascii(text[:_SHOWN_CHARS])
    if len(shown) > 2 * _SHOWN_CHARS:
        shown = shown[: 2 * _SHOWN_CHARS]
    return shown + (" ..." if len(text) > _SHOWN_CHARS else "")
