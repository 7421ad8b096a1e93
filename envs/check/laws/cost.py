"""Cost of playing: steps per second, and memory over many episodes. Measured; only leaks are
bounded."""

from __future__ import annotations

import gc
import random
import time
from typing import Any

from verigym.envs.check.subject import Broken, Subject, bounded, random_action

_EPISODES = 10_000
_BUDGET_S = 4.0
_LEAK_BYTES = 500
"""Growth per episode above which memory is examined: less than the smallest record of one."""


def memory_does_not_grow(subject: Subject) -> dict[str, Any]:
    """Check that memory does not grow over 10,000 episodes, or as many as four seconds allow."""
    env = subject.quick(redraw=True)
    rng = random.Random(1)
    began, episodes, steps, halfway = time.perf_counter(), 0, 0, 0
    played = 0.0
    budget_s = min(_BUDGET_S, 0.02 * subject.seeds)
    while episodes < _EPISODES and time.perf_counter() - began < budget_s:
        at = time.perf_counter()
        env.reset(seed=episodes % 500)
        over, before = False, steps
        while not over:
            bounded(env, steps - before)
            _, _, terminated, truncated, _ = env.step(random_action(env, rng))
            over = terminated or truncated
            steps += 1
        played += time.perf_counter() - at
        episodes += 1
        late = time.perf_counter() - began > budget_s / 2 or episodes == _EPISODES / 2
        if late and not halfway:
            halfway = episodes
            gc.collect()
            middle = _resident()
    gc.collect()
    since = episodes - halfway
    grown = (_resident() - middle) / since if halfway and since else 0.0
    if since > 1000 and grown > _LEAK_BYTES and _resident() - middle > 4 << 20:
        raise Broken(f"memory grows by {grown:.0f} bytes an episode over {since} episodes")
    return {
        "episodes": episodes,
        "resets_and_steps_per_s": round((episodes + steps) / played),
        "growth_bytes_per_episode": max(0, round(grown)),
    }


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
