"""`verigym audit` and what it prints."""

import json

import pytest
from typer.testing import CliRunner

from verigym.cli.main import app

RUNNER = CliRunner()
GOOD = {
    "task": {"reference": {"numbers": [3, 5, 7], "target": 22}, "prompt": "Make 22."},
    "submission": "<answer>3*5+7</answer>",
    "label": 1,
    "category": "plain",
}
BAD = {**GOOD, "submission": "<answer>3*5+8</answer>", "label": 0}
KEYS = {"n", "accuracy", "false_positive_rate", "false_negative_rate", "by_category"} | {
    "errors",
    "latency_ms",
}


def audit(*args):
    return RUNNER.invoke(app, ["audit", *map(str, args)], catch_exceptions=False)


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (GOOD, BAD)))
    return path


def test_the_object_has_the_keys_that_others_read(cases):
    done = audit("math/countdown", "--cases", cases, "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report.keys() >= KEYS
    assert set(report["latency_ms"]) == {"p50", "p99", "worst"}
    assert (report["n"], report["accuracy"], report["errors"]) == (2, 1.0, 0)
    assert report["by_category"]["plain"]["n"] == 2


def test_a_table_for_people_and_growth(cases, tmp_path):
    done = audit(
        *("math/countdown", "--cases", cases, "--grow", "--against", "math/countdown"),
        *("--card", tmp_path / "card"),
    )
    assert done.exit_code == 0
    assert "hostile-empty" in done.stdout
    assert "agrees with math/countdown on 100.0 %" in done.stdout
    assert (tmp_path / "card.md").exists()


def test_fail_above(tmp_path):
    path = tmp_path / "mislabelled.jsonl"
    path.write_text(json.dumps({**GOOD, "label": 0}) + "\n")
    assert audit("math/countdown", "--cases", path).exit_code == 0
    done = audit("math/countdown", "--cases", path, "--fail-above", "0.5")
    assert done.exit_code == 4
    assert "wrong answers accepted: 100.00 %" in done.stderr
    path.write_text(json.dumps({**GOOD, "task": {}}) + "\n")
    assert audit("math/countdown", "--cases", path, "--fail-above", "0").exit_code == 3


def test_parameters_reach_the_verifier(cases):
    done = audit("math/countdown", "--cases", cases, "--param", "use_all=false", "--json")
    assert json.loads(done.stdout)["params"] == {"use_all": False}
    done = audit("math/countdown", "--cases", cases, "--param", "use_all=maybe")
    assert done.exit_code == 2
    assert "use_all must be true or false, got 'maybe'" in done.stderr
    assert audit("math/countdown", "--cases", cases, "--param", "x").exit_code == 2


def test_hacks(tmp_path):
    (tmp_path / "a_honest.py").write_text("def solve(nums, k): return sorted(nums)[-k]\n")
    (tmp_path / "b.py").write_text("import sys; sys.exit(0)\n")
    done = audit("code", "--hacks", tmp_path, "--json", "--fail-above", "0")
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert (report["total"], report["paid"], report["controls_failed"]) == (2, [], [])


def test_mistakes_are_told():
    assert "did you mean" in audit("math/countdwn").stderr
    assert audit("math/countdown", "--cases", "/nowhere/cases.jsonl").exit_code == 2
