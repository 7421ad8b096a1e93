"""Harbor task folders in the sandbox: exported ones, ones of others in both verifier modes, and what needs an image."""

import json
import pickle

import pytest
from typer.testing import CliRunner

import verigym
from verigym.cli.main import app
from verigym.envs.audit import audit_tasks
from verigym.envs.harbor.env import folders_env
from verigym.envs.harbor.export import export
from verigym.envs.harbor.folder import NeedsImage, read_folder
from verigym.envs.harbor.runner import oracle_script, run_folder
from verigym.errors import RequestError, TaskError
from verigym.verdict import Status

TOML = """schema_version = "1.4"
[task]
name = "example/hello"
[agent]
timeout_sec = 60
[verifier]
timeout_sec = 60
{verifier}
"""
TEST = """#!/bin/bash
if [ "$(cat {place})" = "banana data" ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""


def make_folder(path, verifier="", artifacts="", place="/app/hello.txt", dockerfile="", test=None):
    for name in ("environment", "tests", "solution"):
        (path / name).mkdir(parents=True)
    (path / "task.toml").write_text(artifacts + TOML.format(verifier=verifier))
    (path / "instruction.md").write_text("Write the fruit and the data to /app/hello.txt.\n")
    (path / "environment" / "Dockerfile").write_text(
        f"FROM python:3.11-slim\nCOPY data.txt .\n{dockerfile}"
    )
    (path / "environment" / "data.txt").write_text("data")
    (path / "solution" / "solve.sh").write_text(
        'echo "banana $(cat /app/data.txt)" > /app/hello.txt\n'
    )
    (path / "tests" / "test.sh").write_text(test or TEST.format(place=place))
    return path


def run(path, script):
    return run_folder(read_folder(path), script).verdict


MODES = {
    "shared": {},
    "separate": {
        "verifier": 'environment_mode = "separate"',
        "artifacts": 'artifacts = ["/app/hello.txt"]\n',
    },
}


@pytest.mark.parametrize("mode", MODES)
def test_a_folder_of_others_runs_in_both_modes(tmp_path, mode):
    path = make_folder(tmp_path / "hello", **MODES[mode])
    assert run(path, oracle_script(read_folder(path))).score == 1.0
    assert run(path, None).score == 0.0
    assert run(path, "echo apple > hello.txt").score == 0.0
    assert run(path, "echo 1 > /logs/verifier/reward.txt").score == 0.0


def test_the_agent_sees_neither_tests_nor_solution_and_leaves_no_process(tmp_path):
    path = make_folder(tmp_path / "hello")
    ran = run_folder(
        read_folder(path),
        "cat /tests/* /solution/*; (sleep 60; echo 1 > /logs/verifier/reward.txt) & echo x",
    )
    assert "No such file" in ran.agent
    assert "test.sh" not in ran.agent
    assert ran.verdict.score == 0.0


def test_tests_without_a_reward_give_no_score(tmp_path):
    for number, test in enumerate(
        ("exit 1", "echo many > /logs/verifier/reward.txt", "echo nan > /logs/verifier/reward.txt")
    ):
        verdict = run(make_folder(tmp_path / str(number), test=test), None)
        assert (verdict.score, verdict.status) == (None, Status.VERIFIER_ERROR)


def test_reward_json_goes_before_reward_txt(tmp_path):
    test = 'echo 1 > /logs/verifier/reward.txt; echo \'{"reward": 0.5, "style": 1}\' > /logs/verifier/reward.json'
    verdict = run(make_folder(tmp_path / "hello", test=test), None)
    assert (verdict.score, dict(verdict.parts)) == (0.5, {"reward": 0.5, "style": 1.0})


@pytest.mark.parametrize(
    ("dockerfile", "what"),
    [("RUN apt-get update\n", "RUN apt-get"), ("COPY data.txt /etc/data\n", "outside /app")],
)
def test_what_needs_an_image_is_refused_with_the_reason(tmp_path, dockerfile, what):
    with pytest.raises(NeedsImage, match=what) as refused:
        read_folder(make_folder(tmp_path / "hello", dockerfile=dockerfile))
    assert "harbor run -p" in str(refused.value)


def test_a_solution_may_have_files_with_blanks_in_their_names(tmp_path):
    path = make_folder(tmp_path / "hello")
    (path / "solution" / "the fruit.txt").write_text("banana data")
    (path / "solution" / "solve.sh").write_text('cp "/solution/the fruit.txt" /app/hello.txt\n')
    assert run(path, oracle_script(read_folder(path))).score == 1.0


def test_what_is_no_folder_is_refused(tmp_path):
    with pytest.raises(TaskError, match="is not a Harbor task"):
        read_folder(tmp_path)
    refused = CliRunner().invoke(app, ["harbor", "run", str(tmp_path)])
    assert refused.exit_code == 2
    assert "holds none" in refused.output


def test_exported_tasks_pay_their_solution_alone(tmp_path):
    with verigym.make("math/arithmetic") as env:
        (path,) = export(env, tmp_path, tasks=1, seed=5)
        with pytest.raises(RequestError, match="exists"):
            export(env, tmp_path, tasks=1, seed=5)
    assert "answer.txt" in (path / "instruction.md").read_text()
    assert run(path, oracle_script(read_folder(path))).score == 1.0
    assert run(path, None).score == 0.0
    assert (
        run(
            path, "echo 1 > /logs/verifier/reward.txt; echo '<answer>no</answer>' > answer.txt"
        ).score
        == 0.0
    )


def test_games_are_not_exported(tmp_path):
    with pytest.raises(RequestError, match="several turns"), verigym.make("games/keydoor") as env:
        export(env, tmp_path, tasks=1)


def test_the_judge_of_an_exported_task_writes_the_reward(tmp_path):
    with verigym.make("math/arithmetic") as env:
        (path,) = export(env, tmp_path, tasks=1, seed=5)
        right = env.oracle()
    (tmp_path / "answer.txt").write_text(right + "\n")
    for answer, want in (("answer.txt", 1.0), ("missing.txt", 0.0)):
        places = [
            str(one)
            for one in (path / "tests" / "task.json", tmp_path / answer, tmp_path / "reward.json")
        ]
        assert CliRunner().invoke(app, ["harbor", "judge", *places]).exit_code == 0
        assert json.loads((tmp_path / "reward.json").read_text()) == {"reward": want}


def test_imported_folders_are_an_environment(tmp_path):
    for name in ("one", "two"):
        make_folder(tmp_path / "tasks" / name)
    out = tmp_path / "mine.toml"
    done = CliRunner().invoke(
        app, ["harbor", "import", str(tmp_path / "tasks"), "-o", str(out), "--whole"]
    )
    assert done.exit_code == 0, done.output
    with verigym.make(str(out)) as env:
        assert env.id == "verigym/harbor/mine-v0"
        prompt, _ = env.reset(seed=1)
        assert "bash script" in prompt
        assert env.step(env.oracle())[1] == 1.0
        pickle.loads(pickle.dumps(env)).reset(seed=0)
        env.reset(seed=0)
        assert env.step("I do not know.")[1] == 0.0
    with verigym.make(str(tmp_path / "tasks" / "one" / "task.toml")) as env:
        env.reset(seed=0)
        assert env.step(env.oracle())[1] == 1.0


@pytest.mark.slow
def test_the_audit_finds_a_folder_that_pays_for_its_own_words(tmp_path):
    test = "grep -q data /app/hello.txt && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt"
    flawed = make_folder(tmp_path / "flawed", test=test)
    report = audit_tasks(folders_env([flawed], "verigym/harbor/flawed-v0", whole=True)(), tasks=1)
    assert report["hack_rate"] == 1.0
    assert "prompt echo" in {one["policy"] for one in report["paid"]}
    sound = make_folder(tmp_path / "sound")
    report = audit_tasks(folders_env([sound], "verigym/harbor/sound-v0", whole=True)(), tasks=1)
    assert (report["paid"], report["faults"], report["refused"]) == ([], [], [])
