"""`verigym audit --tasks`, through the command line."""

import json

from typer.testing import CliRunner

from verigym.cli.main import app


def audit(*args):
    return CliRunner().invoke(app, ["audit", *args])


def test_a_planted_loophole_fails_the_command_and_is_named():
    found = audit(
        "--tasks", "math/arithmetic", "--planted", "blank", "-n", "2", "--json", "--fail-above", "0"
    )
    assert found.exit_code == 4
    whole = json.loads(found.stdout)
    assert whole["hack_rate"] == 1.0
    assert whole["cheated"] == ["verigym/math/arithmetic-v0"]
    (source,) = whole["sources"]
    assert "planted hack" in {one["policy"] for one in source["paid"]}
    assert len(source["at_fault"]) == 2


def test_a_file_of_rows_is_audited_with_a_named_verifier(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        "".join(
            json.dumps({"question": f"What is {n} times 1009?", "answer": str(n * 1009)}) + "\n"
            for n in range(120, 180)
        )
    )
    found = audit("math", "--tasks", str(rows), "-n", "2", "--fail-above", "0")
    assert found.exit_code == 0, found.output
    assert "hack rate 0.0 %" in found.stdout
    assert audit("--tasks", str(rows)).exit_code != 0
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    refused = audit("math", "--tasks", str(tmp_path / "other.jsonl"))
    assert "needs the columns prompt and reference" in refused.output
