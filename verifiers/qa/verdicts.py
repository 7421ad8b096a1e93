"""The verdicts of `qa/answer` that score all or nothing."""

from __future__ import annotations

from verigym.verdict import Verdict, scored


def both(value: float) -> dict[str, float]:
    """Return both parts of a verdict, the exact match and F1, at one value."""
    return {"exact": value, "f1": value}


def exact(right: bool) -> Verdict:
    """Score 1 for a right answer, else 0."""
    if right:
        return scored(1.0, "correct", "the answer is right", both(1.0))
    return scored(0.0, "wrong_answer", "the answer is not one of the right ones", both(0.0))
