"""Sequences that are given by a rule, so that there is one right answer; one turn."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.question import Ask, Question

# How far to go.
LENGTHS = {2: range(4, 7), 4: range(6, 9), 6: range(8, 12)}


class Sequences(Question):
    """A term, or the sum of the first terms, of a recurrence of order one or two."""

    id: ClassVar[str] = "verigym/math/sequences-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        lengths = LENGTHS[level]
        n = int(rng.integers(lengths.start, lengths.stop))
        order = 1 if level == 2 else int(rng.integers(1, 3))
        factors = [int(f) for f in rng.integers(-3, 4, order)]
        factors[-1] = factors[-1] or 2
        plus = int(rng.integers(-9, 10))
        terms = [int(t) for t in rng.integers(-5, 10, order)]
        firsts = ", ".join(f"a_{i + 1} = {t}" for i, t in enumerate(terms))
        rule = _rule(factors, plus)
        while len(terms) < n:
            recent = terms[-1 : -order - 1 : -1]
            terms.append(sum(f * t for f, t in zip(factors, recent, strict=True)) + plus)
        if rng.integers(2):
            what, value = f"a_{n}", terms[-1]
        else:
            what, value = f"a_1 + ... + a_{n}", sum(terms)
        return Ask(
            prompt=f"Let {firsts} and {rule} for all later k. What is {what}?",
            answer=str(value),
            answer_form="evaluated",
            steps=n * (order + 1),
            tags=(f"order={order}",),
        )


def _rule(factors: list[int], plus: int) -> str:
    text = ""
    for back, factor in enumerate(factors, 1):
        if factor:
            sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
            size = "" if abs(factor) == 1 else f"{abs(factor)} "
            text += f"{sign}{size}a_(k-{back})"
    if plus:
        text += f" {'-' if plus < 0 else '+'} {abs(plus)}"
    return f"a_k = {text}"
