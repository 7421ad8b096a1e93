"""Alarms: each is raised by the sign it is named after, and by no other."""

from __future__ import annotations

import pytest

from verigym.trainers.alarms import alarms


def run_of(**changes):
    """Give 60 calm steps, of which the last 20 have `changes`."""
    calm = {
        "groups": 8,
        "groups_without_signal": 2,
        "episodes": 64,
        "faults": {},
        "entropy": 1.0,
        "success_rate": 0.4,
        "return_mean": 0.4,
        "n_tokens": 640,
    }
    return [calm] * 40 + [{**calm, **changes}] * 20


@pytest.mark.parametrize(
    ("changes", "held_out", "name", "said"),
    [
        ({}, [0.4] * 6, None, ""),
        ({"groups_without_signal": 8}, [], "dead groups", "easier tasks"),
        ({"groups_without_signal": 8, "success_rate": 0.99}, [], "dead groups", "harder tasks"),
        ({"faults": {"verifier:infra": 9}}, [], "faults", "14% of the last episodes"),
        ({"entropy": 0.01}, [], "entropy collapse", "from 1 to 0.01 nats"),
        ({"entropy": 0.01, "success_rate": 0.95}, [], None, ""),
        ({"n_tokens": 2560}, [], "length drift", "from 10 to 40"),
        ({"return_mean": 0.9}, [0.4] * 6, "reward without success", "rose by 0.50"),
        ({"return_mean": 0.9}, [0.4] * 3 + [0.8] * 3, None, ""),
    ],
)
def test_alarms_say_what_is_wrong(changes, held_out, name, said):
    found = alarms(run_of(**changes), held_out)
    assert list(found) == ([] if name is None else [name])
    assert said in "".join(found.values())


def test_no_alarm_before_there_is_a_history():
    assert alarms(run_of(groups_without_signal=8)[-9:], []) == {}
