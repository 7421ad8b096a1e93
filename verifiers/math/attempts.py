"""`math/attempts`: answers given one after the other, each after being told that the last was wrong.

The first right one is paid, the less the later it came. Each attempt is judged alone by
`math/answer`, so an attempt that lists candidates is no answer, and costs one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from verigym.canonical import JSON
from verigym.task import Task
from verigym.verdict import Status, Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.math.answer import AnswerVerifier


class AttemptsParams(Struct, frozen=True):
    """Parameters of `AttemptsVerifier`."""

    most: Annotated[int, Meta(ge=1, le=64, description="Attempts at most.")] = 4
    decay: Annotated[
        float, Meta(gt=0, le=1, description="What a wrong attempt leaves of the reward.")
    ] = 0.7


class AttemptsVerifier(Verifier[AttemptsParams]):
    """Score `decay` to the power of the wrong attempts before the first right one; 0 without one.

    The submission is the list of attempts in order, or one text for a single attempt; what stands
    after the first right one counts for nothing. Judged with `correct`, or the reason of the last
    attempt; unusable with `not_attempts`, `no_answer` (an empty list), `too_many`. The reference is
    that of `math/answer`. `parts`: `attempts`, those made up to the right one.
    """

    id: ClassVar[str] = "math/attempts"
    # What `math/answer` changes, this does: law 6. A change of our own adds one.
    version: ClassVar[int] = AnswerVerifier.version
    about: ClassVar[str] = (
        "A list of attempts at a mathematical answer: the first right one is paid, less for each wrong "
        "one before it."
    )
    evidence: ClassVar[str] = (
        "The final answer of each attempt, by math/answer, and which attempt was the first right one."
    )
    weights: ClassVar[Mapping[str, float]] = {"attempts": 0.0}

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self._answer = AnswerVerifier()
        self._most, self._decay = self.settings.most, self.settings.decay

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """Judge the attempts in order, up to the first right one."""
        attempts = [submission] if isinstance(submission, str) else submission
        if not isinstance(attempts, list | tuple) or not all(isinstance(a, str) for a in attempts):
            return unusable("not_attempts", "a submission is a list of texts")
        if not attempts:
            return unusable("no_answer", "there is no attempt")
        if len(attempts) > self._most:
            return unusable("too_many", f"{len(attempts)} attempts; {self._most} are allowed")
        for number, attempt in enumerate(attempts, 1):
            verdict = self._answer.judge(task, attempt)
            if verdict.score == 1.0:
                return scored(
                    self._decay ** (number - 1),
                    "correct",
                    f"attempt {number} is right",
                    {"attempts": number},
                )
        if verdict.status is Status.POLICY_FAULT:
            return verdict
        parts = {"attempts": len(attempts)}
        return scored(0.0, verdict.reason, f"{len(attempts)} attempts, none right", parts)
