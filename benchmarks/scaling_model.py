"""Model of what ten and a thousand machines would do, on the measured figures of one.

    python benchmarks/scaling_model.py --out docs/results/scaling_model.json

The measured figures are read from docs/results; what the sandbox takes for a job is measured anew. What the program in a
job takes, what a GPU samples and the prices are arguments, since they are yours.
The model is that of docs/scaling.md: each stage of a turn needs some seconds of some resource, a resource gives as many
seconds a second as there are of it, and the slowest one sets the pace. Nothing here has been run on more than one
machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from verigym.sandbox.job import Job
from verigym.sandbox.local import LocalSandbox

RESULTS = Path(__file__).parents[1] / "docs" / "results"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Abilities of one machine of `cores`. Seconds are of one core."""

    cores: int
    loop_s: float
    """Processor time of the episode loop for a turn; one process of Python, so one core."""
    request_s: float
    """Processor time of a request to a model server, in the loop's process."""
    verdict_s: float
    """Processor time of a verdict."""
    sandbox_s: float
    """Processor time of the sandbox for a job, with a program that prints a number."""
    program_s: float
    """Processor time of your program in a job: yours, not measured here."""

    @property
    def job_s(self) -> float:
        """Processor time of a job."""
        return self.sandbox_s + self.program_s


@dataclass(frozen=True, kw_only=True)
class Work:
    """Needs of an episode."""

    turns: int
    tokens: int
    """Tokens sampled in a turn."""
    jobs: int
    """Sandbox jobs of an episode."""
    wait_s: float
    """Seconds that a step waits for something that costs no core here."""


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """Number of everything that there is."""

    machines: int
    drivers: int
    """Processes with an episode loop."""
    gpus: int
    tokens_per_s: float
    """Tokens a second that one GPU samples in a full batch: yours, not measured here."""
    slots: int
    """Steps that a machine has under way at once."""


def paces(machine: Machine, work: Work, fleet: Fleet) -> dict[str, float]:
    """Return the episodes a second that each resource allows."""
    cores = machine.cores * fleet.machines
    per_turn_s = machine.loop_s + machine.request_s
    judged_s = machine.verdict_s + work.jobs * machine.job_s
    allowed = {
        "episode loop": fleet.drivers / (work.turns * per_turn_s),
        "sandbox and verifiers": cores / judged_s,
        "sampling": fleet.gpus * fleet.tokens_per_s / (work.turns * work.tokens),
    }
    if work.wait_s:
        allowed["slots"] = fleet.machines * fleet.slots / (work.turns * work.wait_s)
    return allowed


def cost_of_jobs(jobs: int, job_s: float, price_per_core_hour: float, busy: float) -> float:
    """Return the price of sandbox jobs, on machines that are `busy` a share of their time."""
    return jobs * job_s / 3600 / busy * price_per_core_hour


def measure_sandbox(n_jobs: int) -> float:
    """Return the processor time of a small job in a warm sandbox: of this process and all below it."""
    with LocalSandbox(max_jobs=1) as sandbox:
        for _ in range(10):
            _run_small(sandbox)
        before = _processor_time()
        for _ in range(n_jobs):
            _run_small(sandbox)
        return (_processor_time() - before) / n_jobs


def _run_small(sandbox: LocalSandbox) -> None:
    found = sandbox.run(Job(source="print(6 * 7)"))
    if found.stdout != b"42\n":
        raise RuntimeError(f"the sandbox gave {found}")


def _processor_time() -> float:
    own = psutil.Process()
    everyone = [own, *own.children(recursive=True)]
    # The last two are of children that have ended.
    return sum(sum(one.cpu_times()[:4]) for one in everyone)


def measured(program_s: float, cores: int, n_jobs: int) -> Machine:
    """Return this project's machine: the recorded benchmarks, and the sandbox as it is now."""
    clients = json.loads((RESULTS / "model_clients.json").read_text())
    rollouts = json.loads((RESULTS / "rollouts_vs_verifiers.json").read_text())
    served = json.loads((RESULTS / "server_load.json").read_text())
    case = next(
        one
        for one in rollouts["cases"]
        if (one["model"], one["turns"], one["at_once"]) == ("in process", 5, 64)
    )
    return Machine(
        cores=cores,
        loop_s=case["ours"]["cpu_ms"] / 1e3 / case["turns"],
        request_s=clients["at_once"]["64"]["ours"]["cpu_us"] / 1e6,
        verdict_s=served["math/answer"]["batches"]["http"]["cpu_us"]["median"] / 1e6,
        sandbox_s=round(measure_sandbox(n_jobs), 5),
        program_s=program_s,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=16, help="cores of a machine")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=400, help="sampled in a turn")
    parser.add_argument("--jobs", type=int, default=8, help="sandbox jobs of an episode")
    parser.add_argument(
        "--program-s", type=float, default=0.05, help="processor time of the program in a job"
    )
    parser.add_argument(
        "--measured-jobs", type=int, default=400, help="that the sandbox is timed with"
    )
    parser.add_argument("--wait-s", type=float, default=0.2, help="waiting time of a step")
    parser.add_argument("--slots", type=int, default=256, help="steps at once on a machine")
    parser.add_argument("--gpus", type=int, default=1, help="for each machine")
    parser.add_argument("--tokens-per-s", type=float, default=5000.0, help="of a GPU")
    parser.add_argument("--price", type=float, default=0.05, help="of a core for an hour")
    parser.add_argument("--busy", type=float, default=0.5, help="share of time that cores work")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    machine = measured(given.program_s, given.cores, given.measured_jobs)
    work = Work(turns=given.turns, tokens=given.tokens, jobs=given.jobs, wait_s=given.wait_s)
    result: dict[str, Any] = {"machine": asdict(machine), "work": asdict(work), "fleets": []}
    for machines, drivers in ((1, 1), (10, 1), (1000, 1), (1000, 100)):
        fleet = Fleet(
            machines=machines,
            drivers=drivers,
            gpus=given.gpus * machines,
            tokens_per_s=given.tokens_per_s,
            slots=given.slots,
        )
        found = paces(machine, work, fleet)
        first = min(found, key=lambda name: found[name])
        result["fleets"].append(
            {
                "machines": machines,
                "drivers": drivers,
                "episodes_per_s": {name: round(pace, 1) for name, pace in found.items()},
                "bottleneck": first,
            }
        )
        print(
            f"{machines:>5} machines, {drivers:>3} drivers: {found[first]:>9.1f} episodes a second, "
            f"held back by {first}; " + ", ".join(f"{n} {p:.1f}" for n, p in found.items())
        )
    result["price"] = {"core_hour": given.price, "busy": given.busy}
    result["load_average"] = os.getloadavg()
    result["cost_of_a_million_jobs"] = {
        name: round(cost_of_jobs(10**6, seconds, given.price, given.busy), 2)
        for name, seconds in (("with the program", machine.job_s), ("sandbox", machine.sandbox_s))
    }
    print(
        f"a million sandbox jobs at {result['price']}: {result['cost_of_a_million_jobs']}; "
        f"the sandbox takes {machine.sandbox_s * 1e3:.1f} ms of processor time for one"
    )
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
