"""The families of questions that `math/answer` judges, for environments that draw from all of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from verigym.envs.math.arithmetic import Arithmetic
from verigym.envs.math.calculus import Calculus
from verigym.envs.math.counting import Counting
from verigym.envs.math.equations import Equations
from verigym.envs.math.fractions import Fractions
from verigym.envs.math.geometry import Geometry
from verigym.envs.math.matrices import Matrices
from verigym.envs.math.number_theory import NumberTheory
from verigym.envs.math.sequences import Sequences
from verigym.envs.math.systems import Systems
from verigym.envs.math.word_problems import WordProblems
from verigym.question import Ask, Question

FAMILIES: tuple[type[Question], ...] = (
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


def draw(rng: np.random.Generator, level: int) -> Ask:
    """A question of any family, with the family's name among its tags."""
    family = FAMILIES[int(rng.integers(len(FAMILIES)))]
    ask = _instance(family).ask(rng, level)
    name = family.id.rpartition("/")[2].rpartition("-v")[0]
    return replace(ask, tags=(name, *ask.tags))


@cache
def _instance(family: type[Question]) -> Question:
    return family()
