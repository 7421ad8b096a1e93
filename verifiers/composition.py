"""Shared parts of compositions: children read from plain data, and verdicts combined into one.

The complete parameters and the version of every child become part of the composition's own
parameters, so its digest changes whenever one of theirs would (law 6). If a child that was asked
gives a fault, the composition gives a fault (law 1); a child that no longer matters is not asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct
from typing_extensions import TypeVar, override

from verigym.canonical import JSON
from verigym.errors import MissingError, RequestError, TaskError
from verigym.params import read
from verigym.registry import make_verifier
from verigym.task import Task
from verigym.verdict import Verdict
from verigym.verifier import Verifier

MAX_CHILDREN = 64


class ChildParams(Struct, frozen=True):
    """One object in the parameter `of`; a verifier of this process may stand for its id."""

    verifier: Any = None
    version: int | None = None
    params: dict[str, Any] | None = None
    name: Annotated[str, Meta(min_length=1)] | None = None
    weight: Annotated[float, Meta(ge=0, lt=1e9)] = 1.0
    at: str | None = None


class ChildrenParams(Struct, frozen=True):
    """Parameters of every composition."""

    of: Annotated[
        list[dict[str, Any]],
        Meta(
            max_length=MAX_CHILDREN,
            description=(
                "The verifiers: objects of verifier (an id), params, name, weight (in a sum), and at (the "
                "key of the task's reference that is theirs). version, where given, must be the installed."
            ),
        ),
    ] = []


Q = TypeVar("Q", bound=ChildrenParams, default=ChildrenParams, covariant=True)


@dataclass(frozen=True)
class Child:
    """One verifier of a composition."""

    verifier: Verifier
    name: str
    weight: float
    at: str | None

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """Return the child's verdict on its own part of the reference. Raises TaskError if that
        part is missing."""
        if self.at is not None:
            reference = task.reference
            if not isinstance(reference, dict) or self.at not in reference:
                raise TaskError(f"the reference has no {self.at!r}, which {self.name} is to use")
            task = replace(task, reference=reference[self.at])
        return self.verifier.verify(task, submission)

    def plain(self) -> dict[str, JSON]:
        """Return everything that decides its verdicts, as plain data."""
        return {
            "verifier": self.verifier.id,
            "version": self.verifier.version,
            "params": dict(self.verifier.params),
            "name": self.name,
            "weight": self.weight,
            "at": self.at,
        }


class Composition(Verifier[Q]):
    """Base of the compositions: reads `of`, and judges by the children before combining their
    verdicts."""

    params_type = ChildrenParams
    least: ClassVar[int] = 1
    most: ClassVar[int] = MAX_CHILDREN

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        given = self.settings.of
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

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        if not self.children:
            raise TaskError(f"{self.id} is made of nothing; say what with the parameter of")
        return self.combine(task, submission)

    def ask(
        self, task: Task, submission: JSON, *, until: float | None = None
    ) -> list[tuple[Child, Verdict]] | Verdict:
        """Return the children's verdicts in order, up to the first with the score `until`; a fault
        is returned alone."""
        verdicts: list[tuple[Child, Verdict]] = []
        for child in self.children:
            verdict = child.verify(task, submission)
            if verdict.score is None:
                return faulted(child, verdict)
            verdicts.append((child, verdict))
            if verdict.score == until:
                break
        return verdicts

    def combine(self, task: Task, submission: JSON) -> Verdict:
        """Return the verdict of the whole; there is a child."""
        raise NotImplementedError


def _child(given: dict[str, Any], place: int) -> Child:
    where = f"of[{place}]"
    try:
        made = read(ChildParams, given, "a child")
        verifier = made.verifier
        if isinstance(verifier, str):
            verifier = make_verifier(verifier, **(made.params or {}))
    except MissingError:
        raise  # a package that is not installed is not the request's mistake
    except RequestError as error:
        raise RequestError(f"{where}: {error}") from error
    if not isinstance(verifier, Verifier):
        raise RequestError(f"{where}.verifier must be an id, got {verifier!r}")
    if made.version not in (None, verifier.version):
        raise RequestError(
            f"{where} asks for {verifier.id}@{made.version}, installed is {verifier.name}"
        )
    return Child(verifier, made.name or verifier.id.rpartition("/")[2], made.weight, made.at)


def faulted(child: Child, verdict: Verdict) -> Verdict:
    """Return the child's fault as a fault of the whole."""
    return Verdict(
        status=verdict.status,
        score=None,
        reason=verdict.reason,
        evidence=f"{child.name}: {verdict.evidence}",
    )


def like(chosen: tuple[Child, Verdict], verdicts: list[tuple[Child, Verdict]]) -> Verdict:
    """Return the verdict of the child that decided, with the parts of all."""
    child, verdict = chosen
    return Verdict(
        status=verdict.status,
        score=verdict.score,
        reason=verdict.reason,
        evidence=f"{child.name}: {verdict.evidence}" if verdict.evidence else child.name,
        parts=parts_of(verdicts),
    )


def parts_of(verdicts: list[tuple[Child, Verdict]]) -> dict[str, float]:
    parts: dict[str, float] = {}
    for child, verdict in verdicts:
        parts[child.name] = verdict.score or 0.0
        parts |= {f"{child.name}.{name}": value for name, value in verdict.parts.items()}
    return parts


def told(verdicts: list[tuple[Child, Verdict]]) -> str:
    return "; ".join(f"{child.name}: {v.evidence or v.reason}" for child, v in verdicts)
