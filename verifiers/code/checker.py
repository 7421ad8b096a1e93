"""A checker of the task's author: a program that decides whether an answer is right.

It runs in a sandbox job of its own, after the policy's program has gone, and sees three files, named
by its arguments: the input, the expected output and the policy's output. A job that holds the
policy's code never holds the expected output, and the checker's job never holds the policy's code.

With `"verdict": "printed"` it must exit with 0 and print `right` or `wrong` as its first word. With
`"verdict": "exit"` it exits with 0 for right and 1 or 2 for wrong, as testlib's checkers do; only
where the language exits otherwise when it crashes. All else is the checker's own fault, never a
score: a policy is not told that it was wrong because a checker did not run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from verigym.canonical import JSON
from verigym.errors import RequestError, TaskError
from verigym.sandbox.base import Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits
from verigym.verifiers.code.languages import canonical
from verigym.verifiers.code.runs import ENDINGS, run_one

INPUT, EXPECTED, OUTPUT = "input.txt", "expected.txt", "output.txt"
_LIMITS: Final = Limits(wall_s=20.0, cpu_s=10.0, memory_mib=512, disk_mib=128)
_MAX_FILE = 8 << 20


@dataclass(frozen=True)
class CheckerProgram:
    """A checker's text, its language, and how it says what it found (see the module)."""

    source: str
    language: str
    verdict: str = "printed"

    def accepts(self, sandbox: Sandbox, given: bytes, expected: bytes, output: bytes) -> bool:
        """Whether `output` is a right answer. Raises TaskError where the checker itself fails."""
        if len(output) > _MAX_FILE:
            return False
        job = Job(
            source=self.source,
            language=self.language,
            args=(INPUT, OUTPUT, EXPECTED),
            files={INPUT: given, OUTPUT: output, EXPECTED: expected},
            limits=_LIMITS,
        )
        result = run_one(sandbox, job)
        if self.verdict == "exit":
            if result.status is JobStatus.OK:
                return True
            if result.status is JobStatus.NONZERO_EXIT and result.exit_code in (1, 2):
                return False
            raise TaskError(f"the checker failed: {_ending(result.status)}")
        if result.status is not JobStatus.OK:
            raise TaskError(f"the checker failed: {_ending(result.status)}")
        words = result.stdout.split(None, 1)
        word = words[0].lower() if words else b""
        if word not in (b"right", b"wrong"):
            raise TaskError("the checker failed: it must print right or wrong as its first word")
        return word == b"right"


def _ending(status: JobStatus) -> str:
    return ENDINGS[status]


def read_checker(value: JSON) -> CheckerProgram:
    """The checker that `{"program": text, "language", "verdict"}` describes. Raises TaskError."""
    if not isinstance(value, dict) or not isinstance(value.get("program"), str):
        raise TaskError('a checker is a name or {"program": text, "language": name}')
    unknown = value.keys() - {"program", "language", "verdict"}
    verdict = value.get("verdict", "printed")
    if unknown or verdict not in ("printed", "exit"):
        raise TaskError(
            'a checker has the keys program, language and verdict ("printed" or "exit"), '
            f"got {sorted(value)} and {verdict!r}"
        )
    try:
        language = canonical(value.get("language", "python"))
    except RequestError as error:
        raise TaskError(f"checker: {error}") from error
    return CheckerProgram(str(value["program"]), language, str(verdict))
