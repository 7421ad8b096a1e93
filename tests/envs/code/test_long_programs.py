"""Long programs of `code/predict`: what Python makes of their text, and that every round matters."""

import ast
from collections import Counter

import numpy as np
import pytest

import verigym
from verigym.envs.code.executed import Execution
from verigym.envs.code.long_programs import PARTS, draw_long_program
from verigym.envs.code.predict import LONG_LEVELS
from verigym.reply import fenced


def value_of(program, nums, rounds):
    """Return what Python makes of the text that a task shows."""
    names = {}
    exec(compile(program, "program", "exec"), names)
    return names["run"](list(nums), rounds)


@pytest.mark.parametrize("level", LONG_LEVELS)
def test_the_text_that_is_shown_gives_the_answer(level):
    env = verigym.make("code/predict")
    for seed in range(25):
        task = env.sample_task(seed, level)
        question = task.prompt.rpartition("What does ")[2]
        call = ast.parse(question.partition(" return?")[0], mode="eval").body
        nums, rounds = map(ast.literal_eval, call.args)
        shown = fenced(task.prompt)[-1].body
        assert repr(value_of(shown, nums, rounds)) == task.reference["literal"]
        assert len(task.prompt) < 6000


@pytest.mark.parametrize("level", LONG_LEVELS)
def test_steps_are_about_as_many_as_the_level_asks_for(level):
    env = verigym.make("code/predict")
    wanted = LONG_LEVELS[level][1]
    counts = []
    for seed in range(40):
        env.reset(seed=seed, options={"difficulty": level})
        counts.append(env.work(env.state))
    assert min(counts) > 0.4 * wanted
    assert 0.75 * wanted < sum(counts) / len(counts) < 1.25 * wanted


@pytest.mark.parametrize("count", [3, 8])
def test_every_number_and_every_round_changes_the_result(count):
    """The state mixes: another first number, or one round less, gives another result."""
    same = 0
    for seed in range(40):
        drawn = draw_long_program(np.random.default_rng(seed), count)
        execution = Execution(drawn.run, drawn.parts)
        value = execution.call("run", list(drawn.nums), 8)
        for place in range(len(drawn.nums)):
            nums = list(drawn.nums)
            nums[place] += 1
            same += execution.call("run", nums, 8) == value
        same += execution.call("run", list(drawn.nums), 7) == value
    assert same <= 2


def test_each_part_is_drawn_and_is_called_in_each_round():
    seen = Counter()
    for seed in range(60):
        drawn = draw_long_program(np.random.default_rng(seed), 6)
        names = {text for text, _ in drawn.parts}
        assert len(names) == 6
        seen.update(names)
        tree = ast.parse(drawn.source)
        assert tree.body[-1].name == "run"
    assert len(seen) == len(PARTS)


@pytest.mark.parametrize("level", [9, 10])
def test_no_state_comes_back_so_no_round_can_be_left_out(level):
    count, wanted = LONG_LEVELS[level]
    for seed in range(6):
        drawn = draw_long_program(np.random.default_rng(seed), count)
        execution = Execution(drawn.run, drawn.parts, 4 * wanted)
        values = [repr(execution.call("run", list(drawn.nums), rounds)) for rounds in range(40)]
        assert len(set(values)) == len(values)
        assert "x * x" in drawn.run
