"""Contest questions: the solver on paper finds the reference, from the words of the question."""

from fractions import Fraction

import numpy as np
import pytest

from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest import stories
from verigym.envs.math.families import FAMILIES
from verigym.envs.math.paper import Paper
from verigym.envs.math.word_problems import WordProblems

SEEDS = range(12)
KINDS = [kind for family in FAMILIES for kind in family.contest_kinds]
OPERATIONS = {7: 100, 8: 1500, 9: 4000, 10: 12_000}
"""Fewest operations of a typical question; at 12,000 a policy that errs once in ten thousand fails two times of three."""
SHORT = stories.KINDS
"""Kinds of which a question has several at every level."""


def asks(kind, level, seeds=SEEDS):
    for seed in seeds:
        yield contest.ask((kind,), np.random.default_rng([seed, level]), level)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_solver_finds_the_reference(kind):
    for level in range(kind.first, kind.last + 1):
        operations = []
        for ask in asks(kind, level):
            paper = Paper()
            assert contest.work_out((kind,), paper, ask.prompt, kind.name) == ask.answer, ask.prompt
            operations.append(paper.operations)
        if kind not in SHORT:
            assert np.median(operations) >= OPERATIONS[level]


@pytest.mark.parametrize("level", OPERATIONS)
def test_stories_take_as_many_operations_together(level):
    env, operations = WordProblems(), []
    for seed in SEEDS:
        env.reset(seed=seed, options={"difficulty": level})
        operations.append(env.work(env.state))
    assert np.median(operations) >= OPERATIONS[level]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_answers_are_many_and_not_in_the_question(kind):
    for level in range(kind.first, kind.last + 1):
        found = list(asks(kind, level))
        assert len({ask.answer for ask in found}) > len(found) / 2
        for ask in found:
            assert Fraction(ask.answer) not in contest.numbers(ask.prompt)
            assert ask.prompt.endswith(contest.WHOLE if kind.is_whole else contest.EXACT)
            assert not (kind.is_whole and "/" in ask.answer)


def test_names_of_kinds_are_different():
    assert len({kind.name for kind in KINDS}) == len(KINDS)


def test_every_level_has_several_kinds():
    for family in FAMILIES:
        for level in range(contest.FIRST, 11) if family.contest_kinds else ():
            some = [k for k in family.contest_kinds if k.first <= level <= k.last]
            assert len(some) >= 3
