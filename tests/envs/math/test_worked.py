"""Solvers that work answers out on paper find the answer of the reference at every level."""

import pytest

import verigym
from verigym.envs.math import families, interpreter
from verigym.envs.math.paper import Paper
from verigym.envs.math.worked import read_question

FAMILIES = [
    "arithmetic",
    "calculus",
    "counting",
    "equations",
    "fractions",
    "geometry",
    "matrices",
    "number-theory",
    "sequences",
    "systems",
    "word-problems",
]


@pytest.mark.parametrize("family", FAMILIES)
def test_solver_agrees_with_the_reference(family):
    env = verigym.make(f"math/{family}")
    for level in range(1, 11):
        for seed in range(3):
            task = env.sample_task(seed, level)
            found = env.work_out(Paper(), read_question(task), task.tags)
            assert found == task.reference["answer"], task.prompt


@pytest.mark.parametrize("level", range(1, 11))
def test_solver_answers_questions_that_want_a_program(level):
    env = verigym.make("math/python")
    for seed in range(3):
        task = env.sample_task(seed, level)
        assert interpreter.work_out(Paper(), task) == task.reference["answer"], task.prompt


def test_solver_of_a_family_is_found_by_the_tags():
    env = verigym.make("math/retry")
    for level in (1, 5, 10):
        task = env.sample_task(level, level)
        assert families.work_out(Paper(), task) == task.reference["answer"]


@pytest.mark.parametrize("a", [0, 7, -35, 999, -100200])
@pytest.mark.parametrize("b", [1, 9, -10, 4096])
def test_paper_calculates(a, b):
    paper = Paper()
    assert paper.add(a, b) == a + b
    assert paper.subtract(a, b) == a - b
    assert paper.multiply(a, b) == a * b
    assert paper.divide_exactly(a * b, b) == a
    if b > 0:
        assert paper.divide(a, b) == divmod(a, b)
    assert paper.operations > 0
