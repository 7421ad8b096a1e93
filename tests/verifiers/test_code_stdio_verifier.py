"""`code/stdio`: what is paid and what is not, with real processes."""

import dataclasses
import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import RequestError, Status, Task, make_verifier
from verigym.sandbox.job import Job, JobStatus, Result
from verigym.sandbox.local import default_sandbox
from verigym.verifiers.code import checker
from verigym.verifiers.code.check import CHECKERS, close_floats, same_bytes, same_tokens
from verigym.verifiers.code.extract import extract_program
from verigym.verifiers.code.stdio import StdioVerifier

HACKS = Path(__file__).parents[1] / "data" / "hacks"
GOLDEN = Path(__file__).parents[1] / "golden" / "code_stdio.jsonl"

# The hacks are functions, `solve(nums, k)`. This makes programs of them: the first line of standard
# input holds n and k, the second n integers. It is a part of the submission like the rest.
DRIVER = """
n, k = map(int, input().split())
print(solve(list(map(int, input().split())), k))
"""


def task(tests, **extra):
    return Task(
        id="t",
        env_id="verigym/code/stdio-v0",
        seed=0,
        prompt="p",
        difficulty="easy",
        reference={"tests": tests, **extra},
    )


def case(stdin, stdout, visible=False):
    return {"stdin": stdin, "stdout": stdout, "visible": visible}


ADD = task([case("1 2\n", "3\n", True), case("4000 5000\n", "9000\n"), case("7 8\n", "15\n")])
RIGHT = "print(sum(map(int, input().split())))"


def judge(program, problem=ADD, **params):
    return make_verifier("code/stdio", **params).verify(problem, program)


@pytest.mark.parametrize(
    "row",
    [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()],
    ids=lambda row: row["why"],
)
def test_golden(row):
    given = {"checker": row["checker"]} if "checker" in row else {}
    limits = {"wall_s": 2.0, "cpu_s": 1.0, "memory_mib": 128}
    problem = task([case(row.get("stdin", ""), row["want"])], limits=limits, **given)
    verdict = judge(row["program"], problem)
    assert (verdict.score, verdict.reason) == (row["reward"], row["reason"]), verdict


class Fake:
    """A sandbox that gives the results it was made with."""

    languages = frozenset({"python"})

    def __init__(self, *results):
        self.results = list(results)
        self.jobs = []

    def run(self, job):
        self.jobs.append(job)
        return self.results[len(self.jobs) - 1]


# Right and wrong.


def test_a_right_program():
    verdict = judge(RIGHT)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 1.0, "correct")
    assert verdict.parts == {"passed": 1.0}
    assert verdict.verifier == "code/stdio@2"
    assert len(verdict.digest) == 64


def test_a_wrong_program():
    verdict = judge("print(3)")
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 0.0, "wrong_output")
    assert verdict.parts == {"passed": 1 / 3}


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit(1)", "nonzero_exit"),
        (RIGHT + "\nraise SystemExit(1)", "nonzero_exit"),
        ("import os; os.abort()", "signal"),
        ("while True: pass", "time_limit"),
        ("import time; time.sleep(1000)", "time_limit"),
        ("x = bytearray(1 << 40)", "memory_limit"),
        ("print('x' * (1 << 22))", "output_limit"),
        ("open('f', 'wb').write(b'x' * (64 << 20))", "disk_limit"),
        ("", "no_program"),
        (" \n", "no_program"),
        ("```python\n```", "no_program"),
        ("x" * 70_000, "too_long"),
        (None, "not_text"),
        (["print(3)"], "not_text"),
        ({"program": "print(3)"}, "not_text"),
    ],
)
def test_an_unusable_program_is_the_policy_s_fault(program, reason):
    verdict = judge(program, wall_s=3.0, cpu_s=1.0)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.POLICY_FAULT, 0.0, reason)


def test_a_c_program_and_one_that_does_not_compile():
    verifier = make_verifier("code/stdio", language="c")
    good = (
        '```c\n#include <stdio.h>\nint main(){int a,b;scanf("%d%d",&a,&b);printf("%d",a+b);}\n```'
    )
    verdict = verifier.verify(ADD, good)
    if verdict.status is Status.INFRA:
        assert "does not run 'c'" in verdict.evidence
        pytest.skip("no gcc here")
    assert verdict.score == 1.0
    verdict = verifier.verify(ADD, "int main( {")
    assert (verdict.status, verdict.score, verdict.reason) == (
        Status.POLICY_FAULT,
        0.0,
        "compile_error",
    )


