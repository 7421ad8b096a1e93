"""Verdicts a second of verifiers in Ray actors: two actors beside one, with verifiers that wait, and with quick ones.

    make ray
    PYTHONPATH=~/.cache/verigym-peers/ray python benchmarks/ray_verdicts.py --out docs/results/ray_verdicts.json

A verifier waits `--wait` seconds, as one that runs a program does; an actor judges `--slots` submissions at once. The quick one
shows what a call through Ray takes. Prints verdicts a second (median, least and most), the processor time of this process a
verdict, and the median over rounds of the ratio to one actor in the same round.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from verigym.agents.ray_actors import listen_on_loopback
from verigym.agents.ray_judges import RayJudge, RayVerifierPool
from verigym.canonical import JSON
from verigym.task import Task
from verigym.verdict import Verdict, scored
from verigym.verifier import Verifier


def waiting(wait_s: float) -> Verifier[Any]:
    """Return a verifier that waits; made in here, so that Ray pickles it by value."""

    class Waiting(Verifier[Any]):
        id = "bench/waiting"
        version = 1

        def judge(self, task: Task, submission: JSON) -> Verdict:
            time.sleep(wait_s)
            return scored(1.0, "waited")

    return Waiting()


def measure(judge: RayJudge, n: int) -> dict[str, float]:
    """Return the figures of one batch."""
    items: list[tuple[Task, JSON]] = [
        (Task(id=str(i), env_id="bench", seed=i, prompt="p" * 400, difficulty="easy"), "answer")
        for i in range(n)
    ]
    began, used = time.perf_counter(), time.process_time()
    verdicts = judge.verify_batch(items)
    seconds, cpu_s = time.perf_counter() - began, time.process_time() - used
    assert all(verdict.score == 1.0 for verdict in verdicts)
    return {"verdicts_per_s": n / seconds, "cpu_ms": 1e3 * cpu_s / n}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verdicts", type=int, default=256)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--wait", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    listen_on_loopback()
    import ray

    ray.init(num_cpus=3, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
    pools = {n: RayVerifierPool(actors=n, slots=given.slots) for n in (1, 2)}
    found: dict[str, Any] = {
        "command": "benchmarks/ray_verdicts.py",
        **{name: value for name, value in vars(given).items() if name != "out"},
    }
    for n, pool in pools.items():
        assert pool.actors.wait_for_all(240) == n
    for name, wait_s in (("waiting", given.wait), ("quick", 0.0)):
        judges = {n: RayJudge(waiting(wait_s), name, p.actors, 60.0) for n, p in pools.items()}
        rounds = [
            {n: measure(judge, given.verdicts) for n, judge in judges.items()}
            for _ in range(given.rounds + 1)
        ][1:]  # the first warms up
        found[name] = figures(rounds)
        print(name, found[name], flush=True)
    found |= {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load_after": os.getloadavg()[0],
    }
    for pool in pools.values():
        pool.close()
    ray.shutdown()
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n")
    return 0


def figures(rounds: list[dict[int, dict[str, float]]]) -> dict[str, Any]:
    """Return medians and spreads of both, and of their ratio."""
    out: dict[str, Any] = {}
    for n in (1, 2):
        rates = [one[n]["verdicts_per_s"] for one in rounds]
        out[f"{n}_actors"] = {
            "verdicts_per_s": [round(f(rates)) for f in (statistics.median, min, max)],
            "cpu_ms": round(statistics.median(one[n]["cpu_ms"] for one in rounds), 2),
        }
    ratios = [one[2]["verdicts_per_s"] / one[1]["verdicts_per_s"] for one in rounds]
    out["ratio"] = [round(f(ratios), 2) for f in (statistics.median, min, max)]
    return out


if __name__ == "__main__":
    sys.exit(main())
