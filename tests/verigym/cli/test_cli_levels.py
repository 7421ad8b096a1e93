"""`verigym levels` and `-d` with a level."""

import json
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from verigym.cli.main import app
from verigym.verifiers.audit.intervals import wilson


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_tables_of_levels():
    done = run("levels", "keydoor", "-n", "2")
    assert done.exit_code == 0, done.output
    assert "answer chars" in done.stdout
    assert all(name in done.stdout for name in ("tiny", "easy", "medium", "hard"))


def test_levels_as_json():
    done = run("levels", "keydoor", "-n", "2", "--json")
    found = json.loads(done.stdout)
    assert found["seeds"] == 2
    rows = {row["name"]: row for row in found["levels"]}
    assert rows["hard"]["level"] == 6
    for figure in ("operations", "turns", "prompt_chars", "answer_chars"):
        assert rows["hard"][figure] > rows["easy"][figure]
    noisy = rows["hard"]["noisy"]
    assert 0 < noisy["0.1"]["mean"] < noisy["0.01"]["mean"] < noisy["0.001"]["mean"] < 1
    assert rows["hard"]["shortcuts"]["random play"]["tasks"] == 2


def test_a_policy_is_played_on_every_level():
    done = run("levels", "nim", "-n", "3", "--policy", "oracle", "--no-shortcuts", "--json")
    rows = json.loads(done.stdout)["levels"]
    assert len(rows) == 10
    for row in rows:
        assert (row["policies"]["oracle"]["mean"], row["policies"]["oracle"]["tasks"]) == (1.0, 3)
        assert row["policies"]["oracle"]["interval"] == pytest.approx(wilson(3, 3))
        assert row["shortcuts"] == {}


def test_a_plot_is_an_svg_file(tmp_path):
    done = run("levels", "nim", "-n", "2", "-p", "random", "--plot", str(tmp_path / "nim.svg"))
    assert done.exit_code == 0, done.output
    root = ElementTree.parse(tmp_path / "nim.svg").getroot()
    texts = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"random", "errs in 0.1 %", "random play", "operations"} <= texts


def test_another_kind_of_plot_is_refused():
    done = run("levels", "nim", "--plot", "nim.png")
    assert done.exit_code == 2
    assert "let its name end with .svg" in " ".join(done.stderr.split())


def test_run_takes_a_level():
    done = run("run", "keydoor", "-p", "oracle", "-n", "1", "-d", "4", "--json")
    assert json.loads(done.stdout)["difficulty"] == "medium"
