"""The math/answer verifier: golden cases, laws of equality, parameters, references, hostile input."""

import json
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verigym
from verigym.verifiers.math.answer import AnswerVerifier
from verigym.verifiers.math.cases import task_of
from verigym.verifiers.pool import VerifierPool

GOLDEN = Path(__file__).parents[2] / "golden" / "math_answer.jsonl"
ROWS = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
CATEGORIES = sorted({row["category"] for row in ROWS})
MOST_CALLS = 2_000_000
TYPED = (verigym.Status.OK, verigym.Status.POLICY_FAULT, verigym.Status.VERIFIER_ERROR)


def judge(gold, answer, question=None, **params):
    task = task_of({"gold": gold, "answer": answer, "question": question})
    return AnswerVerifier(**params).verify(task, answer)


@pytest.mark.parametrize(
    "third", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("category", CATEGORIES)
def test_golden(category, third):
    wrong = []
    for row in [row for row in ROWS if row["category"] == category][third::3]:
        verdict = AnswerVerifier().verify(task_of(row), row["answer"])
        if verdict.score != row["label"]:
            wrong.append(
                (row["gold"], row["answer"], row["label"], verdict.reason, verdict.evidence)
            )
    assert not wrong


def test_golden_file_is_balanced():
    labels = Counter(row["label"] for row in ROWS)
    assert len(ROWS) >= 600
    assert 0.8 < labels[1] / labels[0] < 1.25
    assert len(CATEGORIES) >= 15


@pytest.mark.slow
def test_equality_is_symmetric_among_plain_values():
    golds = sorted(
        {
            row["gold"]
            for row in ROWS
            if row["category"] in ("same-number", "mixed-numbers", "complex")
        }
    )
    for gold, other in combinations(golds, 2):
        same = judge(gold, other).score == 1.0
        assert same == (judge(other, gold).score == 1.0), (gold, other)


NESTED_DETERMINANTS = "x"
for _ in range(6):
    NESTED_DETERMINANTS = (
        f"\\begin{{vmatrix}}{NESTED_DETERMINANTS}&1\\\\2&{NESTED_DETERMINANTS}\\end{{vmatrix}}"
    )
NESTS = {
    "parentheses": "(" * 100_000 + "7" + ")" * 100_000,
    "braces": "{" * 3000 + "7" + "}" * 900,
    "fractions": "\\frac{1}{" * 300 + "2" + "}" * 300,
    "roots": "\\sqrt{" * 600 + "2" + "}" * 600,
    "tower of nines": "9**9**9",
    "tower": "9^{9^{9^{9}}}",
    "right tower": "^".join(["9"] * 300),
    "factorials": "(((9!)!)!)!",
    "postfix factorials": "9" + "!" * 900,
    "big factorial": "999999999!",
    "megabytes": "7" * (1 << 20),
    "digits": "7" * 4000,
    "exponent": "1e999999999",
    "many sums": "+".join(["1"] * 2000),
    "many signs": "-" * 3000 + "7",
    "many products": "x" * 3000,
    "sum": "\\sum_{k=1}^{10^{12}} k",
    "nested sums": "\\sum_{a=1}^{400}\\sum_{b=1}^{400}\\sum_{c=1}^{400} abc",
    "import": "__import__('os').system('true')",
    "import boxed": "\\boxed{__import__('os').system('true')}",
    "eval": "eval(compile('1','','eval'))",
    "exponential": "e^{e^{e^{e^{e^{e}}}}}",
    "gamma": "(10^{300})!",
    "binomial": "\\binom{10^9}{5\\cdot 10^8}",
    "power of a variable": "x^{999999999}",
    "many plus or minus": "\\pm1" * 300,
    "list": ",".join(str(i) for i in range(1000)),
    "many boxes": "\\boxed{7}" * 20_000,
    "open boxes": "\\boxed{" * 20_000,
    "open tags": "<answer>" * 50_000,
    "think": "<think>" * 50_000,
    "the answer is": "the answer is " * 40_000,
    "answer colon": "answer: " * 60_000,
    "spaces": " " * (1 << 19) + "7" + " " * (1 << 19) + "x",
    "newlines": "\n" * (1 << 20) + "7",
    "dollars": "$" * 100_000,
    "backslashes": "\\" * 100_000,
    "combining": "7" + "\u0301" * 100_000,
    "superscripts": "x" + "²" * 100_000,
    "nul": "7\x00" * 1000,
    "matrix": "\\begin{pmatrix}" + "1&" * 3000 + "1\\end{pmatrix}",
    "matrices": "\\begin{pmatrix}" * 300,
    "commas": "," * 100_000,
    "ands": "7 and " * 50_000,
    "percent": "7" + "%" * 1000,
    "bars": "|" * 1000,
    "repeating": "0.\\overline{" + "3" * 3900 + "}",
    "units": "7 " + "m " * 1500,
    "words": "one hundred " * 300,
    "union": "\\cup".join(["(0,1)"] * 400),
    "gcd": "\\gcd(" + ",".join(["7"] * 700) + ")",
    "base": "9" * 4000 + "_{16}",
    "root degree": "\\sqrt[10^{9}]{2}",
    "decimals": "0." + "1" * 3900,
    "time": "12:" * 1000,
    "is is": "x is " * 20_000 + "7",
    "equals": "=".join(["7"] * 600),
    "cases": "\\begin{cases}" * 300,
    "many cases": "\\begin{cases}" + "x & x>1 \\\\ " * 400 + "\\end{cases}",
    "nested cases": "\\begin{cases} 1 & x>" * 60 + "1" + "\\end{cases}" * 60,
    "determinants": "\\det" * 800 + "(1)",
    "nested determinants": NESTED_DETERMINANTS,
    "dots": "1,2,...,10" + "0" * 900,
    "sum of dots": "1+2+...+1" + "0" * 1100,
    "many dots": "..." * 400,
    "unit vectors": "+".join(["2i+3j"] * 150),
    "constants": "C_1e^{x}+C_2e^{-x}" * 60,
    "overs": "1\\over " * 400,
    "implications": "x=7 \\implies " * 300,
    "residues": "n\\equiv " + "1, " * 900 + "1 \\pmod 7",
    "prefixes": "0x" + "F" * 4000,
    "feet": "7'" * 900,
    "arrows": "\u2192 " * 200_000 + "8",
    "quotes": "> " * 200_000 + "8",
    "parts": "(a) 8 (b) " * 20_000,
    "chinese": "\u7b54\u6848\u662f" * 100_000,
    "conditions": "7 (or 8) for n=1, " * 100,
    "sentence of words": "the winner is " * 40,
    "modulus": "7 \\pmod{10^{10^{10}}}",
}


WRONG_FOR_SEVEN = ("import", "eval", "tower", "the answer is")


@pytest.mark.parametrize(
    "gold",
    [
        "7",
        pytest.param("x^2+1", marks=pytest.mark.slow),
        pytest.param("\\{1,2\\}", marks=pytest.mark.slow),
        pytest.param("(-\\infty,2]", marks=pytest.mark.slow),
    ],
)
def test_hostile_answers_take_little_work_and_are_wrong(gold):
    failures = []
    for name, text in NESTS.items():
        verdict, calls = counted(gold, text)
        must_fail = gold != "7" or name in WRONG_FOR_SEVEN
        if verdict.score is None or calls > MOST_CALLS or (must_fail and verdict.score):
            failures.append((name, calls, verdict))
    assert not failures


@pytest.mark.slow  # references are written by authors
def test_hostile_references_take_little_work():
    failures = []
    for name, text in NESTS.items():
        verdict, calls = counted(text, "7+x")
        if verdict.status not in TYPED or verdict.reason == "crashed" or calls > MOST_CALLS:
            failures.append((name, calls, verdict))
    assert not failures


@pytest.mark.slow
def test_hostile_answers_get_a_score_before_the_pool_kills():
    # One long step, in a regular expression or a whole number, counts as one call above; here it is killed.
    rows = [{"gold": "x^2+1", "answer": text} for text in NESTS.values()]
    with VerifierPool(2, preload=["math/answer"], timeout_s=20.0) as pool:
        verdicts = pool.verify_batch("math/answer", [(task_of(row), row["answer"]) for row in rows])
    found = {name: verdict.status for name, verdict in zip(NESTS, verdicts, strict=True)}
    assert not {name: status for name, status in found.items() if status not in TYPED[:2]}


def counted(gold, answer):
    """The verdict, and how many calls and returns of functions it took."""
    events = 0

    def count(frame, event, arg):
        nonlocal events
        events += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        verdict = judge(gold, answer)
    finally:
        sys.setprofile(before)
    return verdict, events


@given(st.text(alphabet="0123456789x+-*/^_{}()[]\\|,.=<>!%$ \nabfrcsqtpmi&", max_size=60))
def test_no_text_crashes_it(text):
    for gold in ("7", "\\frac{x}{2}", "(1,3]"):
        verdict = judge(gold, text)
        assert verdict.score is not None, (text, verdict.evidence)


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6), st.integers(2, 50))
def test_a_fraction_equals_its_multiples_only(above, below, by):
    gold = f"\\frac{{{above}}}{{{below}}}"
    assert judge(gold, f"{above * by}/{below * by}").score == 1.0
    assert judge(gold, f"{above * by + 1}/{below * by}").score == 0.0


