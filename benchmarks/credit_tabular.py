"""Compare estimators by training a table of logits, one row for each state, in seconds a run.

    python benchmarks/credit_tabular.py                      # all that is missing, then JSON and a table
    python benchmarks/credit_tabular.py --worlds games/keydoor --only grpo gigpo --seeds 5

What a neural policy adds, generalisation between states, is left out on purpose: the estimator's advantage
alone decides what each state learns. All runs of a seed begin with the same policy (the oracle's action with
probability 1 - noise, else any legal one), and play the same tasks with as many environment steps,
continuations of `branch` included. Advantages are divided by the deviation of their batch, so that their
scale does not act as a learning rate. The policy is evaluated on the tasks that it trains on, for a table
knows no others; a score is the mean of the last five evaluations. Finished runs in the JSON file are skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from verigym.env import Snapshot
from verigym.episode import Episode, Turn
from verigym.making import make
from verigym.trainers.batch import assign_credit
from verigym.trainers.branching import Branching
from verigym.trainers.config import AlgorithmSection
from verigym.trainers.sections import BranchSection

ROOT = Path(__file__).resolve().parents[1]
WORLDS: dict[str, dict[str, Any]] = {
    "games/keydoor": {"difficulty": 1, "max_turns": 16, "noise": 0.9},
    "games/household": {"difficulty": 1, "max_turns": 20, "noise": 0.8},
}
ESTIMATORS = ("grpo", "gigpo", "branch", "g2po", "graphgpo", "hgpo", "rloo")
TASKS, GROUPS, MEMBERS, RATE = 6, 3, 8, 0.1
ENV_STEPS, EVALUATIONS, LAST = 4_000, 6, 5
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""97.5th percentiles of Student's distribution with 1, 2, ... degrees of freedom."""


@dataclass
class Table:
    """A policy with its own logits in each state, in one environment; `rng` draws its actions."""

    world: str
    seed: int
    logits: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    actions: dict[str, list[str]] = field(default_factory=dict)
    steps: int = 0

    def __post_init__(self) -> None:
        chosen = WORLDS[self.world]
        self.env = make(self.world, max_turns=chosen["max_turns"])
        self.noise = chosen["noise"]
        self.difficulty = chosen["difficulty"]
        self.rng = np.random.default_rng((self.seed, 1))

    def probabilities(self, key: str) -> np.ndarray[Any, Any]:
        """Return the probabilities of the legal actions in the current state, whose key is `key`."""
        if key not in self.logits:
            legal = list(self.env.legal_actions(self.env.state) or [])
            best = self.env.oracle()
            if best not in legal:
                legal.append(best)
            p = np.full(len(legal), self.noise / len(legal))
            p[legal.index(best)] += 1 - self.noise
            self.actions[key], self.logits[key] = legal, np.log(p)
        weight = np.exp(self.logits[key] - self.logits[key].max())
        return np.asarray(weight / weight.sum())

    def act(self, key: str) -> tuple[int, float, tuple[Any, ...]]:
        """Make one step; return the action's number and probability, and what the environment answered."""
        p = self.probabilities(key)
        i = int(np.searchsorted(np.cumsum(p), self.rng.random() * p.sum()))
        i = min(i, len(p) - 1)
        self.steps += 1
        return i, float(p[i]), self.env.step(self.actions[key][i])

    def play(self, task: int, name: str, points: dict[int, Snapshot[Any]] | None = None) -> Episode:
        """Play one task; keep the points before its turns in `points`."""
        options = {"difficulty": self.difficulty, "split": "train"}
        _, info = self.env.reset(seed=1000 * self.seed + task, options=options)
        episode = Episode(
            id=name,
            env_id=self.env.id,
            task_id=self.env.task.id,
            seed=task,
            group_id=str(task),
            difficulty="",
            split="train",
        )
        over = False
        while not over:
            if points is not None:
                points[len(episode.turns)] = self.env.snapshot()
            key = info["state_key"]
            i, p, (seen, reward, ended, cut, info) = self.act(key)
            over = ended or cut
            turn = Turn(
                observation=seen,
                response=str(i),
                action=self.actions[key][i],
                reward=float(reward),
                state_key=key,
                valid_action=bool(info["valid_action"]),
                prompt_ids=[0],
                response_ids=[1],
                logprobs=[float(np.log(p))],
                mask=[1],
                verdict=info["verdict"],
            )
            episode.turns.append(turn)
        episode.status = "done" if ended else "truncated"
        return episode

    def play_on(self, point: Snapshot[Any]) -> tuple[float, int]:
        """Continue from a point; return the return and the number of steps."""
        self.env.restore(point)
        total, n, over = 0.0, 0, False
        while not over:
            _, _, (_, reward, ended, cut, _) = self.act(self.env.state_key())
            total, n, over = total + float(reward), n + 1, ended or cut
        return total, n

    def learn(self, episodes: list[Episode], advantage: list[list[float]]) -> None:
        """Add each turn's score times its advantage to the logits of its state."""
        spread = float(np.std([a for line in advantage for a in line]))
        if spread == 0:
            return
        change: dict[str, np.ndarray[Any, Any]] = {}
        for episode, line in zip(episodes, advantage, strict=True):
            for turn, a in zip(episode.turns, line, strict=True):
                key, logits = turn.state_key, self.logits[turn.state_key]
                p = np.exp(logits - logits.max())
                score = -p / p.sum()
                score[int(turn.response)] += 1
                change[key] = change.get(key, np.zeros(len(p))) + a / spread * score
        for key, gradient in change.items():
            self.logits[key] = self.logits[key] + RATE * gradient

    def success(self) -> float:
        """Return the success on all tasks; its steps do not count."""
        before = self.steps
        found = [self.play(task, "").success for task in range(TASKS) for _ in range(MEMBERS)]
        self.steps = before
        return float(np.mean(found))


