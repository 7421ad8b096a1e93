"""Formulas that choose tasks, and the bound on staleness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.trainers.curriculum import (
    adcl_chunks,
    dars_extra,
    dump_probabilities,
    ghpo_hint,
    sec_update,
    softmax,
)
from verigym.trainers.staleness import admission_capacity, staleness


def test_sec_moves_only_arms_that_were_sampled():
    got = sec_update([0.0, 0.4, 0.2], [0.8, 0.2, np.nan], [1, 1, 0], alpha=0.5)
    np.testing.assert_allclose(got, [0.4, 0.3, 0.2])


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=6), st.floats(0.05, 5))
def test_softmax_is_a_distribution(score, tau):
    p = softmax(score, tau=tau)
    assert p.sum() == pytest.approx(1.0)
    assert (p >= 0).all()
    np.testing.assert_allclose(softmax([s + 3 for s in score], tau=tau), p, atol=1e-9)


def test_dump_tries_an_arm_never_drawn():
    assert dump_probabilities([1.0, 0.0], [1000, 0]).argmax() == 1


def test_adcl_goes_from_easy_to_hard():
    chunks = adcl_chunks([0.9, 0.1, 0.5, 0.3, 0.7], chunks=2)
    assert [c.tolist() for c in chunks] == [[1, 3, 2], [4, 0]]


def test_dars_gives_hard_tasks_more():
    np.testing.assert_array_equal(dars_extra([1.0, 0.5, 0.25, 0.125, 0.0]), [0, 0, 3, 11, 24])
    hard = dars_extra([0.5, 0.25, 0.125, 0.0], schedule="hw")
    np.testing.assert_array_equal(hard, [0, 8, 24, 56])
    np.testing.assert_array_equal(dars_extra([0.25], with_std=True), [2])
    np.testing.assert_array_equal(dars_extra([0.0], n_max=10), [2])
    with pytest.raises(ValueError, match="schedule must be et or hw"):
        dars_extra([0.1], schedule="ET")


def test_ghpo_shows_more_after_each_failure():
    assert [ghpo_hint("abcdefgh", n) for n in range(5)] == ["", "ab", "abcd", "abcdef", None]


@given(st.integers(0, 5), st.integers(1, 8), st.integers(0, 4), st.integers(0, 80))
def test_admission_is_areals_bound_on_the_nth_submission(version, batch, eta, submitted):
    admits = (
        admission_capacity(
            version=version, accepted=submitted, running=0, batch=batch, eta=eta, max_concurrent=999
        )
        > 0
    )
    nth = submitted + 1
    assert admits == ((nth - 1) // batch <= version + eta)


def test_staleness_counts_versions():
    assert staleness(7, 5) == 2
    with pytest.raises(ValueError, match="must be at least 1"):
        admission_capacity(version=0, accepted=0, running=0, batch=0, eta=0, max_concurrent=1)
