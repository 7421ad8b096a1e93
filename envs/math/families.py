"""The families of questions that `math/answer` judges, for environments that draw from all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from verigym.envs.math.arithmetic import Arithmetic
from verigym.envs.math.calculus import Calculus
from verigym.envs.math.contest import linked
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.counting import Counting
from verigym.envs.math.equations import Equations
from verigym.envs.math.fractions import Fractions
from verigym.envs.math.geometry import Geometry
from verigym.envs.math.matrices import Matrices
from verigym.envs.math.number_theory import NumberTheory
from verigym.envs.math.paper import Paper
from verigym.envs.math.sequences import Sequences
from verigym.envs.math.systems import Systems
from verigym.envs.math.word_problems import WordProblems
from verigym.envs.math.worked import Worked, read_question
from verigym.question import Ask
from verigym.task import Task

FAMILIES: tuple[type[Worked], ...] = (
    Arithmetic,
    Calculus,
    Counting,
    Equations,
    Fractions,
    Geometry,
    Matrices,
    NumberTheory,
    Sequences,
    Systems,
    WordProblems,
)

CONTEST_KINDS: tuple[Kind, ...] = tuple(
    kind for family in FAMILIES for kind in family.contest_kinds
)
_SEVERAL = "several-families"


def draw(rng: np.random.Generator, level: int, left_out: type[Worked] | None = None) -> Ask:
    """Return a question of any family but `left_out`, with the family's name as its first tag; on a level of questions in
    parts, the parts are of several families."""
    count = linked.PARTS.get(level, 1)
    if count > 1:
        ask = linked.ask([CONTEST_KINDS] * count, rng, level)
        return replace(ask, tags=(_SEVERAL, *ask.tags))
    families = [family for family in FAMILIES if family is not left_out]
    family = families[int(rng.integers(len(families)))]
    return _tagged(family, _instance(family).ask(rng, level))


def draw_exercise(rng: np.random.Generator, level: int) -> Ask:
    """Return an exercise of any family, with the family's name among its tags."""
    family = FAMILIES[int(rng.integers(len(FAMILIES)))]
    return _tagged(family, _instance(family).exercise(rng, level))


def _tagged(family: type[Worked], ask: Ask) -> Ask:
    return replace(ask, tags=(_name(family), *ask.tags))


def work_out(paper: Paper, task: Task) -> str:
    """Return the answer to a task with a question of `draw`."""
    name, *tags = task.tags
    question = read_question(task)
    if name == _SEVERAL:
        answer = linked.work_out(CONTEST_KINDS, paper, question, tags)
        assert answer is not None
        return answer
    return solve(paper, question, name, tags)


def solve(paper: Paper, question: str, name: str, tags: Sequence[str]) -> str:
    """Return the answer to a question of the family with that name; `tags` begin with its kinds."""
    family = next(family for family in FAMILIES if _name(family) == name)
    return _instance(family).work_out(paper, question, tags)


def _name(family: type[Worked]) -> str:
    return family.id.rpartition("/")[2].rpartition("-v")[0]


@cache
def _instance(family: type[Worked]) -> Worked:
    return family()
