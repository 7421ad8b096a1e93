"""How many trivial Python programs a second: LocalSandbox against plain subprocess.run.

    python benchmarks/sandbox_speed.py --jobs 60 --rounds 5

Both start the same interpreter on the same program, each in a session of its own, in turns. Prints
one JSON object: p50 of one job alone in ms, and jobs a second at two concurrencies, median and
spread (least and most) over the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from verigym.sandbox.job import Job
from verigym.sandbox.old_languages import find_languages
from verigym.sandbox.local import LocalSandbox

SOURCE = "print(int(input()) + 1)"
CONCURRENCIES = (1, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=60, help="jobs a round and concurrency")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    sandbox = LocalSandbox(max_jobs=max(CONCURRENCIES))
    job = Job(source=SOURCE, stdin=b"41\n")
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    command = list(find_languages(python)["python"].run)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / command[-1]).write_text(SOURCE)

        def in_sandbox() -> None:
            assert sandbox.run(job).stdout == b"42\n"

        def plain() -> None:
            done = subprocess.run(
                command, input=b"41\n", capture_output=True, cwd=folder, start_new_session=True
            )
            assert done.stdout == b"42\n"

        figures: dict[str, dict[str, list[float]]] = {"sandbox": {}, "subprocess": {}}
        for _ in range(options.rounds):
            for name, function in (("sandbox", in_sandbox), ("subprocess", plain)):
                for concurrency in CONCURRENCIES:
                    p50_ms, per_s = measure(function, options.jobs, concurrency)
                    figures[name].setdefault(f"jobs_per_s_at_{concurrency}", []).append(per_s)
                    if concurrency == 1:
                        figures[name].setdefault("p50_ms", []).append(p50_ms)
    print(
        json.dumps(
            {
                "command": " ".join(sys.argv),
                "python": platform.python_version(),
                "mode": sandbox.mode,
                "cpus": os.cpu_count(),
                "load": os.getloadavg()[0],
                **{
                    name: {key: spread(values) for key, values in rows.items()}
                    for name, rows in figures.items()
                },
            },
            indent=1,
        )
    )


def measure(function: Callable[[], None], jobs: int, concurrency: int) -> tuple[float, float]:
    """p50 of one call in ms, and calls a second."""

    def timed(_: int) -> float:
        began = time.perf_counter()
        function()
        return time.perf_counter() - began

    began = time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        each = list(pool.map(timed, range(jobs)))
    return 1000 * statistics.median(each), jobs / (time.perf_counter() - began)


def spread(values: list[float]) -> dict[str, float]:
    """Median, least and most."""
    return {
        "median": round(statistics.median(values), 1),
        "min": round(min(values), 1),
        "max": round(max(values), 1),
    }


if __name__ == "__main__":
    main()
