"""Equations in one unknown, linear and polynomial, built from their solutions; one turn."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.question import Ask, Question

# Degree, and how large roots and factors are.
LEVELS = {2: (1, 10), 4: (2, 9), 6: (3, 9)}


class Equations(Question):
    """The real solutions of an equation in x, linear, quadratic or cubic; all are whole numbers."""

    id: ClassVar[str] = "verigym/math/equations-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        """Draw an equation; both sides are shifted by the same random terms."""
        degree, largest = LEVELS[level]
        roots = [int(n) for n in rng.integers(-largest, largest, degree, endpoint=True)]
        lead = int(rng.integers(1, 5)) * (1 if rng.integers(2) else -1)
        left = [lead]
        for root in roots:
            left = _times(left, root)
        # The same on both sides: constants, and multiples of x.
        shift = [int(n) for n in rng.integers(-largest, largest, 2, endpoint=True)]
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
        )


def _times(coefficients: list[int], root: int) -> list[int]:
    """The polynomial, highest power first, times (x - root)."""
    longer = [*coefficients, 0]
    for place, c in enumerate(coefficients):
        longer[place + 1] -= root * c
    return longer


def polynomial(coefficients: list[int], name: str = "x") -> str:
    """Return the polynomial as text, highest power first: `2x^2 - x + 3`."""
    terms: list[str] = []
    for place, c in enumerate(coefficients):
        power = len(coefficients) - 1 - place
        if not c:
            continue
        size = str(abs(c)) if abs(c) != 1 or not power else ""
        letter = "" if not power else name if power == 1 else f"{name}^{power}"
        sign = ("-" if c < 0 else "") if not terms else (" - " if c < 0 else " + ")
        terms.append(f"{sign}{size}{letter}")
    return "".join(terms) or "0"
