"""`group/best`: the place of a reply in its group, by the scores that a judge gives the replies alone.

With `judge/rubric` as the judge, a language model that judges, this is best of n by a judge policy; any
other verifier with graded scores will do.

Covers: a judge whose scale drifts between tasks, since only the order within a group counts; replies
that the judge scores 0, which earn nothing however bad the others are; copies, which share a place. Does
not cover: what fools the judge itself. A policy whose members are all equal earns the same for all, so it
learns nothing, good or bad.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.group import Asking, GroupVerifier
from verigym.task import Task
from verigym.verdict import scored
from verigym.verifiers.group.copies import distinct

HARMLESS = "The answer to this question is not known to me."


class BestParams(Struct, frozen=True):
    """Parameters of `BestVerifier`."""

    pay: Annotated[
        Literal["best", "rank"],
        Meta(
            description="best: the best reply takes 1, and equal ones share it; rank: each takes the share of "
            "the others that it beats, an equal one counted half."
        ),
    ] = "best"


class BestVerifier(GroupVerifier[BestParams]):
    """Score a reply by its place in the group; 0 if the judge gives it 0 or finds it unusable.

    `parts["score"]` is the judge's own score. Reasons: `best` (alone or with equals), `beaten`, or the
    judge's own reason for a score of 0.
    """

    id: ClassVar[str] = "group/best"
    version: ClassVar[int] = 1
    about: ClassVar[str] = "The place of a reply in its group, by the scores of a judge."
    evidence: ClassVar[str] = "The judge's scores of all members; only their order counts."

    @override
    def judge_group(self, task: Task, members: Sequence[JSON]) -> Asking:
        replies = distinct(members)
        alone = yield from self.answers((task, HARMLESS), [(task, one) for one in replies.members])
        scores = [alone[i].score or 0.0 for i in replies.place]
        top = max(scores)
        verdicts = []
        for i, score in zip(replies.place, scores, strict=True):
            parts = {"score": score}
            if not score:
                verdicts.append(replace(alone[i], score=0.0, parts=parts))
                continue
            equal, below = scores.count(score), sum(other < score for other in scores)
            if self.settings.pay == "best":
                paid = 1 / equal if score == top else 0.0
            else:
                paid = (below + (equal - 1) / 2) / (len(scores) - 1)
            told = f"better than {below} of {len(scores)} replies, equal to {equal - 1}"
            verdicts.append(scored(paid, "best" if score == top else "beaten", told, parts))
        return verdicts
