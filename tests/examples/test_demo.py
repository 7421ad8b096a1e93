"""The demo, cut down to seconds: service, training over HTTP, report; and again beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMALL = [
    "warmup.episodes=8",
    "train.steps=2",
    "train.groups=2",
    "train.group_size=2",
    "train.threads=1",
    "eval.episodes=4",
    "eval.every=1",
]


@pytest.mark.slow
def test_the_demo_runs_twice_and_leaves_reports(tmp_path: Path) -> None:
    command = [sys.executable, "-P", str(ROOT / "examples" / "demo.py"), "--into", str(tmp_path)]
    for setting in SMALL:
        command += ["--set", setting]
    for name in ("demo", "demo-2"):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "reinforcement" in done.stdout
        folder = tmp_path / name
        assert json.loads((folder / "run.json").read_bytes())["finished"]
        last = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
        assert last["faults"] == {}
        assert last["time"]["verifier_s"] > 0
        assert "<svg" in (folder / "report.html").read_text("utf-8")