@given(st.integers(0, 10**15))
def test_grouped_digits_are_the_number(value):
    for shown in (f"{value:,}", f"{value:,}".replace(",", "{,}"), f"{value:,}".replace(",", "\\,")):
        assert judge(str(value), shown).score == 1.0
        assert judge(str(value + 1), shown).score == 0.0


@pytest.mark.parametrize(
    ("params", "gold", "answer", "score"),
    [
        ({"units": "required"}, "5 km", "5", 0.0),
        ({"units": "required"}, "5 km", "5000 m", 1.0),
        ({"tolerance": 0.01}, "100", "100.9", 1.0),
        ({"tolerance": 0.01}, "100", "101.1", 0.0),
        ({"digits": 3}, "\\pi", "3.14", 1.0),
        ({"digits": 4}, "\\pi", "3.14", 0.0),
        ({"extract": "boxed"}, "7", "7", 0.0),
        ({"extract": "boxed"}, "7", "so \\boxed{7}", 1.0),
        ({"extract": "tag"}, "7", "\\boxed{7}", 0.0),
        ({"extract": "tag"}, "7", "<answer>7</answer>", 1.0),
        ({"extract": "bare"}, "7", "7", 1.0),
    ],
)
def test_parameters(params, gold, answer, score):
    assert judge(gold, answer, **params).score == score