def run(world: str, estimator: str, seed: int) -> dict[str, Any]:
    """Train once; return the curve of success over environment steps, and the score."""
    table = Table(world=world, seed=seed)
    algorithm = AlgorithmSection(name=estimator, invalid_penalty=0.0)
    branching = Branching(section=BranchSection(), seed=seed)
    draws = np.random.default_rng((seed, 2))
    curve = [[0, table.success()]]
    step = 0
    while table.steps < ENV_STEPS:
        step += 1
        episodes, points = [], {}
        for task in draws.choice(TASKS, GROUPS, replace=False).tolist():
            for member in range(MEMBERS):
                kept: dict[int, Snapshot[Any]] = {}
                episodes.append(table.play(task, f"{task}.{member}", kept))
                points.update({(len(episodes) - 1, t): point for t, point in kept.items()})
        continued: dict[tuple[int, int], float] = {}
        if estimator == "branch":
            for at in branching.choose(step, episodes):
                found = [table.play_on(points[at]) for _ in range(branching.section.continuations)]
                continued[at] = float(np.mean([value for value, _ in found]))
                branching.turns += sum(n for _, n in found)
                branching.continuations += len(found)
        credit = assign_credit(episodes, algorithm, continued=continued)
        table.learn(episodes, [[turn.advantage for turn in earned] for earned in credit])
        if table.steps >= len(curve) * ENV_STEPS / EVALUATIONS:
            curve.append([table.steps, table.success()])
    score = float(np.mean([rate for _, rate in curve[-LAST:]]))
    return {"score": score, "start": curve[0][1], "curve": curve}


def summary(runs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return scores and paired margins over `grpo` with Student's 95 % intervals."""
    out: dict[str, Any] = {}
    for name, by_seed in runs.items():
        scores = [one["score"] for one in by_seed.values()]
        out[name] = {"score": float(np.mean(scores)), "seeds": len(scores)}
        shared = sorted(set(by_seed) & set(runs.get("grpo", {})))
        if name == "grpo" or len(shared) < 2:
            continue
        apart = [by_seed[s]["score"] - runs["grpo"][s]["score"] for s in shared]
        half = STUDENT[len(apart) - 2] * float(np.std(apart, ddof=1)) / len(apart) ** 0.5
        mean = float(np.mean(apart))
        out[name] |= {"over_grpo": mean, "interval": [mean - half, mean + half]}
    return out


def main() -> None:
    """Make the missing runs, then write and print the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--only", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    parser.add_argument("--seeds", type=int, choices=range(2, 11), default=5)
    parser.add_argument("--out", type=Path, default=ROOT / "results/credit_tabular.json")
    arguments = parser.parse_args()
    worlds: dict[str, Any] = {}
    if arguments.out.exists():
        worlds = json.loads(arguments.out.read_bytes())["worlds"]
    for world in arguments.worlds:
        found = worlds.setdefault(world, {"settings": WORLDS[world], "runs": {}})
        for seed in range(arguments.seeds):
            for estimator in arguments.only:
                runs = found["runs"].setdefault(estimator, {})
                if str(seed) in runs:
                    continue
                runs[str(seed)] = run(world, estimator, seed)
                found["summary"] = summary(found["runs"])
                print(world, estimator, seed, runs[str(seed)]["score"], flush=True)
                result = {
                    "command": "python benchmarks/credit_tabular.py",
                    "machine": f"{platform.machine()}, {os.cpu_count()} cores",
                    "settings": {
                        "tasks": TASKS,
                        "groups": GROUPS,
                        "members": MEMBERS,
                        "rate": RATE,
                        "env_steps": ENV_STEPS,
                    },
                    "worlds": worlds,
                }
                arguments.out.parent.mkdir(parents=True, exist_ok=True)
                arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    for world, found in worlds.items():
        for name, one in sorted(found["summary"].items(), key=lambda item: -item[1]["score"]):
            margin = ""
            if "interval" in one:
                low, high = one["interval"]
                margin = f"   over grpo {one['over_grpo']:+.3f} [{low:+.3f}, {high:+.3f}]"
            print(f"{world:16} {name:10} {one['score']:.3f} ({one['seeds']} seeds){margin}")


if __name__ == "__main__":
    main()
