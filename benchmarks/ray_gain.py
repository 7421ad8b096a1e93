"""Episodes a second with environments in Ray actors: two workers beside one, with environments that wait.

    make ray
    PYTHONPATH=~/.cache/verigym-peers/ray python benchmarks/ray_gain.py --rounds 5 --out docs/results/ray_gain.json

Each step waits `--wait` seconds, as one that runs programs or asks a service does; a worker plays `--slots` steps at
once. Beside them the threads of this process, with the slots of one worker. Prints episodes a second (median, least and most)
and the median over rounds of the ratio to one worker in the same round.
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

from verigym.agents.envpool import EnvPool
from verigym.agents.loop import Settings, plan_groups, play
from verigym.agents.policy import Completion, Request
from verigym.agents.ray_envs import RayEnvPool
from verigym.making import make

TURNS = 4


class Instant:
    """A policy that answers at once, without a look at the environment."""

    name = "instant"
    max_batch = 64

    def complete(self, requests: list[Request]) -> list[Completion]:
        return [Completion(text="<action>up</action>") for _ in requests]


def waiting(wait_s: float) -> type[Any]:
    """Return keydoor that waits at each step; made in here, so that Ray pickles it by value."""
    keydoor = type(make("keydoor"))

    class Waiting(keydoor):  # type: ignore[misc, valid-type]
        def transition(self, state: Any, action: str) -> Any:
            time.sleep(wait_s)
            return super().transition(state, action)

    return Waiting


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=64)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--wait", type=float, default=0.2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    env = waiting(given.wait)
    pools: dict[str, EnvPool] = {
        "threads": EnvPool(),
        # The first cluster is connected to by the second pool, too.
        "two workers": RayEnvPool(actors=2, slots=given.slots, cpus=0.4),
    }
    pools["one worker"] = RayEnvPool(actors=1, slots=given.slots, cpus=0.01)
    found: dict[str, list[float]] = {way: [] for way in pools}
    try:
        for pool in pools.values():
            if isinstance(pool, RayEnvPool):
                pool.wait_for_actors()
        for round_ in range(given.rounds + 1):
            for way, pool in pools.items():
                slots = given.slots * (2 if way == "two workers" else 1)
                plans = plan_groups(env, range(given.episodes), env_kwargs={"max_turns": TURNS})
                began = time.perf_counter()
                episodes = play(
                    plans if round_ else plans[:16],
                    Instant(),
                    settings=Settings(env_workers=slots, max_live=slots),
                    envs=pool,
                )
                took_s = time.perf_counter() - began
                assert all(len(episode.turns) == TURNS for episode in episodes)
                if round_:
                    found[way].append(given.episodes / took_s)
    finally:
        for pool in reversed(pools.values()):
            pool.close()
    result: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": os.getloadavg()[0],
        "wait_s": given.wait,
        "slots": given.slots,
        "episodes": given.episodes,
        "turns": TURNS,
        "ways": {},
    }
    for way, rates in found.items():
        ratios = [a / b for a, b in zip(rates, found["one worker"], strict=True)]
        result["ways"][way] = {
            "episodes_per_s": round(statistics.median(rates), 2),
            "range": [round(min(rates), 2), round(max(rates), 2)],
            "times_one_worker": round(statistics.median(ratios), 2),
        }
        print(f"{way:<12} {result['ways'][way]}")
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