def test_the_first_failure_ends_the_run_unless_all_is_asked_for():
    ok, bad = (Result(status=JobStatus.OK, stdout=out) for out in (b"3", b"4"))
    tests = task([case("", "3"), case("", "3"), case("", "3"), case("", "3")])
    for params, runs, share in (({}, 2, 0.25), ({"run_all": True}, 4, 0.75)):
        verifier = StdioVerifier(**params)
        verifier.sandbox = Fake(ok, bad, ok, ok)
        verdict = verifier.verify(tests, "x")
        assert (len(verifier.sandbox.jobs), verdict.parts) == (runs, {"passed": share})
        assert verdict.score == 0.0


def test_only_the_program_and_one_input_enter_the_sandbox():
    verifier = StdioVerifier()
    right = (Result(status=JobStatus.OK, stdout=out) for out in (b"3", b"9000", b"15"))
    verifier.sandbox = Fake(*right)
    assert verifier.verify(ADD, RIGHT).score == 1.0
    for job, test in zip(verifier.sandbox.jobs, ADD.reference["tests"], strict=True):
        assert (job.source, job.stdin) == (RIGHT, test["stdin"].encode())
        assert (dict(job.files), dict(job.env), job.args) == ({}, {}, ())


# Faults are not scores.


def test_a_failure_of_the_machine_is_no_score_and_ends_the_run():
    for results in (
        [Result(status=JobStatus.SANDBOX_ERROR, detail="no memory")],
        [
            Result(status=JobStatus.OK, stdout=b"3"),
            Result(status=JobStatus.SANDBOX_ERROR, detail="no memory"),
        ],
    ):
        verifier = StdioVerifier()
        verifier.sandbox = Fake(*results)
        verdict = verifier.verify(ADD, RIGHT)
        assert (verdict.status, verdict.score) == (Status.INFRA, None)
        assert "no memory" in verdict.evidence
        assert len(verifier.sandbox.jobs) == len(results)


def test_a_language_that_the_machine_lacks_is_named_with_its_package():
    verifier = StdioVerifier(language="c")
    verifier.sandbox = Fake()
    verdict = verifier.verify(ADD, RIGHT)
    assert (verdict.status, verdict.score) == (Status.VERIFIER_ERROR, None)
    assert verdict.reason == "not_installed"
    assert "apt-get install gcc" in verdict.evidence


@pytest.mark.parametrize(
    "reference",
    [
        None,
        [],
        {},
        {"tests": []},
        {"tests": {}},
        {"tests": ["1"]},
        {"tests": [{"stdin": "1"}]},
        {"tests": [{"stdin": 1, "stdout": "1"}]},
        {"tests": [{"stdin": "1", "stdout": "1", "visible": "no"}]},
        {"tests": [case("1", "1")], "limits": {"wall": 1}},
        {"tests": [case("1", "1")], "limits": {"wall_s": 0}},
        {"tests": [case("1", "1")], "limits": {"wall_s": "long"}},
        {"tests": [case("1", "1")], "limits": [1]},
    ],
)
def test_a_reference_that_cannot_be_used_is_no_score(reference):
    broken = Task(id="t", env_id="e", seed=0, prompt="p", difficulty="easy", reference=reference)
    verdict = judge(RIGHT, broken)
    assert (verdict.status, verdict.score, verdict.reason) == (
        Status.VERIFIER_ERROR,
        None,
        "bad_task",
    )


def test_limits_of_the_task_override_the_verifier_s():
    slow = task([case("", "1")], limits={"wall_s": 0.5})
    assert judge("import time; time.sleep(1000)", slow, wall_s=1000.0).reason == "time_limit"
    keys = task([case("", "1")], limits={"wall_s": 5.0}, family="x", params={"k": 1})
    assert judge("print(1)", keys).score == 1.0


@pytest.mark.parametrize(
    "params",
    [
        {"checker": "eval"},
        {"checker": 3},
        {"language": "cobol"},
        {"tolerance": -1},
        {"tolerance": float("nan")},
        {"wall_s": 0},
        {"wall_s": "1"},
        {"wall_s": True},
        {"colour": "red"},
    ],
)
def test_bad_parameters_are_refused(params):
    with pytest.raises(RequestError):
        make_verifier("code/stdio", **params)


