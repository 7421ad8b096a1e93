"""The audit's figures: what counts as wrong, what as a fault, and where cases come from."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import RequestError, Status, Task, fault, scored
from verigym.verifiers.audit.cases import Case, read_cases, resolve_verifier
from verigym.verifiers.audit.hacks import judge_hacks
from verigym.verifiers.audit.intervals import interval, quantile, wilson
from verigym.verifiers.audit.measure import CaseOutcome, agreement, failures, judge, summarise
from verigym.verifiers.pool import VerifierPool

COUNTDOWN = "math/countdown"
REFERENCE = {"numbers": [3, 5, 7], "target": 22}


def case(label, category="plain", submission="<answer>3*5+7</answer>", **fields):
    task = Task(
        id="t", env_id="", seed=0, prompt="Make 22.", difficulty="", reference=fields.pop("ref", 1)
    )
    return Case(
        name="c", task=task, submission=submission, label=label, category=category, **fields
    )


def outcome(label, score, category="plain", seconds=0.001, **fields):
    verdict = scored(score, "judged") if score is not None else fault(Status.TIMEOUT, "deadline")
    return CaseOutcome(case=case(label, category, **fields), verdict=verdict, seconds=seconds)


def test_rates_by_hand():
    outcomes = [
        *[outcome(1, 1.0, "a")] * 8,
        *[outcome(1, 0.0, "a")] * 2,
        *[outcome(0, 0.0, "b")] * 3,
        outcome(0, 1.0, "b"),
        outcome(0, None, "b"),
        outcome(1, None, "a"),
    ]
    report = summarise(outcomes)
    assert report["n"] == 16
    assert report["errors"] == 2
    assert report["errors_by_reason"] == {"timeout:deadline": 2}
    assert report["accuracy"] == 11 / 14
    assert report["false_negative_rate"] == 2 / 10
    assert report["false_positive_rate"] == 1 / 4
    assert report["false_positive_interval"] == list(wilson(1, 4))
    assert list(report["by_category"]) == ["a", "b"]
    assert report["by_category"]["b"]["false_negative_rate"] is None
    assert report["by_category"]["b"]["false_positive_rate"] == 1 / 4
    assert len(failures(outcomes)) == 5
    assert "uncontested" not in report


def test_half_a_score_accepts_and_contested_cases_are_also_left_out():
    outcomes = [outcome(0, 0.5), outcome(0, 0.49), outcome(0, 1.0, contested=True)]
    report = summarise(outcomes)
    assert report["false_positives"] == 2
    assert report["uncontested"]["false_positives"] == 1


def test_nothing_has_no_rate():
    report = summarise([])
    assert (report["n"], report["accuracy"], report["latency_ms"]["worst"]) == (0, None, None)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 1.0, None])), max_size=30))
def test_figures_add_up(pairs):
    report = summarise([outcome(int(label), score) for label, score in pairs])
    faults = sum(score is None for _, score in pairs)
    right = report["n"] - report["errors"] - report["false_positives"] - report["false_negatives"]
    assert report["errors"] == faults
    assert report["right_answers"] + report["wrong_answers"] == len(pairs) - faults
    if len(pairs) > faults:
        assert report["accuracy"] == pytest.approx(right / (len(pairs) - faults))


def test_quantiles():
    values = [float(i) for i in range(1, 101)]
    assert [quantile(values, q) for q in (0.5, 0.99, 1.0)] == [50.0, 99.0, 100.0]
    assert quantile([3.0], 0.99) == 3.0
    assert quantile([], 0.5) is None
    assert interval(0, 0) is None


def test_agreement_tells_who_is_right():
    mine = [outcome(1, 1.0), outcome(1, 0.0), outcome(0, 1.0), outcome(1, None)]
    others = [outcome(1, 0.0), outcome(1, 1.0), outcome(0, 1.0), outcome(1, 1.0)]
    report = agreement(mine, others)
    assert (report["n"], report["errors"]) == (3, 1)
    assert report["agreement"] == 1 / 3
    assert (report["only_this_right"], report["only_other_right"], report["both_wrong"]) == (
        1,
        1,
        1,
    )


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_general_rows_are_judged(tmp_path):
    task = {"reference": REFERENCE}
    path = write(
        tmp_path / "cases.jsonl",
        {"task": task, "submission": "<answer>3*5+7</answer>", "label": 1, "category": "good"},
        {"task": task, "submission": "<answer>3*5+8</answer>", "label": False, "id": "eight"},
        {"task": {"reference": 1}, "submission": "x", "label": 0},
    )
    cases = read_cases(path, COUNTDOWN)
    assert [one.name for one in cases] == ["cases:1", "eight", "cases:3"]
    assert [one.category for one in cases] == ["good", "wrong", "wrong"]
    counted = []
    with VerifierPool(2, preload=[COUNTDOWN]) as pool:
        outcomes = judge(pool, COUNTDOWN, cases, on_case=counted.append)
    report = summarise(outcomes)
    assert (report["n"], report["errors"], report["accuracy"]) == (3, 1, 1.0)
    assert counted == outcomes
    assert outcomes[0].verdict.score == 1.0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"submission": 1, "label": 1}, "needs"),
        ({"task": {}, "label": 1}, "submission"),
        ({"task": {}, "submission": 1}, "label"),
        ({"task": {}, "submission": 1, "label": 2}, "0 or 1"),
        ({"task": {"seed": "x"}, "submission": 1, "label": 1}, "not a task"),
        ([], "an object"),
    ],
)
def test_a_bad_row_is_named(tmp_path, row, message):
    good = {"task": {}, "submission": 1, "label": 1}
    path = write(tmp_path / "cases.jsonl", good, row)
    with pytest.raises(RequestError, match=f"line 2: .*{message}"):
        read_cases(path, COUNTDOWN)


def test_no_file_and_no_cases(tmp_path):
    with pytest.raises(RequestError, match="cannot be read"):
        read_cases(tmp_path / "none", COUNTDOWN)
    with pytest.raises(RequestError, match="no cases"):
        read_cases(write(tmp_path / "empty"), COUNTDOWN)


def test_names_of_verifiers():
    assert resolve_verifier(COUNTDOWN) == COUNTDOWN
    assert resolve_verifier("code") == "code/function"
    with pytest.raises(RequestError, match="did you mean 'math/countdown'"):
        resolve_verifier("math/countdow")


@pytest.mark.slow
def test_hacks_are_told_from_controls(tmp_path):
    honest = "def solve(nums, k): return sorted(nums)[-k]\n"
    (tmp_path / "a_honest.py").write_text(honest)
    (tmp_path / "b.py").write_text("# control: also fine\n" + honest)
    (tmp_path / "c.py").write_text(honest)
    (tmp_path / "d_honest.py").write_text("def solve(nums, k): return nums[0]\n")
    (tmp_path / "e.py").write_text("raise SystemExit(0)\n")
    with VerifierPool(2, preload=["code/function"]) as pool:
        report = judge_hacks(pool, "code/function", tmp_path)
        assert report == {
            "total": 5,
            "paid": ["c"],
            "controls_failed": ["d_honest"],
            "hack_errors": [],
        }
        with pytest.raises(RequestError, match="no tasks for a folder of hacks"):
            judge_hacks(pool, "games/keydoor", tmp_path)
