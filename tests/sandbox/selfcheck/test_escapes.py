"""Every attack on the local sandbox, as root and as an ordinary user; and what is left afterwards."""

from __future__ import annotations

import glob
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from verigym.errors import SandboxError
from verigym.sandbox.selfcheck import host
from verigym.sandbox.selfcheck.attack import load
from verigym.sandbox.selfcheck.run import selfcheck

OPTIONS = {"local": {"max_jobs": 2}}
HALVES = 2 if os.geteuid() == 0 else 1
# Two quick ones, of different kinds; every one is among the slow tests.
QUICK = ("read_secrets", "forged_reports")


def bad(report: dict[str, Any]) -> list[str]:
    return [
        f"{one['name']} as {'root' if one['as_root'] else 'user'}: {one['outcome']}: {one['evidence']}"
        for one in report["attacks"]
        if one["outcome"] != "contained"
    ]


def test_quick_attacks_are_contained_and_leave_nothing() -> None:
    mounts = host.mounts()
    report = selfcheck(only=QUICK, options=OPTIONS, workers=1)
    assert bad(report) == []
    assert report["left"] == []
    assert report["total"] == len(QUICK) * HALVES == report["contained"]
    assert {one["as_root"] for one in report["attacks"]} == (
        {True, False} if HALVES == 2 else {False}
    )
    assert host.mounts() == mounts
    assert not glob.glob(f"/tmp/verigym-selfcheck-{os.getpid()}-*")


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_attack_is_contained_and_leaves_nothing() -> None:
    report = selfcheck(options=OPTIONS)
    assert bad(report) == []
    assert report["left"] == []
    assert report["total"] == len(load()) * HALVES
    assert max(one["honest_s"] for one in report["attacks"]) <= 1.0


def write(folder: Path, name: str, program: str, header: str = "") -> None:
    (folder / f"{name}.py").write_text(
        f"# attack: {name}\n# expect: CONTAINED\n{header}{program}\n"
    )


@pytest.mark.slow
def test_an_escape_is_told(tmp_path: Path) -> None:
    write(tmp_path, "says_so", "print('ESCAPED by magic')")
    write(tmp_path, "wrong_end", "print('CONTAINED')", "# status: time_limit\n")
    write(tmp_path, "broken", "nobody_knows_this_name")
    write(tmp_path, "silent", "pass")
    report = selfcheck(attacks_dir=tmp_path, options=OPTIONS, workers=1)
    for as_root in {True, False} if HALVES == 2 else {False}:
        outcomes = {
            one["name"]: one["outcome"] for one in report["attacks"] if one["as_root"] == as_root
        }
        assert outcomes == {
            "broken": "unknown",
            "says_so": "escaped",
            "silent": "contained",
            "wrong_end": "escaped",
        }
    assert (report["escaped"], report["unknown"]) == (2 * HALVES, HALVES)


@pytest.mark.slow
def test_a_backend_that_is_not_there_is_told() -> None:
    with pytest.raises(SandboxError, match="no attack could be run"):
        selfcheck(
            ("remote",),
            only=["sleep_forever"],
            options={"remote": {"url": "http://127.0.0.1:9", "timeout_s": 0.2}},
        )


@pytest.mark.slow
def test_an_interrupt_ends_everything() -> None:
    command = [sys.executable, "-m", "verigym", "sandbox", "selfcheck", "--only", "sleep_forever"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        # The workers, their servers and slots: by then an attack is near or under way.
        while len(host.descendants(process.pid)) < 6:
            assert process.poll() is None
        below = list(host.descendants(process.pid).values())
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == 130, stderr
    # What was killed may need a moment until it is gone, on a busy machine a long one.
    deadline = time.monotonic() + 30.0
    while left := [process for process in below if _alive(process)]:
        assert time.monotonic() < deadline, left
    assert not glob.glob(f"/tmp/verigym-selfcheck-{process.pid}-*")


def _alive(process: host.Process) -> bool:
    return any(other.key == process.key for other in host.processes().values())
