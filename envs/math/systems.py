"""Systems of linear equations with one solution, a tuple of whole numbers; one turn."""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.math.contest import unknowns
from verigym.envs.math.contest.exact import determinant
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.elimination import eliminate, substitute
from verigym.envs.math.paper import Paper
from verigym.envs.math.worked import Worked
from verigym.question import Ask

# Unknowns, and how large coefficients and solutions are.
LEVELS = {
    1: (2, 2),
    2: (2, 5),
    3: (3, 2),
    4: (3, 5),
    5: (4, 3),
    6: (4, 7),
    7: (5, 4),
}
NAMES = ("x", "y", "z", "w", "v", "u", "t")
_TERM = re.compile(r"(-?) ?(\d*)([a-z])")


class Systems(Worked):
    """Linear systems with as many equations as unknowns and an invertible coefficient matrix; from level 7 on
    contest questions on systems modulo a prime, parameters, chains of equations and sums of powers."""

    id: ClassVar[str] = "verigym/math/systems-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    contest_kinds: ClassVar[tuple[Kind, ...]] = unknowns.KINDS

    @override
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        """The solution is drawn first, the right sides follow."""
        n, largest = LEVELS[level]
        solution = [int(v) for v in rng.integers(-largest, largest, n, endpoint=True)]
        while True:
            rows = rng.integers(-largest, largest, (n, n), endpoint=True).tolist()
            if determinant(rows):
                break
        lines = []
        for row in rows:
            side = sum(a * v for a, v in zip(row, solution, strict=True))
            lines.append(f"{linear(row, NAMES)} = {side}")
        names = ", ".join(NAMES[:n])
        return Ask(
            prompt="Solve the system of equations:\n"
            + "\n".join(lines)
            + f"\nGive the solution as a tuple ({names}).",
            answer=f"({', '.join(map(str, solution))})",
            answer_form="evaluated",
            steps=n**3,
            essence=[rows, solution],
        )

    @override
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        rows = []
        for line in question.splitlines()[1:-1]:
            left, side = line.split(" = ")
            terms = {name: int(sign + (size or "1")) for sign, size, name in _TERM.findall(left)}
            rows.append([terms.get(name, 0) for name in NAMES] + [int(side)])
        n = len(rows)
        rows = [row[:n] + row[-1:] for row in rows]
        eliminate(paper, rows, n)
        return f"({', '.join(map(str, substitute(paper, rows, n)))})"


def linear(coefficients: list[int], names: tuple[str, ...]) -> str:
    """Return a linear form as text: `2x - y`."""
    text = ""
    for c, name in zip(coefficients, names, strict=False):
        if c:
            sign = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
            text += f"{sign}{abs(c) if abs(c) != 1 else ''}{name}"
    return text or "0"
