"""Sequences that are given by a rule, so that there is one right answer; one turn."""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.math.contest import feedback, progressions, recurrences
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.paper import Paper
from verigym.envs.math.worked import Worked
from verigym.question import Ask

# How far to go.
LENGTHS = {
    1: range(3, 4),
    2: range(4, 7),
    3: range(5, 8),
    4: range(6, 9),
    5: range(8, 10),
    6: range(8, 12),
    7: range(13, 16),
}
_TERM = re.compile(r"([-+]?) ?(?:(\d+) )?a_\(k-(\d)\)")
_PLUS = re.compile(r"([-+]) (\d+)$")


class Sequences(Worked):
    """A term, or the sum of the first terms, of a recurrence of order one or two; from level 7 on contest
    questions on far terms and periods modulo a number, convolutions, interpolation and fractions."""

    id: ClassVar[str] = "verigym/math/sequences-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    contest_kinds: ClassVar[tuple[Kind, ...]] = (
        recurrences.KINDS + progressions.KINDS + feedback.KINDS
    )

    @override
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        lengths = LENGTHS[level]
        n = int(rng.integers(lengths.start, lengths.stop))
        order = 1 if level <= 2 else int(rng.integers(1, 3)) if level <= 6 else 2
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
            prompt=f"A sequence has {firsts} and {rule} for all k > {order}. What is {what}?",
            answer=str(value),
            answer_form="evaluated",
            steps=n * (order + 1),
            tags=(f"order={order}",),
            essence=[what, rule, firsts],
        )

    @override
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        """Write down one term after the other."""
        given, _, rule = question.partition(" for all")[0].partition(" and a_k = ")
        terms = [int(t) for t in re.findall(r"= (-?\d+)", given)]
        parts = [(int(f"{sign}{size or 1}"), int(back)) for sign, size, back in _TERM.findall(rule)]
        plus = _PLUS.search(rule)
        asked = question.partition("What is ")[2]
        n = int(re.findall(r"\d+", asked)[-1])
        while len(terms) < n:
            total = int(plus[1] + plus[2]) if plus else 0
            for factor, back in parts:
                term = terms[-back]
                total = paper.add(
                    total, term * factor if abs(factor) == 1 else paper.multiply(factor, term)
                )
            terms.append(total)
        if "+" not in asked:
            return str(terms[-1])
        total = 0
        for term in terms:
            total = paper.add(total, term)
        return str(total)


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
