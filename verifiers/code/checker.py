"""A checker of the task's author: a program that decides whether an answer is right.

It runs in a sandbox job of its own, after the policy's program has gone, and sees three files, named
by its arguments: the input, the expected output and the policy's output. A job that holds the
policy's code never holds the expected output, and the checker's job never holds the policy's code.

With `"verdict": "printed"` it must exit with 0 and print `right` or `wrong` as its first word. With
`"verdict": "exit"` it exits with 0 for right and 1 or 2 for wrong, as testlib's checkers do; only
where the language exits otherwise when it crashes. If it does anything else, it is run again on
outputs that the policy did not write: the expected one, and a few neutral ones, since a task with many
right answers may expect nothing in particular. If it judges one of them, right or wrong, it works, and
what it could not judge (bytes that are no text, words in place of numbers, a flood) is wrong. If it judges
none, the fault is the checker's, and there is no score.
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
# With the control, two runs must fit into the 30 s that a service gives one verdict.
_LIMITS: Final = Limits(wall_s=10.0, cpu_s=8.0, memory_mib=512, disk_mib=128)
_MAX_FILE = 8 << 20
_NEUTRAL: Final = (b"", b"0\n", b"0 0\n", b"[]\n")


@dataclass(frozen=True)
class CheckerProgram:
    """A checker's text, its language, and how it says what it found (see the module)."""

    source: str
    language: str
    verdict: str = "printed"

    def accepts(self, sandbox: Sandbox, given: bytes, expected: bytes, output: bytes) -> bool:
        """Return True if `output` is a right answer. Raises TaskError if the checker judges no control either."""
        if len(output) > _MAX_FILE:
            return False
        found = self._judge(sandbox, given, expected, output)
        if isinstance(found, bool):
            return found
        for control in (expected, *_NEUTRAL):
            judged = self._judge(sandbox, given, expected, control)
            if isinstance(judged, bool):
                return False
            if judged == ENDINGS[JobStatus.TIME_LIMIT]:
                break  # it has no time for more
        raise TaskError(f"the checker failed: {found}; and it judges no other output either")

    def _judge(self, sandbox: Sandbox, given: bytes, expected: bytes, output: bytes) -> bool | str:
        """Return True if the checker accepts `output`; otherwise False, or a text that says what
        is wrong with the checker."""
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
            return ENDINGS[result.status]
        if result.status is not JobStatus.OK:
            return ENDINGS[result.status]
        words = result.stdout.split(None, 1)
        word = words[0].lower() if words else b""
        if word not in (b"right", b"wrong"):
            return "it must print right or wrong as its first word"
        return word == b"right"


def read_checker(value: JSON) -> CheckerProgram:
    """Return the checker that `{"program": text, "language", "verdict"}` describes. Raises
    TaskError."""
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