@pytest.mark.parametrize(
    "params", [{"extract": "x"}, {"units": 3}, {"tolerance": -1}, {"digits": 1.5}]
)
def test_bad_parameters_are_refused(params):
    with pytest.raises(verigym.RequestError, match="got"):
        AnswerVerifier(**params)


@pytest.mark.parametrize(
    "reference", [None, {}, {"answer": ""}, {"answers": []}, {"answer": "7", "question": 3}]
)
def test_a_bad_reference_is_a_fault(reference):
    task = verigym.Task(
        id="t", env_id="e", seed=0, prompt="p", difficulty="easy", reference=reference
    )
    verdict = AnswerVerifier().verify(task, "7")
    assert (verdict.score, verdict.reason) == (None, "bad_task")


def test_any_of_several_references_is_right_and_a_number_may_be_one():
    task = verigym.Task(
        id="t",
        env_id="e",
        seed=0,
        prompt="p",
        difficulty="easy",
        reference={"answers": [7, "eight"]},
    )
    assert [AnswerVerifier().verify(task, text).score for text in ("7", "8", "9")] == [
        1.0,
        1.0,
        0.0,
    ]


def test_a_submission_that_is_no_text_is_unusable():
    task = task_of({"gold": "7", "answer": ""})
    assert AnswerVerifier().verify(task, 7).reason == "not_text"


def test_a_whole_solution_may_be_the_reference():
    gold = "We add 3 and 4, which gives $7$. The final answer is $\\boxed{7}$."
    assert judge(gold, "7").score == 1.0
    assert judge(gold, "3").score == 0.0


def test_evidence_does_not_leak_the_reference():
    verdict = judge("271828", "5")
    assert "271828" not in verdict.evidence + verdict.reason


def test_it_is_registered():
    assert verigym.make_verifier("math/answer").id == "math/answer"
