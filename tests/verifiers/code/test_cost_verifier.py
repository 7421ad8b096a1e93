"""`code/cost`: fewer steps pay more, wrong values nothing, and tricks nothing."""

import math
import re

import pytest

from verigym import Status, Task, make_verifier

SLOW = "def f(xs):\n    c = 0\n    for i in range(len(xs)):\n        for j in range(len(xs)):\n            if i < j and xs[i] == xs[j]:\n                c += 1\n    return c\n"
BETTER = SLOW.replace("range(len(xs)):\n            if i < j and", "range(i):\n            if")
FAST = "def f(xs):\n    c = 0\n    seen = {}\n    for x in xs:\n        n = seen.get(x, 0)\n        c += n\n        seen[x] = n + 1\n    return c\n"


def task(**changes):
    calls = [[[]], [[1, 1, 2]], [[n * n % 17 for n in range(60)]]]
    reference = {"function": "f", "slow": SLOW, "fast": FAST, "calls": calls, **changes}
    return Task(id="t", env_id="", seed=0, prompt="p", difficulty="easy", reference=reference)


def judge(program, problem=None, **params):
    return make_verifier("code/cost", **params).verify(problem or task(), program)


def test_the_best_known_earns_all_the_slow_one_nothing_and_between_the_logarithm():
    assert judge(FAST).score == 1.0
    assert (judge(SLOW).score, judge(SLOW).reason) == (0.0, "no_cheaper")
    verdict = judge(BETTER)
    assert (verdict.status, verdict.reason) == (Status.OK, "cheaper")
    assert 0.05 < verdict.score < 0.6
    total, most, best = (int(word) for word in re.findall(r"\d+", verdict.evidence))
    assert verdict.score == pytest.approx(math.log(most / total) / math.log(most / (1.5 * best)))
    assert verdict.parts["steps_ratio"] == pytest.approx(total / best)
    assert judge(BETTER, within=1.0).score < verdict.score
    assert judge(BETTER, task(within=1.0)).score == judge(BETTER, within=1.0).score


UNPAID = {
    "wrong_value": "def f(xs):\n    return 0",
    "failed": "def f(xs):\n    return xs[0]",
    "no_cheaper": "def f(xs):\n    while True:\n        pass",
    "refused_syntax": "import sys\nsys.settrace(None)\n" + FAST,
}


@pytest.mark.parametrize(("reason", "program"), UNPAID.items(), ids=UNPAID)
def test_what_is_not_paid(reason, program):
    verdict = judge(program)
    assert (verdict.score, verdict.reason) == (0.0, reason)


def test_nothing_is_kept_from_call_to_call():
    problem = task(calls=[[[1, 1]], [[1, 1]], [[n % 3 for n in range(40)]]])
    counting = "CALLS = []\ndef f(xs):\n    CALLS.append(1)\n    return len(CALLS)\n"
    assert judge(counting, problem).reason == "wrong_value"


def test_an_answer_of_endless_size_is_counted():
    program = "def f(xs):\n    x = [1]\n    for i in range(40):\n        x = [x, x]\n    return x\n"
    assert judge(program).reason == "no_cheaper"


@pytest.mark.parametrize(
    "change",
    [
        {"fast": "def f(xs):\n    return 0"},
        {"fast": SLOW},
        {"fast": "import os"},
        {"slow": "def f(xs):\n    return xs[0]"},
        {"calls": []},
        {"calls": [1]},
        {"function": 3},
        {"within": 0.9},
        {"within": "1.5"},
        {"within": True},
    ],
)
def test_a_task_that_cannot_be_judged_is_a_fault(change):
    verdict = judge(FAST, task(**change))
    assert (verdict.status, verdict.score) == (Status.VERIFIER_ERROR, None)
