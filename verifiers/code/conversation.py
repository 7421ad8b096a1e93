"""A judge of the task's author that a program talks to: what one prints is what the other reads.

Both run in the sandbox, each as a job of its own with its own folder and processes. The judge gets two files, named by
its arguments: the test's input, which the program never sees unless the judge tells it, and the wanted output. It
exits with 0 and writes `right` or `wrong` as the last line of standard error; words after that are for people. It
may answer as it likes, by what was asked so far, and count the questions.

Nothing but the program's output reaches the judge. If it ends in any other way, it is run again without a partner: if
it gives a verdict then, it works, and what it could not judge (bytes that are no text, a flood, silence) is wrong. If
not, the fault is the judge's, and there is no score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from verigym.canonical import JSON
from verigym.errors import RequestError, SandboxError, TaskError
from verigym.sandbox.base import Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.verifiers.code.languages import canonical
from verigym.verifiers.code.runs import ENDINGS, run_one

INPUT, EXPECTED = "input.txt", "expected.txt"
_LIMITS: Final = Limits(wall_s=10.0, cpu_s=8.0, memory_mib=512, disk_mib=128)
_VERDICTS: Final = {b"right": True, b"wrong": False}


@dataclass(frozen=True)
class JudgeProgram:
    """A judge's text and its language (see the module)."""

    source: str
    language: str

    def job(self, given: bytes, expected: bytes) -> Job:
        """Return the judge's job for a test."""
        return Job(
            source=self.source,
            language=self.language,
            args=(INPUT, EXPECTED),
            files={INPUT: given, EXPECTED: expected},
            limits=_LIMITS,
        )

    def accepts(self, sandbox: Sandbox, given: bytes, expected: bytes, judged: Result) -> bool:
        """Return True if a judge that ended as `judged` accepts the program. Raises SandboxError if the machine
        failed, TaskError if the judge gives no verdict on silence either."""
        if judged.status is JobStatus.SANDBOX_ERROR:
            raise SandboxError(judged.detail)
        found = verdict(judged)
        if found is not None:
            return found
        alone = run_one(sandbox, self.job(given, expected))
        if verdict(alone) is None:
            said = ENDINGS.get(alone.status, "it wrote neither right nor wrong")
            raise TaskError(f"the judge gives no verdict, and none on silence either: {said}")
        return False


def verdict(judged: Result) -> bool | None:
    """Return the verdict that a judge wrote; None if there is none."""
    if judged.status is not JobStatus.OK:
        return None
    words = judged.stderr.rstrip().rpartition(b"\n")[2].split(None, 1)
    return _VERDICTS.get(words[0].rstrip(b":")) if words else None


def read_judge(value: JSON) -> JudgeProgram:
    """Return the judge that `{"program": text, "language"}` describes. Raises TaskError."""
    if not isinstance(value, dict) or not isinstance(value.get("program"), str):
        raise TaskError('a judge is {"program": text, "language": name}')
    if unknown := value.keys() - {"program", "language"}:
        raise TaskError(f"a judge has the keys program and language, got {sorted(unknown)} too")
    try:
        return JudgeProgram(str(value["program"]), canonical(value.get("language", "python")))
    except RequestError as error:
        raise TaskError(f"judge: {error}") from error
