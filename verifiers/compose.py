"""Verifiers made of verifiers: weighted sum, all of, any of, a gate, clip and delta shaping.

    make_verifier("compose/gate", of=[
        {"verifier": "text/format", "params": {"tags": ["think", "answer"]}},
        {"verifier": "math/answer"},
    ])

Each child is `{"verifier", "params", "name", "weight", "at"}`: `name` (its id's last part if left
out) heads its parts, `weight` counts in a sum, `at` names the key of the task's reference that is the
child's own reference. A `Verifier` may stand for the id, registered or not.

The complete parameters and the version of every child become part of the composition's own
parameters, so its digest changes whenever one of theirs would (law 6). A fault of a child that was
asked is a fault of the whole (law 1); a child that no longer matters is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from verigym.canonical import JSON
from verigym.errors import RequestError, TaskError, suggestion
from verigym.registry import make_verifier
from verigym.task import Task
from verigym.verdict import Status, Verdict, scored
from verigym.verifier import Verifier

MAX_CHILDREN = 64

_KEYS = ("verifier", "version", "params", "name", "weight", "at")
_OF: Mapping[str, JSON] = {
    "type": "array",
    "items": {"type": "object"},
    "maxItems": MAX_CHILDREN,
    "description": (
        "The verifiers: objects of verifier (an id), params, name, weight (in a sum), and at (the "
        "key of the task's reference that is theirs). version, where given, must be the installed."
    ),
}


@dataclass(frozen=True)
class Child:
    """One verifier of a composition."""

    verifier: Verifier
    name: str
    weight: float
    at: str | None

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """Its own verdict, on its own part of the reference. Raises TaskError where that is missing."""
        if self.at is not None:
            reference = task.reference
            if not isinstance(reference, dict) or self.at not in reference:
                raise TaskError(f"the reference has no {self.at!r}, which {self.name} is to use")
            task = replace(task, reference=reference[self.at])
        return self.verifier.verify(task, submission)

    def plain(self) -> dict[str, JSON]:
        """All that decides its verdicts, as plain data."""
        return {
            "verifier": self.verifier.id,
            "version": self.verifier.version,
            "params": dict(self.verifier.params),
            "name": self.name,
            "weight": self.weight,
            "at": self.at,
        }


class Composition(Verifier):
    """Base of the compositions: reads `of`, and keeps the verdicts apart from their sum."""

    defaults: ClassVar[Mapping[str, JSON]] = {"of": []}
    param_schemas: ClassVar[Mapping[str, Mapping[str, JSON]]] = {"of": _OF}
    least: ClassVar[int] = 1
    most: ClassVar[int] = MAX_CHILDREN

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        given = self.params["of"]
        assert isinstance(given, list | tuple)
        # Made without any parameter, it can still be described.
        if not self.least <= len(given) <= self.most and (given or params):
            wanted = f"{self.least}" if self.least == self.most else f"at least {self.least}"
            raise RequestError(f"{self.id} is made of {wanted} verifiers, got {len(given)}")
        self.children = tuple(_child(one, i) for i, one in enumerate(given))
        names = [child.name for child in self.children]
        for name in names:
            if names.count(name) > 1:
                raise RequestError(f"two verifiers of {self.id} are called {name!r}; give a name")
        self.params["of"] = [child.plain() for child in self.children]

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """See the class."""
        if not self.children:
            raise TaskError(f"{self.id} is made of nothing; say what with the parameter of")
        return self.combine(task, submission)

    def combine(self, task: Task, submission: JSON) -> Verdict:
        """The verdict of the whole; there is a child."""
        raise NotImplementedError


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

    def combine(self, task: Task, submission: JSON) -> Verdict:
        """See the class. The policy's fault where it is that for every child."""
        verdicts = []
        for child in self.children:
            verdict = child.verify(task, submission)
            if verdict.score is None:
                return _faulted(child, verdict)
            verdicts.append((child, verdict))
        total = sum(child.weight for child in self.children)
        score = sum(child.weight * (v.score or 0.0) for child, v in verdicts) / total
        reason = "correct" if all(v.score == 1.0 for c, v in verdicts if c.weight) else "partly"
        made = scored(
            min(1.0, max(0.0, score)),
            reason if score else "wrong",
            _told(verdicts),
            _parts(verdicts),
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

    def combine(self, task: Task, submission: JSON) -> Verdict:
        """See the class."""
        verdicts: list[tuple[Child, Verdict]] = []
        for child in self.children:
            verdict = child.verify(task, submission)
            if verdict.score is None:
                return _faulted(child, verdict)
            verdicts.append((child, verdict))
            if verdict.score == 0.0:
                break
        return _like(min(verdicts, key=lambda pair: pair[1].score or 0.0), verdicts)


class AnyOf(Composition):
    """The highest of the children's scores; asked in order, up to the first that gives 1."""

    id: ClassVar[str] = "compose/any"
    version: ClassVar[int] = 1
    about: ClassVar[str] = "The highest score of several verifiers: one must be content."
    evidence: ClassVar[str] = "What its verifiers take for evidence; after a 1 no other is asked."

    def combine(self, task: Task, submission: JSON) -> Verdict:
        """See the class. A fault before the first full score is the verdict."""
        verdicts: list[tuple[Child, Verdict]] = []
        for child in self.children:
            verdict = child.verify(task, submission)
            if verdict.score is None:
                return _faulted(child, verdict)
            verdicts.append((child, verdict))
            if verdict.score == 1.0:
                break
        return _like(max(verdicts, key=lambda pair: pair[1].score or 0.0), verdicts)


class Gate(Composition):
    """The last child's score, where all before it give full marks; else 0. No format, no credit."""

    id: ClassVar[str] = "compose/gate"
    version: ClassVar[int] = 1
    least: ClassVar[int] = 2
    about: ClassVar[str] = (
        "The last verifier's score, but 0 unless those before it give full marks."
    )
    evidence: ClassVar[str] = "What its verifiers take for evidence; a shut gate asks no other."

    def combine(self, task: Task, submission: JSON) -> Verdict:
        """See the class."""
        verdicts: list[tuple[Child, Verdict]] = []
        for child in self.children:
            verdict = child.verify(task, submission)
            if verdict.score is None:
                return _faulted(child, verdict)
            verdicts.append((child, verdict))
            if verdict.score < 1.0 and child is not self.children[-1]:
                shut = _like((child, replace(verdict, score=0.0)), verdicts)
                return shut if verdict.score == 0.0 else replace(shut, reason="gate_shut")
        return _like(verdicts[-1], verdicts)


class Clip(Composition):
    """One child's score, held between `low` and `high`; with `stretch` that range becomes 0 to 1."""

    id: ClassVar[str] = "compose/clip"
    version: ClassVar[int] = 1
    most: ClassVar[int] = 1
    defaults: ClassVar[Mapping[str, JSON]] = {"of": [], "low": 0.0, "high": 1.0, "stretch": False}
    param_schemas: ClassVar[Mapping[str, Mapping[str, JSON]]] = {
        "of": _OF,
        "low": {"minimum": 0, "maximum": 1, "description": "A lower score becomes this."},
        "high": {"minimum": 0, "maximum": 1, "description": "A higher score becomes this."},
        "stretch": {"description": "Whether low to high is then stretched to 0 to 1."},
    }
    about: ClassVar[str] = "A verifier's score, clipped to a range."
    evidence: ClassVar[str] = "What its verifier takes for evidence."

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        low, high = self.params["low"], self.params["high"]
        assert isinstance(low, int | float)
        assert isinstance(high, int | float)
        if not low < high:
            raise RequestError(f"low must be below high, got {low} and {high}")
        self._low, self._high = low, high

    def combine(self, task: Task, submission: JSON) -> Verdict:
        """See the class."""
        (child,) = self.children
        verdict = child.verify(task, submission)
        if verdict.score is None:
            return _faulted(child, verdict)
        score = min(max(verdict.score, self._low), self._high)
        if self.params["stretch"]:
            score = (score - self._low) / (self._high - self._low)
        return replace(_like((child, verdict), [(child, verdict)]), score=score)


class Delta(Composition):
    """How much better one submission is than an earlier one, by one child; no worse than 0.

    The submission is `{"before": ..., "after": ...}`; `before` null stands for nothing, score 0. Over
    the turns of an episode the gains add up to what was reached at most by going down and up again,
    so pay `delta`, the part that may be negative, where turns are summed.
    """

    id: ClassVar[str] = "compose/delta"
    version: ClassVar[int] = 1
    most: ClassVar[int] = 1
    about: ClassVar[str] = 'The gain of {"after": ...} over {"before": ...} by a verifier\'s score.'
    evidence: ClassVar[str] = "What its verifier takes for evidence, in both submissions."
    weights: ClassVar[Mapping[str, float]] = {"before": 0, "after": 0, "delta": 1}

    def combine(self, task: Task, submission: JSON) -> Verdict:
        """See the class."""
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
                return _faulted(child, earlier)
            before = earlier.score
        verdict = child.verify(task, submission["after"])
        if verdict.score is None:
            return _faulted(child, verdict)
        parts = {"before": before, "after": verdict.score, "delta": verdict.score - before}
        made = _like((child, verdict), [(child, verdict)])
        return replace(made, score=max(0.0, parts["delta"]), parts={**made.parts, **parts})


def clip_rewards(rewards: list[float], eta: float = 0.0) -> list[float]:
    """Rewards of steps, each less `eta` and at most 0: more steps cannot add up to more.

    Source: Gao et al. 2024, "On designing effective RL reward at training time for LLM reasoning",
    arXiv 2410.15115, the Clip mechanism.
    """
    return [min(reward - eta, 0.0) for reward in rewards]


def delta_rewards(rewards: list[float]) -> list[float]:
    """Each step's reward less the next one's, the last as it is: the sum is that of the first.

    Source: as `clip_rewards`, the Delta mechanism.
    """
    return [
        reward - (rewards[i + 1] if i + 1 < len(rewards) else 0.0)
        for i, reward in enumerate(rewards)
    ]


def ids_in(params: Mapping[str, Any]) -> set[str]:
    """The ids of all verifiers that parameters of a composition name, however deep."""
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


def _child(given: Any, place: int) -> Child:
    where = f"of[{place}]"
    for key in given:
        if key not in _KEYS:
            raise RequestError(f"{where} has no {key!r}; {suggestion(str(key), _KEYS)}")
    verifier = given.get("verifier")
    params = given.get("params") or {}
    if not isinstance(params, dict):
        raise RequestError(f"{where}.params must be an object, got {params!r}")
    if isinstance(verifier, str):
        verifier = make_verifier(verifier, **params)
    elif not isinstance(verifier, Verifier):
        raise RequestError(f"{where}.verifier must be an id, got {verifier!r}")
    version = given.get("version", verifier.version)
    if version != verifier.version:
        raise RequestError(
            f"{where} asks for {verifier.id}@{version}, installed is {verifier.name}"
        )
    name = given.get("name", verifier.id.rpartition("/")[2])
    weight, at = given.get("weight", 1.0), given.get("at")
    if not isinstance(name, str) or not name:
        raise RequestError(f"{where}.name must be a text, got {name!r}")
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < 1e9:
        raise RequestError(f"{where}.weight must be a number of at least 0, got {weight!r}")
    if at is not None and not isinstance(at, str):
        raise RequestError(f"{where}.at must be a text, got {at!r}")
    return Child(verifier, name, float(weight), at)


def _faulted(child: Child, verdict: Verdict) -> Verdict:
    """The child's fault as one of the whole."""
    return Verdict(
        status=verdict.status,
        score=None,
        reason=verdict.reason,
        evidence=f"{child.name}: {verdict.evidence}",
    )


def _like(chosen: tuple[Child, Verdict], verdicts: list[tuple[Child, Verdict]]) -> Verdict:
    """The verdict of the child that decided, with the parts of all."""
    child, verdict = chosen
    return Verdict(
        status=verdict.status,
        score=verdict.score,
        reason=verdict.reason,
        evidence=f"{child.name}: {verdict.evidence}" if verdict.evidence else child.name,
        parts=_parts(verdicts),
    )


def _parts(verdicts: list[tuple[Child, Verdict]]) -> dict[str, float]:
    parts: dict[str, float] = {}
    for child, verdict in verdicts:
        parts[child.name] = verdict.score or 0.0
        parts |= {f"{child.name}.{name}": value for name, value in verdict.parts.items()}
    return parts


def _told(verdicts: list[tuple[Child, Verdict]]) -> str:
    return "; ".join(f"{child.name}: {v.evidence or v.reason}" for child, v in verdicts)
