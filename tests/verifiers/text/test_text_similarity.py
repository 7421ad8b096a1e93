"""Overlap of texts: equal to what sacrebleu and rouge-score gave for the same tokens, and to definitions."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import Status, Task, make_verifier
from verigym.errors import RequestError
from verigym.verifiers.text.similarity import METRICS, rouge_l, tokens

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "similarity.json").read_text("utf-8"))
words = st.lists(st.sampled_from(["a", "b", "c", "d", ",", "."]), min_size=1, max_size=7).map(
    " ".join
)


def judge(reply, *references, **params):
    task = Task(
        id="t",
        env_id="e",
        seed=0,
        prompt="",
        difficulty="",
        reference={"references": list(references)},
    )
    return make_verifier("text/similarity", **params).verify(task, reply)


@pytest.mark.parametrize("row", VECTORS["rows"], ids=lambda row: row["text"][:20])
@pytest.mark.parametrize("metric", METRICS)
def test_it_equals_the_libraries_of_the_field(metric, row):
    assert METRICS[metric](row["text"], row["reference"]) == pytest.approx(row[metric], abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@given(one=words, other=words)
def test_scores_are_shares_and_equal_texts_have_all(metric, one, other):
    assert METRICS[metric](one, one) == pytest.approx(1.0)
    assert 0.0 <= METRICS[metric](one, other) <= 1.0 + 1e-12


@given(one=words, other=words)
def test_the_common_subsequence_is_the_longest(one, other):
    mine, theirs = tokens(one), tokens(other)
    shared = max(
        n
        for n in range(min(len(mine), len(theirs)) + 1)
        if set(itertools.combinations(mine, n)) & set(itertools.combinations(theirs, n))
    )
    assert rouge_l(one, other) == pytest.approx(2 * shared / (len(mine) + len(theirs)))


def test_the_best_of_several_references_counts():
    assert judge("A cat.", "The dog.", "A cat.").score == 1.0
    assert judge("A cat.", "A cat.").reason == "same"


@pytest.mark.parametrize("metric", METRICS)
def test_nothing_shared_earns_nothing(metric):
    verdict = judge("xyz", "abc", metric=metric)
    assert (verdict.score, verdict.reason) == (0.0, "nothing_shared")


def test_case_counts_unless_it_is_ignored():
    assert judge("THE CAT", "the cat").score == 0.0
    assert judge("THE CAT", "the cat", lowercase=True).score == 1.0


def test_thoughts_and_words_around_the_answer_do_not_count():
    assert judge("<think>Hm.</think>So: <answer>A cat.</answer>", "A cat.").score == 1.0


@pytest.mark.parametrize(
    ("reply", "reason"),
    [("", "no_answer"), ("<think>A cat.", "no_answer"), (7, "not_text"), ("a" * 70000, "too_long")],
)
def test_unusable_replies_earn_nothing(reply, reason):
    verdict = judge(reply, "A cat.")
    assert (verdict.status, verdict.score, verdict.reason) == (Status.POLICY_FAULT, 0.0, reason)


@pytest.mark.parametrize("references", [(), ("",), (7,), ("A cat.", " ")])
def test_references_without_words_are_the_tasks_fault(references):
    verdict = judge("A cat.", *references)
    assert (verdict.status, verdict.score) == (Status.VERIFIER_ERROR, None)


def test_an_unknown_metric_is_refused():
    with pytest.raises(RequestError, match="metric"):
        make_verifier("text/similarity", metric="meteor")
