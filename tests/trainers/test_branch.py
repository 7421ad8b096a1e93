"""Branch credit: its formula, the choice of states, and that it measures what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from verigym import ConfigError
from verigym.agents.chat import StepRows, Transcript
from verigym.agents.loop import EnvPool, Settings, plan_groups, play
from verigym.agents.policies.random import RandomPolicy
from verigym.trainers.batch import Row, TokenStatistics
from verigym.trainers.branching import Branching, discounted_return, first_token_entropies
from verigym.trainers.config import parse_config
from verigym.trainers.credit import branch, rloo
from verigym.trainers.sections import BranchSection

NAN = float("nan")


@pytest.mark.parametrize(
    ("reward", "value", "gamma", "wanted"),
    [
        # Two episodes of one task, three turns each, returns 1 and 0; without values this is RLOO.
        ([0, 0, 1, 0, 0, 0], [NAN] * 6, 1.0, [1, 1, 1, -1, -1, -1]),
        # Each stretch gains the difference of its ends.
        (
            [0, 0, 1, 0, 0, 0],
            [NAN, 0.4, NAN, NAN, NAN, 0.2],
            1.0,
            [0.4, 0.6, 0.6, -0.8, -0.8, -0.2],
        ),
        # A first state that was measured needs no group's mean.
        ([0, 0, 1, 0, 0, 0], [0.5, NAN, NAN, NAN, NAN, NAN], 1.0, [0.5, 0.5, 0.5, -1, -1, -1]),
        # Discounts: 0.5 * 0.4 - 0 at the start, 0.5 * 1 - 0.4 from there.
        ([0, 0, 1, 0, 0, 0], [NAN, 0.4, NAN] + [NAN] * 3, 0.5, [0.2, 0.1, 0.1] + [-0.25] * 3),
    ],
)
def test_each_stretch_gets_the_gain_in_value(reward, value, gamma, wanted):
    found = branch(reward, [0, 0, 0, 1, 1, 1], ["a", "a"], value, gamma=gamma)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_faults_and_lone_members_get_nothing_and_rewards_in_between_count():
    value = [NAN, 0.5, NAN, 0.5, NAN]
    found = branch(
        [1, 0, 1, 0, 1], [0, 0, 1, 1, 2], ["a", "a", "a"], value, valid=np.array([1, 0, 0], bool)
    )
    np.testing.assert_array_equal(found, 0.0)
    found = branch([0.25, 1, 0, 0], [0, 0, 1, 1], ["a", "a"], [NAN, 0.5, NAN, NAN])
    np.testing.assert_allclose(found[:2], [0.25 + 0.5 - 0.0, 1 - 0.5])
    plain = branch([0.25, 1, 0, 0], [0, 0, 1, 1], ["a", "a"], [NAN] * 4)
    np.testing.assert_allclose(plain[[0, 2]], rloo([1.25, 0.0], ["a", "a"]))


def _chain(rng: np.random.Generator, state: int) -> tuple[list[tuple[int, int]], float]:
    """Play a walk on 0..3 from `state` with actions -1 and +1: (state, action) pairs, 1 for reaching 3."""
    steps = []
    for _ in range(4):
        action = 1 if rng.random() < 0.6 else -1
        steps.append((state, action))
        state += action
        if state in (0, 3):
            break
    return steps, float(state == 3)


def test_the_policy_gradient_stays_unbiased_at_every_cut():
    """Sum over steps of score(a) * A has the mean of score(a) * return, whatever is measured."""
    rng = np.random.default_rng(0)
    score = {1: 1 / 0.6, -1: -1 / 0.4}
    sums: dict[str, list[float]] = {"return": [], "branch": []}
    for _ in range(3000):
        pair = [_chain(rng, 1) for _ in range(2)]
        reward, number, value = [], [], []
        for i, (steps, won) in enumerate(pair):
            reward += [0.0] * (len(steps) - 1) + [won]
            number += [i] * len(steps)
            for t, (state, _) in enumerate(steps):
                measured = t > 0 and rng.random() < 0.5
                # A continuation from step t has the turns that are left; a noisy single one will do.
                value.append(_continue(rng, state, 4 - t) if measured else NAN)
        found = branch(reward, number, ["a", "a"], value)
        scores = [score[action] for steps, _ in pair for _, action in steps]
        sums["branch"].append(float(np.dot(scores, found)))
        back = [won for steps, won in pair for _ in steps]
        sums["return"].append(float(np.dot(scores, back)))
    means = {name: np.mean(values) for name, values in sums.items()}
    error = sum(np.var(values) / len(values) for values in sums.values()) ** 0.5
    assert abs(means["branch"] - means["return"]) < 4 * error
    assert abs(means["return"]) > 8 * error


def _continue(rng: np.random.Generator, state: int, turns: int) -> float:
    for _ in range(turns):
        state += 1 if rng.random() < 0.6 else -1
        if state in (0, 3):
            break
    return float(state == 3)


LOCKSTEP = Settings(batching="cohorts")


def played(encoding=None, members=3):
    plans = plan_groups("keydoor", [1, 2], members=members, env_kwargs={"max_turns": 8})
    forks = {}
    with EnvPool() as pool:
        episodes = play(
            plans,
            RandomPolicy(),
            encoding,
            LOCKSTEP,
            envs=pool,
            on_fork=lambda e, fork: forks.setdefault((e.id, fork.turn), fork),
        )
    return plans, episodes, forks


@pytest.mark.parametrize("encoding", [StepRows(history=2), Transcript()])
def test_an_episode_that_continues_from_a_fork_goes_on_as_the_first_one_did(encoding):
    plans, episodes, forks = played(encoding)
    plan, episode = plans[0], episodes[0]
    again = [
        replace(plan, id=f"again{t}", group_id=f"again{t}", key=plan.key, fork=forks[plan.id, t])
        for t in range(len(episode.turns))
    ]
    # The random policy draws from key and turn, so the same key continues with the same actions.
    for t, found in enumerate(play(again, RandomPolicy(), encoding, LOCKSTEP)):
        rest = episode.turns[t:]
        assert [turn.action for turn in found.turns] == [turn.action for turn in rest]
        assert [turn.state_key for turn in found.turns] == [turn.state_key for turn in rest]
        assert [turn.observation for turn in found.turns] == [turn.observation for turn in rest]
        assert [turn.reward for turn in found.turns] == [turn.reward for turn in rest]
        assert (found.status, found.task_id) == (episode.status, episode.task_id)


def test_states_are_chosen_within_the_budget_and_measured_by_their_continuations():
    plans, episodes, forks = played(members=8)
    branching = Branching(section=BranchSection(share=0.5, continuations=2), seed=1)
    spent, steps = 0, 0
    for step in range(1, 16):
        for plan, episode in zip(plans, episodes, strict=True):
            for t in range(len(episode.turns)):
                branching.keep(episode, forks[plan.id, t])
        chosen = branching.choose(step, episodes)
        assert all(0 < t < len(episodes[i].turns) for i, t in chosen)
        values, cost = branching.measure(
            chosen,
            plans,
            episodes,
            lambda more: play(more, RandomPolicy(), None, LOCKSTEP),
        )
        assert set(values) == set(chosen)
        spent, steps = spent + cost, steps + sum(len(e.turns) for e in episodes)
    assert 0.3 < spent / steps < 0.6
    copy = Branching(section=branching.section, seed=1)
    copy.load(branching.state())
    assert copy.choose(16, episodes) == branching.choose(16, episodes)


def test_the_choice_does_not_look_at_what_came_after():
    _, episodes, _ = played(members=8)
    section = BranchSection(share=0.5, continuations=2)
    branching = Branching(section=section, seed=1, turns=40, continuations=10)
    other = Branching(section=section, seed=1, turns=40, continuations=10)
    cut = [replace(e, turns=e.turns[:4]) for e in episodes]
    before = {(i, t) for i, t in branching.choose(2, episodes) if t < 4}
    assert set(other.choose(2, cut)) == before


def test_entropy_weighs_the_chances():
    _, episodes, _ = played(members=8)
    states = {(i, t): float(t == 2) for i, e in enumerate(episodes) for t in range(len(e.turns))}
    section = BranchSection(share=2.0, continuations=1, states="entropy")
    chosen = Branching(section=section, seed=1).choose(1, episodes, states)
    assert {t for _, t in chosen} == {2}


def test_first_token_entropies_are_of_the_first_sampled_token():
    row = Row(
        ids=[1, 2, 3, 4, 5],
        mask=[0, 1, 1, 0, 1],
        logprobs=[0.0] * 5,
        turn=[-1, 0, 0, -1, 1],
        trajectory=7,
        advantage=[0.0] * 5,
        old=[0.0] * 5,
    )
    squares = [[0.0, 0.5, 1.0, 0.0, 0.25]]
    found = first_token_entropies([row], TokenStatistics(logprobs=squares, sum_pi_sq=squares))
    assert found == {(7, 0): pytest.approx(np.log(2)), (7, 1): pytest.approx(np.log(4))}


def test_returns_take_the_penalty_off():
    _, episodes, _ = played()
    episode = episodes[0]
    for turn in episode.turns:
        turn.reward, turn.valid_action = 1.0, False
    n = len(episode.turns)
    assert discounted_return(episode, 0.5, 0.25) == pytest.approx(0.75 * (2 - 0.5 ** (n - 1)))


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({"algorithm": {"name": "grpo", "branch": {}}}, "leave out [algorithm.branch]"),
        (
            {"algorithm": {"name": "branch"}, "reward": {"relative_length": 0.1}},
            "leave out [group] and [reward]",
        ),
        ({"algorithm": {"name": "branch", "branch": {"shares": 1}}}, "did you mean 'share'"),
    ],
)
def test_impossible_settings_are_refused(tree, said):
    with pytest.raises(ConfigError) as caught:
        parse_config({"env": {"id": "keydoor"}, **tree})
    assert said in str(caught.value)
