"""`GroupVerifier[P]`, the class of verifiers that judge all members of a group at once.

    group = make_group_verifier("group/majority", of="math/answer")
    verdicts = group.verify_group(task, replies)

A group verifier asks an ordinary judge about members and pairs of members, so whatever stands behind that
judge (a pool, a cache, a service) serves groups too, and each question has a deadline of its own.

Covers: a member that makes the judge fail (its score is 0, and the others keep theirs: laws 1 and 10),
copies, members that JSON cannot hold. Does not cover: members that agree on a lie; see `verifiers/group/`.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

from verigym.canonical import JSON, digest
from verigym.errors import RequestError, TaskError
from verigym.judge import Judge
from verigym.params import P, Parameterised, plain, schema_of
from verigym.submission import identity, refusal
from verigym.task import Task
from verigym.verdict import Status, Verdict, VerifierFault, fault, unusable

MAX_MEMBERS = 64
"""Maximum number of members of a group; comparing all pairs takes one question per pair."""

_AT_ONCE = 64
"""Maximum number of questions in one call of the judge, which a pool's queue must hold."""

Question: TypeAlias = tuple[Task, JSON]
Asking: TypeAlias = Generator[list[Question], list[Verdict], list[Verdict]]
"""Yields questions for the judge, is sent their verdicts, and returns the members' verdicts."""


class Unanswered(Exception):
    """The judge answers no question now, so no member can be judged; `verdict` is the fault."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.reason)
        self.verdict = verdict


class GroupVerifier(Parameterised[P], ABC):
    """Judges the members of a group by asking the judge `of`. Subclasses write `judge_group`.

    Members are submissions to one task. Verdicts do not depend on their order. `P` declares the
    parameters as in `Verifier[P]`.
    """

    about: ClassVar[str] = ""
    """Description in one line: what earns a member its score."""
    evidence: ClassVar[str] = ""
    """Description in one line: what decides the score, and what is ignored."""

    def __init__(self, of: Judge, /, **params: JSON) -> None:
        super().__init__(**params)
        self.of = of

    @abstractmethod
    def judge_group(self, task: Task, members: Sequence[JSON]) -> Asking:
        """Yield questions for `of` and return a verdict for each member.

        Ask by `yield from self.answers(...)`. Raise TaskError if the task cannot be used.
        """

    @property
    def name(self) -> str:
        """`id@version`, as verdicts carry it."""
        return f"{self.id}@{self.version}"

    def verify_group(self, task: Task, submissions: Sequence[JSON]) -> list[Verdict]:
        """Return a verdict for each submission, in order. Never raises because of a submission.

        Raises RequestError for fewer than 2 or more than MAX_MEMBERS submissions.
        """
        asking = self.ask(task, submissions)
        try:
            questions = next(asking)
            while True:
                verdicts: list[Verdict] = []
                for start in range(0, len(questions), _AT_ONCE):
                    verdicts += self.of.verify_batch(questions[start : start + _AT_ONCE])
                questions = asking.send(verdicts)
        except StopIteration as done:
            members: list[Verdict] = done.value
            return members

    def ask(self, task: Task, submissions: Sequence[JSON]) -> Asking:
        """Yield the questions of `verify_group`, for a caller who asks the judge in another way."""
        if not 2 <= len(submissions) <= MAX_MEMBERS:
            raise RequestError(
                f"a group has 2 to {MAX_MEMBERS} submissions, got {len(submissions)}; "
                "split a larger one, and judge a single one by an ordinary verifier"
            )
        refused = [refusal(one) for one in submissions]
        # What JSON cannot hold takes part as a reply that says nothing.
        able = ["" if verdict else one for verdict, one in zip(refused, submissions, strict=True)]
        judged = yield from self._judged(task, able)
        stamps = self._digests(task, submissions)
        return [
            (unfit or verdict).stamped(self.name, stamp)
            for unfit, verdict, stamp in zip(refused, judged, stamps, strict=True)
        ]

    def answers(self, control: Question, questions: list[Question]) -> Asking:
        """Ask `questions` and return their verdicts, none of them a fault.

        A question whose answer is a fault is asked once more, together with one that the judge answered
        before, or with `control`, about a harmless submission, if there is none. If the judge answers that
        one, the fault is the submission's own: unusable with `upsets_verifier`. If not, the judge is down,
        and the whole group gets its fault.
        """
        if not questions:
            return []
        verdicts = list((yield questions))
        failed = [i for i, verdict in enumerate(verdicts) if verdict.fault]
        if failed:
            pairs = zip(questions, verdicts, strict=True)
            known = next((question for question, v in pairs if not v.fault), control)
            sound, *again = yield [_uncached(known), *(questions[i] for i in failed)]
            if sound.fault:
                raise Unanswered(sound)
            for i, verdict in zip(failed, again, strict=True):
                if verdict.status is Status.CANCELLED:
                    raise Unanswered(verdict)
                why = f"the verifier judges other submissions, but not this one: {verdict.reason}"
                verdicts[i] = unusable("upsets_verifier", why) if verdict.fault else verdict
        return verdicts

    @classmethod
    def describe(cls) -> dict[str, Any]:
        """Return the listing: id, version, default parameters with their schema, and descriptions."""
        return {
            "id": cls.id,
            "version": cls.version,
            "params": plain(cls.params_type(), {}),
            "about": cls.about,
            "schema": schema_of(cls.params_type),
            "evidence": cls.evidence,
        }

    def _judged(self, task: Task, members: list[JSON]) -> Asking:
        try:
            return (yield from self.judge_group(task, members))
        except Unanswered as error:
            found = error.verdict
        except TaskError as error:
            found = fault(Status.VERIFIER_ERROR, "bad_task", str(error))
        except Exception as error:  # noqa: BLE001
            # A bug of the group verifier: a fault that names itself, as in `Verifier.verify`.
            found = fault(Status.VERIFIER_ERROR, "crashed", f"{type(error).__name__}: {error}")
        return [found] * len(members)

    def _digests(self, task: Task, submissions: Sequence[JSON]) -> list[str]:
        """Return the digests of the members' verdicts: each covers all members and its own place."""
        try:
            params = {**self.params, "of": [self.of.id, self.of.version, dict(self.of.params)]}
            members = [identity("", 0, {}, None, one) for one in submissions]
            return [
                digest(self.id, self.version, params, task, "group", members, i)
                for i in range(len(members))
            ]
        except (RequestError, VerifierFault):  # no plain data, or a judge that is not there
            return [""] * len(submissions)


def _uncached(question: Question) -> Question:
    """Return the question with a task id of its own: a cache would answer although the judge is down."""
    task, submission = question
    return replace(task, id=f"{task.id}#{secrets.token_hex(8)}"), submission
