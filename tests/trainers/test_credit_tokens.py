"""Token and turn estimators: REINFORCE++, GAE, MT-GRPO, and rewards of single steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from verigym.trainers.credit import (
    gae,
    gae_turns,
    group_advantage,
    kl_in_reward,
    mt_grpo,
    mt_grpo_turns,
    reinforce_pp,
    reinforce_pp_baseline,
    spa_reward,
    stepsearch_reward,
    stepsearch_terminal,
    w_reinforce,
    whiten,
)

SHAPE = (3, 6)
numbers = arrays(np.float64, SHAPE, elements=st.integers(-5, 5).map(float))
masks = arrays(np.bool_, SHAPE).filter(lambda mask: mask.sum() >= 2)


@given(numbers, masks)
def test_whitening_has_mean_0_and_deviation_1(x, mask):
    out = whiten(x, mask, eps=0.0 if np.ptp(x[mask]) else 1e-8)
    assert not out[~mask].any()
    if np.ptp(x[mask]):
        assert out[mask].mean() == pytest.approx(0.0, abs=1e-9)
        assert out[mask].std(ddof=1) == pytest.approx(1.0)


def test_whitening_needs_two_tokens():
    with pytest.raises(ValueError, match="at least two unmasked tokens, got 1"):
        whiten([[1.0, 2.0]], [[1, 0]])


@given(numbers, masks, st.sampled_from([0.0, 0.9, 1.0]))
def test_masked_tokens_are_as_if_absent(x, mask, gamma):
    poisoned = np.where(mask, x, np.nan)
    advantage, returns = reinforce_pp(poisoned, mask, gamma=gamma)
    a, r = gae(poisoned, poisoned, mask, gamma=gamma, lam=0.8, bootstrap=[1.0, 2.0, 3.0])
    for row, on in enumerate(mask):
        short = x[row][on][None]
        if short.size:
            alone = reinforce_pp(np.tile(short, (2, 1)), np.ones((2, short.size)), gamma=gamma)[1]
            np.testing.assert_allclose(returns[row][on], alone[0], atol=1e-12)
            b, s = gae(
                short, short, np.ones_like(short), gamma=gamma, lam=0.8, bootstrap=[row + 1.0]
            )
            np.testing.assert_allclose(a[row][on], b[0], atol=1e-12)
            np.testing.assert_allclose(r[row][on], s[0], atol=1e-12)
    for out in (advantage, returns, a, r):
        assert np.isfinite(out).all()
        assert not out[~mask].any()


@given(numbers, numbers, masks)
def test_gae_with_lambda_1_is_the_return_less_the_value(reward, value, mask):
    advantage, returns = gae(reward, value, mask, gamma=0.9, lam=1.0)
    _, want = reinforce_pp(reward, mask, gamma=0.9)
    np.testing.assert_allclose(returns, want, atol=1e-9)
    np.testing.assert_allclose(advantage, np.where(mask, want - value, 0.0), atol=1e-9)


def test_gae_can_run_through_masked_positions_as_older_forks_do():
    reward, value, mask = [[1.0, 2.0, 4.0]], [[0.0, 8.0, 0.0]], [[1, 0, 1]]
    skip, _ = gae(reward, value, mask, gamma=0.5, lam=1.0)
    through, _ = gae(reward, value, mask, gamma=0.5, lam=1.0, masked="through")
    np.testing.assert_allclose(skip, [[3.0, 0.0, 4.0]])
    np.testing.assert_allclose(through, [[3.0, 0.0, 4.0]])
    skip, _ = gae(reward, value, mask, gamma=0.5, lam=0.0)
    through, _ = gae(reward, value, mask, gamma=0.5, lam=0.0, masked="through")
    np.testing.assert_allclose(skip, [[1.0, 0.0, 4.0]])
    np.testing.assert_allclose(through, [[5.0, 0.0, 4.0]])


def test_truncated_turns_bootstrap():
    ended = gae_turns([0.0, 0.0], [0.5, 0.5], gamma=1.0, lam=1.0)
    cut = gae_turns([0.0, 0.0], [0.5, 0.5], gamma=1.0, lam=1.0, bootstrap=0.75)
    np.testing.assert_allclose(ended, [-0.5, -0.5])
    np.testing.assert_allclose(cut, [0.25, 0.25])


def test_reinforce_pp_baseline_by_rows_ignores_length():
    reward, group = [1.0, 0.0, 1.0, 0.0], list("aabb")
    long = [[1] * 9, [1] + [0] * 8, [1] * 2 + [0] * 7, [1] * 3 + [0] * 6]
    got = reinforce_pp_baseline(reward, group, long, per_row=True)
    np.testing.assert_allclose(got[:, 0], np.asarray([1, -1, 1, -1]) * np.sqrt(3) / 2, rtol=1e-6)
    assert not got[1, 1:].any()


@pytest.mark.parametrize("per_row", [False, True])
def test_reinforce_pp_baseline_leaves_faulted_rows_out(per_row):
    mask = np.ones((3, 2))
    got = reinforce_pp_baseline(
        [1.0, 0.0, np.nan], ["a"] * 3, mask, valid=[1, 1, 0], per_row=per_row
    )
    want = reinforce_pp_baseline([1.0, 0.0], ["a"] * 2, mask[:2], per_row=per_row)
    np.testing.assert_allclose(got[:2], want)
    assert not got[2].any()


def test_kl_in_reward_puts_the_reward_on_the_last_sampled_token():
    got = kl_in_reward(
        [2.0, 3.0, 4.0],
        [[-1.0, np.nan, -1.0], [-1.0, -2.0, np.nan], [np.nan] * 3],
        [[-2.0, 0.0, -1.0], [-1.0, -1.0, 0.0], [0.0] * 3],
        [[1, 0, 1], [1, 1, 0], [0, 0, 0]],
        beta=0.1,
    )
    np.testing.assert_allclose(got, [[-0.1, 0.0, 2.0], [0.0, 3.1, 0.0], [0.0, 0.0, 0.0]])


def test_w_reinforce_variants():
    assert w_reinforce([1, 0]).tolist() == [0.1, -1.0]
    assert w_reinforce([1, 0], lam=1.0, keep="positive").tolist() == [1.0, 0.0]
    assert w_reinforce([1, 0], keep="negative").tolist() == [0.0, -1.0]
    with pytest.raises(ValueError, match="0 and 1 only"):
        w_reinforce([0.5])


def test_mt_grpo_with_one_turn_is_the_two_segment_form():
    turn, outcome, group = [0.5, 0.0, 0.5, 0.2], [1.0, 0.0, 0.0, 1.0], ["x"] * 4
    two = mt_grpo(turn, outcome, outcome, group, [1] * 4, lam=0.7)
    many = mt_grpo_turns(
        outcome, np.column_stack([turn, np.zeros(4)]), np.ones((4, 2)), group, lam=0.7
    )
    np.testing.assert_allclose(many[:, 0], two.before_tool_result)
    np.testing.assert_allclose(many[:, 1], two.after_tool_result)


def test_mt_grpo_turns_normalise_over_those_who_reached_the_turn():
    turn = [[1.0, 5.0], [0.0, 3.0], [0.5, np.nan]]
    reached = [[1, 1], [1, 1], [1, 0]]
    got = mt_grpo_turns([1.0, 0.0, 0.0], turn, reached, ["g"] * 3, gamma=0.5)
    outcome = group_advantage([1.0, 0.0, 0.0], ["g"] * 3, eps=1e-4)
    second = group_advantage([5.0, 3.0], ["g"] * 2, eps=1e-4)
    first = group_advantage([1.0, 0.0, 0.5], ["g"] * 3, eps=1e-4)
    np.testing.assert_allclose(got[:2, 1], outcome[:2] + second)
    np.testing.assert_allclose(got[:2, 0], outcome[:2] + first[:2] + 0.5 * second)
    np.testing.assert_allclose(got[2], [outcome[2] + first[2], 0.0])
    lone = mt_grpo_turns([1.0, 0.0], [[1.0, 9.0], [1.0, 0.0]], [[1, 1], [1, 0]], ["g"] * 2)
    np.testing.assert_allclose(lone[0, 1], group_advantage([1.0, 0.0], "gg", eps=1e-4)[0])


def test_mt_grpo_leaves_faulted_trajectories_out():
    got = mt_grpo(
        [1.0, 0.0, np.nan],
        [1.0, 0.0, np.nan],
        [1.0, 0.0, np.nan],
        ["g"] * 3,
        [1, 0, 1],
        valid=[1, 1, 0],
    )
    want = mt_grpo([1.0, 0.0], [1.0, 0.0], [1.0, 0.0], ["g"] * 2, [1, 0])
    np.testing.assert_allclose(got.before_tool_result, [*want.before_tool_result, 0.0])
    np.testing.assert_allclose(got.after_tool_result, [*want.after_tool_result, 0.0])


def test_step_rewards():
    np.testing.assert_allclose(spa_reward([0.2, 0.3], [1, 0]), [0.7, 0.3])
    got = stepsearch_reward([[0.5, 0.0], [0.4, 0.8], [0.9, 0.1]], [["a", "b"], ["b", "c"], []])
    np.testing.assert_allclose(got.gain, [0.25, 0.4, 0.2])
    np.testing.assert_allclose(got.redundancy, [0.0, 0.5, 0.0])
    np.testing.assert_allclose(got.reward, [0.15, -0.06, 0.12])
    assert stepsearch_terminal(0.5, 1.0, answered=True) == pytest.approx(1.118)
    assert stepsearch_terminal(0.5, 1.0, answered=False) == -1.0
