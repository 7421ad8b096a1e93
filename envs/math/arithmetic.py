"""Arithmetic: the value of an expression over whole numbers; one turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.math.contest import calculations, long_numbers
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.expressions import evaluate
from verigym.envs.math.paper import Paper
from verigym.envs.math.worked import Worked
from verigym.question import Ask

_LEVEL_OF = {"+": 1, "-": 1, "*": 2}


@dataclass(frozen=True)
class ArithmeticSize:
    """Expressions of `operations` operations over numbers of 1..`largest`."""

    operations: range
    largest: int


LEVELS = {
    1: ArithmeticSize(range(1, 2), 12),
    2: ArithmeticSize(range(1, 3), 20),
    3: ArithmeticSize(range(2, 4), 50),
    4: ArithmeticSize(range(3, 5), 50),
    5: ArithmeticSize(range(4, 7), 70),
    6: ArithmeticSize(range(6, 9), 100),
    7: ArithmeticSize(range(11, 15), 150),
    8: ArithmeticSize(range(20, 25), 250),
    9: ArithmeticSize(range(45, 52), 500),
    10: ArithmeticSize(range(115, 131), 999),
}


@dataclass(frozen=True)
class Tree:
    """An expression: a number, or `left` joined with `right`."""

    value: int
    sign: str = ""
    left: Tree | None = None
    right: Tree | None = None

    def text(self) -> str:
        """Return the expression with the parentheses that precedence needs."""
        if self.left is None or self.right is None:
            return str(self.value)
        mine = _LEVEL_OF[self.sign]
        left, right = self.left.text(), self.right.text()
        if self.left.sign and _LEVEL_OF[self.left.sign] < mine:
            left = f"({left})"
        # a - (b + c) and a - (b - c) need theirs.
        if self.right.sign and _LEVEL_OF[self.right.sign] < mine + (self.sign == "-"):
            right = f"({right})"
        return f"{left} {self.sign} {right}"


class Arithmetic(Worked):
    """An expression with + - * and parentheses; the answer is its value, a whole number. From level 7 on contest
    questions: roots of long numbers, other bases, operations with a rule, differences of powers."""

    id: ClassVar[str] = "verigym/math/arithmetic-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    contest_kinds: ClassVar[tuple[Kind, ...]] = calculations.KINDS + long_numbers.POWERS

    @override
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        """Join random neighbours until one tree is left."""
        settings = LEVELS[level]
        count = int(rng.integers(settings.operations.start, settings.operations.stop))
        trees = [Tree(int(n)) for n in rng.integers(1, settings.largest, count + 1, endpoint=True)]
        while len(trees) > 1:
            place = int(rng.integers(len(trees) - 1))
            trees[place : place + 2] = [_joined(rng, trees[place], trees[place + 1])]
        tree = trees[0]
        return Ask(
            prompt=f"What is the value of {tree.text()}?",
            answer=str(tree.value),
            answer_form="evaluated",
            steps=count * len(str(abs(tree.value))),
            essence=tree.text(),
        )

    @override
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        return str(evaluate(paper, question))


def _joined(rng: np.random.Generator, left: Tree, right: Tree) -> Tree:
    # Products of products would ask for long multiplication more than for order of operations.
    small = abs(left.value) < 1000 and abs(right.value) < 1000
    sign = "+-*"[int(rng.integers(3 if small else 2))]
    value = {
        "+": left.value + right.value,
        "-": left.value - right.value,
        "*": left.value * right.value,
    }[sign]
    return Tree(value, sign, left, right)
