"""Properties of countdown alone; the common contract is in tests/test_all_envs.py."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verigym
from verigym.envs.math.countdown import LEVELS, solution
from verigym.verifiers.math.countdown import read


@pytest.mark.parametrize("difficulty", LEVELS)
def test_tasks_keep_to_their_level_and_are_solvable(difficulty):
    level = LEVELS[difficulty]
    env = verigym.make("countdown", difficulty=difficulty)
    for seed in range(40):
        env.reset(seed=seed)
        reference = env.task.reference
        assert set(reference) == {"numbers", "target"}
        assert len(reference["numbers"]) == level.count
        assert reference["numbers"] == sorted(reference["numbers"])
        assert all(1 <= number <= level.largest for number in reference["numbers"])
        assert level.target_min <= reference["target"] <= level.target_max
        _, reward, terminated, truncated, info = env.step(env.oracle())
        assert (reward, terminated, truncated) == (1.0, True, False)
        assert info["verdict"].reason == "correct"


@pytest.mark.slow  # the law of levels shows as much
def test_a_baseline_ranks_the_difficulties():
    # The baseline joins the shuffled numbers with random signs, from left to right.
    solved = {}
    for difficulty in ("easy", "medium", "hard"):
        env = verigym.make("countdown", difficulty=difficulty)
        dice = random.Random(0)
        solved[difficulty] = 0
        for seed in range(1500):
            env.reset(seed=seed)
            numbers = list(env.state.numbers)
            dice.shuffle(numbers)
            text = str(numbers[0])
            for number in numbers[1:]:
                text = f"({text} {dice.choice('+-*/')} {number})"
            solved[difficulty] += env.step(f"<answer>{text}</answer>")[1]
    assert solved["easy"] > 2 * solved["medium"]
    assert solved["medium"] > 2 * solved["hard"]


def test_the_first_answer_ends_the_episode_even_where_more_turns_are_allowed():
    env = verigym.make("countdown", max_turns=3)
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step("no idea")
    assert (reward, terminated, info["valid_action"]) == (0.0, True, False)
    assert info["verdict"].reason == "no_answer"


def test_a_wrong_answer_that_can_be_read_is_a_valid_action():
    env = verigym.make("countdown")
    env.reset(seed=0)
    _, reward, _, _, info = env.step("<answer>1+1</answer>")
    assert (reward, info["valid_action"]) == (0.0, True)


def test_an_action_that_is_too_long_is_judged_as_no_answer():
    env = verigym.make("countdown")
    env.reset(seed=0)
    answer = env.oracle()
    _, reward, _, truncated, info = env.step("." * env.max_action_chars + answer)
    assert (reward, truncated, info["valid_action"]) == (0.0, True, False)
    assert info["verdict"].reason == "no_answer"


def test_the_solver_falls_back_on_fractions():
    text = solution((3, 3, 8, 8), 24)
    assert read(f"<answer>{text}</answer>").value() == 24


def test_large_targets_are_out_of_reach_of_sums_and_products_alone():
    env = verigym.make("countdown")
    for level in (7, 8, 9, 10):
        for seed in range(20):
            task = env.sample_task(seed, level)
            numbers, target = tuple(task.reference["numbers"]), task.reference["target"]
            expression = solution(numbers, target)
            answer = read(f"<answer>{expression}</answer>")
            assert answer.value() == target
            assert answer.numbers == list(numbers)
            assert target not in (sum(numbers), math.prod(numbers))
            assert expression.count("*") >= 2
            assert expression.count("+") + expression.count("-") >= 2


def test_the_solver_says_so_where_nothing_works():
    with pytest.raises(verigym.TaskError, match="no expression over"):
        solution((1, 1), 5)


_NUMBERS = st.lists(st.integers(1, 30), min_size=1, max_size=5).map(lambda n: tuple(sorted(n)))


@given(_NUMBERS, st.data())
def test_the_solver_solves_whatever_can_be_built(numbers, data):
    pool = list(numbers)
    while len(pool) > 1:
        a = pool.pop(data.draw(st.integers(0, len(pool) - 1)))
        b = pool.pop(data.draw(st.integers(0, len(pool) - 1)))
        choices = [a + b, a * b]
        if a != b:
            choices.append(abs(a - b))
        pool.append(data.draw(st.sampled_from(choices)))
    answer = read(f"<answer>{solution(numbers, pool[0])}</answer>")
    assert answer.numbers == list(numbers)
    assert answer.value() == pool[0]
