"""Rollouts whose verdicts come from a service: asked for together, and one by one, in one run.

    python benchmarks/rollout_verdicts.py --rounds 5 --out results/rollout_verdicts.json

A service runs as a process of its own on loopback. The episode loop plays `--episodes` of
`math/arithmetic`, one question each, with the oracle as the policy, so that nothing but the loop, the
environments and the verdicts take time. Beside the loop as it is, a client that asks for each step by
itself, and the verifier in this process. Prints episodes a second (median, least and most), and the median
over rounds of the ratio of the first to each in the same round.
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

from verigym.agents.loop import EnvPool, Settings, plan_groups, play
from verigym.agents.policies.oracle import OraclePolicy
from verigym.client import RemoteVerifier
from verigym.server.process import ServerProcess

ENV, VERIFIER = "math/arithmetic", "math/answer"


class Alone(RemoteVerifier):
    """Asked by each step for itself."""

    prefers_batches = False


def played(pool: EnvPool, kwargs: dict[str, Any], many: int, settings: Settings) -> float:
    """Episodes a second."""
    plans = plan_groups(ENV, range(many), env_kwargs=kwargs)
    began = time.perf_counter()
    episodes = play(plans, OraclePolicy(), settings=settings, envs=pool)
    took_s = time.perf_counter() - began
    assert all(episode.success for episode in episodes)
    return many / took_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=512)
    parser.add_argument("--env-workers", type=int, default=Settings.env_workers)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    settings = Settings(batching="cohorts", env_workers=given.env_workers)
    with ServerProcess(verifiers=["math"], workers=2) as server, EnvPool() as pool:
        alone = Alone(server.url, VERIFIER)
        ways: dict[str, dict[str, Any]] = {
            "together": {"verifier": server.url},
            "one by one": {"verifier": alone},
            "in process": {},
        }
        seen: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(given.rounds + 1):
            for way, kwargs in ways.items():
                rate = played(pool, kwargs, given.episodes, settings)
                if number:  # the first makes instances and connections
                    seen[way].append(rate)
        alone.close()
    ratios = {
        way: statistics.median(a / b for a, b in zip(seen["together"], some, strict=True))
        for way, some in seen.items()
    }
    for way, some in seen.items():
        print(
            f"{way:12} {statistics.median(some):9,.0f} a second ({min(some):,.0f} to {max(some):,.0f}), "
            f"{ratios[way]:.2f} times as fast together"
        )
    if given.out is not None:
        machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
        report = {"settings": vars(given), "machine": machine, "seen": seen, "ratios": ratios}
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(report, default=str, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
