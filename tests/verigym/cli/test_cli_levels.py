"""`verigym levels` and `-d` with a level."""

import json

from typer.testing import CliRunner

from verigym.cli.main import app


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_a_table_of_levels():
    done = run("levels", "keydoor", "-n", "2")
    assert done.exit_code == 0, done.output
    assert "noisy success" in done.stdout
    assert all(name in done.stdout for name in ("tiny", "easy", "medium", "hard"))


def test_levels_as_json():
    done = run("levels", "keydoor", "-n", "2", "--json")
    found = json.loads(done.stdout)
    assert (found["seeds"], found["error_rate"]) == (2, 0.001)
    rows = {row["name"]: row for row in found["levels"]}
    assert rows["hard"]["level"] == 6
    assert rows["hard"]["operations"] > rows["easy"]["operations"]
    assert 0 < rows["hard"]["noisy_success"] < 1


def test_run_takes_a_level():
    done = run("run", "keydoor", "-p", "oracle", "-n", "1", "-d", "4", "--json")
    assert json.loads(done.stdout)["difficulty"] == "medium"