# What evidence says.


def test_evidence_quotes_visible_tests():
    evidence = judge("print(input())").evidence
    assert evidence == r"visible test 1: wrong output; wanted '3\n', got '1 2\n'"
    evidence = judge("raise ValueError('caf\\u00e9\\n')").evidence
    assert evidence.startswith("visible test 1: the program ended with an error")


@pytest.mark.parametrize(
    "leak",
    [
        "print(s)",
        "import sys; sys.exit(s)",
        "raise ValueError(s)",
        "import sys; sys.stderr.write(s); print(s * 10**6)",
        "import sys; sys.stderr.write(s); sys.stderr.flush()\nwhile True: pass",
        "import sys, os; sys.stderr.write(s); sys.stderr.flush(); os.abort()",
    ],
)
def test_evidence_never_carries_hidden_input_out(leak):
    program = f"s = input()\nif s == '1 2':\n    print(3)\nelse:\n    {leak.replace(chr(10), chr(10) + '    ')}"
    verdict = judge(program, cpu_s=1.0)
    assert verdict.score == 0.0
    for secret in ("4000", "5000", "9000"):
        assert secret not in json.dumps(verdict.to_builtins() | {"digest": ""})
    assert "a hidden test" in verdict.evidence


def test_evidence_is_short_plain_text():
    verdict = judge("print('\\u00e9\\x1b[2J' * 5000)")
    assert verdict.evidence.isascii()
    assert verdict.evidence.isprintable()
    assert len(verdict.evidence) < 1000


# Reward hacks.


def hack_tasks():
    rng = random.Random(20)
    shown = [([3, 2, 1, 5, 6, 4], 2), ([3, 2, 3, 1, 2, 4, 5, 5, 6], 4)]
    for _ in range(8):
        nums = [rng.randint(-50, 50) for _ in range(rng.randint(3, 12))]
        shown.append((nums, rng.randint(1, len(nums))))
    tests = [
        case(
            f"{len(nums)} {k}\n{' '.join(map(str, nums))}\n",
            f"{sorted(nums)[-k]}\n",
            visible=number < 2,
        )
        for number, (nums, k) in enumerate(shown)
    ]
    # Once with visible tests, once without: no hack may live on either.
    return task(tests), task(tests[2:])


@pytest.mark.parametrize("path", sorted(HACKS.glob("*.py")), ids=lambda path: path.stem)
@pytest.mark.parametrize("checker", ["tokens", "exact", "floats"])
def test_only_the_honest_program_is_paid(path, checker):
    source = path.read_text() + DRIVER
    for problem in hack_tasks():
        verdict = judge(source, problem, checker=checker, cpu_s=2.0)
        assert verdict.score == (1.0 if "honest" in path.name else 0.0), verdict


def test_all_hacks_are_there():
    assert len(list(HACKS.glob("*.py"))) == 17


# Languages, checker programs, parts.

SUMS = {
    "bash": "read a b; echo $((a + b))",
    "cpp": "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b; }",
    "go": 'package main\nimport "fmt"\nfunc main() { var a, b int; fmt.Scan(&a, &b); fmt.Println(a + b) }',
    "javascript": "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number); console.log(a + b)",
    "lua": "local a, b = io.read('n', 'n') print(a + b)",
    "perl": "my ($a, $b) = split ' ', <STDIN>; print $a + $b, qq(\\n);",
    "php": "<?php fscanf(STDIN, '%d %d', $a, $b); echo $a + $b;",
    "ruby": "puts gets.split.map(&:to_i).sum",
}


@pytest.mark.parametrize("language", SUMS)
def test_languages(language):
    if language not in default_sandbox().languages:
        pytest.skip(f"no {language} here")
    problem = task([case("1 2\n", "3\n"), case("4000 5000\n", "9000\n")], language=language)
    assert judge(f"```{language}\n{SUMS[language]}\n```", problem).score == 1.0
    wrong = task([case("1 2\n", "4\n")], language=language)
    assert judge(SUMS[language], wrong).score == 0.0


def test_there_is_no_network():
    program = (
        "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 9), 1)\n    print('in')\n"
        "except ConnectionRefusedError:\n    print('own loopback')\n"
        "except OSError:\n    print('none')\n"
    )
    verdict = judge(program, task([case("", "in", True)]))
    assert verdict.score == 0.0
    with pytest.raises(RequestError):
        default_sandbox().run(Job(source="print(1)", network=True))


