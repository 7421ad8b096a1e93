"""Verifiers made of verifiers: weighted sum, all of, any of, a gate, clip and delta shaping.

    make_verifier("compose/gate", of=[
        {"verifier": "text/format", "params": {"tags": ["think", "answer"]}},
        {"verifier": "math/answer"},
    ])

Each child is `{"verifier", "params", "name", "weight", "at"}`: `name` (its id's last part if left
out) heads its parts, `weight` counts in a sum, `at` names the key of the task's reference that is the
child's own reference. A `Verifier` may stand for the id, registered or not.

What they share is in `composition.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from msgspec import Meta
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import RequestError
from verigym.task import Task
from verigym.verdict import Status, Verdict, scored
from verigym.verifiers.composition import (
    Child,
    ChildrenParams,
    Composition,
    faulted,
    like,
    parts_of,
    told,
)


class WeightedSum(Composition):
    """The mean of the children's scores by their weights; every child is asked."""

    id: ClassVar[str] = "compose/sum"
    version: ClassVar[int] = 1
    about: ClassVar[str] = "The weighted mean of several verifiers' scores."
    evidence: ClassVar[str] = "What its verifiers take for evidence; their scores are its parts."

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.children and not sum(child.weight for child in self.children) > 0:
            raise RequestError("the weights of compose/sum must not all be 0")

    @override
    def combine(self, task: Task, submission: JSON) -> Verdict:
        """Return the weighted mean of the children's scores; the policy's fault if every child
        gave one."""
        verdicts = self.ask(task, submission)
        if isinstance(verdicts, Verdict):
            return verdicts
        total = sum(child.weight for child in self.children)
        score = sum(child.weight * (v.score or 0.0) for child, v in verdicts) / total
        reason = "correct" if all(v.score == 1.0 for c, v in verdicts if c.weight) else "partly"
        made = scored(
            min(1.0, max(0.0, score)),
            reason if score else "wrong",
            told(verdicts),
            parts_of(verdicts),
        )
        if all(v.status is Status.POLICY_FAULT for _, v in verdicts):
            made = replace(made, status=Status.POLICY_FAULT, reason=verdicts[0][1].reason)
        return made


class AllOf(Composition):
    """The lowest of the children's scores; asked in order, up to the first that gives 0."""

    id: ClassVar[str] = "compose/all"
    version: ClassVar[int] = 1
    about: ClassVar[str] = "The lowest score of several verifiers: all must be content."
    evidence: ClassVar[str] = "What its verifiers take for evidence; after a 0 no other is asked."

    @override
    def combine(self, task: Task, submission: JSON) -> Verdict:
        verdicts = self.ask(task, submission, until=0.0)
        if isinstance(verdicts, Verdict):
            return verdicts
        return like(min(verdicts, key=lambda pair: pair[1].score or 0.0), verdicts)


class AnyOf(Composition):
    """The highest of the children's scores; asked in order, up to the first that gives 1."""

    id: ClassVar[str] = "compose/any"
    version: ClassVar[int] = 1
    about: ClassVar[str] = "The highest score of several verifiers: one must be content."
    evidence: ClassVar[str] = "What its verifiers take for evidence; after a 1 no other is asked."

    @override
    def combine(self, task: Task, submission: JSON) -> Verdict:
        """A fault before the first full score is the verdict."""
        verdicts = self.ask(task, submission, until=1.0)
        if isinstance(verdicts, Verdict):
            return verdicts
        return like(max(verdicts, key=lambda pair: pair[1].score or 0.0), verdicts)


class Gate(Composition):
    """The last child's score if all children before it give full marks, else 0: no format, no credit."""

    id: ClassVar[str] = "compose/gate"
    version: ClassVar[int] = 1
    least: ClassVar[int] = 2
    about: ClassVar[str] = (
        "The last verifier's score, but 0 unless those before it give full marks."
    )
    evidence: ClassVar[str] = "What its verifiers take for evidence; a shut gate asks no other."

    @override
    def combine(self, task: Task, submission: JSON) -> Verdict:
        verdicts: list[tuple[Child, Verdict]] = []
        for child in self.children:
            verdict = child.verify(task, submission)
            if verdict.score is None:
                return faulted(child, verdict)
            verdicts.append((child, verdict))
            if verdict.score < 1.0 and child is not self.children[-1]:
                shut = like((child, replace(verdict, score=0.0)), verdicts)
                return shut if verdict.score == 0.0 else replace(shut, reason="gate_shut")
        return like(verdicts[-1], verdicts)


