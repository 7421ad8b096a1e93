"""Equations in one unknown, linear and polynomial, built from their solutions; one turn."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.math.contest import factors
from verigym.envs.math.contest import roots as contest_roots
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.paper import Paper
from verigym.envs.math.polynomials import polynomial, read_polynomial, whole_roots
from verigym.envs.math.worked import Worked
from verigym.question import Ask

# Degree, and how large roots and factors are.
LEVELS = {
    1: (1, 20),
    2: (1, 10),
    3: (2, 5),
    4: (2, 9),
    5: (3, 6),
    6: (3, 9),
    7: (4, 10),
}


class Equations(Worked):
    """The real solutions of an equation in x, of degree 1 to 3, all whole numbers; from level 7 on contest questions
    on functions of all complex roots, factorisations, remainders of high powers, and the least value of a form."""

    id: ClassVar[str] = "verigym/math/equations-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    contest_kinds: ClassVar[tuple[Kind, ...]] = contest_roots.KINDS + factors.KINDS

    @override
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        """Draw an equation; both sides are shifted by the same random terms."""
        degree, largest = LEVELS[level]
        roots = [int(n) for n in rng.integers(-largest, largest, degree, endpoint=True)]
        lead = int(rng.integers(1, 5)) * (1 if rng.integers(2) else -1)
        # The same on both sides: constants, and multiples of x.
        shift = [int(n) for n in rng.integers(-largest, largest, 2, endpoint=True)]
        if level == 1:
            lead, shift[0] = 1, 0
        left = [lead]
        for root in roots:
            left = _times(left, root)
        right = [*shift]
        for place in (1, 2):
            left[-place] += right[-place]
        if degree == 1 and left[0] == 0:
            left[0], right[0] = lead, right[0] - shift[0]
        distinct = sorted(set(roots))
        solutions = ", ".join(map(str, distinct))
        return Ask(
            prompt=(
                f"Solve for real x: {polynomial(left)} = {polynomial(right)}\n"
                "Give all solutions, each once, as a set such as {1, 2}."
            ),
            answer=f"{{{solutions}}}",
            answer_form="evaluated",
            steps=3 * degree * degree,
            tags=(f"degree={degree}",),
            essence=[left, right],
        )

    @override
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        left, right = question.partition("\n")[0].partition(": ")[2].split(" = ")
        terms, others = read_polynomial(left), read_polynomial(right)
        degree = max(*terms, *others)
        p = [terms.get(n, 0) for n in range(degree, -1, -1)]
        for n in range(degree + 1):
            if n in others:
                p[degree - n] = paper.subtract(p[degree - n], others[n])
        roots = sorted(set(whole_roots(paper, p)))
        return f"{{{', '.join(map(str, roots))}}}"


def _times(coefficients: list[int], root: int) -> list[int]:
    """The polynomial, highest power first, times (x - root)."""
    longer = [*coefficients, 0]
    for place, c in enumerate(coefficients):
        longer[place + 1] -= root * c
    return longer
