"""The shipped vectors, one test each, and the program that runs such files."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    ROOT / "tests" / "data" / "vectors.json": 67,
    ROOT / "tests" / "data" / "vectors_2.json": 164,
}


def _program(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        f"bench_{name}", ROOT / "benchmarks" / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


runner = _program("vectors")
VECTORS = [vector for file in FILES for vector in runner.load(file)]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_vector(vector):
    assert runner.check(vector) is None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_file_holds_what_it_says(file):
    assert json.loads(file.read_text())["count"] == len(runner.load(file)) == FILES[file]


def _write(path: Path, *vectors: dict) -> str:
    path.write_text(json.dumps({"vectors": vectors}))
    return str(path)


GOOD = {
    "name": "good",
    "function": "rloo",
    "inputs": {"rewards": [1, 0], "group": ["a", "a"]},
    "expected": {"advantage": [1.0, -1.0]},
    "tolerance": 1e-9,
}


def test_program_passes_a_good_file(tmp_path, capsys):
    assert runner.main([_write(tmp_path / "v.json", GOOD)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"function": "nonsense"}, "unknown function 'nonsense'"),
        ({"inputs": {"rewards": [1, 0], "group": ["a", "a"], "extra": 1}}, "extra"),
        ({"inputs": {"rewards": [1, 0], "group": ["a"]}}, "group must hold one entry per row"),
        ({"expected": {"advantage": [1.0, -1.0 + 1e-8]}}, "advantage[1]: got -1.0"),
        ({"expected": {"advantage": [1.0]}}, "want a list of 1"),
        ({"expected": {"advantage": [float("nan"), -1.0]}}, "advantage[0]"),
        ({"expected": {"something": 1.0}}, "no output 'something'"),
    ],
)
def test_program_names_what_fails(tmp_path, capsys, change, message):
    bad = {**GOOD, **change, "name": "bad"}
    assert runner.main([_write(tmp_path / "v.json", GOOD, bad)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "1 passed, 1 failed"
    assert lines[0].startswith("FAILED bad: ")
    assert message in lines[0]


def test_program_writes_json(tmp_path, capsys):
    bad = {**GOOD, "name": "bad", "function": "nonsense"}
    assert runner.main([_write(tmp_path / "v.json", GOOD, bad), "--json"]) == 1
    out = json.loads(capsys.readouterr().out)
    assert (out["passed"], out["failed"]) == (1, 1)
    assert out["failures"][0]["name"] == "bad"


@pytest.mark.parametrize("text", ["", "{}", "[]", "not json"])
def test_program_refuses_a_file_without_vectors(tmp_path, capsys, text):
    path = tmp_path / "v.json"
    path.write_text(text)
    assert runner.main([str(path)]) == 2
    assert "cannot read vectors" in capsys.readouterr().err


def test_program_refuses_a_missing_file(tmp_path):
    assert runner.main([str(tmp_path / "none.json")]) == 2


def test_step_groups_are_compared_as_a_partition():
    gigpo = next(v for v in VECTORS if v["function"] == "gigpo")
    labels = gigpo["expected"]["step_group"]
    assert runner.check({**gigpo, "expected": {"step_group": [9 - x for x in labels]}}) is None
    assert "step_group" in runner.check({**gigpo, "expected": {"step_group": [0] * len(labels)}})


def test_speed_benchmark_writes_what_it_measured(tmp_path, capsys):
    speed = _program("credit_speed")
    out = tmp_path / "deep" / "speed.json"
    arguments = ["--rows", "301", "--runs", "5", "--bar-s", "1e9", "--out", str(out)]
    assert speed.main(arguments) == 0
    result = json.loads(out.read_text())
    assert result["rows"] == 301
    assert len(result["verigym"]["runs_s"]) == len(result["reference"]["runs_s"]) == 5
    assert result["ratio"] > 0
    assert "301 rows" in capsys.readouterr().out
    # A bar that cannot be met: the program says so by its exit status.
    assert speed.main([*arguments[:-4], "--bar-s", "0", "--out", str(out)]) == 1
    assert sys.modules.get("bench_credit_speed") is None
