"""`code/function`: values, checkers, languages, evidence, parts and faults."""

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import RequestError, Status, Task, make_verifier
from verigym.sandbox.job import JobStatus, Result
from verigym.sandbox.local import default_sandbox
from verigym.verifiers.code import checker
from verigym.verifiers.code.values import VALUE_CHECKERS, BadValue, load, normal, read_answer

GOLDEN = Path(__file__).parents[2] / "golden" / "code_function.jsonl"


def task(tests, function="f", **extra):
    return Task(
        id="t",
        env_id="",
        seed=0,
        prompt="p",
        difficulty="easy",
        reference={"function": function, "tests": tests, **extra},
    )


def call(*args, result, visible=False, **kwargs):
    return {"args": list(args), "kwargs": kwargs, "result": result, "visible": visible}


ADD = task(
    [call(1, 2, result=3, visible=True), call(4000, 5000, result=9000), call(7, 8, result=15)]
)


def judge(program, problem=ADD, **params):
    return make_verifier("code/function", **params).verify(problem, program)


@pytest.mark.parametrize(
    "row",
    [json.loads(line) for line in GOLDEN.read_text().splitlines()],
    ids=lambda row: row["why"],
)
def test_golden(row):
    problem = task(
        [call(result=row["want"])], **({"checker": row["checker"]} if "checker" in row else {})
    )
    verdict = judge(f"{row.get('before', '')}\ndef f(): return {row['returns']}", problem)
    assert verdict.score == row["reward"], verdict
    assert verdict.reason == row["reason"]


def test_a_right_and_a_wrong_function():
    verdict = judge("def f(a, b): return a + b")
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 1.0, "correct")
    assert verdict.parts == {"passed": 1.0}
    verdict = judge("def f(a, b): return 3")
    assert (verdict.score, verdict.reason, verdict.parts) == (0.0, "wrong_value", {"passed": 1 / 3})
    assert verdict.evidence == "a hidden test: wrong value"
    assert judge("def f(a, b): return a").evidence == "visible test 1: wrong value; wanted 3, got 1"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("def f(a, b): raise ValueError(a)", "nonzero_exit"),
        ("def g(a, b): return a + b", "nonzero_exit"),
        ("def f(a, b): raise SystemExit", "no_answer"),
        ("import os\ndef f(a, b): os.abort()", "signal"),
        ("def f(a, b):\n    while True: pass", "time_limit"),
        ("def f(a, b): return bytearray(1 << 40)", "memory_limit"),
        ("def f(a, b): return 'x' * (2 << 20)", "output_limit"),
        ("def f(a, b): return object()", "nonzero_exit"),
        ("", "no_program"),
        (None, "not_text"),
        ("x" * 70_000, "too_long"),
    ],
)
def test_an_unusable_program_is_the_policy_s_fault(program, reason):
    verdict = judge(program, wall_s=3.0, cpu_s=1.0)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.POLICY_FAULT, 0.0, reason)


@pytest.mark.parametrize(
    "leak",
    ["raise ValueError(a)", "return str(a)", "import sys; sys.exit(str(a))", "print(a); return 1"],
)
def test_evidence_never_carries_hidden_arguments_out(leak):
    program = f"def f(a, b):\n    if a == 1: return 3\n    {leak}"
    for params in ({}, {"run_all": True, "per_test": True}):
        said = json.dumps(judge(program, **params).to_builtins() | {"digest": ""})
        assert not any(secret in said for secret in ("4000", "5000", "9000"))


def test_parts_partial_credit_and_report():
    program = "def f(a, b): return a + b if a < 100 else 0"
    verdict = judge(program, run_all=True, per_test=True)
    assert verdict.score == 0.0
    assert verdict.parts == {"passed": 2 / 3, "test_1": 1.0, "test_2": 0.0, "test_3": 1.0}
    verdict = judge(program, partial=True)
    assert (verdict.score, verdict.reason) == (2 / 3, "wrong_value")
    assert judge("def f(a, b): return -1", partial=True).score == 0.0
    report = make_verifier("code/function").report(ADD, program)
    assert [(row.number, row.visible, row.passed, row.reason) for row in report] == [
        (1, True, True, "correct"),
        (2, False, False, "wrong_value"),
        (3, False, True, "correct"),
    ]


def test_what_was_read_does_not_depend_on_how_many_run_at_once():
    tests = [call(n, 0, result=n) for n in range(12)]
    for program in ("def f(a, b): return a", "def f(a, b): return a if a < 7 else 0"):
        verdicts = set()
        for at_once in (1, 2, 5):

            class Some:
                languages = default_sandbox().languages
                max_jobs = at_once
                run = staticmethod(default_sandbox().run)

            verifier = make_verifier("code/function")
            verifier.sandbox = Some()
            verdicts.add(str(verifier.verify(task(tests), program)))
        assert len(verdicts) == 1


