"""Thousands of mixed jobs, some hostile, while workers are killed at random.

    python benchmarks/sandbox_soak.py --jobs 20000 --concurrency 8 --kill-every-s 0.5

One job in twenty is a program of the escape suite. Every other has one right status, output and file,
known beforehand. Workers (the init of a slot, or the zygote that forks them) are killed all along. The
program fails (exit status 1) if a job is lost, if a status or output is wrong, if a job is told
`sandbox_error` though no worker died while it ran, or if processes, mounts, descriptors, control
groups, shared memory, temporary files or memory are left over at the end. Writes JSON (`--out`, by
default results/sandbox_soak.json).
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

import verigym.sandbox
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.sandbox.local import LocalSandbox

ATTACKS = Path(verigym.sandbox.__file__).parent / "selfcheck" / "attacks"
SHORT = Limits(wall_s=1.0, cpu_s=1.0, memory_mib=128, processes=12, disk_mib=16, inodes=1000)
LIMITS = Limits(wall_s=20.0, cpu_s=10.0)
# Limits of a job that must pass the wall clock.
HASTY = Limits(wall_s=0.5, cpu_s=10.0)

Maker = Callable[[int], tuple[Job, JobStatus, bytes]]


def kinds() -> dict[str, Maker]:
    """Jobs by name: number -> job, status and output that it must have."""

    def py(source: str, status: JobStatus = JobStatus.OK, **more: Any) -> Maker:
        more.setdefault("limits", LIMITS)

        def make(number: int) -> tuple[Job, JobStatus, bytes]:
            wanted = b"%d\n" % (number + 1) if status is JobStatus.OK else b""
            return Job(source=source, stdin=b"%d\n" % number, **more), status, wanted

        return make

    return {
        "sum": py("print(int(input()) + 1)"),
        "numpy": py("import numpy as np\nprint(int(np.int64(input()) + 1))"),
        "files": py(
            "import os\nassert sorted(os.listdir()) == ['a', 'main.py'], os.listdir()\n"
            "open('out.txt', 'w').write(input())\nprint(int(open('out.txt').read()) + 1)",
            files={"a/b.txt": b"x"},
            fetch=("out.txt",),
        ),
        "child": py(
            "import subprocess\n"
            "print(subprocess.check_output(['sh', '-c', 'read n; echo $((n+1))'], text=True), end='')"
        ),
        "exit": py("raise SystemExit(3)", JobStatus.NONZERO_EXIT),
        "raise": py("1 / 0", JobStatus.NONZERO_EXIT),
        "signal": py("import os\nos.kill(os.getpid(), 11)", JobStatus.SIGNAL),
        "loop": py("while True: pass", JobStatus.TIME_LIMIT, limits=HASTY),
        "memory": py("x = bytearray(1 << 30)", JobStatus.MEMORY_LIMIT),
        "bash": lambda number: (
            Job(source=f"echo $(({number} + 1))", language="bash", limits=LIMITS),
            JobStatus.OK,
            b"%d\n" % (number + 1),
        ),
    }


# How often each kind is drawn.
WEIGHTS = {"sum": 40, "numpy": 15, "files": 10, "child": 8, "exit": 8, "raise": 5, "signal": 4}
WEIGHTS |= {"loop": 1, "memory": 2, "bash": 7}


@dataclass
class Tally:
    """Counters of all events, under one lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    deaths: list[float] = field(default_factory=list)
    faults: list[tuple[float, float, str]] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--attacks", type=float, default=0.05, help="share of hostile jobs")
    parser.add_argument("--kill-every-s", type=float, default=0.5, help="mean time between kills")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/sandbox_soak.json"))
    options = parser.parse_args()
    rng = random.Random(options.seed)

    gc.collect()
    before = holdings()
    tally = Tally()
    began = time.monotonic()
    with LocalSandbox(max_jobs=options.concurrency) as sandbox:
        sandbox.run(Job(source="import numpy"))
        plan = planned(options.jobs, options.attacks, rng)
        over = threading.Event()
        killer = threading.Thread(
            target=kill_workers,
            args=(tally, options.kill_every_s, random.Random(rng.random()), over),
        )
        killer.start()
        resident = []
        try:
            with (
                Progress(BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()) as progress,
                ThreadPoolExecutor(options.concurrency) as pool,
            ):
                bar = progress.add_task("jobs", total=len(plan))
                for number, _ in enumerate(pool.map(lambda one: run(sandbox, tally, *one), plan)):
                    progress.advance(bar)
                    if number % (options.jobs // 10 or 1) == 0:
                        resident.append(own_resident_mib())
        finally:
            over.set()
            killer.join()
    left = leftovers(before)
    # A death at any moment of a job's run, or just before it, may have been its worker's.
    unexplained = [
        detail
        for start, end, detail in tally.faults
        if not any(start - 1.0 <= death <= end for death in tally.deaths)
    ]
    report = {
        "command": " ".join(sys.argv),
        "jobs": len(plan),
        "returned": sum(tally.statuses.values()),
        "seconds": round(time.monotonic() - began, 1),
        "statuses": dict(tally.statuses.most_common()),
        "workers_killed": len(tally.deaths),
        "sandbox_errors": len(tally.faults),
        "sandbox_errors_unexplained": unexplained[:20],
        "wrong": tally.wrong[:20],
        "n_wrong": len(tally.wrong),
        "left_over": left,
        "resident_mib": resident,
        "cpus": os.cpu_count(),
        "root": os.getuid() == 0,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))
    bad = report["returned"] != report["jobs"] or unexplained or tally.wrong or left
    sys.exit(1 if bad else 0)


