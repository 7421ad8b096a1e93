"""Error rates of a verifier on labelled cases: faults apart, intervals by category, times.

Judging happens in a pool of worker processes, one call at a time for each of them, so a case that
hangs is a fault `timeout` and not the end of the audit. Times are those that a caller of the pool sees.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from verigym.canonical import JSON
from verigym.verdict import Verdict
from verigym.verifiers.audit.cases import Case, categories
from verigym.verifiers.audit.intervals import interval, quantile, rate
from verigym.verifiers.pool import VerifierPool

ACCEPT_AT = 0.5
"""A score from here on accepts the submission."""


@dataclass(frozen=True, kw_only=True)
class CaseOutcome:
    """A case and what became of it; `seconds` from the call to the verdict."""

    case: Case
    verdict: Verdict
    seconds: float
    accept_at: float = ACCEPT_AT

    @property
    def accepted(self) -> bool | None:
        """True if the verifier accepts the submission as right; None for a fault."""
        return None if self.verdict.score is None else self.verdict.score >= self.accept_at

    @property
    def wrong(self) -> bool:
        """True if the verifier was wrong; a fault does not count as wrong."""
        return self.accepted is not None and self.accepted != bool(self.case.label)


def judge(
    pool: VerifierPool,
    verifier: str,
    cases: Sequence[Case],
    *,
    params: Mapping[str, JSON] | None = None,
    accept_at: float = ACCEPT_AT,
    on_case: Callable[[CaseOutcome], None] = lambda outcome: None,
) -> list[CaseOutcome]:
    """Judge the cases with `verifier` and return the outcomes in order. Raises RequestError for an
    unknown id or parameter."""
    pool.describe(verifier, params)  # loads it, so that no case pays for that

    def one(case: Case) -> CaseOutcome:
        began = time.perf_counter()
        verdict = pool.verify(verifier, case.task, case.submission, params=params)
        seconds = time.perf_counter() - began
        return CaseOutcome(case=case, verdict=verdict, seconds=seconds, accept_at=accept_at)

    # Every worker has loaded it once it has judged something; those calls are not timed.
    with ThreadPoolExecutor(pool.workers) as threads:
        if cases:
            list(threads.map(one, [cases[0]] * pool.workers))
        outcomes = []
        for outcome in threads.map(one, cases):
            on_case(outcome)
            outcomes.append(outcome)
    return outcomes


def summarise(outcomes: Sequence[CaseOutcome]) -> dict[str, Any]:
    """Return plain data for JSON; the keys are those of docs/audit.md."""
    firm = [outcome for outcome in outcomes if not outcome.case.contested]
    return {
        **_rates(outcomes),
        **({"uncontested": _rates(firm)} if len(firm) < len(outcomes) else {}),
        "by_category": {
            name: _rates([o for o in outcomes if o.case.category == name])
            for name in categories(o.case for o in outcomes)
        },
        "errors_by_reason": dict(
            Counter(
                f"{o.verdict.status.value}:{o.verdict.reason}" for o in outcomes if o.verdict.fault
            ).most_common()
        ),
        "latency_ms": _times([outcome.seconds for outcome in outcomes]),
        "parts": _parts([outcome.verdict for outcome in outcomes if outcome.accepted]),
    }


def failures(outcomes: Sequence[CaseOutcome]) -> list[dict[str, Any]]:
    """Return the cases that were judged wrongly or not at all, as plain data."""
    return [
        {
            "name": o.case.name,
            "category": o.case.category,
            "label": o.case.label,
            "score": o.verdict.score,
            "status": o.verdict.status.value,
            "reason": o.verdict.reason,
            "evidence": o.verdict.evidence[:500],
            "submission": shown(o.case.submission),
        }
        for o in outcomes
        if o.wrong or o.verdict.fault
    ]


def agreement(outcomes: Sequence[CaseOutcome], others: Sequence[CaseOutcome]) -> dict[str, Any]:
    """Measure how often two verifiers agree on the same cases, and which is right if they do not.

    Cases on which either gave a fault are counted apart.
    """
    both = [
        (mine, other)
        for mine, other in zip(outcomes, others, strict=True)
        if mine.accepted is not None and other.accepted is not None
    ]
    differ = [(mine, other) for mine, other in both if mine.accepted != other.accepted]
    agreed = len(both) - len(differ)
    return {
        "n": len(both),
        "agreement": rate(agreed, len(both)),
        "agreement_interval": interval(agreed, len(both)),
        "only_this_right": sum(not mine.wrong for mine, _ in differ),
        "only_other_right": sum(not other.wrong for _, other in differ),
        "both_wrong": sum(mine.wrong and other.wrong for mine, other in both),
        "errors": len(outcomes) - len(both),
        "other": _rates(others),
        "other_latency_ms": _times([other.seconds for other in others]),
        "differ": [mine.case.name for mine, _ in differ],
    }


def shown(submission: JSON) -> str:
    """Return the start of a submission in printable ASCII."""
    text = submission if isinstance(submission, str) else repr(submission)
    return ascii(text[:200])[1:-1] + (" ..." if len(text) > 200 else "")


def _rates(outcomes: Sequence[CaseOutcome]) -> dict[str, Any]:
    judged = [outcome for outcome in outcomes if outcome.accepted is not None]
    wrong = sum(outcome.wrong for outcome in judged)
    right_answers = [outcome for outcome in judged if outcome.case.label]
    wrong_answers = [outcome for outcome in judged if not outcome.case.label]
    rejected = sum(outcome.wrong for outcome in right_answers)
    accepted = sum(outcome.wrong for outcome in wrong_answers)
    return {
        "n": len(outcomes),
        "right_answers": len(right_answers),
        "wrong_answers": len(wrong_answers),
        "accuracy": rate(len(judged) - wrong, len(judged)),
        "accuracy_interval": interval(len(judged) - wrong, len(judged)),
        "false_positives": accepted,
        "false_positive_rate": rate(accepted, len(wrong_answers)),
        "false_positive_interval": interval(accepted, len(wrong_answers)),
        "false_negatives": rejected,
        "false_negative_rate": rate(rejected, len(right_answers)),
        "false_negative_interval": interval(rejected, len(right_answers)),
        "errors": len(outcomes) - len(judged),
    }


def _parts(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """The mean of each named part over the verdicts that have it."""
    values: dict[str, list[float]] = {}
    for verdict in verdicts:
        for name, value in verdict.parts.items():
            values.setdefault(name, []).append(value)
    return {name: sum(found) / len(found) for name, found in sorted(values.items())}


def _times(seconds: Sequence[float]) -> dict[str, float | None]:
    def ms(q: float) -> float | None:
        value = quantile(seconds, q)
        return None if value is None else round(value * 1000, 3)

    return {"p50": ms(0.5), "p99": ms(0.99), "worst": ms(1.0)}
