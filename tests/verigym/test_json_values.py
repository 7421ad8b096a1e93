"""Canonical JSON refuses what JSON cannot hold, and tasks survive the round trip."""

import math

import pytest

from verigym import RequestError, Task
from verigym.canonical import digest, to_json


def test_a_task_survives_json():
    task = Task(
        id="a",
        env_id="b",
        seed=1,
        prompt="p",
        difficulty="d",
        tags=("x",),
        reference=[{"k": [None]}],
    )
    assert Task.from_json(task.to_json()) == task
    assert Task.from_json(task.to_json()).content == task.content


@pytest.mark.parametrize("value", [math.nan, math.inf, [None, {"a": (1, -math.inf)}]])
def test_what_is_not_a_number_has_no_digest(value):
    """msgspec alone writes null, and NaN would share the digest of None."""
    with pytest.raises(RequestError, match="NaN"):
        digest(value)


def test_null_itself_is_fine():
    assert to_json([None, "null", 1.5]) == b'[null,"null",1.5]'
