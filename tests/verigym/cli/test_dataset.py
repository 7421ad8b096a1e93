"""`verigym dataset`: counts, and rows whose own answer is not accepted."""

import json
from pathlib import Path

from typer.testing import CliRunner

from verigym.cli.main import app

EXAMPLE = Path(__file__).parents[3] / "examples" / "datasets" / "rivers.toml"


def call(*args):
    return CliRunner().invoke(app, ["dataset", *map(str, args)])


def test_it_counts_what_is_kept():
    done = call(EXAMPLE, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["rows"] == 15
    assert sum(n for counts in found["kept"].values() for n in counts.values()) == 15
    assert (found["dropped"], found["refused"]) == ({}, [])
    assert "accepts every row's own answer" in call(EXAMPLE).output


def test_a_row_whose_answer_its_verifier_cannot_take_is_named(tmp_path):
    (tmp_path / "rows.jsonl").write_text(
        '{"q": "Two and two?", "a": "4"}\n{"q": "And the colour of that?", "a": "</answer>"}\n'
    )
    text = (
        EXAMPLE.read_text()
        .replace("rivers", "rows")
        .replace("question", "q")
        .replace("{answer}", "{a}")
    )
    keep = [line for line in text.splitlines() if "difficult" not in line and "tags" not in line]
    (tmp_path / "rows.toml").write_text("\n".join(keep))
    done = call(tmp_path / "rows.toml")
    assert done.exit_code == 4, done.output
    assert "rows.jsonl line 2" in done.output
    assert call(tmp_path / "rows.toml", "--no-judge").exit_code == 0