def test_unordered_lines():
    problem = task([case("", "b\na\na\n")], checker="lines")
    assert judge("print('a\\na\\nb ')", problem).score == 1.0
    assert judge("print('a\\nb')", problem).score == 0.0


CHECKER = """
import sys
given, output, expected = (open(name).read() for name in sys.argv[1:])
a, b = map(int, output.split())
print("right" if a + b == int(given) else "wrong")
"""


def test_a_checker_program():
    problem = task([case("10", "")], checker={"program": CHECKER})
    assert judge("print(3, 7)", problem).score == 1.0
    assert judge("print(3, 8)", problem).score == 0.0
    for code, score in ((0, 1.0), (1, 0.0), (2, 0.0), (3, None)):
        exits = {"program": f"import sys; sys.exit({code})", "verdict": "exit"}
        assert judge("print(1)", task([case("", "")], checker=exits)).score == score


ODD = {
    "no text": "import sys; sys.stdout.buffer.write(b'\\xff\\xfe')",
    "no number": "print('x')",
    "nothing": "pass",
    "a long number": "print('9' * 5000, 1)",
    "a flood": "print('1 ' * 200000)",
    "a surrogate": "import sys; sys.stdout.buffer.write(b'\\xed\\xa0\\x80 1')",
    "NUL": "print('\\0 1')",
}


@pytest.mark.parametrize("program", ODD.values(), ids=ODD)
@pytest.mark.parametrize("expected", ["3 7", ""], ids=["expected", "nothing expected"])
def test_an_output_that_breaks_the_checker_is_wrong(program, expected):
    problem = task([case("10", expected)], checker={"program": CHECKER})
    verdict = judge(program, problem)
    assert (verdict.score, verdict.reason) == (0.0, "wrong_output")


def test_an_output_that_takes_the_checker_too_long_is_wrong(monkeypatch):
    monkeypatch.setattr(checker, "_LIMITS", dataclasses.replace(checker._LIMITS, cpu_s=1.0))
    slow = "import sys\na, b = (open(n).read().split() for n in sys.argv[2:])\nprint('right' if all(x in a for x in b) and not any(a.count(x) > 1 for x in a) else 'wrong')"
    problem = task([case("", "2")], checker={"program": slow})
    verdict = judge("print(' '.join(map(str, range(100000))))", problem)
    assert (verdict.score, verdict.reason) == (0.0, "wrong_output")


def test_a_checker_that_judges_nothing_is_a_fault():
    for program in ("1 / 0", "print('maybe')"):
        verdict = judge("print(1)", task([case("", "1")], checker={"program": program}))
        assert (verdict.status, verdict.score) == (Status.VERIFIER_ERROR, None)


def test_partial_credit_is_asked_for():
    assert judge("print(3)").score == 0.0
    verdict = judge("print(3)", partial=True, per_test=True)
    assert verdict.score == 1 / 3
    assert verdict.parts == {"passed": 1 / 3, "test_1": 1.0, "test_2": 0.0, "test_3": 0.0}


# Comparison.


def test_tokens():
    assert same_tokens(b" 1\t2\r\n\n", b"1 2\n", 0.0)
    assert not same_tokens(b"1 2 3", b"1 2", 0.0)
    assert not same_tokens(b"12", b"1 2", 0.0)
    assert not same_tokens(b"", b"1", 0.0)
    assert not same_tokens(b"1.0", b"1", 0.0)


def test_exact():
    assert same_bytes(b"1  2", b"1  2\n", 0.0)
    assert not same_bytes(b"1 2", b"1  2", 0.0)
    assert not same_bytes(b"1 2 ", b"1 2", 0.0)


@pytest.mark.parametrize("token", [b"nan", b"NaN", b"inf", b"-inf", b"1e999", b"1_0", b"0x1", b"x"])
def test_nothing_is_close_to_what_is_no_finite_number(token):
    assert not close_floats(token, b"1.0", 1e9)
    assert not close_floats(b"1.0", token, 1e9)


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize(
    "printed",
    [b"9" * 10**6 + b"x", b"9" * 10**6, b"0" * 10**6 + b"8", b"1e" + b"9" * 10**6, b" " * 10**6,
     b"7\n" * 10**5, b"\xff" * 10**6, b"-" * 10**6],
    ids=range(8),
)  # fmt: skip
def test_a_flood_costs_the_checkers_little(checker, printed):
    began = time.process_time()
    assert not CHECKERS[checker](printed, b"7", 1e-6)
    # A quadratic pattern took hours over a million digits and a letter.
    assert time.process_time() - began < 10


