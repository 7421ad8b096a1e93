"""Python jobs in the warm sandbox, beside plain `subprocess.run` and `bwrap`, in one run.

    python benchmarks/sandbox.py --rounds 7 --flat 20000

Every method runs the same program and reads its output, each in a session of its own, in turns within
each round, at concurrency 1, 2, 4 and 8. `subprocess`, `lean` and `bwrap` start `--python`, by default
this environment's interpreter or the one below it, whichever starts faster here (what lies in their
site-packages can make a large difference). `lean` is `python3 -I -S`, the fastest honest start: it reads
neither environment variables nor site-packages. For the program that imports numpy they get its folder
in PYTHONPATH, `lean` in `sys.path`. `bwrap` (Debian's bubblewrap) unshares all it can, with read-only
system folders and a tmpfs; it is left out, and said so, if it is not installed.

Prints medians with least and most over the rounds, and ratios of the medians, and writes JSON with
every figure (`--out`, by default results/sandbox.json). `--flat N` then runs N trivial jobs more and
reports how time per job, memory and descriptors go from the first tenth to the last.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from verigym.sandbox.job import Job, JobStatus, Limits
from verigym.sandbox.local import LocalSandbox

PROGRAMS = {
    "trivial": ("print(6 * 7)", b"42\n"),
    "numpy": ("import numpy\nprint(int(numpy.arange(7).sum() * 2))", b"42\n"),
}
CONCURRENCIES = (1, 2, 4, 8)
LIMITS = Limits(wall_s=30.0, cpu_s=30.0, processes=32, open_files=256)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument(
        "--flat", type=int, default=0, metavar="N", help="jobs of the flatness test"
    )
    parser.add_argument("--out", type=Path, default=Path("results/sandbox.json"))
    parser.add_argument("--python", help="what subprocess and bwrap start")
    options = parser.parse_args()

    python = options.python or faster(sys.executable, getattr(sys, "_base_executable", None))
    with LocalSandbox(max_jobs=max(CONCURRENCIES)) as sandbox:
        report: dict[str, Any] = {**machine(), "baseline": python, "sandbox": sandbox.describe()}
        for program in options.programs:
            methods = {
                "verigym": in_sandbox(sandbox, program),
                "subprocess": plain(program, python),
                "lean": lean(program, python),
            }
            if shutil.which("bwrap"):
                methods["bwrap"] = in_bwrap(program, python)
            else:
                report["bwrap"] = "not installed"
            report[program] = compare(methods, options.rounds, options.seconds)
            show(program, report[program])
        if options.flat:
            report["flat"] = flat(sandbox, options.flat)
            print(json.dumps(report["flat"], indent=1))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(f"written to {options.out}")


def in_sandbox(sandbox: LocalSandbox, program: str) -> Callable[[], None]:
    source, wanted = PROGRAMS[program]
    job = Job(source=source, limits=LIMITS)

    def run() -> None:
        result = sandbox.run(job)
        if result.status is not JobStatus.OK or result.stdout != wanted:
            raise RuntimeError(f"the sandbox gave {result}")

    return run


def faster(*pythons: str | None) -> str:
    """The interpreter of these that starts and ends sooner, by the median of a few runs."""

    def seconds(python: str) -> float:
        method = plain("trivial", python)
        return statistics.median(measure(method, 0.5, 1)[0])

    return min({python for python in pythons if python}, key=seconds)


def plain(program: str, python: str) -> Callable[[], None]:
    return command(program, [python, "-c", PROGRAMS[program][0]])


def lean(program: str, python: str) -> Callable[[], None]:
    folders = "".join(f"sys.path.append({folder!r})\n" for folder in numpy_folder(program))
    source = f"import sys\n{folders}{PROGRAMS[program][0]}" if folders else PROGRAMS[program][0]
    return command(program, [python, "-I", "-S", "-c", source])


def in_bwrap(program: str, python: str) -> Callable[[], None]:
    seen = ["/usr", "/bin", "/lib", "/lib64", *numpy_folder(program)]
    seen += [str(Path(path).parents[1]) for path in (python, os.path.realpath(python))]
    binds = [part for path in dict.fromkeys(seen) for part in ("--ro-bind-try", path, path)]
    line = ["bwrap", "--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev"]
    line += ["--tmpfs", "/tmp", *binds, "--", python, "-c", PROGRAMS[program][0]]
    return command(program, line)


def command(program: str, line: list[str]) -> Callable[[], None]:
    env = {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    if program == "numpy":
        env["PYTHONPATH"] = numpy_folder(program)[0]
    wanted = PROGRAMS[program][1]

    def run() -> None:
        done = subprocess.run(
            line, capture_output=True, env=env, start_new_session=True, timeout=60
        )
        if done.stdout != wanted:
            raise RuntimeError(f"{line[0]} gave {done}")

    return run


def numpy_folder(program: str) -> list[str]:
    spec = importlib.util.find_spec("numpy") if program == "numpy" else None
    return [str(Path(spec.origin).parents[1])] if spec and spec.origin else []


def compare(
    methods: dict[str, Callable[[], None]], rounds: int, seconds: float
) -> dict[str, dict[str, Any]]:
    """Figures of each method by concurrency, and ratios of medians: method over verigym."""
    rows: dict[str, dict[str, list[float]]] = {name: {} for name in methods}
    for method in methods.values():
        for _ in range(3):
            method()  # what is started lazily is started now
    for number in range(rounds):
        # Another order each round, so that none always follows the same neighbour.
        order = list(methods)[number % len(methods) :] + list(methods)[: number % len(methods)]
        for concurrency in CONCURRENCIES:
            for name in order:
                times, per_s = measure(methods[name], seconds, concurrency)
                row = rows[name]
                row.setdefault(f"jobs_per_s_at_{concurrency}", []).append(per_s)
                if concurrency == 1:
                    row.setdefault("p50_ms", []).append(1000 * statistics.median(times))
                    # With few samples this is the largest.
                    last = min(len(times) - 1, int(len(times) * 0.99))
                    row.setdefault("p99_ms", []).append(1000 * sorted(times)[last])
    figures: dict[str, dict[str, Any]] = {
        name: {key: spread(values) for key, values in row.items()} for name, row in rows.items()
    }
    own = figures["verigym"]
    figures["ratios"] = {
        name: {key: round(own[key]["median"] / other[key]["median"], 3) for key in own}
        for name, other in figures.items()
        if name != "verigym"
    }
    return figures


def measure(
    method: Callable[[], None], seconds: float, concurrency: int
) -> tuple[list[float], float]:
    """Seconds of each call, and calls a second, over about `seconds`."""
    end = time.perf_counter() + seconds

    def until_end(_: int) -> list[float]:
        times = []
        while True:
            began = time.perf_counter()
            method()
            ended = time.perf_counter()
            times.append(ended - began)
            if ended > end:
                return times

    began = time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        times = [t for part in pool.map(until_end, range(concurrency)) for t in part]
    return times, len(times) / (time.perf_counter() - began)


def flat(sandbox: LocalSandbox, jobs: int) -> dict[str, Any]:
    """Time a job, memory and descriptors of this process and its workers, in ten parts of `jobs`."""
    method = in_sandbox(sandbox, "trivial")
    parts = []
    for _ in range(10):
        began, cpu = time.perf_counter(), os.times()
        with ThreadPoolExecutor(4) as pool:
            for _ in pool.map(lambda _: method(), range(jobs // 10)):
                pass
        used = os.times()
        parts.append(
            {
                "ms_per_job": round(1000 * (time.perf_counter() - began) / (jobs // 10), 3),
                "own_cpu_ms_per_job": round(
                    1000 * (used.user + used.system - cpu.user - cpu.system) / (jobs // 10), 3
                ),
                **held(),
            }
        )
    return {"jobs": jobs, "first_part": parts[0], "last_part": parts[-1], "parts": parts}


def held() -> dict[str, Any]:
    """Return the resources that this process and its descendants hold now."""
    pids = [os.getpid()]
    for pid in pids:  # grows while it is walked
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            pids += [int(child) for child in task.read_text().split()]
    resident_kib = descriptors = 0
    for pid in pids:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            descriptors += len(os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            continue  # a job that has ended since
        resident_kib += sum(
            int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon")
        )
    return {
        "processes": len(pids),
        "resident_mib": round(resident_kib / 1024, 1),
        "descriptors": descriptors,
    }


def spread(values: list[float]) -> dict[str, float]:
    """Median, least and most."""
    return {
        "median": round(statistics.median(values), 2),
        "min": round(min(values), 2),
        "max": round(max(values), 2),
    }


def machine() -> dict[str, Any]:
    """Return the command, commit and machine of the measurement."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return {
        "command": " ".join(sys.argv),
        "commit": commit,
        "python": platform.python_version(),
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "root": os.getuid() == 0,
    }


def show(program: str, figures: dict[str, dict[str, Any]]) -> None:
    names = [name for name in figures if name != "ratios"]
    print(f"\n{program:22}" + "".join(f"{name:>28}" for name in names))
    for key in figures["verigym"]:
        cells = []
        for name in names:
            value = figures[name][key]
            ratio = "" if name == "verigym" else f" x{figures['ratios'][name][key]:.2f}"
            cells.append(f"{value['median']:>9.1f} ({value['min']:.0f}-{value['max']:.0f}){ratio}")
        print(f"{key:22}" + "".join(f"{cell:>28}" for cell in cells))


if __name__ == "__main__":
    main()
