"""The base class of environments: steps, moves, verdicts, last observations."""

import pytest

import verigym
from tests.verigym.count_env import Count, CountVerifier, make_count
from verigym import (
    Status,
    scored,
)


def test_reset_gives_prompt_and_view():
    env = make_count()
    observation, info = env.reset(seed=5)
    assert observation == f"{env.task.prompt}\n\nYou are at 0."
    assert set(info) == {"task_id", "state_key", "valid_action", "verdict", "legal_actions"}
    assert info["valid_action"] is True
    assert info["verdict"] is None
    assert info["legal_actions"] == ["up", "down", "stop"]
    assert env.task.id == "verigym/tests/count-v0:train:low:5"


def test_a_whole_episode():
    env = make_count()
    env.reset(seed=5)
    for _ in range(env.task.reference):
        observation, reward, terminated, truncated, info = env.step(env.oracle())
        assert (reward, terminated, truncated, info["verdict"]) == (0.0, False, False, None)
    assert observation == f"You are at {env.task.reference}."
    _, reward, terminated, truncated, info = env.step(env.oracle())
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["verdict"].reason == "correct"
    assert info["verdict"].verifier == "tests/count@3"
    assert info["legal_actions"] is None
    with pytest.raises(verigym.RequestError, match="the episode is over"):
        env.step("up")


def test_the_turn_limit_judges_the_state_it_ends_in():
    env = make_count(max_turns=2)
    env.reset(seed=5)
    assert env.step("up")[3] is False
    _, reward, terminated, truncated, info = env.step("up")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["verdict"].reason == "wrong_value"


@pytest.mark.parametrize(
    ("action", "max_turns", "shown"),
    [
        ("stop", None, "The task is over."),
        ("sideways", 1, "The task is over: no turns are left."),
        ("up", 1, "You are at 1."),
    ],
)
def test_a_last_observation_that_shows_nothing_new_says_that_the_task_is_over(
    action, max_turns, shown
):
    env = make_count(max_turns=max_turns)
    env.reset(seed=5)
    assert env.step(action)[0] == shown


def test_a_last_observation_is_never_empty():
    env = verigym.make("countdown")
    env.reset(seed=5)
    assert env.step("<answer>1</answer>")[0] == "The task is over."


def test_terminating_on_the_last_turn_is_not_truncation():
    env = make_count(max_turns=1)
    env.reset(seed=5)
    _, _, terminated, truncated, _ = env.step("stop")
    assert (terminated, truncated) == (True, False)


def test_invalid_actions_cost_a_turn_and_change_nothing_else():
    env = make_count()
    _, before = env.reset(seed=5)
    observation, reward, *_, info = env.step("sideways")
    assert (observation, reward, info["valid_action"]) == ("You are at 0.", 0.0, False)
    assert info["state_key"] == before["state_key"]
    *_, info = env.step("up" * 9)  # longer than max_action_chars
    assert info["valid_action"] is False
    assert env.snapshot().turn == 2


def test_a_lone_surrogate_is_an_invalid_action_and_no_fault():
    env = verigym.make("countdown")
    env.reset(seed=5)
    _, reward, _, _, info = env.step("\ud800")
    assert (reward, info["valid_action"]) == (0.0, False)
    assert info["verdict"].status is Status.POLICY_FAULT


@pytest.mark.parametrize("action", [None, 3, b"up", ["up"]])
def test_an_action_is_text(action):
    env = make_count()
    env.reset(seed=5)
    with pytest.raises(verigym.RequestError, match="an action is text"):
        env.step(action)


def test_the_first_call_is_reset():
    env = make_count()
    for use in (
        lambda: env.step("up"),
        lambda: env.task,
        lambda: env.state,
        env.snapshot,
        env.state_key,
    ):
        with pytest.raises(verigym.RequestError, match=r"call reset\(\) first"):
            use()


@pytest.mark.parametrize(
    ("outage", "status", "reason"),
    [
        ("sandbox", "infra", "sandbox_error"),
        ("task", "verifier_error", "bad_task"),
        ("bug", "verifier_error", "crashed"),
        ("timeout", "timeout", "deadline"),
    ],
)
def test_a_fault_leaves_the_state_unchanged_and_the_step_repeatable(outage, status, reason):
    env = make_count()
    env.reset(seed=5)
    for _ in range(env.task.reference):
        env.step("up")
    before = env.snapshot()
    env.verifier.outage = outage
    for _ in range(2):
        with pytest.raises(verigym.VerifierFault) as caught:
            env.step("stop")
        verdict = caught.value.verdict
        assert (verdict.status.value, verdict.reason, verdict.score) == (status, reason, None)
        assert verdict.verifier == "tests/count@3"
        assert len(verdict.digest) == 64
        assert env.snapshot() == before
    env.verifier.outage = None
    _, reward, terminated, _, _ = env.step("stop")
    assert (reward, terminated) == (1.0, True)


def test_a_step_is_what_is_proposed_and_committed():
    env, other = make_count(), make_count()
    env.reset(seed=3)
    other.reset(seed=3)
    for action in ("up", "nonsense", "down", "stop"):
        before = env.snapshot()
        move = env.propose(action)
        assert env.snapshot() == before
        verdict = None
        if move.submission is not None:
            verdict = env.verifier.verify(move.task, move.submission)
        assert env.commit(move, verdict) == other.step(action)
    assert env.snapshot() == other.snapshot()


def test_a_move_is_committed_with_the_verdict_that_it_needs_and_only_where_it_was_proposed():
    env = make_count()
    env.reset(seed=3)
    up, stop = env.propose("up"), env.propose("stop")
    before = env.snapshot()
    for move, verdict, complaint in (
        (up, scored(0.25, "elsewhere"), "no verdict"),
        (stop, None, "a verdict"),
    ):
        with pytest.raises(verigym.RequestError, match=complaint):
            env.commit(move, verdict)
    with pytest.raises(verigym.VerifierFault):
        env.commit(stop, verigym.fault(verigym.Status.INFRA, "down"))
    assert env.snapshot() == before
    assert env.commit(stop, scored(0.25, "elsewhere"))[1:4] == (0.25, True, False)
    assert env.verifier.calls == 0
    for move, verdict in ((stop, scored(0.25, "elsewhere")), (up, None)):
        with pytest.raises(verigym.RequestError, match="another state"):
            env.commit(move, verdict)
    env.reset(seed=4)
    with pytest.raises(verigym.RequestError, match="another state"):
        env.commit(up)


def test_a_fault_at_the_turn_limit_is_repeatable_too():
    env = make_count(max_turns=1)
    env.reset(seed=5)
    env.verifier.outage = "sandbox"
    with pytest.raises(verigym.VerifierFault):
        env.step("up")
    env.verifier.outage = None
    assert env.step("up")[3] is True


def test_render():
    env = make_count(render_mode="ansi")
    env.reset(seed=3)
    assert env.render() == "You are at 0."
    env = make_count()
    env.reset(seed=3)
    assert env.render() is None


def test_an_environment_without_a_solver_says_why():
    class Unsolved(Count):
        oracle_absent = "counting is hard"

    env = Unsolved(verifier=CountVerifier())
    env.reset(seed=0)
    with pytest.raises(verigym.RequestError, match="counting is hard"):
        env.oracle()


def test_the_abstract_parts_must_be_written():
    class Nothing(verigym.Env):
        id = "verigym/tests/nothing-v0"
        verifier_id = "math/countdown"
        difficulties = ("a", "b", "c")

    with pytest.raises(TypeError, match="abstract"):
        Nothing()