def planned(jobs: int, share: float, rng: random.Random) -> list[tuple[str, Job, Any, bytes]]:
    """Name, job, status wanted (None for an attack: any but a fault) and output wanted."""
    makers = kinds()
    attacks = sorted(ATTACKS.glob("*.py"))
    if not attacks:
        raise SystemExit(f"no attacks in {ATTACKS}")
    plan: list[tuple[str, Job, Any, bytes]] = []
    for number in range(jobs):
        if rng.random() < share:
            path = rng.choice(attacks)
            plan.append((path.stem, Job(source=path.read_text(), limits=SHORT), None, b""))
        else:
            (name,) = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))
            job, status, output = makers[name](number)
            plan.append((name, job, status, output))
    return plan


def run(
    sandbox: LocalSandbox, tally: Tally, name: str, job: Job, status: Any, output: bytes
) -> None:
    start = time.monotonic()
    result = sandbox.run(job)
    end = time.monotonic()
    with tally.lock:
        tally.statuses[result.status.value] += 1
        if result.status is JobStatus.SANDBOX_ERROR:
            tally.faults.append((start, end, f"{name}: {result.detail}"))
        elif status is not None and not right(job, result, status, output):
            tally.wrong.append(f"{name}: wanted {status.value}, got {result}"[:600])


def right(job: Job, result: Result, status: JobStatus, output: bytes) -> bool:
    if result.status is not status or (status is JobStatus.OK and result.stdout != output):
        return False
    return set(result.files) == set(job.fetch)


def kill_workers(tally: Tally, every_s: float, rng: random.Random, over: threading.Event) -> None:
    """Kill a random slot, one time in ten a warm server with all of its slots, until `over`."""
    while not over.wait(rng.expovariate(1 / every_s)):
        slots, servers = workers()
        victims = slots if slots and rng.random() < 0.9 else servers
        if victims:
            try:
                with tally.lock:
                    tally.deaths.append(time.monotonic())
                os.kill(rng.choice(victims), signal.SIGKILL)
            except ProcessLookupError:
                continue  # it has ended by itself since


def workers() -> tuple[list[int], list[int]]:
    """Pids of the slots below this process, and of the warm servers that hold them.

    Both are the first process of a pid namespace, a server of one and a slot of one within that.
    """
    found: dict[int, list[int]] = {2: [], 3: []}
    todo = children(os.getpid())
    for pid in todo:  # grows while it is walked
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        inner = next(line for line in status.splitlines() if line.startswith("NSpid")).split()[1:]
        if len(inner) in found and inner[-1] == "1":
            found[len(inner)].append(pid)
        if len(inner) < 3:  # what is below a slot are jobs
            todo += children(pid)
    return found[3], found[2]


def children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in task.read_text().split()]
        except OSError:
            continue
    return found


def holdings() -> dict[str, set[str]]:
    """Return the resources that a sandbox could leave behind, by kind."""
    own = f"/proc/{os.getpid()}"
    return {
        "processes": {str(pid) for pid in children(os.getpid())},
        "mounts": set(Path(f"{own}/mountinfo").read_text().splitlines()),
        "descriptors": {fd for fd in os.listdir(f"{own}/fd") if os.path.exists(f"{own}/fd/{fd}")},
        "cgroups": {
            # The name carries the owner: other sandboxes of this machine are left out.
            str(path)
            for path in Path("/sys/fs/cgroup").glob(f"**/verigym-*-{os.getpid()}-*")
        },
        "shared memory": {*os.listdir("/dev/shm")},
        "segments": set(Path("/proc/sysvipc/shm").read_text().splitlines()),
        "temporary files": {name for name in os.listdir("/tmp") if "verigym" in name},
    }


def leftovers(before: dict[str, set[str]]) -> dict[str, list[str]]:
    gc.collect()
    after = holdings()
    more = {kind: sorted(after[kind] - before[kind])[:5] for kind in before}
    return {kind: things for kind, things in more.items() if things}


def own_resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20), 1)


if __name__ == "__main__":
    main()
