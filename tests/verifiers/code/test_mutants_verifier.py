"""`code/mutants`: inputs are paid by the share of wrong versions that they tell from the right one."""

import json

import pytest

from verigym import Status, Task, make_verifier

RIGHT = "def f(n, s):\n    return s if n > 3 else s[:1]\n"
MUTANTS = [
    RIGHT.replace("> 3", ">= 3"),
    RIGHT.replace("s[:1]", "s[:2]"),
    RIGHT.replace("return s if", "return s * 2 if"),
    "def f(n, s):\n    while n == 9:\n        pass\n    return s if n > 3 else s[:1]\n",
]
BOUNDS = [
    {"kind": "int", "low": 0, "high": 9},
    {"kind": "text", "low": 0, "high": 4, "alphabet": "ab"},
]


def task(**changes):
    reference = {
        "function": "f", "program": RIGHT, "mutants": MUTANTS, "args": BOUNDS, "inputs": 3, **changes,
    }  # fmt: skip
    return Task(id="t", env_id="", seed=0, prompt="p", difficulty="easy", reference=reference)


def judge(calls, problem=None):
    reply = calls if isinstance(calls, str) else json.dumps(calls)
    return make_verifier("code/mutants").verify(problem or task(), reply)


def test_the_share_of_wrong_versions_is_paid():
    assert judge([[0, ""]]).score == 0.0
    assert judge([[3, "ab"]]).score == 0.5
    assert judge([[3, "ab"], [4, "ab"]]).score == 0.75
    verdict = judge([[3, "ab"], [9, "ab"]])
    assert (verdict.score, verdict.reason) == (1.0, "all_killed")  # one never ends
    assert verdict.parts == {"killed": 1.0}
    assert judge('These:\n```json\n[[3, "ab"], [9, "ab"]]\n```').score == 1.0


UNPAID = {
    "one outside the bounds": ([[3, "ab"], [9, "ab"], [10, "a"]], "invalid_input"),
    "a letter that is not allowed": ([[3, "abc"]], "invalid_input"),
    "a text that is too long": ([[3, "aaaaa"]], "invalid_input"),
    "truth for a number": ([[True, "ab"]], "invalid_input"),
    "a fraction": ([[3.0, "ab"]], "invalid_input"),
    "too few arguments": ([[3]], "invalid_input"),
    "a flood": ([[n, "ab"] for n in range(4)], "too_many"),
    "the same input again": ([[3, "ab"]] * 4, "too_many"),
    "none": ([], "no_inputs"),
    "no list": ({"n": 3}, "no_inputs"),
    "no JSON": ("[[NaN, 'ab']]", "no_inputs"),
    "brackets": ("[" * 9000, "no_inputs"),
    "a long number": ("[[" + "9" * 9000 + ', "a"]]', "no_inputs"),
}


@pytest.mark.parametrize(("calls", "reason"), UNPAID.values(), ids=UNPAID)
def test_what_is_not_paid(calls, reason):
    verdict = judge(calls)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.POLICY_FAULT, 0.0, reason)


@pytest.mark.parametrize(
    "change",
    [
        {"mutants": []},
        {"mutants": ["import os"]},
        {"program": "def f(n, s):\n    return s[9]"},
        {"args": [{"kind": "float"}]},
        {"args": [{"kind": "int", "low": 0}, BOUNDS[1]]},
        {"args": 3},
        {"inputs": 0},
    ],
)
def test_a_task_that_cannot_be_judged_is_a_fault(change):
    verdict = judge([[3, "ab"]], task(**change))
    assert (verdict.status, verdict.score) == (Status.VERIFIER_ERROR, None)


def test_inputs_that_the_right_program_does_not_survive_earn_nothing():
    program = "def f(n, s):\n    return s * (9 // (n - 5)) if n != 7 else [0] * 10 ** 9"
    problem = task(program=program, mutants=[program.replace("- 5", "- 6")])
    for n in (5, 7):
        verdict = judge([[n, "ab"]], problem)
        assert (verdict.score, verdict.reason) == (0.0, "unusable_input"), verdict
    assert judge([[6, "ab"]], problem).score == 1.0
    # Not even the plainest input: that is the task's fault.
    verdict = judge([[5, "ab"]], task(program=program.replace("- 5", "- n")))
    assert (verdict.status, verdict.score) == (Status.VERIFIER_ERROR, None)
