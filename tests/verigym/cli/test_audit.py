"""`verigym audit` and what it prints."""

import hashlib
import json
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from verigym.cli.main import app
from verigym.verifiers.audit.cases import beside

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
    # One process judges these few cases sooner than four start.
    return RUNNER.invoke(app, ["audit", "--workers", "1", *map(str, args)], catch_exceptions=False)


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


@pytest.mark.slow
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


@pytest.mark.slow  # eight audits
def test_a_blind_set_is_added_to_the_card(cases, tmp_path):
    card = tmp_path / "card.json"
    blind = ("math/countdown", "--cases", cases, "--card", card, "--blind")
    refused = audit(*blind, "Kept aside")
    assert refused.exit_code == 2
    assert "write it first: verigym audit math/countdown --card" in " ".join(refused.stderr.split())
    assert audit("math/countdown", "--cases", cases, "--card", card).exit_code == 0
    for name in ("Kept aside", "Older", "Kept aside"):
        assert audit(*blind, name).exit_code == 0
    written = json.loads(card.read_text())
    assert [one["name"] for one in written["blind"]] == ["Kept aside", "Older"]
    one = written["blind"][0]
    assert one["sha256"] == hashlib.sha256(cases.read_bytes()).hexdigest()
    assert (one["n"], one["accuracy"], one["seeds_left_out"]) == (2, 1.0, 0)
    assert one["date"] == datetime.now(UTC).date().isoformat()
    assert one["commit"] or one["release"].startswith("verigym ")
    # Nobody can mend the verifier by what the card says of a blind set.
    assert "plain" not in json.dumps(one)
    text = (tmp_path / "card.md").read_text()
    assert f"| Kept aside | 2 | {_NONE} | {_NONE} | 0 | 100.0 % (34.2 to 100.0) |" in text
    # The seeds are measured again, and the blind sets stay; those of another version do not.
    assert audit("math/countdown", "--card", card).exit_code == 0
    again = json.loads(card.read_text())
    assert again["blind"] == written["blind"]
    assert again["mended_on"] == ["Seeds and what was made of them"]
    assert "mended on" in (tmp_path / "card.md").read_text()
    again["blind"][0]["version"] = 0
    card.write_text(json.dumps(again))
    done = audit("math/countdown", "--cases", cases, "--card", card)
    assert "left out: Kept aside" in " ".join(done.stderr.split())
    assert [one["name"] for one in json.loads(card.read_text())["blind"]] == ["Older"]


_NONE = "0.0 % (0.0 to 79.3)"


@pytest.mark.slow
def test_seeds_are_not_blind(tmp_path):
    card, path = tmp_path / "card", tmp_path / "cases.jsonl"
    rows = [
        {"gold": "1/2", "answer": "0.5", "label": 1, "question": f"What is {n}/{2 * n}?"}
        for n in (7, 8)
    ]
    seed = json.loads((beside("math/answer", "seeds", "jsonl")).read_text().splitlines()[1])
    path.write_text("".join(json.dumps(row) + "\n" for row in (*rows, seed)))
    assert audit("math", "--cases", path, "--card", card).exit_code == 0
    assert audit("math", "--cases", path, "--card", card, "--blind", "mixed").exit_code == 0
    one = json.loads(card.with_suffix(".json").read_text())["blind"][0]
    assert (one["n"], one["seeds_left_out"]) == (2, 1)
    path.write_text(json.dumps(seed) + "\n")
    done = audit("math", "--cases", path, "--card", card, "--blind", "seeds")
    assert done.exit_code == 2
    assert "nothing about them is blind" in " ".join(done.stderr.split())


def test_a_blind_set_needs_a_file_and_a_card(cases, tmp_path):
    for missing in (("--cases", cases), ("--card", tmp_path / "card"), ()):
        done = audit("math/countdown", *missing, "--blind", "Kept aside")
        assert done.exit_code == 2
        assert "--blind NAME needs --cases FILE and --card PATH" in " ".join(done.stderr.split())
