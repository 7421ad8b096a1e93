"""The base class of environments: constructor, seeds, difficulties, splits, options of reset."""

import numpy as np
import pytest

import verigym
from tests.verigym.count_env import Count, CountVerifier, make_count
from verigym import (
    RequestError,
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dificulty": "low"}, "unknown reset option 'dificulty'; did you mean 'difficulty'?"),
        ({"difficulty": "lo"}, "has no difficulty 'lo'; did you mean 'low'?"),
        ({"split": "tests"}, "has no split 'tests'; did you mean 'test'?"),
        ({"task": {"id": "x"}}, "must be a Task of verigym/tests/count-v0"),
    ],
)
def test_reset_options_are_checked_before_anything_changes(options, message):
    env = make_count()
    env.reset(seed=5)
    before = env.snapshot()
    with pytest.raises(verigym.RequestError, match=message):
        env.reset(seed=6, options=options)
    assert env.snapshot() == before


def test_a_task_of_another_environment_is_refused():
    env = make_count()
    other = verigym.make("countdown").sample_task(0)
    with pytest.raises(verigym.RequestError, match="must be a Task of verigym/tests/count-v0"):
        env.reset(options={"task": other})


@pytest.mark.parametrize(
    "arguments",
    [{"difficulty": "lo"}, {"split": "all"}, {"max_turns": 0}, {"render_mode": "human"}],
)
def test_constructor_arguments_are_checked(arguments):
    with pytest.raises(verigym.RequestError):
        make_count(**arguments)


def test_a_verifier_of_another_kind_is_refused():
    with pytest.raises(verigym.RequestError, match="is judged by 'tests/count'"):
        Count(verifier=verigym.make_verifier("math/countdown"))


@pytest.mark.parametrize("given", [7, CountVerifier])
def test_a_verifier_that_is_no_judge_is_refused(given):
    with pytest.raises(verigym.RequestError, match="must be a Judge, the URL of a service or None"):
        Count(verifier=given)


def test_a_class_called_directly_finds_its_verifier():
    made = verigym.make("countdown")
    direct = type(made)()
    assert (direct.verifier.name, direct.verifier.params) == (
        made.verifier.name,
        made.verifier.params,
    )


def test_without_a_finder_a_judge_must_be_given(monkeypatch):
    monkeypatch.setattr("verigym.judge_finder._installed", [])
    with pytest.raises(verigym.RequestError, match=r"'tests/count'.* pass a Judge"):
        Count()
    judge = CountVerifier()
    assert Count(verifier=judge).verifier is judge


def test_seeds():
    env = make_count()
    first = env.reset(seed=11)
    task = env.task
    assert env.reset(seed=11) == first
    assert env.task == task == make_count().sample_task(11)
    assert {env.sample_task(seed).content for seed in range(20)} != {task.content}
    # Without a seed the chain goes on from the last one, the same every time.
    env.reset(seed=11)
    chain = [env.reset()[1]["task_id"] for _ in range(5)]
    env.reset(seed=11)
    assert [env.reset()[1]["task_id"] for _ in range(5)] == chain
    assert len(set(chain)) == 5
    # A task met in the chain is the task of its seed, but what follows it hangs on the whole chain: a
    # chain of seeds that each decide the next would soon go round in a circle.
    assert env.task == env.sample_task(env.task.seed)
    last = env.task.seed
    after = env.reset()[1]["task_id"]
    env.reset(seed=last)
    assert env.reset()[1]["task_id"] != after


@pytest.mark.parametrize("seed", [-1, "7", 1.5])
def test_a_seed_that_cannot_be_used_is_refused(seed):
    env = make_count()
    with pytest.raises(RequestError, match="a seed is a whole number"):
        env.reset(seed=seed, options={"difficulty": "high"})
    assert env.difficulty != "high"
    with pytest.raises(RequestError, match="a seed is a whole number"):
        env.sample_task(seed)


def test_a_seed_may_be_a_number_of_numpy():
    assert make_count().sample_task(np.int64(3)) == make_count().sample_task(3)


def test_difficulty_and_split_stick_until_changed():
    env = make_count(difficulty="high", split="test")
    env.reset(seed=1)
    assert (env.task.difficulty, env.task.split) == ("high", "test")
    env.reset(seed=1, options={"difficulty": "low"})
    assert (env.task.difficulty, env.task.split) == ("low", "test")
    env.reset(seed=2)
    assert (env.task.difficulty, env.task.split) == ("low", "test")


def test_splits_are_disjoint_by_content():
    env = make_count()
    contents = {
        split: {env.sample_task(seed, split=split).content for seed in range(200)}
        for split in verigym.SPLITS
    }
    for one in verigym.SPLITS:
        for other in verigym.SPLITS:
            if one != other:
                assert not contents[one] & contents[other]


def test_an_environment_with_too_few_tasks_says_so():
    class Single(Count):
        def generate(self, rng, level):
            return verigym.Draft(prompt="Always this.", reference=1)

    env = Single(verifier=CountVerifier())
    empty = next(
        split
        for split in verigym.SPLITS
        if split != env.split_of(verigym.Draft(prompt="Always this.", reference=1))
    )
    with pytest.raises(verigym.TaskError, match="too few different tasks"):
        env.sample_task(0, split=empty)


def test_an_instance_of_another_setting_goes_on_as_the_first_would():
    env, other = make_count(difficulty="high", split="test"), make_count()
    env.reset(seed=1)
    other.restore(env.snapshot())
    assert [other.reset()[1]["task_id"] for _ in range(3)] == [
        env.reset()[1]["task_id"] for _ in range(3)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dificulty": "hard"}, "takes no argument 'dificulty'; did you mean 'difficulty'"),
        ({"max_turns": "3"}, "max_turns must be a whole number"),
        ({"max_turns": 2.5}, "max_turns must be a whole number"),
        ({"max_turns": True}, "max_turns must be a whole number"),
    ],
)
def test_what_an_environment_is_not_made_of_is_told(options, message):
    with pytest.raises(RequestError, match=message):
        verigym.make("keydoor", **options)


def test_options_that_are_none_are_told():
    with pytest.raises(RequestError, match="options must be a dictionary"):
        make_count().reset(options=[1])
