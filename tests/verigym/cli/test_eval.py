"""`verigym eval`, `compare`, `leaderboard` and `replay`, end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from typer.testing import CliRunner

from verigym import Fault, PolicyError
from verigym.agents.policy import PolicyRefusal
from verigym.agents.record import append_episodes, read_episodes
from verigym.cli.main import app

RUNNER = CliRunner()
TWO = ("countdown", "keydoor", "-n", "4", "-k", "2")


def verigym(*args):
    return RUNNER.invoke(app, [str(arg) for arg in args], catch_exceptions=False)


def measured(*args):
    done = verigym("eval", *args, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Finished evaluations of two policies on the same tasks."""
    base = tmp_path_factory.mktemp("eval")
    for policy in ("oracle", "random"):
        measured(*TWO, "-p", policy, "-d", "tiny", "-d", "easy", "--out", base / policy)
    return base


@pytest.fixture
def broken(folders, tmp_path):
    """Copies an evaluation, with changed episodes and without its result."""

    def build(policy, change):
        copy = tmp_path / f"{policy} changed"
        copy.mkdir()
        settings = (folders / policy / "evaluation.json").read_bytes()
        (copy / "evaluation.json").write_bytes(settings)
        episodes = [change(one) for one in read_episodes(folders / policy / "episodes.jsonl")]
        append_episodes(copy / "episodes.jsonl", [one for one in episodes if one is not None])
        return copy

    return build


def test_the_oracle_solves_each_task_of_each_group(folders):
    result = json.loads((folders / "oracle" / "result.json").read_text())
    overall = result["overall"]
    assert (overall["tasks"], overall["samples"], overall["faults"]) == (16, 32, 0)
    assert {size: found["value"] for size, found in overall["pass_at"].items()} == {"1": 1, "2": 1}
    assert overall["score"]["value"] == 1.0
    assert overall["score"]["interval"][0] < 1.0
    assert result["by_difficulty"].keys() == {"tiny", "easy"}
    assert {name: group["tasks"] for name, group in result["by_environment"].items()} == {
        "verigym/math/countdown-v0": 8,
        "verigym/games/keydoor-v0": 8,
    }
    assert sum(group["samples"] for group in result["by_length"].values()) == 32
    assert result["length_unit"] == "characters"
    assert result["by_tag"]["grid"]["tasks"] == 8
    seeds = {one.seed for one in read_episodes(folders / "oracle" / "episodes.jsonl")}
    assert seeds == {0, 1, 2, 3}


def test_the_table_says_what_a_person_needs(folders):
    again = verigym(
        *("eval", *TWO, "-p", "random", "-d", "1", "--level", "2"), "--out", folders / "random"
    )
    assert again.exit_code == 0
    assert "32 of 32 episodes are in" in again.stderr
    for text in (
        "pass@1, %",
        "pass@2",
        "games/keydoor-v0",
        "tiny",
        "answer length",
        "results in",
    ):
        assert text in again.stdout


def test_answers_to_a_task_differ_and_are_the_same_again(folders, tmp_path):
    again = measured(*TWO, "-p", "random", "-d", "tiny", "-d", "easy", "--out", tmp_path / "again")
    stored = json.loads((folders / "random" / "result.json").read_text())
    assert again["overall"] == stored["overall"]
    episodes = read_episodes(tmp_path / "again" / "episodes.jsonl")
    first = [one.turns[0].response for one in episodes if one.group_id == episodes[0].group_id]
    assert len(first) == 2
    assert first[0] != first[1]


KILLED = """
import sys
from verigym.agents import evaluate
from verigym.cli.main import run

append, n = evaluate.append_episodes, 0

def append_and_hang(path, episodes):
    global n
    append(path, episodes)
    n += 1
    if n == 5:
        with open(path, "ab") as file:
            file.write(b'{"id": "half a li')
        print("recorded", flush=True)
        sys.stdin.read()

evaluate.append_episodes = append_and_hang
run()
"""


def test_a_killed_evaluation_resumes(folders, tmp_path):
    out = tmp_path / "killed"
    args = [*TWO, "-p", "random", "-d", "tiny", "-d", "easy", "--out", str(out)]
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, "eval", *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "recorded\n"
        rival = verigym("eval", *args)
        assert rival.exit_code == 2
        assert "another process is evaluating" in rival.stderr
        process.kill()
    unfinished = verigym("leaderboard", out)
    assert (unfinished.exit_code, "not finished" in unfinished.stderr) == (2, True)
    done = verigym("eval", *args, "--json")
    assert "5 of 32 episodes are in" in done.stderr
    resumed = json.loads(done.stdout)
    straight = json.loads((folders / "random" / "result.json").read_text())
    for name in ("overall", "by_environment", "by_difficulty", "by_tag", "by_length", "tokens"):
        assert resumed[name] == straight[name], name
    ids = [one.id for one in read_episodes(out / "episodes.jsonl")]
    assert len(ids) == len(set(ids)) == 32


