"""`Verdict`: what a verifier found, with a typed status so that a fault is never a score (law 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from verigym.canonical import to_json
from verigym.errors import RequestError, VerigymError


class Status(StrEnum):
    """Outcome of judging, and who is at fault. Only `ok` and `policy_fault` carry a score."""

    OK = "ok"
    """The submission was judged."""
    POLICY_FAULT = "policy_fault"
    """The submission was unusable (no answer, refused syntax, too slow); normally scored 0."""
    VERIFIER_ERROR = "verifier_error"
    """The verifier itself failed."""
    TIMEOUT = "timeout"
    """The verifier exceeded its own deadline. A time limit of the task is `policy_fault` instead."""
    INFRA = "infra"
    """The machine or the network failed."""
    CANCELLED = "cancelled"
    """The caller cancelled the request."""

    @property
    def scored(self) -> bool:
        """True if a verdict of this status carries a score."""
        return self in _SCORED


_SCORED = (Status.OK, Status.POLICY_FAULT)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A score in [0, 1], or None with a status that gives the cause.

    `reason` is a short code for programs (`correct`, `wrong_value`), `evidence` a sentence for
    people, `parts` named shares of the score. `verifier` is `id@version`; `digest` covers verifier,
    parameters, task and submission (law 6). Raises ValueError if status and score disagree.
    """

    status: Status
    score: float | None
    reason: str
    evidence: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    verifier: str = ""
    digest: str = ""

    def __post_init__(self) -> None:
        if self.status.scored:
            if self.score is None or not (0.0 <= self.score <= 1.0):
                raise ValueError(
                    f"a verdict with status {self.status.value} needs a score in [0, 1], got {self.score}"
                )
        elif self.score is not None:
            raise ValueError(
                f"a verdict with status {self.status.value} carries no score, got {self.score}; "
                "a fault is not a reward"
            )
        for name, value in self.parts.items():
            if not math.isfinite(value):
                raise ValueError(f"part {name!r} must be finite, got {value}")

    @property
    def fault(self) -> bool:
        """True if there is no score: retry, leave it out of statistics, never count it as 0."""
        return not self.status.scored

    def stamped(self, verifier: str, digest: str) -> Verdict:
        """Return a copy with this `verifier` and `digest`."""
        # Not `replace`, which takes as long as a quick verifier: what was checked is not checked again.
        stamped = object.__new__(Verdict)
        stamped.__dict__.update(self.__dict__, verifier=verifier, digest=digest)
        return stamped

    def to_builtins(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    def to_json(self) -> bytes:
        """Return canonical JSON."""
        return to_json(self)

    @staticmethod
    def from_json(data: bytes | str) -> Verdict:
        """Read what `to_json` returned. Raises RequestError on malformed input."""
        try:
            return msgspec.json.decode(data, type=Verdict)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RequestError(f"not a verdict: {error}") from error


class VerifierFault(VerigymError):
    """A verifier gave no score. `verdict` says why; the environment's state is unchanged.

    The same `Env.step` may be called again once the cause is gone.
    """

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(
            f"verifier {verdict.verifier or '(unknown)'} gave no score: "
            f"{verdict.status.value}, {verdict.reason}: {verdict.evidence}"
        )
        self.verdict = verdict

    def __reduce__(self) -> tuple[type, tuple[Verdict]]:
        return VerifierFault, (self.verdict,)


def scored(
    score: float, reason: str, evidence: str = "", parts: Mapping[str, float] | None = None
) -> Verdict:
    """Return a verdict on a submission that was judged."""
    return Verdict(
        status=Status.OK, score=score, reason=reason, evidence=evidence, parts=parts or {}
    )


def scored_by_parts(
    parts: Mapping[str, float], weights: Mapping[str, float], reason: str, evidence: str = ""
) -> Verdict:
    """Return a verdict whose score is the weighted mean of its parts; a missing part counts 0.

    Raises ValueError for weights that are negative or all 0, or a weighted part outside [0, 1].
    """
    total = sum(weights.values())
    if not total > 0 or min(weights.values()) < 0:
        raise ValueError(f"weights must be at least 0 and one above it, got {dict(weights)}")
    for name, weight in weights.items():
        if weight and not 0.0 <= parts.get(name, 0.0) <= 1.0:
            raise ValueError(f"part {name!r} counts, so it must be in [0, 1], got {parts[name]}")
    score = sum(weight * parts.get(name, 0.0) for name, weight in weights.items()) / total
    # Rounding must not push a full score out of its range.
    return scored(min(1.0, max(0.0, score)), reason, evidence, parts)


def unusable(reason: str, evidence: str = "") -> Verdict:
    """Return a verdict of 0 on a submission that cannot be judged, by the policy's own fault."""
    return Verdict(status=Status.POLICY_FAULT, score=0.0, reason=reason, evidence=evidence)


def fault(status: Status, reason: str, evidence: str = "") -> Verdict:
    """Return a verdict without a score; `status` must be one of the four faults."""
    return Verdict(status=status, score=None, reason=reason, evidence=evidence)
