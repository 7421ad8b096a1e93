"""Identity of a verdict on a submission, and submissions that no JSON can hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verigym
from verigym import RequestError
from verigym.canonical import digest
from verigym.submission import MAX_DEPTH, identity, refusal

TASK = verigym.Task(
    id="t",
    env_id="e",
    seed=0,
    prompt="p",
    difficulty="easy",
    reference={"game": "hanoi", "disks": 2},
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)


def nested(depth, innermost="a", twice=False):
    for _ in range(depth):
        innermost = [innermost, innermost] if twice else [innermost]
    return innermost


def numbered(items):
    return {str(n): item for n, item in enumerate(items)}


@pytest.mark.parametrize("form", [list, tuple, numbered])
@given(st.lists(st.one_of(TEXTS, st.integers(-9, 9), st.lists(TEXTS))))
def test_what_json_holds_is_named_by_its_json(form, items):
    submission = form(items)
    assert refusal(submission) is None
    named = identity("v", 1, {}, TASK, submission)
    assert named == digest("v", 1, {}, TASK, submission)
    assert named == identity("v", 1, {}, TASK, json.loads(json.dumps(submission)))


@pytest.mark.parametrize(
    ("submission", "reason"),
    [
        (nested(MAX_DEPTH), None),
        (nested(MAX_DEPTH + 1), "too_deep"),
        (nested(MAX_DEPTH - 1, ["a", "b"]), None),
        (nested(MAX_DEPTH, ["a", "b"]), "too_deep"),
        (
            nested(1000, twice=True),
            "too_deep",
        ),  # 2 to the 1000th parts, were they walked one by one
        ([*["up"] * 9, nested(MAX_DEPTH)], "too_deep"),
        ({"a": ["up", nested(1000, twice=True)]}, "too_deep"),
        (["up", "\ud800"], "not_json"),
        (("\ud800",), "not_json"),
        ("\ud800", "not_text"),
        (["up", float("nan")], "not_json"),
    ],
)
def test_what_is_the_policy_s_fault_is_scored(submission, reason):
    verdict = refusal(submission)
    assert (verdict and verdict.reason) == reason
    judged = verigym.make_verifier("games/replay").verify(TASK, submission)
    assert judged.score == 0.0
    assert judged.digest == verigym.make_verifier("games/replay").digest(TASK, submission)
    if reason:
        assert judged.reason == reason


@pytest.mark.parametrize("submission", [object(), ["up", object()], {"a": {1: object()}}])
def test_what_no_text_stands_for_is_the_caller_s(submission):
    assert refusal(submission).score is None
    with pytest.raises(RequestError):
        identity("v", 1, {}, TASK, submission)
