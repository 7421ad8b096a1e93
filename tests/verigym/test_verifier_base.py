"""Features that `Verifier` gives every verifier: stamps, digests, and faults instead of
exceptions."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verigym
from verigym import Status, Verifier, fault, scored
from verigym.submission import MAX_DEPTH


class EchoParams(msgspec.Struct, frozen=True):
    """Parameters of `Echo`."""

    fold: bool = False
    limit: int = 3


class Echo(Verifier[EchoParams]):
    """Score 1 if the submission equals the reference; `raise_` is raised first, where set."""

    id = "tests/echo"
    version = 2
    about = "Equality."
    raise_ = None

    def judge(self, task, submission):
        if self.raise_ is not None:
            raise self.raise_
        return scored(float(submission == task.reference), "compared")


def task(reference=1, **fields):
    base = {"id": "t", "env_id": "e", "seed": 0, "prompt": "p", "difficulty": "d"}
    return verigym.Task(**{**base, **fields}, reference=reference)


PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.integers()))


@given(PLAIN, PLAIN)
def test_verdicts_are_stamped(reference, submission):
    verdict = Echo().verify(task(reference), submission)
    assert verdict.verifier == "tests/echo@2"
    assert verdict.digest == Echo().digest(task(reference), submission)
    assert len(verdict.digest) == 64


def test_the_digest_covers_everything_that_can_change_the_verdict():
    class Newer(Echo):
        version = 3

    class Other(Echo):
        id = "tests/other"

    digests = {
        Echo().digest(task(), 1),
        Echo().digest(task(), 2),
        Echo().digest(task(2), 1),
        Echo().digest(task(prompt="q"), 1),
        Echo(fold=True).digest(task(), 1),
        Newer().digest(task(), 1),
        Other().digest(task(), 1),
    }
    assert len(digests) == 7
    assert Echo(limit=3).digest(task(), 1) == Echo().digest(task(), 1)


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (verigym.SandboxError("x"), Status.INFRA, "sandbox_error"),
        (verigym.TaskError("x"), Status.VERIFIER_ERROR, "bad_task"),
        (ValueError("x"), Status.VERIFIER_ERROR, "crashed"),
        (RecursionError("x"), Status.VERIFIER_ERROR, "crashed"),
        (MemoryError("x"), Status.VERIFIER_ERROR, "crashed"),
    ],
)
def test_a_failure_is_a_status_never_a_score(error, status, reason):
    verifier = Echo()
    verifier.raise_ = error
    verdict = verifier.verify(task(), 1)
    assert (verdict.status, verdict.reason, verdict.score) == (status, reason, None)
    assert "x" in verdict.evidence
    assert verdict.fault


def test_being_stopped_is_not_a_verdict():
    verifier = Echo()
    verifier.raise_ = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        verifier.verify(task(), 1)


@pytest.mark.parametrize("submission", [object(), {1: 2}, [object()]])
def test_a_submission_that_is_not_plain_data_gets_no_score(submission):
    verdict = Echo().verify(task(), submission)
    assert verdict.score is None
    assert verdict.reason == "not_json"


@pytest.mark.parametrize(
    ("submission", "reason"),
    [
        ("half \ud800", "not_text"),
        ("\udfff", "not_text"),
        ({"name": "\udc00"}, "not_json"),
        ({"\ud800": 1}, "not_json"),
        ([float("nan")], "not_json"),
        (float("inf"), "not_json"),
    ],
)
def test_what_a_model_wrote_and_json_cannot_hold_is_the_policys_fault(submission, reason):
    verdict = Echo().verify(task(), submission)
    assert (verdict.status, verdict.score) == (Status.POLICY_FAULT, 0.0)
    assert (verdict.reason, verdict.verifier) == (reason, "tests/echo@2")
    assert len(verdict.digest) == 64
    assert Echo().verify(task(), submission) == verdict
    verdict.to_json()


def test_deep_nesting_is_the_policys_fault():
    def nested(depth):
        value = []
        for _ in range(depth - 1):
            value = {"a": [value]} if depth % 2 else [value]
        return value

    assert Echo().verify(task(), nested(MAX_DEPTH)).status is Status.OK
    twice = []
    for _ in range(100):  # no more memory than it takes itself
        twice = [twice, twice]
    for deep in (nested(50_000), twice):
        verdict = Echo().verify(task(), deep)
        assert (verdict.status, verdict.reason) == (Status.POLICY_FAULT, "too_deep")


def test_unreadable_submissions_have_digests_of_their_own():
    odd = ["\ud800", "\udfff", "x\ud800", [float("nan")], [float("inf")], {"a": "\ud800"}]
    assert len({Echo().digest(task(), one) for one in odd}) == len(odd)
    verdict = Echo().verify(task(), [10**5000])  # more digits than Python writes
    assert (verdict.status, verdict.reason) == (Status.POLICY_FAULT, "not_json")


def test_batches_keep_their_order():
    items = [(task(i), j) for i in range(3) for j in range(3)]
    verdicts = Echo().verify_batch(iter(items))
    assert [v.score for v in verdicts] == [float(t.reference == s) for t, s in items]


def test_parameters():
    assert Echo(limit=5).params == {"fold": False, "limit": 5}
    assert Echo().params == {"fold": False, "limit": 3}
    assert Echo(limit=5).settings == EchoParams(limit=5)
    with pytest.raises(verigym.RequestError, match="no parameter 'limits'; did you mean 'limit'"):
        Echo(limits=5)


def test_describe():
    described = Echo(limit=5).describe()
    assert described == {
        "id": "tests/echo",
        "version": 2,
        "params": {"fold": False, "limit": 5},
        "about": "Equality.",
        "schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "fold": {"type": "boolean", "default": False},
                "limit": {"type": "integer", "default": 3},
            },
        },
        "evidence": "",
        "weights": {},
    }


def test_a_judge_may_give_a_fault_itself():
    class Down(Echo):
        def judge(self, task, submission):
            return fault(Status.CANCELLED, "taken_back")

    assert Down().verify(task(), 1).status is Status.CANCELLED
