"""Features that `Env` gives every environment, shown on a tiny one."""

from dataclasses import dataclass, replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verigym
from verigym import (
    Draft,
    Env,
    RequestError,
    SandboxError,
    Status,
    TaskError,
    Transition,
    Verifier,
    fault,
    scored,
)


@dataclass(frozen=True)
class Counter:
    at: int
    goal: int
    given_up: bool = False


class Strict(msgspec.Struct, frozen=True):
    """Parameters of `CountVerifier`."""

    strict: bool = True


class CountVerifier(Verifier[Strict]):
    """Full marks for reaching the goal; `outage` names a failure to show instead."""

    id = "tests/count"
    version = 3

    def __init__(self, **params):
        super().__init__(**params)
        self.outage = None
        self.calls = 0

    def judge(self, task, submission):
        self.calls += 1
        if self.outage == "sandbox":
            raise SandboxError("no machine")
        if self.outage == "task":
            raise TaskError("bad reference")
        if self.outage == "bug":
            return 1 / 0
        if self.outage == "timeout":
            return fault(Status.TIMEOUT, "deadline", "too slow")
        right = submission == task.reference
        return scored(float(right), "correct" if right else "wrong_value")


class Count(Env[Counter]):
    """Count up or down from 0 to a goal, one at a time; `stop` hands in."""

    id = "verigym/tests/count-v0"
    verifier_id = "tests/count"
    difficulties = ("low", "middle", "high")
    max_action_chars = 16

    def generate(self, rng, level):
        goal = int(rng.integers(1, 100 * level))
        return Draft(prompt=f"Count to {goal}.", reference=goal, tags=("counting",))

    def initial(self, task):
        return Counter(0, task.reference)

    def observe(self, state):
        return f"You are at {state.at}."

    def transition(self, state, action):
        if action == "up":
            return Transition(state=replace(state, at=state.at + 1))
        if action == "down":
            return Transition(state=replace(state, at=state.at - 1))
        if action == "stop":
            return Transition(
                state=replace(state, given_up=True), terminated=True, submission=state.at
            )
        return Transition(state=state, valid=False)

    def submission(self, state):
        return state.at

    def key(self, state):
        return [state.at, state.goal, state.given_up]

    def legal_actions(self, state):
        return ["up", "down", "stop"]

    def solve(self, state):
        if state.at == state.goal:
            return "stop"
        return "up" if state.at < state.goal else "down"

    def turns_allowed(self, task):
        return 2 * task.reference + 4


def make_count(**kwargs):
    """The environment with its own verifier, which is not registered."""
    return Count(verifier=CountVerifier(), **kwargs)


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
