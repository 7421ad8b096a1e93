"""`verigym new --for`: packages that publish an environment on a hub. Prime's and OpenEnv's own programs load them
in tests/trainers/exports/test_prime.py and tests/server/openenv/test_new_package.py."""

import json
import subprocess
import sys
import tomllib

import pytest
from typer.testing import CliRunner

from verigym.cli.main import app
from verigym.envs.new import hubs

LAYOUT = {
    "prime": {"vg_words/__init__.py", "vg_words/taskset.py"},
    "openenv": {
        *("openenv.yaml", "__init__.py", "client.py"),
        *("server/__init__.py", "server/app.py", "server/Dockerfile"),
    },
}


@pytest.fixture
def new(tmp_path, monkeypatch):
    """Run `verigym new vg-words --for` in a folder; return the run and the files that are there then."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        done = CliRunner().invoke(app, ["new", "vg-words", "--for", *arguments])
        package = tmp_path / "vg-words"
        files = {str(p.relative_to(package)): p for p in package.rglob("*") if p.is_file()}
        return done, files

    return run


@pytest.mark.parametrize("hub", LAYOUT)
def test_a_package_has_the_layout_of_its_hub(new, hub):
    done, files = new(hub, "--env", "math/arithmetic", "--author", 'Ann "Any" Other')
    assert done.exit_code == 0, done.stderr
    assert set(files) == LAYOUT[hub] | {"pyproject.toml", "README.md", ".gitignore"}
    project = tomllib.loads(files["pyproject.toml"].read_text("utf-8"))["project"]
    assert project["authors"] == [{"name": 'Ann "Any" Other'}]
    extras = {"prime": "[math]", "openenv": "[server,math]"}[hub]
    assert project["dependencies"][0].startswith(f"verigym{extras}>=")
    for name, file in files.items():
        text = file.read_text("utf-8")
        assert "$" not in text, name
        if name.endswith(".py"):
            compile(text, name, "exec")


def test_a_package_of_another_s_environment_needs_its_package(new, monkeypatch):
    class Dist:
        name, version = "word-sums", "2.1"

    point = type("Point", (), {"dist": Dist})
    monkeypatch.setattr(hubs.metadata, "entry_points", lambda **_: [point])
    _, files = new("prime", "--env", "games/keydoor")
    assert '"word-sums>=2.1"' in files["pyproject.toml"].read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("prime",), "--for and --env go together"),
        (("openenv", "--env", "games/nowhere"), "unknown"),
        (("harbor", "--env", "games/keydoor"), "has several turns"),
    ],
)
def test_mistakes_are_explained_and_nothing_is_written(new, arguments, wanted):
    done, files = new(*arguments)
    assert done.exit_code == 2
    assert wanted in done.stderr
    assert not files


@pytest.mark.slow
def test_harbor_folders_are_solved_and_audited(new, tmp_path):
    done, files = new("harbor", "--env", "math/arithmetic", "-n", "2")
    assert done.exit_code == 0, done.stderr
    assert "README.md" in files
    for command in (("harbor", "run", "tasks", "--agent", "oracle"), ("audit", "--tasks", "tasks")):
        ran = subprocess.run(
            [sys.executable, "-P", "-m", "verigym", *command, "--json"],
            cwd=tmp_path / "vg-words",
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        if command[0] == "harbor":
            assert [one["score"] for one in json.loads(ran.stdout)] == [1.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hub", "env"),
    [("prime", "games/keydoor"), ("openenv", "keydoor"), ("harbor", "math/arithmetic")],
)
def test_check_takes_the_folder(new, tmp_path, hub, env):
    assert new(hub, "--env", env)[0].exit_code == 0
    law = ["--only", "the_oracle_earns_full_marks", "--seeds", "3"]
    done = CliRunner().invoke(app, ["check", "vg-words", *law])
    assert done.exit_code == 0, done.output
    assert f"verigym/{env if '/' in env else 'games/' + env}-v0" in done.output


@pytest.mark.slow
def test_check_finds_what_is_wrong_with_a_folder(new, tmp_path):
    new("harbor", "--env", "math/arithmetic", "-n", "1")
    next(tmp_path.glob("vg-words/tasks/*/solution/solve.sh")).write_text("true\n")
    law = ["--only", "the_oracle_earns_full_marks", "--seeds", "3"]
    done = CliRunner().invoke(app, ["check", "vg-words", *law])
    assert done.exit_code == 4
    assert "oracle earns 0" in done.stderr


def test_an_environment_goes_before_a_folder_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keydoor").mkdir()
    law = ["--only", "it_renders_as_text", "--seeds", "2"]
    assert CliRunner().invoke(app, ["check", "keydoor", *law]).exit_code == 0


def test_a_folder_that_names_no_environment_is_explained(tmp_path):
    done = CliRunner().invoke(app, ["check", str(tmp_path)])
    assert done.exit_code == 2
    assert "does not say which environment it publishes" in done.stderr