def test_only_program_and_arguments_enter_the_sandbox():
    class Fake:
        languages = frozenset({"python"})

        def __init__(self):
            self.jobs = []

        def run(self, job):
            self.jobs.append(job)
            return Result(status=JobStatus.OK, stdout=b"\n\x1everigym-answer 3\n")

    verifier = make_verifier("code/function")
    verifier.sandbox = Fake()
    verifier.verify(ADD, "def f(a, b): return 3")
    for job, args in zip(verifier.sandbox.jobs, ([1, 2], [4000, 5000]), strict=True):
        assert json.loads(job.stdin) == {"function": "f", "args": args, "kwargs": {}}
        assert dict(job.files) == {"solution.py": b"def f(a, b): return 3"}
        assert not job.network
        assert b"9000" not in job.source_bytes


PROGRAMS = {
    "python": "class S:\n    def f(self, xs, k):\n        return {'all': [x * k for x in xs], 'none': None}",
    "javascript": "class S { f(xs, k) { console.log('hi'); return {all: xs.map(x => x * k), none: null}; } }",
    "ruby": 'class S\n  def f(xs, k)\n    puts "hi"\n    {"all" => xs.map { |x| x * k }, none: nil}\n  end\nend',
    "php": "<?php class S { function f($xs, $k) { echo 'hi'; return ['all' => array_map(fn($x) => $x * $k, $xs), 'none' => null]; } }",
}


@pytest.mark.parametrize("language", PROGRAMS)
def test_languages(language):
    if language not in default_sandbox().languages:
        pytest.skip(f"no {language} here")
    tests = [
        call([1, 2, -3], 2, result={"all": [2, 4, -6], "none": None}),
        call([], 2, result={"all": [], "none": None}),
        call([0.5], 3, result={"all": [1.5], "none": None}),
    ]
    problem = task(tests, function="S.f", language=language)
    assert judge(PROGRAMS[language], problem, run_all=True).parts == {"passed": 1.0}
    wrong = task(
        [call([1], 2, result={"all": [3], "none": None})], function="S.f", language=language
    )
    assert judge(PROGRAMS[language], wrong).reason == "wrong_value"


def test_javascript_promises_and_big_numbers():
    if "javascript" not in default_sandbox().languages:
        pytest.skip("no node here")
    problem = task([call(result=2**70)], language="js")
    assert judge("const f = async () => 2n ** 70n;", problem).score == 1.0
    assert judge("module.exports = {f: () => 2 ** 70 + 1e9}", problem).score == 0.0
    assert judge("function f() { process.exit(0) }", problem).reason == "no_answer"
    assert (
        judge("const f = () => ({toJSON: () => 2 ** 70, valueOf: () => 1})", problem).score == 0.0
    )


def test_arguments_by_name_and_tagged_values():
    value = {"$dict": [[{"$tuple": [1, 2]}, {"$set": ["a"]}], [3, {"$float": "inf"}]]}
    problem = task([call(value, result=True, k={"$bytes": "00ff"})])
    program = "def f(d, *, k): return d == {(1, 2): {'a'}, 3: float('inf')} and k == b'\\x00\\xff'"
    assert judge(program, problem).score == 1.0


def test_a_checker_program_judges_in_a_job_of_its_own():
    checker = """
import json, os, sys
given, answer, expected = (json.load(open(name)) for name in sys.argv[1:])
n = given["args"][0]
good = isinstance(answer, list) and len(answer) == 2 and answer[0] * answer[1] == n and 1 not in answer
print("right" if good and expected == "any" and not os.path.exists("solution.py") else "wrong")
"""
    problem = task([call(91, result="any")], checker={"program": checker})
    assert judge("def f(n): return [7, 13]", problem).score == 1.0
    assert judge("def f(n): return (13, 7)", problem).score == 1.0
    assert judge("def f(n): return [1, 91]", problem).score == 0.0


@pytest.mark.parametrize(
    "program", ["1 / 0", "print('maybe')", "", "while True: pass", "import sys; sys.exit(1)"]
)
def test_a_checker_s_own_failure_is_a_fault(program, monkeypatch):
    limits = dataclasses.replace(checker._LIMITS, cpu_s=1.0)
    monkeypatch.setattr(checker, "_LIMITS", limits)
    problem = task([call(1, result=1)], checker={"program": program})
    verdict = judge("def f(n): return n", problem)
    assert (verdict.status, verdict.score) == (Status.VERIFIER_ERROR, None)
    assert "the checker failed" in verdict.evidence


