"""Rows name tasks without their answers; replies to them are graded as a step grades them."""

import json

import pytest

import verigym
from verigym.errors import RequestError
from verigym.trainers.exports.rows import COLUMNS, grade, open_env, row_of, start, task_rows


def test_rows_take_environments_in_turn_and_name_the_task():
    rows = task_rows("math/arithmetic", "math/counting", n=5, difficulty=3, seed=10, split="test")
    assert [row["env"].split("/")[2] for row in rows] == [
        *("arithmetic-v0", "counting-v0") * 2,
        "arithmetic-v0",
    ]
    assert [row["seed"] for row in rows] == [10, 10, 11, 11, 12]
    for row in rows:
        assert tuple(row) == COLUMNS
        env = open_env(row)
        observation, info = start(env, row)
        again = verigym.make(row["env"], difficulty=3, split="test")
        assert (observation, info) == again.reset(seed=row["seed"])


def test_a_row_survives_a_data_set_and_other_columns():
    (row,) = task_rows("games/keydoor", n=1, options={"max_turns": 3})
    stored = json.loads(json.dumps({**row, "prompt": "x", "reward": 1}))
    assert row_of(stored) == row
    assert open_env(row_of(stored)).max_turns == 3


def test_a_wrong_row_says_what_to_do():
    with pytest.raises(RequestError, match="lacks the columns split, difficulty, options"):
        row_of({"env": "games/keydoor-v0", "seed": 1})
    with pytest.raises(RequestError, match="n must be at least 1"):
        task_rows("math/*", n=0)
    with pytest.raises(RequestError, match="no environment matches"):
        task_rows("maths/*", n=1)
    with pytest.raises(RequestError, match="name at least one"):
        task_rows(n=1)


def test_grading_gives_the_verdicts_of_a_step():
    rows = task_rows("math/arithmetic", "math/counting", n=4)
    wanted, replies = [], []
    for i, row in enumerate(rows):
        env = open_env(row)
        start(env, row)
        replies.append(env.oracle() if i % 2 else "I do not know.")
        wanted.append(env.step(replies[-1])[4]["verdict"])
    assert grade(rows, replies) == wanted
    assert [verdict.score for verdict in wanted] == [0.0, 1.0, 0.0, 1.0]


def test_a_task_of_several_turns_is_not_graded_by_one_reply():
    with pytest.raises(RequestError, match="several turns; play it turn by turn"):
        grade(task_rows("games/keydoor", n=1), ["up"])