def test_other_settings_are_refused_with_what_differs(folders):
    out = folders / "oracle"
    done = verigym(
        *("eval", "countdown", "-n", "4", "-k", "3", "-d", "tiny", "--temperature", "0.5"),
        *("--seed", "9", "--out", out),
    )
    assert done.exit_code == 2
    for text in ("samples was 2, now 3", "temperature was null, now 0.5", "seed was 0, now 9"):
        assert text in done.stderr
    assert "now without verigym/games/keydoor-v0 tiny" in done.stderr


def test_a_changed_script_is_another_policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "script.json"
    script.write_text('["up"]')
    args = ("eval", "keydoor", "-n", "1", "-p", f"scripted:{script}", "--max-turns", "1")
    assert verigym(*args).exit_code == 0
    (folder,) = (tmp_path / "runs" / "eval").iterdir()
    script.write_text('["down"]')
    done = verigym(*args, "--out", folder)
    assert (done.exit_code, "policy_digest was" in done.stderr) == (2, True)


def test_faults_are_left_out_said_and_played_again(broken):
    def fault(episode):
        if episode.seed != 0:
            return episode
        cause = Fault(cause="env_timeout", detail="too slow")
        return replace(episode, turns=[], status="fault", fault=cause)

    copy = broken("oracle", fault)
    found = json.loads(verigym("compare", copy, copy, "--json").stdout)
    assert (found["a"]["faults"], found["paired_tasks"]) == (8, 12)
    again = measured(*TWO, "-p", "oracle", "-d", "tiny", "-d", "easy", "--out", copy)
    assert (again["overall"]["samples"], again["overall"]["faults"]) == (32, 0)
    assert len(read_episodes(copy / "episodes.jsonl")) == 40


def test_a_policy_that_never_answers_ends_the_evaluation(tmp_path, monkeypatch):
    def fail(self, requests):
        raise kind("nobody home")

    kind = PolicyError
    monkeypatch.setattr("verigym.agents.policies.random.RandomPolicy.complete", fail)
    args = ("countdown", "keydoor", "-n", "2", "-p", "random", "--out", tmp_path / "down", "--json")
    done = verigym("eval", *args, "--patience", "1")
    assert (done.exit_code, done.stdout) == (3, "")
    assert "no episode of verigym/math/countdown-v0 got an answer: nobody home" in done.stderr
    assert len(read_episodes(tmp_path / "down" / "episodes.jsonl")) == 2
    kind = PolicyRefusal  # of one world, perhaps: the others are played
    result = json.loads(verigym("eval", *args).stdout)
    assert result["faults_by_cause"] == {"policy_error": 4}


def test_more_faults_than_outcomes_are_the_machines(tmp_path, monkeypatch):
    class Broken(Exception):
        pass

    def fail(self, task, state):
        raise Broken("no such file")

    monkeypatch.setattr("verigym.envs.math.countdown.Countdown.transition", fail)
    done = verigym("eval", "countdown", "-n", "2", "--out", tmp_path / "broken", "--json")
    assert done.exit_code == 3
    result = json.loads(done.stdout)
    assert result["overall"]["pass_at"] == {"1": None}
    assert result["overall"]["score"] is None
    assert result["faults_by_cause"] == {"env_error:Broken": 2}


def test_patterns_leave_out_what_cannot_be_played(tmp_path):
    args = ("-n", "1", "--out", tmp_path / "out", "--json")
    done = verigym("eval", "games/[kh]a*", "keydoor", "-d", "9", "-p", "oracle", *args)
    assert done.exit_code == 0, done.stderr
    worlds = json.loads(done.stdout)["settings"]["worlds"]
    assert {one["env"] for one in worlds} >= {"verigym/games/keydoor-v0"}
    named = verigym("eval", "keydoor", "-d", "11", *args)
    assert (named.exit_code, "no difficulty '11'" in named.stderr) == (2, True)
    pattern = verigym("eval", "games/key*", "-d", "11", *args)
    assert pattern.exit_code == 2
    assert "left out: verigym/games/keydoor-v0 has no difficulty '11'" in pattern.stderr


def test_tokens_have_a_price(broken):
    def counted(episode):
        turns = [replace(t, prompt_tokens=1000, response_tokens=10) for t in episode.turns]
        return replace(episode, turns=turns)

    copy = broken("oracle", counted)
    priced = measured(
        *(*TWO, "-p", "oracle", "-d", "tiny", "-d", "easy", "--out", copy),
        *("--price-in", "2", "--price-out", "8"),
    )
    turns = sum(len(one.turns) for one in read_episodes(copy / "episodes.jsonl"))
    assert priced["tokens"]["prompt"] == 1000 * turns
    assert priced["tokens"]["cost"] == pytest.approx(turns * (1000 * 2 + 10 * 8) / 1e6)
    assert priced["length_unit"] == "tokens"


