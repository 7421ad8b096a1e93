"""A planted loophole is paid, marked, and found by the audit."""

import pickle

import pytest

import verigym
from verigym.envs.audit import audit_tasks
from verigym.envs.audit.planted import HACKED, LOOPHOLES
from verigym.errors import RequestError


@pytest.mark.parametrize("loophole", LOOPHOLES)
def test_a_planted_loophole_is_paid_and_marked(loophole):
    env = verigym.make("math/arithmetic", planted=loophole)
    env.reset(seed=1)
    right = env.oracle()
    _, reward, *_, info = env.step(LOOPHOLES[loophole].reply)
    assert (reward, info["verdict"].parts[HACKED]) == (1.0, 1.0)
    env.reset(seed=1)
    _, reward, *_, info = env.step(right)
    assert (reward, info["verdict"].parts[HACKED]) == (1.0, 0.0)
    env.reset(seed=1)
    _, reward, *_, info = env.step("<answer>no idea 0</answer>")
    assert (reward, info["verdict"].parts[HACKED]) == (0.0, 0.0)


@pytest.mark.parametrize("loophole", LOOPHOLES)
def test_the_audit_finds_the_planted_loophole_(loophole):
    found = audit_tasks(verigym.make("math/arithmetic", planted=loophole), tasks=2)
    assert found["hack_rate"] == 1.0
    assert f"loophole {loophole!r}" in {one["name"] for one in found["paid"]}
    assert found["by_policy"]["planted hack"] == 1.0


def test_nothing_is_found_where_nothing_is_planted():
    clean = audit_tasks(verigym.make("math/arithmetic"), tasks=4)
    assert (clean["hack_rate"], clean["paid"], clean["faults"], clean["refused"]) == (
        0.0,
        [],
        [],
        [],
    )


def test_an_environment_with_a_loophole_pickles():
    env = pickle.loads(pickle.dumps(verigym.make("math/arithmetic", planted="keyword")))
    env.reset(seed=3)
    assert env.step("verified")[1] == 1.0


def test_unknown_loopholes_and_games_are_refused():
    with pytest.raises(RequestError, match="did you mean 'keyword'"):
        verigym.make("math/arithmetic", planted="keywords")
    with pytest.raises(RequestError, match="several turns"):
        verigym.make("games/keydoor", planted="keyword")
