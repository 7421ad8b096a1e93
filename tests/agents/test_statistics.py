"""pass@k, intervals and tests against brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verigym.agents.statistics import (
    estimate_difference,
    estimate_mean,
    pass_at_k,
    sign_flip_p,
    sizes_up_to,
)
from verigym.verifiers.audit.intervals import wilson


def test_pass_at_k_is_the_share_of_subsets_with_a_correct_answer():
    for n in range(1, 8):
        for correct, k in itertools.product(range(n + 1), range(1, n + 1)):
            subsets = list(itertools.combinations([True] * correct + [False] * (n - correct), k))
            share = sum(any(subset) for subset in subsets) / len(subsets)
            assert pass_at_k(n, correct, k) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "correct", "k"), [(0, 0, 1), (3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0)]
)
def test_pass_at_k_refuses_impossible_counts(n, correct, k):
    with pytest.raises(ValueError, match="correct"):
        pass_at_k(n, correct, k)


def test_sizes_are_the_powers_of_two_and_k():
    assert {k: sizes_up_to(k) for k in (1, 2, 3, 8, 10)} == {
        1: [1],
        2: [1, 2],
        3: [1, 2, 3],
        8: [1, 2, 4, 8],
        10: [1, 2, 4, 8, 10],
    }


@settings(max_examples=30)
@given(outcomes=st.lists(st.booleans(), min_size=1, max_size=60))
def test_one_answer_to_each_of_different_tasks_has_wilsons_interval(outcomes):
    found = estimate_mean([float(one) for one in outcomes], range(len(outcomes)))
    expected = wilson(sum(outcomes), len(outcomes))
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


VALUES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=40)


@settings(max_examples=30)
@given(values=VALUES, repeats=st.integers(2, 5))
def test_equal_tasks_from_other_seeds_add_nothing(values, repeats):
    once = estimate_mean(values, range(len(values)))
    again = estimate_mean(values * repeats, [*range(len(values))] * repeats, trials=len(values))
    assert (again.value, again.low, again.high) == pytest.approx((once.value, once.low, once.high))
    assert again.tasks == len(values) * repeats
    assert again.clusters == len(values)


@settings(max_examples=30)
@given(values=VALUES, data=st.data())
def test_an_interval_holds_its_mean_and_is_never_a_point(values, data):
    clusters = data.draw(st.lists(st.integers(0, 5), min_size=len(values), max_size=len(values)))
    found = estimate_mean(values, clusters, trials=4 * len(values))
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.low < found.high
    order = data.draw(st.permutations(range(len(values))))
    other = estimate_mean(
        [values[i] for i in order], [clusters[i] for i in order], trials=4 * len(values)
    )
    assert (other.low, other.high) == pytest.approx((found.low, found.high))


def test_the_interval_covers_the_true_mean():
    # 30 tasks of differing difficulty (Beta(1, 3), mean 0.25), four answers each.
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(400):
        means = rng.binomial(4, rng.beta(1, 3, size=30)) / 4
        found = estimate_mean(means.tolist(), range(30), trials=120)
        covered += found.low <= 0.25 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_values_outside_the_range_are_refused():
    for values, clusters in (([], []), ([1.5], [0]), ([0.5, 0.5], [0])):
        with pytest.raises(ValueError, match="values"):
            estimate_mean(values, clusters)


def flipped(differences):
    """Share of all sign patterns whose sum is at least as far from 0 as the observed one."""
    moved = [one for one in differences if one]
    observed = abs(sum(moved)) - 1e-9
    patterns = list(itertools.product((-1, 1), repeat=len(moved)))
    sums = [abs(sum(s * d for s, d in zip(signs, moved, strict=True))) for signs in patterns]
    return sum(one >= observed for one in sums) / len(sums)


@settings(max_examples=30)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.75, 1.0]), max_size=9))
def test_the_sign_flip_test_counts_sign_patterns(differences):
    assert sign_flip_p(differences) == pytest.approx(flipped(differences), abs=1e-12)


def test_differences_of_one_size_have_mcnemars_exact_p():
    # 15 discordant pairs, 3 against 12: twice the lower tail of Binomial(15, 1/2).
    p = sign_flip_p([1.0] * 12 + [-1.0] * 3 + [0.0] * 50)
    assert p == pytest.approx(2 * sum(math.comb(15, i) for i in range(4)) / 2**15)


def test_random_flips_agree_with_all_flips():
    differences = [0.25, 0.5] * 6 + [-0.25] * 5
    # By dynamic programming over sums in quarters.
    sums = {0: 1}
    for size in (round(4 * abs(one)) for one in differences):
        sums = {
            total: sums.get(total - size, 0) + sums.get(total + size, 0)
            for total in {*(s + size for s in sums), *(s - size for s in sums)}
        }
    observed = abs(round(4 * sum(differences)))
    exact = sum(n for total, n in sums.items() if abs(total) >= observed) / 2 ** len(differences)
    assert sign_flip_p(differences) == pytest.approx(exact, abs=0.015)


@settings(max_examples=10)
@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=5, max_size=5))
def test_the_bootstrap_agrees_with_all_resamples(differences):
    means = [sum(one) / 5 for one in itertools.product(differences, repeat=5)]
    low, high = np.quantile(means, [0.025, 0.975])
    found = estimate_difference(differences, range(5))
    # A grid of tenths: neighbouring values are as close as random resamples can tell.
    assert found.low == pytest.approx(min(low, found.value), abs=0.1001)
    assert found.high == pytest.approx(max(high, found.value), abs=0.1001)
    assert (found.up, found.down) == (sum(d > 0 for d in differences), differences.count(-1.0))


def test_a_difference_is_real_only_if_enough_tasks_say_so():
    assert not estimate_difference([1.0] * 5, range(5)).is_real  # p = 1/16
    assert estimate_difference([1.0] * 6, range(6)).is_real
    # The same five tasks, drawn from ever more seeds, are five tasks.
    assert not estimate_difference([1.0] * 50, [*range(5)] * 10).is_real
    assert not estimate_difference([0.0] * 9, range(9)).is_real
    assert estimate_difference([0.0] * 9, range(9)).p == 1.0
