"""Rollouts with a model that answers at once: our episode loop beside Prime's `verifiers` 0.1.14, in one run.

    make peers-verifiers
    python benchmarks/rollouts_vs_verifiers.py --rounds 5 --out docs/results/rollouts_vs_verifiers.json

Both play rollout_game.py: the same prompt, the same growing messages, the same work in the environment and
the same reward, one turn and five, one episode at once and 64. The model is asked over HTTP (model_server.py),
as rollouts are, or is an object in the process, which leaves the framework alone. `verifiers` runs in
an environment and a process of its own, through `Environment.generate`; ours through `play`. Prints episodes a
second and milliseconds of processor time per episode, medians over rounds, and the median over rounds of the ratio
in the same round.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from rollout_game import SYSTEM, move, question, score, seen

from verigym import Draft, Env, Task, Transition, Verdict, Verifier
from verigym.agents.chat import Transcript
from verigym.agents.loop import EnvPool, Settings, plan_groups, play
from verigym.agents.policies.openai import OpenAIPolicy
from verigym.agents.policy import Completion, Request
from verigym.verdict import scored

HERE = Path(__file__).parent
PEER = Path(
    os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "verigym-peers/verifiers/bin/python"
)
ANSWER = "<action>up</action>"


class OnTheStep(Verifier):
    """Full marks on the step that the task names."""

    id = "bench/staircase"
    version = 1

    def judge(self, task: Task, submission: object) -> Verdict:
        assert isinstance(submission, int)
        assert isinstance(task.reference, int)
        found = score(submission, task.reference)
        return scored(found, "correct" if found else "wrong_value")


class Staircase(Env[int]):
    """The game; `turns` is set by the benchmark."""

    id = "verigym/bench/staircase-v0"
    verifier_id = "bench/staircase"
    difficulties = ("easy", "medium", "hard")
    judges_reply = True
    turns = 1

    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        number = int(rng.integers(2**31))
        return Draft(prompt=question(number, self.turns), reference=self.turns, essence=number)

    def initial(self, task: Task) -> int:
        return 0

    def observe(self, state: int) -> str:
        return seen(state) if state else ""

    def transition(self, state: int, action: str) -> Transition[int]:
        return Transition(state=move(state, action))

    def submission(self, state: int) -> int:
        return state

    def solve(self, state: int) -> str:
        return ANSWER

    def turns_allowed(self, task: Task) -> int:
        return self.turns

    def key(self, state: int) -> int:
        return state


class Five(Staircase):
    """Five turns."""

    turns = 5


class Instant:
    """A model that answers at once, in this process."""

    name = "instant"

    def __init__(self, at_once: int) -> None:
        self.max_batch = at_once

    def complete(self, requests: list[Request]) -> list[Completion]:
        return [Completion(text=ANSWER) for _ in requests]


def ours(job: dict[str, Any]) -> dict[str, float]:
    at_once = job["at_once"]
    if job["model"] == "in process":
        policy: Any = Instant(at_once)
    else:
        policy = OpenAIPolicy("m", job["url"], concurrency=at_once)
    env = {1: Staircase, 5: Five}[job["turns"]]
    plans = plan_groups(env, range(job["episodes"]), env_kwargs={"verifier": OnTheStep()})
    began, used = time.perf_counter(), time.process_time()
    with EnvPool() as pool:
        episodes = play(
            plans,
            policy,
            Transcript(system_prompt=SYSTEM),
            Settings(max_live=at_once),
            envs=pool,
        )
    seconds, cpu_s = time.perf_counter() - began, time.process_time() - used
    if job["model"] != "in process":
        policy.close()
    assert {len(episode.turns) for episode in episodes} == {job["turns"]}
    reward = statistics.fmean(episode.return_ for episode in episodes)
    return {"seconds": seconds, "cpu_s": cpu_s, "reward": reward}


class Peer:
    """The process of the other side."""

    def __init__(self, python: Path) -> None:
        self.process = subprocess.Popen(
            [str(python), str(HERE / "rollouts_vs_verifiers_peer.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        )

    def __call__(self, job: dict[str, Any]) -> dict[str, float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("answer "):
                found: dict[str, float] = json.loads(line.removeprefix("answer "))
                return found
        raise RuntimeError("the other side ended; see its error above")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer", type=Path, default=PEER)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if not given.peer.exists():
        print(f"{given.peer} is missing; run: make peers-verifiers")
        return 2
    result: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load_before": os.getloadavg()[0],
        "peer": "verifiers 0.1.14",
        "episodes": given.episodes,
        "rounds": given.rounds,
        "cases": [],
    }
    server = subprocess.Popen(
        [sys.executable, "-P", str(HERE / "model_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    peer = Peer(given.peer)
    try:
        for model in ("http", "in process"):
            for turns in (1, 5):
                for at_once in (1, 64):
                    job = {"model": model, "turns": turns, "at_once": at_once, "url": url}
                    result["cases"].append(measure(job, peer, given.rounds, given.episodes))
    finally:
        server.terminate()
        peer.process.terminate()
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


def measure(job: dict[str, Any], peer: Peer, rounds: int, episodes: int) -> dict[str, Any]:
    """Return the figures of one case; the first, short round warms both sides up."""
    pairs = []
    for round_ in range(rounds + 1):
        asked = {**job, "episodes": episodes if round_ else 32}
        pair = (ours(asked), peer(asked))
        assert pair[0]["reward"] == pair[1]["reward"] == 1.0, pair
        if round_:
            pairs.append(pair)
    case: dict[str, Any] = {name: job[name] for name in ("model", "turns", "at_once")}
    for side, found in zip(("ours", "peer"), zip(*pairs, strict=True), strict=True):
        case[side] = {
            "episodes_per_s": round(statistics.median(episodes / one["seconds"] for one in found)),
            "cpu_ms": round(statistics.median(1e3 * one["cpu_s"] / episodes for one in found), 3),
        }
    ratios = [theirs["seconds"] / own["seconds"] for own, theirs in pairs]
    case["ratio"] = round(statistics.median(ratios), 2)
    case["ratio_range"] = [round(min(ratios), 2), round(max(ratios), 2)]
    case["cpu_ratio"] = round(
        statistics.median(theirs["cpu_s"] / own["cpu_s"] for own, theirs in pairs), 2
    )
    print(case, flush=True)
    return case


if __name__ == "__main__":
    sys.exit(main())
