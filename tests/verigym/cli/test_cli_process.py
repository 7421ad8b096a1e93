"""The command line as users and scripts meet it: real processes."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from verigym.cli.main import app

VERIGYM = [sys.executable, "-m", "verigym"]
WAIT_S = 120


def verigym(*args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*VERIGYM, *args], input=stdin, capture_output=True, text=True, timeout=WAIT_S
    )


def test_list_json_is_data_alone() -> None:
    done = verigym("list", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    rows = json.loads(done.stdout)
    assert {"verigym/games/keydoor-v0", "verigym/math/countdown-v0"} <= {row["id"] for row in rows}
    assert all(row["family"] in row["id"] and isinstance(row["version"], int) for row in rows)


def test_list_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from verigym.cli.main import run\n"
        "sys.argv = ['verigym', 'list']\n"
        "try:\n    run()\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'sympy', 'fastapi', 'httpx2', 'openai'}\n"
        "ours = [m for m in sys.modules if m.startswith(('verigym.envs', 'verigym.trainers'))]\n"
        "sys.stderr.write(repr(sorted(heavy & set(sys.modules)) + ours))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=WAIT_S
    )
    assert done.stderr == "[]"
    assert "verigym/games/keydoor-v0" in done.stdout


def test_run_json_has_what_scripts_need() -> None:
    done = CliRunner().invoke(
        app, ["run", "keydoor", "--policy", "oracle", "-n", "5", "--json"], catch_exceptions=False
    )
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    found = json.loads(done.stdout)
    assert found["success_rate"] == found["mean_return"] == 1.0
    assert found["episodes"] == 5
    assert found["faults"] == 0
    assert found["env_id"] == "verigym/games/keydoor-v0"


def test_a_users_mistake_is_one_line_and_two() -> None:
    done = verigym("run", "keydor")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "did you mean 'games/keydoor-v0'" in done.stderr
    for args, hint in (
        (("play", "keydoor", "--difficulty", "esay"), "did you mean 'easy'"),
        (("run", "keydoor", "--policy", "orcale"), "did you mean 'oracle'"),
        (("list", "gams"), "did you mean 'games'"),
    ):
        told = CliRunner().invoke(app, args, catch_exceptions=False)
        assert told.exit_code == 2, args
        assert told.stdout == ""
        assert hint in told.stderr
        assert len(told.stderr.splitlines()) == 1


def test_a_service_that_is_away_is_three_and_no_score() -> None:
    asked = ["run", "keydoor", "-n", "2", "--verifier", "http://127.0.0.1:9", "--patience", "0"]
    done = CliRunner().invoke(app, [*asked, "--json"], catch_exceptions=False)
    assert done.exit_code == 3, done.stderr
    found = json.loads(done.stdout)
    assert found["success_rate"] is None
    assert found["mean_return"] is None
    assert found["faults"] == 2
    assert "Traceback" not in done.stderr


def test_play_through_a_pipe() -> None:
    said = "nonsense\n/hint\n/undo\n/fly\n"
    done = verigym("play", "keydoor", "--seed", "3", stdin=said)
    assert done.returncode == 0
    assert "not a valid action" in done.stdout
    assert "hint: " in done.stdout
    assert "no command /fly" in done.stdout
    assert done.stdout.rstrip().endswith("left")
    again = CliRunner().invoke(app, ["play", "keydoor", "--seed", "3"], input=said)
    assert again.stdout == done.stdout


def test_play_on_a_terminal_ends_with_ctrl_d() -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*VERIGYM, "play", "keydoor", "--seed", "3"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    try:
        _read_until(ours, b"> ")
        os.write(ours, b"\x04")
        _read_until(ours, b"left")
        assert process.wait(WAIT_S) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read_until(fd: int, mark: bytes) -> bytes:
    """Read what a terminal shows until `mark`; if it never appears, the test's deadline ends the
    wait."""
    seen = b""
    while mark not in seen:
        seen += os.read(fd, 4096)
    return seen


def test_ctrl_c_is_130() -> None:
    with subprocess.Popen(
        [*VERIGYM, "play", "keydoor", "--seed", "3"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while "actions:" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == 130
        error = process.stderr.read()
    assert "interrupted" in error
    assert "Traceback" not in error


def test_a_reader_that_leaves_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*VERIGYM, "list"], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=WAIT_S
    )
    os.close(writing)
    assert done.stderr == ""


def test_a_file_that_cannot_be_written_is_three(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    # A limit on the size of files does what a full disk does.
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *VERIGYM]
    done = subprocess.run(
        [*limited, "run", "keydoor", "-n", "1", "--out", str(out)],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert done.returncode == 3
    assert str(out) in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert out.read_bytes() == b""


def test_version_and_help() -> None:
    assert verigym("--version").stdout.startswith("verigym 0.")
    overview = CliRunner().invoke(app, ["--help"], prog_name="verigym").stdout
    assert "verigym run keydoor --policy oracle -n 5 --json" in overview
    assert "Exit codes" in overview
    for command in ("list", "play", "run", "serve", "train", "report"):
        assert command in overview
        done = CliRunner().invoke(app, [command, "--help"], prog_name="verigym")
        assert done.exit_code == 0
        assert f"verigym {command}" in done.stdout


def test_report_of_nothing_is_two(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 2
    assert "no run.json" in done.stderr
