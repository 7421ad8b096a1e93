"""The countdown verifier: golden replies, exact values against Fraction, and hostile input."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verigym
from verigym.verifiers.math.countdown import Answer, read

GOLDEN = Path(__file__).parents[1] / "golden" / "countdown.jsonl"
ROWS = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


def task_of(reference):
    return verigym.Task(
        id="t",
        env_id="verigym/math/countdown-v0",
        seed=0,
        prompt="p",
        difficulty="easy",
        reference=reference,
    )


def judge(reference, reply, **params):
    return verigym.make_verifier("math/countdown", **params).verify(task_of(reference), reply)


@pytest.mark.parametrize("row", ROWS, ids=[f"{i}-{r['why']}" for i, r in enumerate(ROWS, 1)])
def test_golden(row):
    verdict = judge(row["answer"], row["reply"], **row.get("params", {}))
    assert (verdict.score, verdict.reason) == (row["reward"], row["reason"]), verdict.evidence
    usable = verdict.reason in {
        "correct",
        "wrong_value",
        "wrong_numbers",
        "wrong_claim",
        "division_by_zero",
    }
    assert (verdict.status is verigym.Status.OK) == usable


def test_golden_file_covers_every_reason():
    assert len(ROWS) >= 40
    assert {row["reason"] for row in ROWS} == {
        "correct",
        "wrong_value",
        "wrong_claim",
        "wrong_numbers",
        "division_by_zero",
        "no_answer",
        "several_answers",
        "refused_syntax",
    }


# Random expression trees, written out with as few or as many parentheses as drawn, must have the
# value that Fraction gives when the tree itself is evaluated.


def _leaf(number):
    return str(number), Fraction(number), [number], 4


def _node(drawn):
    sign, left, right, space = drawn
    binding = {"+": 1, "-": 1, "*": 2, "/": 2}[sign]

    def wrapped(child, least):
        return child[0] if child[3] >= least else f"({child[0]})"

    text = f"{wrapped(left, binding)}{space}{sign}{space}{wrapped(right, binding + 1)}"
    if left[1] is None or right[1] is None or (sign == "/" and right[1] == 0):
        value = None
    elif sign == "+":
        value = left[1] + right[1]
    elif sign == "-":
        value = left[1] - right[1]
    elif sign == "*":
        value = left[1] * right[1]
    else:
        value = left[1] / right[1]
    return text, value, left[2] + right[2], binding


def _negated(child):
    text = child[0] if child[3] == 4 else f"({child[0]})"
    return f"-{text}", None if child[1] is None else -child[1], child[2], 3


def _bracketed(child):
    return f"( {child[0]} )", child[1], child[2], 4


TREES = st.recursive(
    st.integers(0, 999).map(_leaf),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*/"), inner, inner, st.sampled_from(["", " ", " \t"])).map(
            _node
        ),
        inner.map(_negated),
        inner.map(_bracketed),
    ),
    max_leaves=12,
)


@given(TREES)
def test_value_is_that_of_the_tree(tree):
    text, value, numbers, _ = tree
    answer = read(f"<answer>{text}</answer>")
    assert isinstance(answer, Answer)
    assert answer.numbers == sorted(numbers)
    if value is None:
        with pytest.raises(ZeroDivisionError):
            answer.value()
    else:
        assert answer.value() == value


@given(TREES, st.integers(-5, 5))
def test_only_the_exact_target_is_paid(tree, off):
    text, value, numbers, _ = tree
    if value is None or value.denominator != 1:
        target, expected = 7, 0.0
        reason = "division_by_zero" if value is None else "wrong_value"
    else:
        target, expected = int(value) + off, float(off == 0)
        reason = "wrong_value" if off else "correct"
    verdict = judge({"numbers": numbers, "target": target}, f"<answer>{text}</answer>")
    assert (verdict.score, verdict.reason) == (expected, reason)


_PIECES = st.sampled_from(
    ["<answer>", "</answer>", "(", ")", "+", "-", "*", "/", "=", "3", "5", "7", "22", " ", "\n"]
)


@given(st.one_of(st.text(), st.lists(_PIECES, max_size=40).map("".join)))
def test_garbage_never_raises_and_is_always_scored(reply):
    verdict = judge({"numbers": [3, 5, 7], "target": 22}, reply)
    assert verdict.score in (0.0, 1.0)
    if verdict.score == 1.0:
        assert verdict.reason == "correct"


@given(st.one_of(st.integers(), st.none(), st.booleans(), st.lists(st.text())))
def test_what_is_not_text_is_the_submitter_s_fault(submission):
    verdict = judge({"numbers": [3, 5, 7], "target": 22}, submission)
    assert (verdict.status, verdict.reason) == (verigym.Status.POLICY_FAULT, "not_text")


MEGABYTE = 1 << 20
HOSTILE = {
    "nested": ("<answer>" + "(" * 400 + "3*5+7" + ")" * 400 + "</answer>", "correct"),
    "unclosed nest": ("<answer>" + "(" * 1000, "refused_syntax"),
    "deeper nest": ("<answer>" + "(" * 100_000 + "22" + ")" * 100_000 + "</answer>", "too_long"),
    "minuses": ("<answer>" + "-" * 1000 + "22</answer>", "refused_syntax"),
    "digits": ("<answer>" + "9" * 1000 + "</answer>", "refused_syntax"),
    "claim": ("<answer>3*5+7=" + "9" * 900 + "</answer>", "refused_syntax"),
    "division tower": ("<answer>" + "1/" * 500 + "3</answer>", "wrong_numbers"),
    "megabyte": ("9" * (MEGABYTE + 1), "too_long"),
    "tags": ("<answer>" * (MEGABYTE // 8), "no_answer"),
    "half tags": ("<answer" * (MEGABYTE // 7), "no_answer"),
    "lines": ("x\n" * (MEGABYTE // 2), "no_answer"),
    "colons": (":" * MEGABYTE, "no_answer"),
    "spaces": ("<answer>3" + " " * (MEGABYTE - 100) + "x</answer>", "too_long"),
    "one long line": ("3+" * (MEGABYTE // 2), "too_long"),
    "NUL": ("<answer>3*5+7\0</answer>", "refused_syntax"),
    "separators": ("<answer>3*5\u2028+7</answer>", "refused_syntax"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_ends_at_once_with_a_verdict(name):
    # Quadratic work on a megabyte would run into the test's own time limit.
    reply, reason = HOSTILE[name]
    assert judge({"numbers": [3, 5, 7], "target": 22}, reply).reason == reason


@pytest.mark.parametrize(
    "reference",
    [
        None,
        [],
        {},
        {"numbers": [], "target": 1},
        {"numbers": [1, "2"], "target": 3},
        {"numbers": [1, 2.5], "target": 3},
        {"numbers": [True, 2], "target": 3},
        {"numbers": [-1, 2], "target": 1},
        {"numbers": [1, 2]},
        {"numbers": "12", "target": 3},
    ],
)
def test_a_reference_that_cannot_be_used_is_a_fault_without_a_score(reference):
    verdict = judge(reference, "<answer>1+2</answer>")
    assert verdict.score is None
    assert (verdict.status, verdict.reason) == (verigym.Status.VERIFIER_ERROR, "bad_task")


def test_parameters_are_checked():
    with pytest.raises(verigym.RequestError, match="use_all must be true or false"):
        verigym.make_verifier("math/countdown", use_all=1)
    with pytest.raises(verigym.RequestError, match="use_all"):
        verigym.make_verifier("math/countdown", use_al=True)
