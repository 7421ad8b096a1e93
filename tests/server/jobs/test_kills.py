"""kill -9 of services and workers under load, with real processes: nothing lost, nothing twice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "jobs_kill.py"


@pytest.mark.slow
def test_every_accepted_job_ends_once_with_its_verdicts(store_url):
    done = subprocess.run(
        [sys.executable, BENCHMARK, "--store", store_url, "--seconds", "8", "--every", "0.5"],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    found = json.loads(done.stdout)
    assert found["accepted"] > 10
    assert found["kills"]["services"]
    assert (found["lost"], found["duplicated"], found["changed"]) == (0, 0, 0)
