"""The programs that compare estimators: their truth is true, and their summaries add up."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from verigym.episode import Episode, Turn

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def program(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"program_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_exact_value_is_the_mean_of_continuations():
    truth = program("credit_truth")
    player = truth.Scripted("games/keydoor", difficulty=1, noise=0.3, max_turns=7)
    record = player.play(1, 1)
    start = record.points[0, 0]
    exact = player.expectation(start)
    (found,) = player.returns([start], 150)
    error = np.std(found) / len(found) ** 0.5 + 1e-9
    assert abs(np.mean(found) - exact) < 4 * error
    gains = truth.measure(player, record, 4, 0, exact=True)
    assert all(error == 0.0 and -1 <= gain <= 1 for gain, error in gains.values())


def test_signs_are_counted_where_the_truth_is_known():
    truth = program("credit_truth")
    turns = [
        Turn(observation="", response="", action="", reward=0.0, state_key="s") for _ in range(4)
    ]
    episode = Episode(
        id="0",
        env_id="e",
        task_id="t",
        seed=0,
        group_id="g",
        difficulty="",
        split="train",
        turns=turns,
    )
    record = truth.Record(episodes=[episode])
    known = {(0, 0): (0.5, 0.1), (0, 1): (-0.5, 0.1), (0, 2): (0.5, 0.1), (0, 3): (0.1, 0.1)}
    found = truth.compare(record, known, {"a": [[1.0, 1.0, 0.0, 1.0]]})
    assert (found["steps_measured"], found["steps_counted"]) == (4, 3)
    one = found["estimators"]["a"]
    assert one["agrees"]["value"] == one["opposite"]["value"] == pytest.approx(1 / 3)
    assert one["silent"] == pytest.approx(1 / 3)
    assert "| `a` | 33% [" in truth.table({"worlds": {"w": found}})


@pytest.mark.slow
def test_every_run_of_the_league_has_a_configuration():
    league = program("credit_league")
    for part in league.PARTS.values():
        for estimator in part.estimators:
            config = league.config_for(part, estimator, 1, "folder", 1)
            assert config.algorithm.name == estimator
            assert config.train.max_env_steps == part.train["max_env_steps"]


@pytest.mark.slow
def test_the_league_pairs_finished_runs_by_seed(tmp_path):
    league = program("credit_league")
    scores = {"grpo-0": 0.2, "grpo-1": 0.4, "gigpo-0": 0.3, "gigpo-1": 0.6, "rloo-0": 0.9}
    for name, score in scores.items():
        folder = tmp_path / "keydoor" / name
        folder.mkdir(parents=True)
        facts = {"finished": name != "rloo-0"}
        (folder / "run.json").write_text(json.dumps(facts))
        lines = [
            {"env_steps": 10 * (i + 1), "success_rate": 0.0 if i < 2 else score} for i in range(7)
        ]
        (folder / "commit.txt").write_text("abc")
        (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = league.summarise(tmp_path, 2)["keydoor"]
    assert found["score"] == pytest.approx({"grpo": 0.3, "gigpo": 0.45})
    assert "rloo-0" in found["missing"]
    margin = found["margin_over_grpo"]["gigpo"]
    assert margin["mean"] == pytest.approx(0.15)
    assert margin["interval"] == pytest.approx([0.15 - 12.706 * 0.05, 0.15 + 12.706 * 0.05])
    pytest.importorskip("matplotlib")
    league.draw({"keydoor": found}, tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text().startswith("<?xml")


@pytest.mark.slow
def test_a_table_learns_from_every_estimator_that_is_compared(monkeypatch):
    tabular = program("credit_tabular")
    monkeypatch.setattr(tabular, "ENV_STEPS", 60)
    monkeypatch.setattr(tabular, "GROUPS", 1)
    monkeypatch.setattr(tabular, "TASKS", 1)
    monkeypatch.setattr(tabular, "MEMBERS", 4)
    monkeypatch.setitem(tabular.WORLDS["games/keydoor"], "noise", 0.2)
    runs = {name: {"0": tabular.run("games/keydoor", name, 0)} for name in ("grpo", "branch")}
    assert runs["grpo"]["0"]["start"] == runs["branch"]["0"]["start"]
    assert all(0 <= one["0"]["score"] <= 1 for one in runs.values())
    again = tabular.run("games/keydoor", "grpo", 0)
    assert again == runs["grpo"]["0"]
    assert set(tabular.summary(runs)) == {"grpo", "branch"}
