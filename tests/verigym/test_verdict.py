"""Law 1 as laws over all verdicts: a fault never has a score, and nothing else lacks one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import RequestError, Status, Verdict, fault, scored, scored_by_parts, unusable

STATUSES = st.sampled_from(list(Status))
SCORES = st.one_of(st.none(), st.floats(allow_nan=True), st.floats(0, 1))
PARTS = st.dictionaries(st.text(max_size=8), st.floats(allow_nan=False, allow_infinity=False))


@given(STATUSES, SCORES)
def test_status_and_score_agree_or_there_is_no_verdict(status, score):
    wanted = (score is not None and 0 <= score <= 1) if status.scored else score is None
    if wanted:
        verdict = Verdict(status=status, score=score, reason="r")
        assert verdict.fault == (verdict.score is None) == (not status.scored)
    else:
        with pytest.raises(ValueError, match=status.value):
            Verdict(status=status, score=score, reason="r")


def test_only_ok_and_policy_fault_carry_a_score():
    assert {status.value for status in Status if status.scored} == {"ok", "policy_fault"}
    assert {status.value for status in Status if not status.scored} == {
        "verifier_error",
        "timeout",
        "infra",
        "cancelled",
    }


@given(STATUSES, st.floats(0, 1), st.text(), st.text(), PARTS)
def test_json_round_trip(status, score, reason, evidence, parts):
    verdict = Verdict(
        status=status,
        score=score if status.scored else None,
        reason=reason,
        evidence=evidence,
        parts=parts,
        verifier="v@1",
        digest="d",
    )
    again = Verdict.from_json(verdict.to_json())
    assert again == verdict
    assert again.to_json() == verdict.to_json()
    assert type(again.status) is Status


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"null",
        b"\xff",
        b'{"status": "fine", "score": 1, "reason": "r"}',
        b'{"status": "timeout", "score": 0.0, "reason": "r"}',
        b'{"status": "ok", "score": null, "reason": "r"}',
        b'{"status": "ok", "score": 1.5, "reason": "r"}',
        b'{"status": "ok", "score": "1", "reason": "r"}',
    ],
)
def test_what_is_not_a_verdict_is_refused_by_json_too(text):
    # A service that answers `timeout` with score 0 must not get past the decoder.
    with pytest.raises(RequestError, match="not a verdict"):
        Verdict.from_json(text)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_parts_are_finite(value):
    with pytest.raises(ValueError, match="'speed' must be finite"):
        scored(0.5, "r", parts={"speed": value})


def test_makers():
    assert scored(0.25, "partly").status is Status.OK
    assert unusable("no_answer").score == 0.0
    assert unusable("no_answer").status is Status.POLICY_FAULT
    assert fault(Status.INFRA, "down").score is None
    for status in (Status.OK, Status.POLICY_FAULT):
        with pytest.raises(ValueError, match="needs a score"):
            fault(status, "r")


def test_a_verdict_cannot_be_changed():
    verdict = scored(1.0, "correct")
    with pytest.raises(AttributeError):
        verdict.score = 0.0


def test_parts_are_weighed():
    parts = {"format": 1.0, "correct": 0.5, "length": 7.0}
    verdict = scored_by_parts(parts, {"format": 1, "correct": 3, "length": 0}, "partly")
    assert verdict.score == pytest.approx(2.5 / 4)
    assert dict(verdict.parts) == parts
    assert scored_by_parts({}, {"a": 0.1, "b": 0.2}, "nothing").score == 0.0
    for weights in ({}, {"a": 0}, {"a": -1, "b": 2}):
        with pytest.raises(ValueError, match="weights"):
            scored_by_parts(parts, weights, "x")
    with pytest.raises(ValueError, match="'length' counts"):
        scored_by_parts(parts, {"length": 1}, "x")