class ClipParams(ChildrenParams, frozen=True):
    """Parameters of `Clip`."""

    low: Annotated[float, Meta(ge=0, le=1, description="A lower score becomes this.")] = 0.0
    high: Annotated[float, Meta(ge=0, le=1, description="A higher score becomes this.")] = 1.0
    stretch: Annotated[
        bool, Meta(description="Whether low to high is then stretched to 0 to 1.")
    ] = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"low must be below high, got {self.low} and {self.high}")


class Clip(Composition[ClipParams]):
    """One child's score, held between `low` and `high`; with `stretch` that range becomes 0 to 1."""

    id: ClassVar[str] = "compose/clip"
    version: ClassVar[int] = 1
    most: ClassVar[int] = 1
    about: ClassVar[str] = "A verifier's score, clipped to a range."
    evidence: ClassVar[str] = "What its verifier takes for evidence."

    @override
    def combine(self, task: Task, submission: JSON) -> Verdict:
        (child,) = self.children
        verdict = child.verify(task, submission)
        if verdict.score is None:
            return faulted(child, verdict)
        low, high = self.settings.low, self.settings.high
        score = min(max(verdict.score, low), high)
        if self.settings.stretch:
            score = (score - low) / (high - low)
        return replace(like((child, verdict), [(child, verdict)]), score=score)


class Delta(Composition):
    """Gain of one submission over an earlier one, as scored by one child; never below 0.

    The submission is `{"before": ..., "after": ...}`; a `before` of null stands for an empty
    submission with score 0. Over an episode, these gains can sum to more than the final score if
    the score falls and rises again. If rewards are summed over turns, pay `delta`, the signed
    difference, instead.
    """

    id: ClassVar[str] = "compose/delta"
    version: ClassVar[int] = 1
    most: ClassVar[int] = 1
    about: ClassVar[str] = 'The gain of {"after": ...} over {"before": ...} by a verifier\'s score.'
    evidence: ClassVar[str] = "What its verifier takes for evidence, in both submissions."
    weights: ClassVar[Mapping[str, float]] = {"before": 0, "after": 0, "delta": 1}

    @override
    def combine(self, task: Task, submission: JSON) -> Verdict:
        (child,) = self.children
        if not isinstance(submission, dict) or set(submission) != {"before", "after"}:
            return Verdict(
                status=Status.POLICY_FAULT,
                score=0.0,
                reason="not_a_pair",
                evidence='a submission is {"before": ..., "after": ...}',
            )
        before = 0.0
        if submission["before"] is not None:
            earlier = child.verify(task, submission["before"])
            if earlier.score is None:
                return faulted(child, earlier)
            before = earlier.score
        verdict = child.verify(task, submission["after"])
        if verdict.score is None:
            return faulted(child, verdict)
        parts = {"before": before, "after": verdict.score, "delta": verdict.score - before}
        made = like((child, verdict), [(child, verdict)])
        return replace(made, score=max(0.0, parts["delta"]), parts={**made.parts, **parts})


def clip_rewards(rewards: list[float], eta: float = 0.0) -> list[float]:
    """Return the rewards of steps, each less `eta` and at most 0: more steps cannot add up to more.

    Source: Gao et al. 2024, "On designing effective RL reward at training time for LLM reasoning",
    arXiv 2410.15115, the Clip mechanism.
    """
    return [min(reward - eta, 0.0) for reward in rewards]


def delta_rewards(rewards: list[float]) -> list[float]:
    """Return each step's reward less the next one's, the last as it is: the sum is that of the first.

    Source: as `clip_rewards`, the Delta mechanism.
    """
    return [
        reward - (rewards[i + 1] if i + 1 < len(rewards) else 0.0)
        for i, reward in enumerate(rewards)
    ]


def ids_in(params: Mapping[str, Any]) -> set[str]:
    """Return the ids of all verifiers that parameters of a composition name, however deep."""
    found: set[str] = set()
    todo: list[Any] = [params.get("of")]
    while todo:
        for one in todo.pop() or ():
            if isinstance(one, dict):
                found.add(str(one.get("verifier")))
                inner = one.get("params")
                if isinstance(inner, dict) and isinstance(inner.get("of"), list | tuple):
                    todo.append(inner["of"])
    return found
