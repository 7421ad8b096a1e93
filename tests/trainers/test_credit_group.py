"""Group statistics, RLOO, LOOP, DAPO and DISCO."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.trainers.credit import (
    disco,
    group_advantage,
    has_signal,
    loop_keep,
    overlong,
    rloo,
    segments,
)
from verigym.trainers.credit.disco import difficulty_weight, domain_weight

rewards_in_groups = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(-3, 3)), min_size=1, max_size=20
)
NORMS = st.sampled_from(["mean_std", "mean", "batch_std"])


def split(entries):
    return [float(r) for _, r in entries], [g for g, _ in entries]


@given(rewards_in_groups, NORMS)
def test_sums_to_zero_in_every_group(entries, norm):
    reward, group = split(entries)
    advantage = group_advantage(reward, group, norm=norm)
    for one in set(group):
        assert abs(advantage[[g == one for g in group]].sum()) < 1e-9


@given(rewards_in_groups, NORMS, st.randoms(use_true_random=False))
def test_order_does_not_matter(entries, norm, random):
    order = list(range(len(entries)))
    random.shuffle(order)
    a = group_advantage(*split(entries), norm=norm)
    b = group_advantage(*split([entries[i] for i in order]), norm=norm)
    np.testing.assert_allclose(b, a[order], atol=1e-12)


@given(rewards_in_groups, st.sampled_from(["mean_std", "mean"]))
def test_other_groups_do_not_matter(entries, norm):
    together = group_advantage(*split(entries), norm=norm)
    for one in "abc":
        mine = [i for i, (g, _) in enumerate(entries) if g == one]
        if mine:
            alone = group_advantage(*split([entries[i] for i in mine]), norm=norm)
            np.testing.assert_allclose(together[mine], alone, atol=1e-12)


@given(rewards_in_groups, st.lists(st.integers(1, 4), min_size=20, max_size=20), st.integers(0, 1))
def test_weights_are_repeats(entries, times, ddof):
    reward, group = split(entries)
    times = times[: len(reward)]
    weighted = group_advantage(reward, group, weights=times, ddof=ddof)
    rows = np.repeat(np.arange(len(reward)), times)
    repeated = group_advantage([reward[i] for i in rows], [group[i] for i in rows], ddof=ddof)
    np.testing.assert_allclose(weighted[rows], repeated, atol=1e-9)


@given(rewards_in_groups, NORMS, st.sampled_from(["zero", "raw"]))
def test_faulted_entries_are_as_if_absent(entries, norm, singleton):
    reward, group = split(entries)
    valid = [i % 3 != 1 for i in range(len(reward))]
    poisoned = [r if ok else float("nan") for r, ok in zip(reward, valid, strict=True)]
    got = group_advantage(poisoned, group, norm=norm, singleton=singleton, valid=valid)
    kept = [i for i, ok in enumerate(valid) if ok]
    alone = group_advantage(*split([entries[i] for i in kept]), norm=norm)
    born_alone = np.asarray([group.count(group[i]) == 1 for i in kept])
    np.testing.assert_allclose(got[kept][~born_alone], alone[~born_alone], atol=1e-12)
    assert not got[~np.asarray(valid)].any()


@given(st.floats(-1e6, 1e6), st.integers(2, 9))
def test_equal_rewards_give_exactly_zero_whatever_eps(value, n):
    for norm in ("mean_std", "mean"):
        advantage = group_advantage([value] * n, ["g"] * n, norm=norm, eps=0.0)
        np.testing.assert_allclose(advantage, 0.0, atol=1e-9 * max(1.0, abs(value)))
    assert not group_advantage([value] * n, ["g"] * n, eps=0.0).any()


def test_group_of_one():
    assert group_advantage([3.0], ["g"]).tolist() == [0.0]
    assert group_advantage([3.0], ["g"], norm="mean", singleton="raw").tolist() == [3.0]
    both = group_advantage([3.0, 1.0], ["g", "g"], norm="mean", singleton="raw", valid=[1, 0])
    assert both.tolist() == [0.0, 0.0], "a fault made it alone: no gradient"
    assert rloo([3.0], ["g"]).tolist() == [0.0]


def test_batch_deviation_is_over_all_rewards():
    reward, group = [1.0, 0.0, 4.0, 2.0], list("aabb")
    want = np.asarray([0.5, -0.5, 1.0, -1.0]) / (np.std(reward, ddof=1) + 1e-4)
    np.testing.assert_allclose(group_advantage(reward, group, norm="batch_std", eps=1e-4), want)


@given(rewards_in_groups)
def test_rloo_is_the_reward_less_the_mean_of_the_others(entries):
    reward, group = split(entries)
    got = rloo(reward, group)
    for i, mine in enumerate(group):
        others = [r for j, r in enumerate(reward) if group[j] == mine and j != i]
        want = reward[i] - np.mean(others) if others else 0.0
        assert got[i] == pytest.approx(want, abs=1e-12)


def test_loop_drops_what_carries_no_signal():
    assert loop_keep([0.02, -0.005, 0.0, -0.01]).tolist() == [True, False, False, True]


def test_dynamic_sampling_keeps_groups_that_differ():
    reward = [1.0, 0.0, 1.0, 1.0, 1.0, float("nan"), 0.0]
    group = list("aabbccd")
    got = has_signal(reward, group, valid=[1, 1, 1, 1, 1, 0, 1])
    assert got.tolist() == [True, True, False, False, False, False, False]


def test_overlong_falls_in_a_line():
    got = overlong([0, 8, 9, 10, 12], max_length=10, cache=2, factor=0.5)
    np.testing.assert_allclose(got, [0.0, 0.0, -0.25, -0.5, -1.0])


def test_disco_weighs_then_centres():
    got = disco([1, 0, 0, 0], ["a"] * 4, [0.5] * 4)
    weight = domain_weight([0.5])[0] * difficulty_weight([0.25])[0]
    np.testing.assert_allclose(got, weight * np.asarray([0.75, -0.25, -0.25, -0.25]))
    assert disco([1, 0, float("nan")], ["a"] * 3, [0.5] * 3, valid=[1, 1, 0])[2] == 0.0
    with pytest.raises(ValueError, match="share must be in"):
        domain_weight([0.0])


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="singleton must be zero or raw"):
        group_advantage([1.0], ["g"], singleton="nan")
    with pytest.raises(ValueError, match="weights must be above 0"):
        group_advantage([1.0, 2.0], ["g", "g"], weights=[1, 0])
    with pytest.raises(ValueError, match="cache must be in"):
        overlong([1], max_length=10, cache=11)


def test_keys_in_an_array_and_pairs_have_the_numbers_of_keys_in_a_list():
    one = np.random.default_rng(0).integers(-5, 1 << 40, 6)[[3, 1, 3, 0, 5, 1, 2]]
    other = list("abbacba")
    want, count = segments.number(one.tolist(), 7)
    found, n = segments.number(one, 7)
    assert (found.tolist(), n) == (want.tolist(), count)
    pairs, n_pairs = segments.number(zip(want.tolist(), other, strict=True), 7)
    found, n = segments.number_pairs(want, other)
    assert (found.tolist(), n) == (pairs.tolist(), n_pairs)