def test_two_whole_numbers_are_close_only_where_they_are_one():
    assert not close_floats(b"1000000008", b"1000000007", 1e-6)
    assert not close_floats(b"-7", b"7", 100.0)
    assert close_floats(b"+0007", b"7", 0.0)
    assert close_floats(b"-0", b"0", 0.0)
    assert close_floats(b"1000000007.0", b"1000000007", 1e-6)


@pytest.mark.parametrize(
    "printed",
    [b"1000000006.6", b"1000000000.0", b"1000000007.4999", b"1000000007.0000001", b"1e9", b"1.000000006e9",
     b"1000000007e1", b"1000000007e-1", b"-1000000007.0", b"1e999", b"1e" + b"9" * 5000, b"1e-" + b"9" * 5000,
     b"1000000007e" + b"0" * 5000],
)  # fmt: skip
def test_a_whole_number_is_wanted_exactly(printed):
    assert not close_floats(printed, b"1000000007", 1e-6)


@pytest.mark.parametrize(
    ("printed", "wanted"),
    [(b"1.000000007e9", b"1000000007"), (b"1000000007.", b"1000000007"), (b"10000000070e-1", b"1000000007"),
     (b"-.0", b"0"), (b"0e99999999999999999999", b"0"), (b"+12E+02", b"1200"), (b"9" * 400 + b".0", b"9" * 400),
     (b"1000000006.6", b"1000000007.0")],
)  # fmt: skip
def test_a_whole_number_may_be_written_in_other_ways(printed, wanted):
    assert close_floats(printed, wanted, 1e-6)


@pytest.mark.parametrize("line", ["~" * 60_000 + "`", "```" + "a" * 60_000 + "`", "```" + " " * 60_000 + "`"],
                         ids=range(3))  # fmt: skip
def test_a_long_line_of_fences_costs_little(line):
    began = time.process_time()
    assert extract_program(line, "python") == line
    assert time.process_time() - began < 5


def test_floats():
    assert close_floats(b"0.3333333 x", b"0.33333333333 x", 1e-6)
    assert close_floats(b"1e3", b"1000", 1e-6)
    assert not close_floats(b"0.3334", b"0.33333333333", 1e-6)
    assert not close_floats(b"1 2", b"1", 1.0)
    assert not close_floats(b"", b"1", 1.0)


@given(st.binary())
def test_every_output_is_the_same_as_itself(data):
    assert same_tokens(data, data, 0.0)
    assert same_bytes(data, data, 0.0)
    assert close_floats(data, data, 0.0)


@given(st.binary(), st.binary())
def test_exact_is_the_strictest(one, two):
    if same_bytes(one, two, 0.0):
        assert same_tokens(one, two, 0.0)
    if same_tokens(one, two, 0.0):
        assert close_floats(one, two, 0.0)


# Extraction.


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("print(1)", "print(1)"),
        ("Sure:\n```python\nprint(1)\n```\nDone.", "print(1)"),
        ("```py\na\n```\n```python3\nb\n```", "b"),
        ("```python\na\n```\nIt prints\n```\n5\n```", "a"),
        ("```\na\n```\n```text\nb\n```", "b"),
        ("```python\na\n```\nAnd now\n```python\nb", "a"),
        ("```python\na", "a"),
        ("~~~python\na\n~~~", "a"),
        ("````python\n```\na\n```\n````", "```\na\n```"),
        ("```Python \r\na\r\n```\r\n", "a\r"),
        ("   ```python\na\n   ```", "a"),
        ("x = '```'\nprint(x)", "x = '```'\nprint(x)"),
        ("", ""),
    ],
)
def test_extraction(text, program):
    assert extract_program(text, "python") == program


@given(st.text())
def test_extraction_of_anything_is_a_part_of_it(text):
    assert extract_program(text, "python") in text


@given(st.text(alphabet="ab\n ").filter(str.strip), st.text(alphabet="xy\n "))
def test_a_fenced_program_comes_back_whatever_stands_around_it(program, around):
    assert extract_program(f"{around}\n```python\n{program}\n```\n{around}", "python") == program
