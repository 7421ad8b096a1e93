"""PKPO against enumeration of subsets, and its expectation against the gradient of pass@k."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.trainers.credit import max_at_k, pkpo, pkpo_groups, pkpo_loo, pkpo_loo_minus_1

samples = st.lists(st.integers(-5, 5).map(lambda x: x / 2), min_size=2, max_size=7)


def mean_max(values, k):
    return float(np.mean([max(s) for s in combinations(values, k)]))


@given(samples, st.data())
def test_is_what_enumeration_of_subsets_gives(g, data):
    n = len(g)
    k = data.draw(st.integers(1, n))
    assert max_at_k(g, k) == pytest.approx(mean_max(g, k), abs=1e-12)
    s = [
        sum(max(g[i] for i in sub) for sub in combinations(range(n), k) if me in sub)
        for me in range(n)
    ]
    np.testing.assert_allclose(pkpo(g, k), np.asarray(s) / comb(n, k), atol=1e-12)
    others = [g[:i] + g[i + 1 :] for i in range(n)]
    if k < n:
        want = pkpo(g, k) - k / (n - 1) * np.asarray([mean_max(o, k) for o in others])
        np.testing.assert_allclose(pkpo_loo(g, k), want, atol=1e-12)
    if k >= 2:
        want = pkpo(g, k) - k / n * np.asarray([mean_max(o, k - 1) for o in others])
        np.testing.assert_allclose(pkpo_loo_minus_1(g, k), want, atol=1e-12)


@given(samples, st.data())
def test_loo_minus_1_is_never_negative_and_ties_are_fair(g, data):
    k = data.draw(st.integers(2, len(g)))
    s = pkpo_loo_minus_1(g, k)
    assert (s >= -1e-12).all()
    for value in set(g):
        assert np.ptp(s[[x == value for x in g]]) < 1e-12


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("estimator", [pkpo, pkpo_loo, pkpo_loo_minus_1])
@pytest.mark.parametrize("values", [(0.0, 1.0), (-0.5, 0.3, 2.0)])
def test_gradient_is_unbiased(n, estimator, values):
    """A softmax over a few outcomes: E[sum_i s_i grad log p(x_i)] is the gradient of max@k."""
    theta = np.linspace(-0.4, 0.5, len(values))
    p = np.exp(theta) / np.exp(theta).sum()
    least, most = (2, n) if estimator is pkpo_loo_minus_1 else (1, n)
    if estimator is pkpo_loo:
        most = n - 1
    for k in range(least, most + 1):
        got = np.zeros(len(values))
        for outcome in product(range(len(values)), repeat=n):
            chance = np.prod(p[list(outcome)])
            s = estimator([values[x] for x in outcome], k)
            score = np.eye(len(values))[list(outcome)] - p
            got += chance * (s @ score)
        exact = np.zeros(len(values))
        for outcome in product(range(len(values)), repeat=k):
            chance = np.prod(p[list(outcome)])
            score = (np.eye(len(values))[list(outcome)] - p).sum(axis=0)
            exact += chance * max(values[x] for x in outcome) * score
        np.testing.assert_allclose(got, exact, atol=1e-12, err_msg=f"k = {k}")


@pytest.mark.parametrize(("n", "k"), [(61, 7), (200, 100), (1500, 700), (1500, 1)])
def test_many_samples_against_exact_integers(n, k):
    g = [i % 7 == 3 for i in range(n)]
    c = sum(g)
    want = 1 - comb(n - c, k) / comb(n, k)
    assert max_at_k(g, k) == pytest.approx(want, rel=1e-12)
    s = pkpo(g, k)
    assert s[3] == pytest.approx(k / n, rel=1e-12)
    wrong = (k / n) * (1 - comb(n - 1 - c, k - 1) / comb(n - 1, k - 1)) if k > 1 else 0.0
    assert s[0] == pytest.approx(wrong, rel=1e-12, abs=1e-300)


def test_groups_are_transformed_one_by_one():
    reward = [1.0, 0.0, 0.0, 1.0, 0.0, float("nan"), 2.0]
    group = ["a", "b", "a", "b", "a", "a", "c"]
    got = pkpo_groups(reward, group, 2, valid=[1, 1, 1, 1, 1, 0, 1])
    np.testing.assert_allclose(got[[0, 2, 4]], pkpo_loo_minus_1([1.0, 0.0, 0.0], 2))
    np.testing.assert_allclose(got[[1, 3]], pkpo_loo_minus_1([0.0, 1.0], 2))
    assert got[5] == got[6] == 0.0
    # Two left of a group that wanted k = 4: k falls with it.
    np.testing.assert_allclose(pkpo_groups([1.0, 0.0], ["a", "a"], 4), pkpo_loo_minus_1([1, 0], 2))


def test_bad_k_is_named():
    for call, match in [
        (lambda: pkpo([1, 0], 3), r"k must be in 1\.\.2"),
        (lambda: pkpo_loo([1, 0], 2), r"k must be in 1\.\.1"),
        (lambda: pkpo_loo_minus_1([1, 0], 1), "use rloo for 1"),
        (lambda: max_at_k([], 1), r"k must be in 1\.\.0"),
        (lambda: pkpo([1, float("nan")], 1), "finite"),
    ]:
        with pytest.raises(ValueError, match=match):
            call()