@pytest.mark.parametrize(
    "reference",
    [
        None,
        {"tests": [call(1, result=1)]},
        {"function": "f", "tests": []},
        {"function": "f()", "tests": [call(1, result=1)]},
        {"function": "f", "tests": [{"args": [1]}]},
        {"function": "f", "tests": [{"args": 1, "result": 1}]},
        {"function": "f", "tests": [call({"$what": 1}, result=1)]},
        {"function": "f", "tests": [call(1, result=1)], "checker": "eval"},
        {"function": "f", "tests": [call(1, result=1)], "checker": {"program": 1}},
        {"function": "f", "tests": [call(1, result=1)], "language": "cobol"},
        {"function": "f", "tests": [call(1, result=1)], "language": "rust"},
        {"function": "f", "tests": [call(result=1, k=1)], "language": "javascript"},
        {"function": "f", "tests": [call(1, result=1)], "limits": {"network": True}},
    ],
)
def test_a_reference_that_cannot_be_used_is_no_score(reference):
    broken = Task(id="t", env_id="", seed=0, prompt="p", difficulty="easy", reference=reference)
    for program in ("def f(n): return n", ""):
        verdict = judge(program, broken)
        assert (verdict.status, verdict.score) == (Status.VERIFIER_ERROR, None), verdict


@pytest.mark.parametrize(
    "params", [{"checker": "tokens"}, {"language": "rust"}, {"run_all": 1}, {"partial": "yes"}]
)
def test_bad_parameters_are_refused(params):
    with pytest.raises(RequestError):
        make_verifier("code/function", **params)


# Values, outside the sandbox.


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[",
        b"NaN",
        b"\xff",
        b"1 2",
        b"[" * 10**5 + b"]" * 10**5,
        b"9" * 10**5,
        b'{"$int": "1"',
    ],
)
def test_malformed_answers_are_refused(line):
    with pytest.raises(BadValue):
        normal(load(line))


@pytest.mark.parametrize("stdout", [b"", b"3", b"\n\x1everigym-answer 1\n\x1everigym-answer 1\n"])
def test_there_must_be_one_answer(stdout):
    with pytest.raises(BadValue):
        read_answer(stdout)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(plain)
def test_everything_is_the_same_as_itself(value):
    try:
        form = normal(value)
    except BadValue:
        return  # a key that begins like a tag
    assert all(check(form, form, 0.0) for check in VALUE_CHECKERS.values())


@given(plain, plain)
def test_exact_is_the_strictest(one, two):
    try:
        got, want = normal(one), normal(two)
    except BadValue:
        return
    if VALUE_CHECKERS["exact"](got, want, 0.0):
        assert all(check(got, want, 0.0) for check in VALUE_CHECKERS.values())


@given(st.lists(st.integers() | st.text()), st.randoms())
def test_order_does_not_matter_where_it_should_not(values, rng):
    shuffled = list(values)
    rng.shuffle(shuffled)
    for name in ("unordered", "unordered_deep"):
        assert VALUE_CHECKERS[name](normal(shuffled), normal(values), 0.0)
        assert not VALUE_CHECKERS[name](normal([*values, 0]), normal(values), 0.0)


@pytest.mark.parametrize(
    ("got", "want", "right"),
    [
        (1000000000000.5, 10**12, False),  # within the relative tolerance, but not the number
        (1000000006.6, 1000000007, False),
        (1000000007.0, 1000000007, True),
        (999999937.4, 999999937, False),
        (999999937.4, 999999937.0, True),
        (999999936.4, 999999937.0, False),
        (2.0000000001, 2, False),
        (2.0000000001, 2.0, True),
        (2, 2.0000000001, True),
        ([1.5, 2.0000000001], [1.5, 2], False),
        ({"a": 1.9999999999}, {"a": 2}, False),
        (2.0**60, 2**60, True),
        (2.0**60, 2**60 + 1, True),
        (2.0**60 + 512, 2**60, False),
        (1e308, 10**400, False),
        (1e15 + 0.25, 1e15 + 1.25, True),
        (0.30000000000000004, 0.3, True),
    ],
)
def test_an_approximation_is_not_taken_for_the_next_whole_number(got, want, right):
    assert VALUE_CHECKERS["values"](normal(got), normal(want), 1e-9) is right


@pytest.mark.parametrize(
    ("opens", "closes"), [('{"$tuple":[', "]}"), ('{"$set":[', "]}"), ("[", "]"), ('{"a":', "}")]
)
@pytest.mark.parametrize("depth", [205, 211, 330, 419, 5000])
def test_a_deep_answer_is_read_or_refused(opens, closes, depth):
    inner = "1" if opens.endswith(":") else ""
    try:
        form = normal(load(f"{opens * depth}{inner}{closes * depth}".encode()))
    except BadValue:
        assert depth > 205
    else:
        assert all(check(form, form, 0.0) for check in VALUE_CHECKERS.values())
