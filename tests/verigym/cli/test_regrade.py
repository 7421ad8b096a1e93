"""`verigym regrade`: flips are listed, faults and changed worlds are told apart, runs are resumed."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from verigym.agents.record import append_episodes, read_episodes
from verigym.agents.regrade import Regrader
from verigym.cli.main import app
from verigym.registry import described_files

RUNNER = CliRunner()


def verigym(*args):
    return RUNNER.invoke(app, [str(arg) for arg in args], catch_exceptions=False)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    path = folder / "episodes.jsonl"
    for number, (env, policy) in enumerate(
        [
            ("countdown", "oracle"),
            ("countdown", "random"),
            ("keydoor", "oracle"),
            ("keydoor", "random"),
        ]
    ):
        part = folder / f"{number}.jsonl"
        done = verigym("run", env, "-p", policy, "-n", "3", "--seed", 10 * number, "--out", part)
        assert done.exit_code == 0
        append_episodes(path, read_episodes(part))
    return path


def report(*args):
    done = verigym("regrade", *args, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_the_same_verifier_flips_nothing(stored):
    found = report(stored)
    assert found["n_episodes"] == 12
    assert found["n_verdicts"] == found["same"] >= 9
    assert (found["flips"], found["faults"], found["unplayable"]) == (0, 0, {})


def test_every_verdict_that_flips_is_listed(stored, tmp_path):
    found = report(stored, "--verifier", "text/length", "--param", "most=0")
    old = [e.verdict.score for e in read_episodes(stored) if e.verdict is not None]
    assert found["down"] == found["flips"] == sum(score == 1.0 for score in old) >= 6
    assert {one["new"]["verifier"] for one in found["flipped"]} == {"text/length@1"}
    table = verigym("regrade", stored, "--verifier", "text/length", "--param", "most=0")
    assert f"{found['flips']} flipped" in table.stdout
    failed = verigym(
        "regrade", stored, "--verifier", "text/length", "--param", "most=0", "--fail-on-flip"
    )
    assert failed.exit_code == 4


def test_faults_are_no_flips(stored):
    found = report(stored, "--verifier", "compose/all")
    assert found["flips"] == 0
    assert found["faults"] == found["n_verdicts"] == len(found["faulted"])


def test_a_world_that_changed_is_told(stored, tmp_path):
    path = tmp_path / "changed.jsonl"
    first, second, *_ = read_episodes(stored)
    other_seed = replace(first, id="seed", seed=first.seed + 1)
    other_env = replace(second, id="env", env_id="verigym/math/nothing-v0")
    append_episodes(path, [other_seed, other_env, first])
    found = report(path)
    assert set(found["unplayable"]) == {"seed", "env"}
    assert "another task" in found["unplayable"]["seed"]
    assert "unknown environment" in found["unplayable"]["env"]
    assert (found["n_verdicts"], found["flips"]) == (1, 0)


@pytest.mark.slow
def test_it_goes_on_where_it_was_stopped(stored, tmp_path, monkeypatch):
    out = tmp_path / "deep" / "regraded.jsonl"
    whole = report(stored, "--out", out)
    lines = out.read_text().splitlines(keepends=True)
    assert len(lines) == 13
    out.write_text("".join(lines[:5]) + lines[5][:20])  # killed in the middle of a line
    asked = []
    real = Regrader.regrade
    monkeypatch.setattr(
        Regrader, "regrade", lambda self, one: asked.append(one.id) or real(self, one)
    )
    assert report(stored, "--out", out) == whole
    assert len(asked) == 8
    assert sorted(out.read_text().splitlines()) == sorted(line.strip() for line in lines)
    done = verigym("regrade", stored, "--out", out, "--verifier", "text/length")
    assert done.exit_code == 2
    assert "other settings" in done.stderr


def test_mistakes(stored, tmp_path):
    assert verigym("regrade", tmp_path / "none").exit_code == 2
    done = verigym("regrade", stored, "--param", "sieze=1")
    assert done.exit_code == 2
    assert "has no parameter 'sieze'" in done.stderr


def test_a_datasets_parameters_stay_and_its_file_is_found_again(tmp_path, monkeypatch):
    rows = [{"q": f"Row {n}: what is 20 times 6?", "a": "120"} for n in range(40)]
    (tmp_path / "times.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "times.toml").write_text(
        'id = "verigym/tests/times-v0"\nverifier = "math/answer"\n'
        "params = { tolerance = 0.1 }\n[clean]\nnear = 1\n"
        '[source]\npath = "times.jsonl"\n'
        '[fields]\nprompt = "{q}"\nreference = { answer = "{a}" }\n'
    )
    (tmp_path / "lazy.json").write_text('["<answer>121</answer>"]')
    policy = f"scripted:{tmp_path / 'lazy.json'}"
    out = tmp_path / "times-episodes.jsonl"
    toml = tmp_path / "times.toml"
    assert verigym("run", toml, "-p", policy, "-n", "8", "--out", out).exit_code == 0
    monkeypatch.delitem(described_files, "verigym/tests/times-v0")  # as in another process
    found = report(out)
    assert (found["n_verdicts"], found["same"], found["unplayable"]) == (8, 8, {})
    done = verigym("replay", out)
    assert (done.exit_code, "8 identical" in done.stdout) == (0, True)
