"""The commands in this process, for what needs no process of its own."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from verigym import PolicyError, RequestError, SandboxError, TaskError, VerifierFault, fault
from verigym.agents.record import read_episodes
from verigym.cli.group import Group
from verigym.cli.main import app
from verigym.verdict import Status

runner = CliRunner()


def run(*args: str, stdin: str = "") -> Any:
    return runner.invoke(app, list(args), input=stdin, catch_exceptions=False)


def test_run_writes_episodes_and_never_over_others(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "episodes.jsonl"
    args = ("run", "countdown", "-n", "3", "--seed", "7", "--difficulty", "hard", "--out", str(out))
    done = run(*args)
    assert done.exit_code == 0
    episodes = read_episodes(out)
    assert {episode.seed for episode in episodes} == {7, 8, 9}
    assert {episode.split for episode in episodes} == {"test"}
    assert {episode.difficulty for episode in episodes} == {"hard"}
    again = run(*args)
    assert again.exit_code == 2
    assert "not empty" in again.stderr
    assert len(read_episodes(out)) == 3


def test_run_is_repeatable() -> None:
    def figures() -> dict[str, Any]:
        found = json.loads(run("run", "keydoor", "-p", "random", "-n", "8", "--json").stdout)
        del found["wall_s"]
        return dict(found)

    assert figures() == figures()


def test_show_keeps_stdout_for_the_object() -> None:
    done = run("run", "countdown", "-n", "1", "--show", "--json")
    assert json.loads(done.stdout)["episodes"] == 1
    assert "Target" in done.stderr
    assert "Target" in run("run", "countdown", "-n", "1", "--show").stdout


def test_fail_below() -> None:
    args = ("run", "keydoor", "-n", "4", "--json", "--fail-below", "0.9")
    assert run(*args).exit_code == 0
    failed = run(*args, "--policy", "random")
    assert failed.exit_code == 4
    assert "below 0.9" in failed.stderr
    assert json.loads(failed.stdout)["episodes"] == 4


def test_texts_of_a_model_are_not_markup(tmp_path: Path) -> None:
    script = tmp_path / "actions.json"
    script.write_text(json.dumps(["[bold red]up[/nonsense]"] * 100))
    done = run(
        "run", "keydoor", "-p", f"scripted:{script}", "-n", "1", "--show", "--max-turns", "2"
    )
    assert "[bold red]up[/nonsense]" in done.stdout
    assert "(not a valid action)" in done.stdout


def test_play_to_the_end_by_hints() -> None:
    hint = run("play", "countdown", "--seed", "5", stdin="/hint\n").stdout
    answer = hint.split("hint: ")[1].split("\n")[0]
    shown = run("play", "countdown", "--seed", "5", stdin=f"{answer}\n").stdout
    assert "solved, reward 1 in 1 turn (" in shown
    assert "turn 2" not in shown  # nothing is left to see


def test_play_takes_several_lines_back_and_again() -> None:
    text = '"""\nup\ndown\n"""\n/undo\n/undo\n/again\n/help\n/quit\nup\n'
    shown = run("play", "keydoor", "--seed", "3", stdin=text).stdout
    assert "nothing to take back" in shown
    assert shown.count("-- turn 1") == 3
    assert shown.count("-- turn 2") == 1
    assert shown.rstrip().endswith("left")


def test_unknown_command_is_two_with_a_suggestion() -> None:
    done = run("lst")
    assert done.exit_code == 2
    assert "list" in done.stderr


def _trainer(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[tuple[Any, ...]]:
    """Put a trainer that only listens in the place of the real one."""
    calls: list[tuple[Any, ...]] = []
    module = types.ModuleType("verigym.trainers.run")

    def train_from_config(*args: Any, **kwargs: Any) -> Path:
        calls.append(args)
        return folder

    module.train_from_config = train_from_config  # type: ignore[attr-defined]
    module.leads = lambda: True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "verigym.trainers.run", module)
    return calls


def test_train_hands_its_arguments_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _trainer(monkeypatch, tmp_path / "run")
    config = tmp_path / "c.toml"
    config.write_text("")
    settings = ("seed=3", "algorithm.name=grpo", "a.b=[1, 2]", "x = 1e-4", "s='1'", "inject=1\nb=2")
    sets = [part for setting in settings for part in ("--set", setting)]
    done = run("train", str(config), "--resume", "--out", str(tmp_path / "run"), *sets)
    assert done.exit_code == 0
    (call,) = calls
    assert call[0] == config
    assert call[1] == {
        "seed": 3,
        "algorithm.name": "grpo",
        "a.b": [1, 2],
        "x": 1e-4,
        "s": "1",
        "inject": "1\nb=2",
    }
    assert call[2] is True
    assert call[3] == tmp_path / "run"


def test_train_refuses_what_is_no_file_or_no_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _trainer(monkeypatch, tmp_path)
    assert run("train", str(tmp_path / "none.toml")).exit_code == 2
    config = tmp_path / "c.toml"
    config.write_text("")
    done = run("train", str(config), "--set", "seed")
    assert done.exit_code == 2
    assert "KEY=VALUE" in done.stderr
    assert calls == []


def test_report_prints_its_path_and_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(typer, "launch", lambda url: opened.append(url))
    (tmp_path / "run.json").write_text('{"name": "a run"}')
    done = run("report", str(tmp_path), "--open")
    assert done.exit_code == 0
    path = Path(done.stdout.strip())
    assert path == tmp_path / "report.html"
    assert opened == [path.as_uri()]
    assert "a run" in path.read_text()
    several = run("report", str(tmp_path), str(tmp_path))
    assert several.exit_code == 2
    assert "--out" in several.stderr


NO_SCORE = VerifierFault(fault(Status.INFRA, "unreachable", "[red]gone[/x]"))


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RequestError("two\nlines"), 2, "two lines"),
        (TaskError("bad task"), 2, "bad task"),
        (SandboxError("no fork"), 3, "no fork"),
        (PolicyError("server [bold]down[/]"), 3, "server [bold]down[/]"),
        (NO_SCORE, 3, "[red]gone[/x]"),
        (OSError(28, "No space left on device"), 3, "No space left"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ModuleNotFoundError("x", name="torch.nn"), 2, "pip install 'verigym[train]'"),
        (ModuleNotFoundError("x", name="fastapi"), 2, "pip install 'verigym[server]'"),
    ],
)
def test_every_error_has_its_code(error: BaseException, code: int, said: str) -> None:
    small = typer.Typer(cls=Group, pretty_exceptions_enable=False)

    @small.command()
    def broken() -> None:
        raise error

    @small.command()
    def other() -> None:
        pass

    done = runner.invoke(small, ["broken"])
    assert done.exit_code == code
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("bug", [ZeroDivisionError("x"), ModuleNotFoundError("x", name="mine")])
def test_a_bug_keeps_its_traceback(bug: Exception) -> None:
    small = typer.Typer(cls=Group, pretty_exceptions_enable=False)

    @small.command()
    def broken() -> None:
        raise bug

    @small.command()
    def other() -> None:
        pass

    with pytest.raises(type(bug)):
        runner.invoke(small, ["broken"], catch_exceptions=False)
