"""Compositions: golden cases, arithmetic, and that faults stay faults and digests compose."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import RequestError, Status, Task, Verifier, fault, make_verifier, scored, unusable
from verigym.verifiers.compose import (
    AllOf,
    AnyOf,
    Clip,
    Delta,
    Gate,
    WeightedSum,
    clip_rewards,
    delta_rewards,
    ids_in,
)
from verigym.verifiers.pool import VerifierPool

GOLDEN = Path(__file__).parents[1] / "golden"
ROWS = [
    json.loads(line)
    for name in ("compose", "shaping")
    for line in (GOLDEN / f"{name}.jsonl").read_text().splitlines()
]
TASK = Task(
    id="t",
    env_id="e",
    seed=1,
    prompt="p",
    difficulty="d",
    reference={"numbers": [3, 5, 7], "target": 22},
)


class What(msgspec.Struct, frozen=True):
    """Parameters of `Says`."""

    what: float | str = 1.0


class Says(Verifier[What]):
    """Gives the verdict that its parameter says: a score, or the name of a status."""

    id = "tests/says"
    version = 1
    asked = 0

    def judge(self, task, submission):
        type(self).asked += 1
        what = self.params["what"]
        if what == "policy_fault":
            return unusable("unusable", "by order")
        if isinstance(what, str):
            return fault(Status(what), "by_order", "by order")
        return scored(what, "said", "by order", {"inner": 0.5})


def says(*whats, weights=None):
    return [
        {"verifier": Says(what=what), "name": f"c{i}", "weight": weights[i] if weights else 1.0}
        for i, what in enumerate(whats)
    ]


SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0, "policy_fault"])
FAULTS = st.sampled_from(["verifier_error", "timeout", "infra", "cancelled"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['verifier']}: {row['why']}")
def test_golden(row):
    if "refused" in row:
        with pytest.raises(RequestError, match=row["refused"]):
            make_verifier(row["verifier"], **row["params"])
        return
    verdict = make_verifier(row["verifier"], **row["params"]).verify(TASK, row["submission"])
    assert (verdict.status.value, verdict.reason) == (row["status"], row["reason"])
    assert verdict.score == (row["score"] if row["score"] is None else pytest.approx(row["score"]))


@given(st.lists(SCORES, min_size=1, max_size=5))
def test_scores_by_hand(whats):
    values = [0.0 if what == "policy_fault" else what for what in whats]
    assert WeightedSum(of=says(*whats)).verify(TASK, "x").score == pytest.approx(
        sum(values) / len(values)
    )
    assert AllOf(of=says(*whats)).verify(TASK, "x").score == min(values)
    assert AnyOf(of=says(*whats)).verify(TASK, "x").score == max(values)
    if len(whats) > 1:
        wanted = values[-1] if all(value == 1.0 for value in values[:-1]) else 0.0
        assert Gate(of=says(*whats)).verify(TASK, "x").score == wanted


@given(
    st.lists(SCORES | FAULTS, min_size=2, max_size=5),
    st.sampled_from([WeightedSum, AllOf, AnyOf, Gate]),
)
def test_a_fault_of_a_child_that_was_asked_is_a_fault(whats, kind):
    """Law 1: no composition turns a fault into a score, or a score into a fault."""
    Says.asked = 0
    verdict = kind(of=says(*whats)).verify(TASK, "x")
    asked = whats[: Says.asked]
    faults = [what for what in asked if what in list(Status) and what != "policy_fault"]
    assert verdict.fault == bool(faults)
    if faults:
        assert verdict.status.value == faults[0]
        assert "c" in verdict.evidence
    elif kind is WeightedSum:
        assert len(asked) == len(whats)


@pytest.mark.parametrize("status", ["verifier_error", "timeout", "infra", "cancelled"])
def test_faults_of_a_single_child(status):
    assert Clip(of=says(status)).verify(TASK, "x").status.value == status
    for pair in ({"before": "x", "after": "y"}, {"before": None, "after": "y"}):
        assert Delta(of=says(status)).verify(TASK, pair).status.value == status


def test_parts_carry_the_childrens():
    verdict = WeightedSum(of=says(1.0, 0.5, weights=[1, 3])).verify(TASK, "x")
    assert verdict.score == pytest.approx((1 + 1.5) / 4)
    assert dict(verdict.parts) == {"c0": 1.0, "c0.inner": 0.5, "c1": 0.5, "c1.inner": 0.5}


def test_delta_tells_a_loss():
    verifier = make_verifier("compose/delta", of=[{"verifier": "math/countdown"}])
    pair = {"before": "<answer>3*5+7</answer>", "after": "x"}
    verdict = verifier.verify(TASK, pair)
    assert (verdict.score, verdict.parts["delta"]) == (0.0, -1.0)


def test_the_digest_is_that_of_all_children():
    class Newer(Says):
        version = 2

    def digest(**fields):
        one = {"verifier": Says(), **fields}
        return WeightedSum(of=[one]).digest(TASK, "x")

    digests = {
        digest(),
        digest(verifier=Says(what=0.5)),
        digest(verifier=Newer()),
        digest(weight=2),
        digest(name="other"),
        digest(at="numbers"),
        AllOf(of=[{"verifier": Says()}]).digest(TASK, "x"),
        WeightedSum(of=[{"verifier": AllOf(of=[{"verifier": Says()}])}]).digest(TASK, "x"),
        WeightedSum(of=[{"verifier": AllOf(of=[{"verifier": Newer()}])}]).digest(TASK, "x"),
    }
    assert len(digests) == 9
    # The complete parameters make the same verifier again.
    given = make_verifier("compose/sum", of=[{"verifier": "math/countdown"}])
    again = make_verifier("compose/sum", **given.params)
    assert again.digest(TASK, "x") == given.digest(TASK, "x")


def test_a_child_may_have_its_own_reference():
    task = Task(
        id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference={"a": TASK.reference}
    )
    verifier = make_verifier("compose/all", of=[{"verifier": "math/countdown", "at": "a"}])
    assert verifier.verify(task, "<answer>3*5+7</answer>").score == 1.0
    assert verifier.verify(TASK, "<answer>3*5+7</answer>").reason == "bad_task"


def test_the_pool_judges_compositions_as_this_process_does():
    of = [
        {"verifier": "text/format", "params": {"tags": ["answer"]}},
        {"verifier": "compose/any", "params": {"of": [{"verifier": "math/countdown"}]}},
    ]
    here = make_verifier("compose/gate", of=of)
    items = [(TASK, one) for one in ("<answer>3*5+7</answer>", "3*5+7", "\ud800", None)]
    with VerifierPool(1) as pool:
        assert pool.verify_batch("compose/gate", items, params={"of": of}) == here.verify_batch(
            items
        )
        assert pool.describe("compose/gate")["params"] == {"of": []}
        assert pool.verify("compose/gate", TASK, "x").reason == "bad_task"


def test_ids_in_parameters():
    of = [{"verifier": "a/b", "params": {"of": [{"verifier": "c/d"}]}}, {"verifier": "e/f"}, 3]
    assert ids_in({"of": of}) == {"a/b", "c/d", "e/f"}
    assert ids_in({}) == ids_in({"of": "x"}) == set()


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0, 1))
def test_shaping_of_steps(rewards, eta):
    assert sum(delta_rewards(rewards)) == pytest.approx(rewards[0] if rewards else 0.0)
    assert all(reward <= 0 for reward in clip_rewards(rewards, eta))
    assert clip_rewards([0.2, 0.9], 0.5) == [pytest.approx(-0.3), 0.0]
