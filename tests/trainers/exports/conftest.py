"""Runs programs in the virtual environments of other packages (`make peers-NAME`)."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from verigym.trainers.exports.play import EpisodePlayer
from verigym.trainers.exports.rows import task_rows

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "verigym-peers"
ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def peer(tmp_path):
    """Run a file of `programs` in the virtual environment of a package; return the last line it printed, as JSON."""

    def run(name, program, *arguments, given=None, timeout_s=280):
        python = CACHE / name / "bin" / "python"
        if not python.exists():
            pytest.skip(f"make peers-{name} installs the package")
        done = subprocess.run(
            [python, "-P", PROGRAMS / program, *map(str, arguments)],
            env={
                "PATH": f"{python.parent}:{os.environ['PATH']}",
                "HOME": str(tmp_path),
                "TMPDIR": str(tmp_path),
                "PYTHONPATH": str(ROOT / ".types"),
                "PYTHONDONTWRITEBYTECODE": "1",  # .types holds links, and nothing of its own
                "OMP_NUM_THREADS": "1",
                "HF_HUB_OFFLINE": "1",
                "TRL_EXPERIMENTAL_SILENCE": "1",
            },
            cwd=tmp_path,
            input=None if given is None else json.dumps(given),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.fixture
def played():
    """Play tasks by their oracles, or by nonsense those whose places are in `wrong`."""

    def play_all(envs, n, wrong=(), **more):
        """Return replies by first observation, and for each task its observations, reward and digest."""
        replies, wanted = {}, []
        for i, row in enumerate(task_rows(*envs, n=n, **more)):
            play = EpisodePlayer()
            shown, info = play.start(row)
            said = replies.setdefault(shown, [])
            seen = [shown]
            while not play.over:
                said.append("nonsense" if i in wrong else play.env.oracle())
                outcome = play.step(said[-1])
                seen += [said[-1], outcome.observation]
            wanted.append(
                {
                    "id": info["task_id"],
                    "value": play.reward,
                    "digest": play.verdict.digest,
                    "shown": seen[:-1],
                }
            )
        return replies, wanted

    return play_all
