"""`group/majority`: agreement with the answer that most members of a group give.

No reference answer is needed (Zuo et al. 2025, TTRL, arXiv 2504.16084). The judge compares replies as
`{"reply": another member's reply, "instead_of": the task's own answers}` in place of a reference answer: `math/answer` and
`qa/answer` can.

Covers: hedging and withdrawn answers, which the judge refuses; copies; the question repeated; a reply that
would agree with two answers, since both must agree with it. Does not cover: members that agree because
they are wrong together, by noise or by a part of the question. A policy that always gives
the same constant earns full agreement, so majority rewards drive a policy to what it says already: mix
in tasks with references, and stop when `votes` rises while held-out accuracy does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from typing_extensions import override

from verigym.canonical import JSON
from verigym.group import Asking, GroupVerifier, Question
from verigym.reply import scope
from verigym.task import Task
from verigym.verdict import Status, Verdict, scored, unusable
from verigym.verifiers.group.copies import distinct

HARMLESS = "<answer>1</answer>"


class MajorityVerifier(GroupVerifier):
    """Score 1 for a reply that agrees with the most frequent answer of its group, else 0.

    Two replies agree if the judge gives each full marks with the other as reference. `parts["votes"]` is
    the share of members that agree with the reply, itself included. Reasons: `majority`, `minority`,
    `no_majority` (nobody agrees, or two answers are equally frequent), `repeats_question`, `ambiguous` (the judge does not
    find the reply equal to itself), or the judge's own reason for a reply without an answer.
    """

    id: ClassVar[str] = "group/majority"
    version: ClassVar[int] = 1
    about: ClassVar[str] = (
        "Agreement with the most frequent answer of the group, without a reference."
    )
    evidence: ClassVar[str] = (
        "The final answers of all members, as the judge compares them; whether they are true counts for "
        "nothing."
    )

    @override
    def judge_group(self, task: Task, members: Sequence[JSON]) -> Asking:
        replies = distinct(members)
        prompt = _letters(task.prompt)

        def repeats_prompt(reply: JSON) -> bool:
            said = _letters(scope(reply)) if isinstance(reply, str) else ""
            return bool(said) and said == prompt

        control = _comparison(task, HARMLESS, HARMLESS)
        alone = yield from self.answers(
            control, [_comparison(task, one, one) for one in replies.members]
        )
        alone = [
            unusable("repeats_question", "the reply is the question") if repeats else verdict
            for verdict, repeats in zip(alone, map(repeats_prompt, replies.members), strict=True)
        ]
        able = [i for i, verdict in enumerate(alone) if verdict.score == 1.0]
        agree = {(i, i) for i in able}
        pairs = [(i, j) for i in able for j in able if i < j]
        for _ in range(2):  # one way round, and those that agree the other way round, too
            asked = [_comparison(task, replies.members[i], replies.members[j]) for i, j in pairs]
            verdicts = yield from self.answers(control, asked)
            equal = [pair for pair, v in zip(pairs, verdicts, strict=True) if v.score == 1.0]
            pairs = [(j, i) for i, j in equal]
        agree |= {*equal, *pairs}
        votes = {i: sum(replies.count[j] for j in able if (i, j) in agree) for i in able}
        most = max(votes.values(), default=0)
        leaders = [i for i in able if votes[i] == most]
        decided = most > 1 and all((i, j) in agree for i in leaders for j in leaders)
        found: list[Verdict] = []
        for i, verdict in enumerate(alone):
            if i not in votes:
                found.append(_without_vote(verdict))
                continue
            told = f"{votes[i]} of {len(members)} replies agree"
            wins = decided and all((i, j) in agree for j in leaders)
            reason = "majority" if wins else "minority" if decided else "no_majority"
            parts = {"votes": votes[i] / len(members)}
            found.append(scored(float(wins), reason, told, parts))
        return [found[i] for i in replies.place]


def _letters(text: str) -> str:
    """Return the letters and digits of a text, to tell if two texts have the same wording."""
    return "".join(filter(str.isalnum, text.casefold()))


def _comparison(task: Task, reply: JSON, other: JSON) -> Question:
    """Return the question if `reply` gives the same answer as `other`."""
    reference = dict(task.reference) if isinstance(task.reference, dict) else {}
    own = {key: reference.pop(key) for key in ("answer", "answers") if key in reference}
    return replace(task, reference={**reference, "reply": other, "instead_of": own}), reply


def _without_vote(verdict: Verdict) -> Verdict:
    if verdict.status is Status.POLICY_FAULT:
        return replace(verdict, score=0.0, parts={"votes": 0.0})
    told = "the judge does not find the reply equal to itself"
    return scored(0.0, "ambiguous", told, {"votes": 0.0})
