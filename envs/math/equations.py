"""Equations in one unknown, linear and polynomial, built from their solutions; one turn."""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.math.paper import Paper
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
    8: (5, 12),
    9: (6, 14),
    10: (7, 18),
}
_TERM = re.compile(r"([-+]?) ?(?:(\d+)(x)?|(x))(?:\^(\d+))?")


class Equations(Worked):
    """The real solutions of an equation in x, of degree 1 to 7; all are whole numbers."""

    id: ClassVar[str] = "verigym/math/equations-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

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


def read_polynomial(text: str) -> dict[int, int]:
    """Return the coefficients of a polynomial in x, by the power."""
    found: dict[int, int] = {}
    for sign, number, x, bare, power in _TERM.findall(text):
        found[int(power or 1) if x or bare else 0] = int(sign + (number or "1"))
    return found


def whole_roots(paper: Paper, p: list[int]) -> list[int]:
    """Return the roots of a polynomial, highest power first, all of which are whole numbers.

    Divisors of the constant are tried by Horner's scheme; a root divides the polynomial down.
    """
    roots: list[int] = []
    size = 1
    if p[0] != 1:
        p = [paper.divide_exactly(c, p[0]) if c else 0 for c in p]
    while len(p) > 2:
        if not p[-1]:
            roots.append(0)
            p = p[:-1]
            continue
        while paper.divide(abs(p[-1]), size)[1]:
            size += 1
        for root in (size, -size):
            while len(p) > 2 and p[-1] and not (row := _horner(paper, p, root))[-1]:
                roots.append(root)
                p = row[:-1]
        size += 1
    return [*roots, -p[1]]


def _horner(paper: Paper, p: list[int], x: int) -> list[int]:
    """Return the rows of Horner's scheme: the quotient by x - `x`, and the value there."""
    row = [p[0]]
    for c in p[1:]:
        row.append(paper.add(paper.multiply(row[-1], x), c))
    return row


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
