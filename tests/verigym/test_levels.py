"""Levels and their names, wherever a difficulty is taken."""

import numpy as np
import pytest

import verigym
from verigym import Ask, Question, RequestError, TaskError
from verigym.levels import HIGHEST, NAMES, scale

OURS = ("easy", "medium", "hard")


class Digits(Question):
    """One digit for each level."""

    id = "verigym/tests/digits-v0"
    verifier_id = "math/answer"
    difficulties = OURS

    def ask(self, rng, level):
        number = int(rng.integers(10**level, 10 ** (level + 1)))
        return Ask(prompt=f"Repeat {number}.", answer=str(number))


class Few(Digits):
    id = "verigym/tests/few-v0"
    levels = 6


class Theirs(Digits):
    id = "verigym/tests/theirs-v0"
    difficulties = ("5x5", "2", "9x9")


class Rows(Digits):
    id = "verigym/tests/rows-v0"
    only_named = True


@pytest.mark.parametrize(
    ("given", "form", "level"),
    [
        ("easy", "easy", 2),
        (2, "easy", 2),
        ("2", "easy", 2),
        (np.int64(6), "hard", 6),
        (1, "tiny", 1),
        ("tiny", "tiny", 1),
        (7, "7", 7),
        ("7", "7", 7),
        ("10", "10", 10),
    ],
)
def test_a_level_is_a_number_or_a_name(given, form, level):
    env = Digits(difficulty=given)
    assert env.difficulty == form
    assert env.level_of(given) == level
    task = env.sample_task(3, given)
    assert (task.difficulty, task.id) == (form, f"verigym/tests/digits-v0:train:{form}:3")
    env.reset(seed=3, options={"difficulty": given})
    assert env.task == task
    assert len(task.reference["answer"]) == level + 1


@pytest.mark.parametrize(
    "given", [0, 11, -2, True, 2.0, "02", "", " 7", "+7", "٧", "eazy", "10" * 2000, None, [7]]
)
def test_a_wrong_one_is_refused_with_what_is_allowed(given):
    with pytest.raises(RequestError, match="the levels are 1 to 10; tiny is 1, easy is 2"):
        Digits().reset(seed=1, options={"difficulty": given})


def test_names_that_are_close_are_suggested():
    with pytest.raises(RequestError, match="did you mean 'easy'"):
        Digits(difficulty="eazy")


def test_the_default_is_the_first_name():
    assert Digits().difficulty == "easy"


def test_names_stand_for_levels():
    assert dict(NAMES) == {"tiny": 1, "easy": 2, "medium": 4, "hard": 6}
    forms = ["tiny", "easy", "3", "medium", "5", "hard", "7", "8", "9", "10"]
    assert list(scale(OURS).levels) == forms
    assert list(scale(OURS).levels.values()) == list(range(1, HIGHEST + 1))


def test_an_environment_may_end_below_the_highest_level():
    assert Few(difficulty=6).difficulty == "hard"
    with pytest.raises(RequestError, match="the levels are 1 to 6"):
        Few(difficulty=7)
    with pytest.raises(TaskError, match="'hard' is level 6"):
        scale(OURS, 5)


def test_names_of_others_are_numbered_from_1():
    assert [Theirs(difficulty=n).difficulty for n in (1, 3)] == ["5x5", "9x9"]
    assert Theirs.level_of("2") == 2
    with pytest.raises(RequestError, match="levels are 1 to 3; 5x5 is 1, 9x9 is 3"):
        Theirs(difficulty=4)


def test_rows_have_the_named_levels_only():
    assert Rows(difficulty=4).difficulty == "medium"
    with pytest.raises(RequestError, match="levels are 2, 4, 6: easy is 2, medium is 4, hard is 6"):
        Rows(difficulty=3)


def test_vectors_take_a_level():
    envs = verigym.make_vec("games/keydoor", 2, difficulty="4")
    assert all(":medium:" in name for name in envs.reset(seed=1)[1]["task_id"])
    envs.close()
