"""Vector environments whose verdicts come from a service: judged a step at a time, and one by one, in one run.

    python benchmarks/vector_verdicts.py --rounds 5 --out results/vector_verdicts.json

A service runs as a process of its own on loopback. `--instances` environments of `math/arithmetic` answer
one question a step, as with `verigym.make_vec`, in mode `sync`, which sends what one step submits in one
request; beside it Gymnasium's `SyncVectorEnv`, which steps each by itself, mode `thread`, and the verifier
in this process. Prints questions answered a second (median, least and most) and the ratios to the first.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

import verigym
from verigym.server.process import ServerProcess

ENV = "math/arithmetic"


def answered(envs: VectorEnv[Any, Any, Any], seconds: float) -> float:
    """Questions answered a second."""
    count = 0
    envs.reset(seed=1)
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        rewards = envs.step(tuple(env.unwrapped.oracle() for env in envs.envs))[1]  # type: ignore[attr-defined]
        assert rewards.sum() == envs.num_envs
        count += envs.num_envs
    return count / (time.perf_counter() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    many = given.instances
    with ServerProcess(verifiers=["math"], workers=2) as server:
        same = AutoresetMode.SAME_STEP
        ways: dict[str, VectorEnv[Any, Any, Any]] = {
            "in one request": verigym.make_vec(ENV, many, autoreset=same, verifier=server.url),
            "one by one": SyncVectorEnv(
                [partial(verigym.make, ENV, verifier=server.url)] * many, autoreset_mode=same
            ),
            "in threads": verigym.make_vec(
                ENV, many, mode="thread", autoreset=same, verifier=server.url
            ),
            "in process": verigym.make_vec(ENV, many, autoreset=same),
        }
        seen: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(given.rounds):
            for way, envs in ways.items():
                seen[way].append(answered(envs, given.seconds))
        for envs in ways.values():
            envs.close()
    medians = {way: statistics.median(some) for way, some in seen.items()}
    first = medians["in one request"]
    for way, some in seen.items():
        print(
            f"{way:15} {medians[way]:9,.0f} a second ({min(some):,.0f} to {max(some):,.0f}), "
            f"{first / medians[way]:.2f} times as fast in one request"
        )
    if given.out is not None:
        machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
        report = {"settings": vars(given), "machine": machine, "seen": seen, "medians": medians}
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(report, default=str, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
