"""`group/pairwise`: the share of its group that a reply beats, each pair compared by a judge.

The judge is `judge/rubric` with `pairwise`, or another that compares a submission with
`{"reference": text}` of its task and gives full marks if it is at least as good. Each pair is asked about
both ways round: n members cost n * (n - 1) comparisons beside n against a harmless text, and each is two
requests a sample.

Covers: a judge that prefers what it reads first, by asking both ways; replies that speak to the judge,
refused before another reply is compared with them; copies, which tie. Does not cover: length, style and
flattery, if the judge falls for them; a circle (rock, paper, scissors) leaves all three equal. A policy
whose replies are all equal earns one half for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import RequestError
from verigym.group import Asking, GroupVerifier, Question
from verigym.judge import Judge
from verigym.reply import spoken
from verigym.task import Task
from verigym.verdict import Status, Verdict, scored
from verigym.verifiers.group.copies import distinct

HARMLESS = "The answer to this question is not known to me."


class PairwiseVerifier(GroupVerifier):
    """Score a reply by the share of the other members that it beats; a tie counts half.

    A reply that the judge refuses is scored 0 with the judge's reason, and beaten by every other. Reasons
    of the others: `compared`. `parts`: `won` and `tied`, shares of the other members.
    """

    id: ClassVar[str] = "group/pairwise"
    version: ClassVar[int] = 1
    about: ClassVar[str] = (
        "The share of its group that a reply beats, each pair compared by a judge."
    )
    evidence: ClassVar[str] = "The judge's comparisons of each two members, asked both ways round."

    def __init__(self, of: Judge, /, **params: JSON) -> None:
        super().__init__(of, **params)
        if of.id == "judge/rubric" and (not of.params["pairwise"] or of.params["canary"]):
            raise RequestError(
                "group/pairwise needs judge/rubric with pairwise true and canary false (against a weak "
                f"reply a canary may tie), got {of.params['pairwise']} and {of.params['canary']}"
            )

    @override
    def judge_group(self, task: Task, members: Sequence[JSON]) -> Asking:
        replies = distinct(members)
        control = _comparison(task, HARMLESS, HARMLESS)
        alone = yield from self.answers(
            control, [_comparison(task, one, HARMLESS) for one in replies.members]
        )
        able = [i for i, verdict in enumerate(alone) if verdict.status is Status.OK]
        pairs = [(i, j) for i in able for j in able if i != j]
        compared = yield from self.answers(
            control, [_comparison(task, replies.members[i], replies.members[j]) for i, j in pairs]
        )
        holds = {pair for pair, v in zip(pairs, compared, strict=True) if v.score == 1.0}
        others = len(members) - 1
        verdicts: list[Verdict] = []
        for i, verdict in enumerate(alone):
            if i not in able:
                verdicts.append(replace(verdict, score=0.0, parts={"won": 0.0, "tied": 0.0}))
                continue
            won, tied = 0, replies.count[i] - 1
            for j, count in enumerate(replies.count):
                if j == i:
                    continue
                here, there = (i, j) in holds, (j, i) in holds
                if j not in able or (here and not there):
                    won += count
                elif here == there:
                    tied += count
            told = f"beats {won} of {others} other replies and ties with {tied}"
            parts = {"won": won / others, "tied": tied / others}
            verdicts.append(scored((won + tied / 2) / others, "compared", told, parts))
        return [verdicts[i] for i in replies.place]


def _comparison(task: Task, reply: JSON, other: JSON) -> Question:
    """Return the question if `reply` is at least as good as `other`."""
    reference = task.reference if isinstance(task.reference, dict) else {}
    beside = spoken(other).strip() if isinstance(other, str) else ""
    return replace(task, reference={**reference, "reference": beside or HARMLESS}), reply
