"""Quality of a test suite, measured with the verifier itself before and after growing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from verigym.errors import SandboxError
from verigym.task import Task
from verigym.verifiers.code.program import ProgramVerifier
from verigym.verifiers.code.strength.grow import Budget, Grown, grow
from verigym.verifiers.code.strength.problem import StrengthProblem


@dataclass(frozen=True)
class Rate:
    """A share with its Wilson interval at 95 %; None of nothing.

    Source: Wilson 1927; Brown, Cai, DasGupta 2001, Statistical Science 16(2), eq. 4.
    """

    hits: int
    total: int

    def to_builtins(self) -> dict[str, Any]:
        """Return hits, total, rate, low and high as plain data."""
        low, high = wilson(self.hits, self.total)
        rate = self.hits / self.total if self.total else None
        return {"hits": self.hits, "total": self.total, "rate": rate, "low": low, "high": high}

    def __str__(self) -> str:
        if not self.total:
            return "none known"
        low, high = wilson(self.hits, self.total)
        share = self.hits / self.total
        return f"{self.hits} of {self.total} ({share:.1%}, {low:.1%} to {high:.1%})"


def wilson(hits: int, total: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Return the confidence interval of a share, from 0 to 1; (0, 1) if nothing was counted."""
    if not total:
        return 0.0, 1.0
    share, spread = hits / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Verdicts of one test suite on programs known to be right or wrong."""

    tests: int
    accepted: Rate
    """Right programs that it accepts."""
    detected: Rate
    """Wrong programs that it detects: SAGA's detection rate."""
    rejected: tuple[int, ...] = ()
    """Numbers of the right programs that fail, counted from 1."""
    missed: tuple[int, ...] = ()
    """Numbers of the wrong programs that pass, counted from 1."""

    @property
    def accuracy(self) -> Rate:
        """Programs that it judges rightly."""
        return Rate(
            self.accepted.hits + self.detected.hits, self.accepted.total + self.detected.total
        )

    @property
    def detects_all(self) -> bool:
        """True if no known wrong program passes; the share of such problems is SAGA's verifier
        accuracy."""
        return self.detected.hits == self.detected.total

    def to_builtins(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        return {
            "tests": self.tests,
            "right_accepted": self.accepted.to_builtins(),
            "detection_rate": self.detected.to_builtins(),
            "accuracy": self.accuracy.to_builtins(),
            "detects_all": self.detects_all,
            "rejected": list(self.rejected),
            "missed": list(self.missed),
        }


def measure(
    verifier: ProgramVerifier, task: Task, right: Sequence[str], wrong: Sequence[str]
) -> Measured:
    """Judge these programs by the tests of `task`. Raises SandboxError if a verdict is a fault,
    since a fault says nothing about a program."""
    assert isinstance(task.reference, dict)
    rejected = tuple(n for n, one in enumerate(right, 1) if not _passes(verifier, task, one))
    missed = tuple(n for n, one in enumerate(wrong, 1) if _passes(verifier, task, one))
    return Measured(
        tests=len(task.reference["tests"]),
        accepted=Rate(len(right) - len(rejected), len(right)),
        detected=Rate(len(wrong) - len(missed), len(wrong)),
        rejected=rejected,
        missed=missed,
    )


def _passes(verifier: ProgramVerifier, task: Task, program: str) -> bool:
    verdict = verifier.verify(task, program)
    if verdict.score is None:
        raise SandboxError(f"a program could not be judged: {verdict.reason}: {verdict.evidence}")
    return verdict.score == 1.0


@dataclass(frozen=True, kw_only=True)
class Strengthened:
    """The stronger task, and the two suites side by side."""

    task: Task
    grown: Grown
    before: Measured
    after: Measured

    def to_builtins(self) -> dict[str, Any]:
        """Return the report as plain data, without the tests themselves."""
        grown = self.grown
        return {
            "task": self.task.id,
            "before": self.before.to_builtins(),
            "after": self.after.to_builtins(),
            "dropped": grown.dropped,
            "candidates": grown.candidates,
            "refused": dict(sorted(grown.invalid.items())),
            "rounds": grown.rounds,
            "mutants": {
                "made": grown.mutants,
                "killed_before": Rate(grown.killed_before, grown.mutants).to_builtins(),
                "killed": Rate(grown.killed, grown.mutants).to_builtins(),
                "presumed_equivalent": len(grown.survivors),
            },
        }


def strengthen(
    problem: StrengthProblem, *, seed: int = 0, budget: Budget | None = None
) -> Strengthened:
    """Grow the tests of `problem`, take out those that reject a right program after all, measure."""
    grown = grow(problem, seed=seed, budget=budget)
    verifier = problem.verifier()
    task = problem.with_tests(grown.tests)
    bad: dict[int, str] = {}
    for number, program in enumerate(problem.right):
        for test in verifier.report(task, program):
            if not test.passed:
                why = f"right program {number} fails it in a process of its own: {test.reason}"
                bad.setdefault(test.number, why)
    if bad:
        grown.dropped += [{"test": str(number), "why": why} for number, why in sorted(bad.items())]
        grown.tests = [test for n, test in enumerate(grown.tests, 1) if n not in bad]
        task = problem.with_tests(grown.tests)
    return Strengthened(
        task=task,
        grown=grown,
        before=measure(verifier, problem.task, problem.right, problem.wrong),
        after=measure(verifier, task, problem.right, problem.wrong),
    )
