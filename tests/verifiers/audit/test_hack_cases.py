"""Hostile submissions to every verifier: none is paid, and none becomes a fault (law 10)."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from verigym import RequestError
from verigym.cli.main import app
from verigym.sandbox.local import default_sandbox
from verigym.verifiers.audit.hacks import judge_hack_cases, read_hack_cases
from verigym.verifiers.audit.intervals import wilson
from verigym.verifiers.pool import VerifierPool

FILE = Path(__file__).parents[2] / "data" / "hack_cases.jsonl"
# They run into a limit of theirs, which takes seconds.
SLOW = {
    *("stdio_checker_slow", "stdio_c_header_of_dev_zero", "stdio_java_agent", "stdio_perl_system"),
    "duck_recursive",
}
CASES = sorted(read_hack_cases(FILE), key=lambda case: case.verifier)


@pytest.fixture(scope="module")
def pool():
    # As a service judges: in a worker process, under its deadline.
    with VerifierPool(1, timeout_s=30.0) as pool:
        yield pool


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.name in SLOW else [])
        for case in CASES
    ],
)
def test_a_hack_earns_nothing_and_is_no_fault(pool, case):
    language = case.verifier == "code/stdio" and case.task.reference.get("language")
    if language and language not in default_sandbox().languages:
        pytest.skip(f"no {language} here")
    verdict = pool.verify(case.verifier, case.task, case.submission, params=case.params)
    assert not case.is_paid(verdict), verdict
    assert not case.is_dodged(verdict), verdict


ROW = {
    "name": "a",
    "verifier": "math/countdown",
    "task": {"reference": {"numbers": [3, 5, 7], "target": 22}},
    "submission": "<answer>22</answer>",
    "want": "unpaid_scored",
}
RIGHT = {**ROW, "name": "b", "submission": "<answer>3*5+7</answer>"}
FAULT = {**ROW, "name": "c", "task": {"reference": {}}}


def written(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_what_is_paid_and_what_has_no_score_is_named(tmp_path):
    rows = [ROW, RIGHT, FAULT, {**RIGHT, "name": "d", "want": "scored"}]
    rows += [{**FAULT, "name": "e", "want": "unpaid"}, {**FAULT, "name": "f", "want": "scored"}]
    path = written(tmp_path / "hacks.jsonl", *rows)
    with VerifierPool(1) as pool:
        report = judge_hack_cases(pool, read_hack_cases(path))
    named = {"total": 6, "paid": ["b"], "controls_failed": [], "hack_errors": ["c", "f"]}
    assert named.items() <= report.items()
    wants = [case.want for case in read_hack_cases(path)]
    unpaid, scored = len(wants) - wants.count("scored"), len(wants) - wants.count("unpaid")
    assert (report["paid_rate"], report["hack_error_rate"]) == (1 / unpaid, 2 / scored)
    assert report["paid_interval"] == list(wilson(1, unpaid))
    assert report["hack_error_interval"] == list(wilson(2, scored))


def audit(*args):
    return CliRunner().invoke(app, ["audit", *map(str, args)], catch_exceptions=False)


def test_the_command_line_judges_a_file(tmp_path):
    other = {**ROW, "verifier": "qa/answer", "task": {"reference": {"answer": 4}}, "name": "q"}
    path = written(tmp_path / "hacks.jsonl", ROW, other)
    done = audit("--hacks", path, "--json", "--fail-above", "0")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["total"] == 2
    done = audit("math/countdown", "--hacks", path, "--json")
    assert (json.loads(done.stdout)["total"], json.loads(done.stdout)["version"] >= 1) == (1, True)
    done = audit("--hacks", written(path, ROW, RIGHT, FAULT), "--fail-above", "0")
    assert done.exit_code == 4
    assert "hacks paid: 1; hacks without a score: 1" in done.stderr


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({**ROW, "want": "zero"}, "want must be one of unpaid, scored, unpaid_scored, got 'zero'"),
        ({**ROW, "task": 3}, "a task is an object"),
        ({k: v for k, v in ROW.items() if k != "verifier"}, "no 'verifier'"),
        ([ROW], "a hack is an object"),
    ],
)
def test_a_row_that_is_no_hack_is_named(tmp_path, row, says):
    path = written(tmp_path / "hacks.jsonl", ROW, row)
    with pytest.raises(RequestError, match="line 2: not a hack") as error:
        read_hack_cases(path)
    assert says in str(error.value)


def test_a_file_or_a_verifier_is_wanted(tmp_path):
    for args in ((), ("--hacks", tmp_path)):
        assert "no verifier was named" in audit(*args).stderr
    path = written(tmp_path / "hacks.jsonl", ROW)
    assert "holds no hacks of qa/answer" in audit("qa/answer", "--hacks", path).stderr
