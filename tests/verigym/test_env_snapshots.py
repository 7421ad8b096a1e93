"""The base class of environments: snapshots and state keys."""

from hypothesis import given
from hypothesis import strategies as st

from tests.verigym.count_env import make_count


def play(env, actions):
    """The full trace of some actions, as far as the episode goes."""
    trace = []
    for action in actions:
        step = env.step(action)
        trace.append(step)
        if step[2] or step[3]:
            break
    return trace


ACTIONS = st.lists(st.sampled_from(["up", "down", "stop", "sideways", ""]), max_size=12)


@given(ACTIONS, ACTIONS)
def test_restore_continues_identically_here_and_elsewhere(before, after):
    env = make_count(max_turns=9)
    env.reset(seed=3)
    play(env, before)
    point = env.snapshot()
    if point.done:
        return
    expected = play(env, after)
    chain = env.reset()
    for other in (env, make_count(max_turns=9)):
        other.restore(point)
        assert other.snapshot() == point
        assert play(other, after) == expected
        assert other.reset() == chain


def test_snapshots_are_values():
    env = make_count()
    env.reset(seed=3)
    point = env.snapshot()
    env.step("up")
    env.reset()
    assert point.turn == 0
    env.restore(point)
    env.reset()
    env.restore(point)
    assert env.snapshot() == point


@given(ACTIONS)
def test_state_keys_have_no_history(actions):
    env = make_count()
    env.reset(seed=3)
    by_state = {}
    for action in actions:
        if action == "stop":
            continue
        key = env.step(action)[4]["state_key"]
        assert by_state.setdefault(env.state, key) == key
    assert len(set(by_state.values())) == len(by_state)


def test_state_keys_differ_between_tasks():
    env = make_count()
    keys = {env.reset(seed=seed)[1]["state_key"] for seed in range(10)}
    assert len(keys) == len({env.sample_task(seed).content for seed in range(10)})