def test_compare_tells_two_policies_apart(folders):
    found = json.loads(verigym("compare", folders / "random", folders / "oracle", "--json").stdout)
    assert found["paired_tasks"] == 16
    assert found["success"]["b"] == 1.0
    assert found["success"]["is_real"]
    assert found["sentence"].startswith("The difference is real: B is better")
    turned = json.loads(verigym("compare", folders / "oracle", folders / "random", "--json").stdout)
    assert turned["success"]["value"] == pytest.approx(-found["success"]["value"])
    assert turned["success"]["p"] == found["success"]["p"]
    same = verigym("compare", folders / "oracle", folders / "oracle")
    assert "No difference" in same.stdout


def test_compare_takes_recorded_runs_and_counts_unpaired_tasks(tmp_path):
    for name, first in (("a", 0), ("b", 3)):
        args = ("countdown", "-n", "5", "--seed", first, "--out", tmp_path / name)
        assert verigym("run", *args).exit_code == 0
    found = json.loads(verigym("compare", tmp_path / "a", tmp_path / "b", "--json").stdout)
    assert [found[key] for key in ("paired_tasks", "only_in_a", "only_in_b")] == [2, 3, 3]
    assert (
        "3 scored only in A, 3 scored only in B"
        in verigym("compare", tmp_path / "a", tmp_path / "b").stdout
    )
    missing = verigym("compare", tmp_path / "a", tmp_path / "nothing")
    assert missing.exit_code == 2


def test_compare_names_other_verifiers(folders, broken):
    copy = broken(
        "oracle", lambda one: replace(one, versions={**one.versions, "verifier": "games/other@7"})
    )
    done = verigym("compare", folders / "oracle", copy)
    assert "judged by two verifiers" in done.stdout


def test_a_leaderboard_ranks_what_played_the_same_tasks(folders, tmp_path):
    measured("countdown", "-n", "2", "-p", "oracle", "--out", tmp_path / "other")
    out = tmp_path / "deep" / "board"
    done = verigym("leaderboard", folders, tmp_path / "other", "--out", out)
    assert done.exit_code == 0, done.stderr
    made = json.loads((tmp_path / "deep" / "board.json").read_text())
    first, second = made["boards"]
    assert [(one["rank"], one["policy"]) for one in first["entries"]] == [
        (1, "oracle"),
        (2, "random"),
    ]
    assert len(second["entries"]) == 1
    text = (tmp_path / "deep" / "board.md").read_text()
    assert "| 1 | oracle |" in text
    assert first["entries"][0]["finished"][:10] in text
    page = (tmp_path / "deep" / "board.html").read_text()
    HTMLParser().feed(page)
    assert "http" not in page
    assert "oracle" in page
    assert "| 1 | oracle |" in verigym("leaderboard", folders).stdout


def test_a_policys_name_is_not_markup(folders, tmp_path):
    copy = tmp_path / "hostile"
    copy.mkdir()
    result = json.loads((folders / "random" / "result.json").read_text())
    result["settings"]["policy"] = "hf:<script>alert(1)</script>|x"
    (copy / "result.json").write_text(json.dumps(result))
    verigym("leaderboard", copy, "--out", tmp_path / "board")
    assert "<script>" not in (tmp_path / "board.html").read_text()
    assert "\\|x" in (tmp_path / "board.md").read_text()


@pytest.mark.parametrize("text", ["[]", "{}", '{"settings": {}}', "torn"])
def test_what_is_no_result_is_refused(tmp_path, text):
    (tmp_path / "result.json").write_text(text)
    done = verigym("leaderboard", tmp_path)
    assert done.exit_code == 2
    assert "result.json" in done.stderr


def test_replay_proves_a_folder_and_finds_a_forged_reward(folders, broken):
    done = verigym("replay", folders / "oracle")
    assert done.exit_code == 0, done.stdout
    assert "32 episodes: 32 identical" in done.stdout

    def forge(episode):
        if episode.seed != 1:
            return episode
        return replace(episode, turns=[replace(one, reward=0.75) for one in episode.turns])

    copy = broken("oracle", forge)
    forged = verigym("replay", copy, "--json")
    assert forged.exit_code == 1
    report = json.loads(forged.stdout)
    assert (report["same"], report["different"]) == (24, 8)
    assert all("reward in turn 0: recorded '0.75'" in one for one in report["sentences"])


def test_replay_of_nothing_proves_nothing(tmp_path):
    (tmp_path / "empty.jsonl").touch()
    assert verigym("replay", tmp_path / "empty.jsonl").exit_code == 2
    assert verigym("replay", tmp_path / "none.jsonl").exit_code == 2
