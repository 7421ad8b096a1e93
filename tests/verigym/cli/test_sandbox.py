"""`verigym sandbox`: programs, languages, sessions and attacks from the command line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from verigym.cli.main import app

runner = CliRunner()


def run(*args: str, stdin: str | bytes = "") -> Any:
    return runner.invoke(app, ["sandbox", *args], input=stdin, catch_exceptions=False)


def test_run_prints_what_the_program_prints(tmp_path: Path) -> None:
    done = run("run", "-c", "print(6 * 7)")
    assert (done.exit_code, done.stdout) == (0, "42\n")
    assert "ok" in done.stderr
    (tmp_path / "hello.sh").write_text('cat "$1"; echo "$2"; cat\n')
    (tmp_path / "data.txt").write_text("data\n")
    given = ("--file", str(tmp_path / "data.txt"), "--stdin", "-")
    done = run("run", *given, str(tmp_path / "hello.sh"), "data.txt", "two", stdin="in\n")
    assert (done.exit_code, done.stdout) == (0, "data\ntwo\nin\n")


def test_run_tells_how_a_program_ended() -> None:
    done = run("run", "--json", "-c", "import sys; print('a'); sys.exit(7)")
    found = json.loads(done.stdout)
    assert done.exit_code == 4
    assert (found["status"], found["exit_code"], found["stdout"]) == ("nonzero_exit", 7, "a\n")
    done = run("run", "--wall", "0.3", "-c", "while True: pass")
    assert done.exit_code == 4
    assert "time_limit" in done.stderr


def test_run_brings_files_back(tmp_path: Path) -> None:
    program = (
        "import os; os.mkdir('d'); open('d/x', 'w').write('x'); os.symlink('/etc/passwd', 'y')"
    )
    done = run("run", "-c", program, "--fetch", "d/*", "--fetch", "y", "--out", str(tmp_path))
    assert done.exit_code == 0
    assert (tmp_path / "d" / "x").read_text() == "x"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d"]
    assert "'y' was not fetched" in done.stderr


LEAVES_A_FILE = ("run", "-c", "open('x', 'w').write('theirs')", "--fetch", "x")


@pytest.mark.parametrize(
    "kind", ["file", "folder of a file", "link", "link to a folder", "nowhere"]
)
def test_fetched_files_go_into_a_new_folder_only(tmp_path: Path, kind: str) -> None:
    mine, out = tmp_path / "mine", tmp_path / "out"
    mine.write_text("mine")
    if kind == "file":
        out.write_text("mine")
    elif kind == "folder of a file":
        out.mkdir()
        (out / "x").write_text("mine")
    elif kind == "link":
        out.mkdir()
        (out / "x").symlink_to(mine)
    else:
        target = tmp_path / "elsewhere"
        if kind == "link to a folder":
            target.mkdir()
        out.symlink_to(target)
    before = sorted(tmp_path.rglob("*"))
    done = run(*LEAVES_A_FILE, "--out", str(out))
    assert done.exit_code == 2
    assert "--out" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before
    assert mine.read_text() == "mine"


def test_fetched_files_go_into_a_folder_of_their_own_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text("mine")
    assert run(*LEAVES_A_FILE).exit_code == 0
    assert (tmp_path / "x").read_text() == "mine"
    assert (tmp_path / "fetched" / "x").read_text() == "theirs"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("run",), "either a FILE or -c CODE"),
        (("run", "-c", "1", "--wall", "-1"), "above 0"),
        (("run", "-c", "1", "--language", "pyton"), "'python'"),
        (("run", "x.pyy"), "no language for"),
        (("run", "-c", "1", "--backend", "lokal"), "'local'"),
        (("run", "-c", "1", "--backend", "remote"), "--url"),
        (("run", "-", "--stdin", "-"), "both"),
        (("session", "--language", "c"), "python and bash"),
        (("selfcheck", "--only", "fork_bom"), "fork_bomb"),
        (("selfcheck", "--attacks", "/nowhere"), "not a folder of attacks"),
        (("selfcheck", "--backend", "lokal"), "unknown backend"),
        (("selfcheck", "--backend", "remote"), "--url"),
    ],
)
def test_a_bad_request_is_told_in_one_line(args: tuple[str, ...], words: str) -> None:
    done = run(*args)
    assert done.exit_code == 2, done.stderr
    assert words in done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_languages_are_listed_with_what_brings_them() -> None:
    done = run("languages", "--json", "--no-versions")
    found = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert len(found) >= 19
    assert found["python"]["available"]
    assert found["haskell"]["package"] == "ghc"
    table = run("languages", "--no-versions").stdout
    assert "Haskell" in table


def test_a_session_keeps_its_state() -> None:
    done = run("session", stdin="x = 6\n\nfor n in range(2):\n    print(n)\n\nx * 7\n")
    assert done.exit_code == 0
    assert done.stdout == "0\n1\n42\n"


def test_doctor_says_what_is_active() -> None:
    found = json.loads(run("doctor", "--json").stdout)
    assert {layer["name"] for layer in found["layers"]} >= {"pid namespace", "seccomp"}
    assert "seccomp" in run("doctor").stdout


@pytest.mark.slow
def test_selfcheck_exits_with_0_only_if_nothing_escaped(tmp_path: Path) -> None:
    (tmp_path / "1_good.py").write_text("# attack: good\n# threat: t\nprint('CONTAINED')\n")
    done = run("selfcheck", "--attacks", str(tmp_path), "--backend", "local", "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 0, done.stderr
    halves = [True, False] if os.geteuid() == 0 else [False]
    assert [one["as_root"] for one in found["attacks"]] == halves
    assert found["total"] == found["contained"] == len(halves)
    assert (found["escaped"], found["unknown"], found["left"]) == (0, 0, [])
    for one in found["attacks"]:
        assert (one["name"], one["outcome"], one["backend"]) == ("good", "contained", "local")
        assert one["evidence"] == "CONTAINED"
    (tmp_path / "2_bad.py").write_text("# attack: bad\n# threat: t\nprint('ESCAPED x')\n")
    done = run("selfcheck", "--attacks", str(tmp_path), "--backend", "local")
    assert done.exit_code == 4
    assert "ESCAPED x" in done.stdout
    assert f"{len(halves)} of {2 * len(halves)} attacks escaped" in done.stderr


def test_the_group_is_light() -> None:
    # Everything of the sandbox is imported by the command that needs it.
    import subprocess

    program = (
        "import sys, verigym.cli.main; "
        "print([name for name in sys.modules if name.startswith('verigym.sandbox')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
