"""code/stdio: right and wrong programs, faults, evidence, languages and checker programs."""

import dataclasses
import json
from pathlib import Path

import pytest

from tests.verifiers.stdio_tasks import ADD, case, judge, task
from verigym import RequestError, Status, Task, make_verifier
from verigym.sandbox.job import Job, JobStatus, Result
from verigym.sandbox.local import default_sandbox
from verigym.verifiers.code import checker
from verigym.verifiers.code.stdio import StdioVerifier

GOLDEN = Path(__file__).parents[1] / "golden" / "code_stdio.jsonl"

RIGHT = "print(sum(map(int, input().split())))"


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
