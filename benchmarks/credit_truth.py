"""Compare the sign of each estimator's advantage of a step with the truth, Q(s, a) - V(s).

    python benchmarks/credit_truth.py                                # a scripted stochastic policy
    python benchmarks/credit_truth.py --model runs/mine/last         # a trained model on keydoor

Groups of episodes are played; each estimator credits them, as in training. For a sample of their steps the
truth is found apart from that. With `--exact` V(s) is the expectation over all actions of the scripted policy
to the end of the episode, which is possible where few states can be reached. Else V(s) is the mean return
of `--continuations` continuations of the same policy from the state, and Q(s, a) the reward of the recorded
action and the mean of as many from the state that it led to; only steps count whose measured advantage is at
least three standard errors from 0. The scripted policy plays the oracle's action with probability 1 - noise,
else any legal one.

Not compared: estimators with a critic, which have to be trained first, and sdpo, which has no advantage.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from verigym.agents.fork import Fork
from verigym.agents.plan import Plan, Settings, plan_groups
from verigym.agents.statistics import estimate_mean
from verigym.env import Env, Snapshot
from verigym.episode import Episode, Turn
from verigym.making import make
from verigym.trainers.batch import TokenStatistics, assign_credit, make_rows
from verigym.trainers.branching import Branching
from verigym.trainers.config import AlgorithmSection
from verigym.trainers.credit.table import ESTIMATORS
from verigym.trainers.sections import BranchSection

ROOT = Path(__file__).resolve().parents[1]
WORLDS: dict[str, dict[str, Any]] = {
    "games/keydoor": {"difficulty": 1, "noise": 0.7, "max_turns": 16},
    "games/household": {"difficulty": 1, "noise": 0.5, "max_turns": 20},
}
BUDGETS = {"branch": 0.0, "branch, share 0.5": 0.5, "branch, share 2": 2.0}
"""Continuations of `branch`, relative to the environment steps of the episodes; 0 for none."""
Point = tuple[int, int]
"""Number of an episode and of a turn."""


@dataclass
class Record:
    """Episodes, the points before their turns and after, and sums of squared probabilities of the policy."""

    episodes: list[Episode] = field(default_factory=list)
    points: dict[Point, Any] = field(default_factory=dict)
    squares: dict[Point, float] = field(default_factory=dict)


class Scripted:
    """The oracle's action with probability 1 - noise, else a legal one at random, in one environment."""

    def __init__(self, env_id: str, *, difficulty: int, noise: float, max_turns: int) -> None:
        self.env: Env[Any] = make(env_id, max_turns=max_turns)
        self.difficulty, self.noise = difficulty, noise
        self.solved: dict[str, str] = {}
        self.expected: dict[tuple[str, str, int], float] = {}
        self.rng = np.random.default_rng(0)

    def distribution(self) -> tuple[list[str], np.ndarray[Any, Any]]:
        """Return the legal actions and their probabilities in the current state."""
        legal = list(self.env.legal_actions(self.env.state) or [])
        key = self.env.state_key()
        if key not in self.solved:
            self.solved[key] = self.env.oracle()
        best = self.solved[key]
        if best not in legal:
            legal.append(best)
        p = np.full(len(legal), self.noise / len(legal))
        p[legal.index(best)] += 1 - self.noise
        return legal, p / p.sum()

    def play(self, groups: int, members: int) -> Record:
        """Play `groups` training tasks."""
        out = Record()
        for group in range(groups):
            for member in range(members):
                options = {"difficulty": self.difficulty, "split": "train"}
                _, info = self.env.reset(seed=group, options=options)
                episode = Episode(
                    id=f"{group}.{member}",
                    env_id=self.env.id,
                    task_id=self.env.task.id,
                    seed=group,
                    group_id=str(group),
                    difficulty=self.env.task.difficulty,
                    split="train",
                )
                ended = cut = False
                while not (ended or cut):
                    at = len(out.episodes), len(episode.turns)
                    out.points[at] = self.env.snapshot()
                    actions, p = self.distribution()
                    out.squares[at] = float((p**2).sum())
                    i = int(self.rng.choice(len(actions), p=p))
                    state = info["state_key"]
                    seen, reward, ended, cut, info = self.env.step(actions[i])
                    episode.turns.append(
                        Turn(
                            observation=seen,
                            response=actions[i],
                            action=actions[i],
                            reward=float(reward),
                            state_key=state,
                            valid_action=bool(info["valid_action"]),
                            prompt_ids=[0],
                            response_ids=[1],
                            logprobs=[float(np.log(p[i]))],
                            mask=[1],
                            verdict=info["verdict"],
                        )
                    )
                episode.status = "done" if ended else "truncated"
                out.episodes.append(episode)
        return out

    def returns(self, points: Sequence[Snapshot[Any]], k: int) -> list[list[float]]:
        """Return the returns of `k` continuations from each point."""
        return [[self._continue(point) for _ in range(k)] for point in points]

    def expectation(self, point: Snapshot[Any]) -> float:
        """Return the expected return from a point, exactly, by trying every action."""
        self.env.restore(point)
        key = self.env.task.id, self.env.state_key(), point.turn
        if key not in self.expected:
            actions, p = self.distribution()
            total = 0.0
            for action, chance in zip(actions, p.tolist(), strict=True):
                self.env.restore(point)
                _, reward, ended, cut, _ = self.env.step(action)
                ahead = 0.0 if ended or cut else self.expectation(self.env.snapshot())
                total += chance * (float(reward) + ahead)
            self.expected[key] = total
        return self.expected[key]

    def _continue(self, point: Snapshot[Any]) -> float:
        self.env.restore(point)
        total, over = 0.0, False
        while not over:
            actions, p = self.distribution()
            chosen = actions[int(self.rng.choice(len(actions), p=p))]
            _, reward, ended, cut, _ = self.env.step(chosen)
            total, over = total + float(reward), ended or cut
        return total


class Trained:
    """A transformers model that plays keydoor."""

    def __init__(self, folder: Path, *, difficulty: int = 1, max_turns: int = 16) -> None:
        from verigym.agents.loop import EnvPool, play
        from verigym.agents.policies.hf import HFPolicy
        from verigym.agents.prompts import encoding_for

        self.policy = HFPolicy.load(folder, max_new_tokens=2, max_batch=256)
        self.max_turns, self.difficulty = max_turns, difficulty
        settings = Settings(batching="cohorts")
        encoding = encoding_for(self.policy, None)
        self.pool = EnvPool()
        self._play = partial(
            play, policy=self.policy, encoding=encoding, settings=settings, envs=self.pool
        )
        self.plans: list[Plan] = []
        self.draws = 0

    def play(self, groups: int, members: int) -> Record:
        """Play `groups` training tasks."""
        self.plans = plan_groups(
            "games/keydoor",
            range(groups),
            members=members,
            env_kwargs={"max_turns": self.max_turns},
            difficulty=self.difficulty,
            split="train",
        )
        number = {plan.id: i for i, plan in enumerate(self.plans)}
        out = Record()

        def keep(episode: Episode, fork: Fork) -> None:
            out.points[number[episode.id], fork.turn] = fork

        out.episodes = self._play(self.plans, on_fork=keep)
        # The sums of squares take another pass over the model, which otb alone would need.
        return out

    def returns(self, points: Sequence[Fork], k: int) -> list[list[float]]:
        """Return the returns of `k` continuations from each point."""
        plans = []
        for i, fork in enumerate(points):
            task = fork.snapshot.task
            (plan,) = [p for p in self.plans if p.seed == task.seed and p.id.endswith(".0")]
            for j in range(k):
                self.draws += 1
                name = f"{i}.{j}"
                plans.append(replace(plan, id=name, group_id=name, key=(7, self.draws), fork=fork))
        found = [episode.return_ for episode in self._play(plans)]
        return [found[i * k : (i + 1) * k] for i in range(len(points))]


def measure(
    player: Scripted | Trained, record: Record, n: int, k: int, exact: bool
) -> dict[Point, tuple[float, float]]:
    """Return the advantage and its standard error, 0 if it is exact, for `n` steps drawn at random."""
    rng = np.random.default_rng(1)
    every = [(i, t) for i, e in enumerate(record.episodes) for t in range(len(e.turns))]
    chosen = [every[j] for j in rng.permutation(len(every))[:n].tolist()]
    if exact and isinstance(player, Scripted):
        out = {}
        for i, t in chosen:
            ahead = record.points.get((i, t + 1))
            value = record.episodes[i].turns[t].reward - player.expectation(record.points[i, t])
            out[i, t] = value + (player.expectation(ahead) if ahead else 0.0), 0.0
        return out
    after = [(i, t + 1) for i, t in chosen if (i, t + 1) in record.points]
    here = player.returns([record.points[at] for at in chosen], k)
    there = dict(zip(after, player.returns([record.points[at] for at in after], k), strict=True))
    out = {}
    for (i, t), value in zip(chosen, here, strict=True):
        ahead = there.get((i, t + 1), [0.0])
        gain = record.episodes[i].turns[t].reward + float(np.mean(ahead)) - float(np.mean(value))
        error = (np.var(ahead) / len(ahead) + np.var(value) / len(value)) ** 0.5
        out[i, t] = gain, float(error)
    return out


def credits_of(player: Scripted | Trained, record: Record) -> dict[str, list[list[float]]]:
    """Return the advantage of each turn of each episode, by estimator; `branch` once for each budget."""
    rows = make_rows(record.episodes)
    squares = [
        [record.squares[row.trajectory, t] if t >= 0 and record.squares else 0.0 for t in row.turn]
        for row in rows
    ]
    read = TokenStatistics(logprobs=[row.logprobs for row in rows], sum_pi_sq=squares)
    out = {}
    for name, entry in ESTIMATORS.items():
        if entry.heads or entry.loss == "sdpo" or (entry.reads_tokens and not record.squares):
            continue
        algorithm = AlgorithmSection(name=name, invalid_penalty=0.0)
        for label, share in BUDGETS.items() if entry.branches else {name: 0.0}.items():
            continued = _continued(player, record, share) if share else {}
            credit = assign_credit(
                record.episodes,
                algorithm,
                rows,
                read,
                continued=continued if entry.branches else None,
            )
            out[label] = [[turn.advantage for turn in earned] for earned in credit]
    return out


def _continued(player: Scripted | Trained, record: Record, share: float) -> dict[Point, float]:
    branching = Branching(section=BranchSection(share=share), seed=0)
    chosen = branching.choose(1, record.episodes)
    found = player.returns([record.points[at] for at in chosen], branching.section.continuations)
    return {at: float(np.mean(values)) for at, values in zip(chosen, found, strict=True)}


def compare(
    record: Record,
    truth: dict[Point, tuple[float, float]],
    credit: dict[str, list[list[float]]],
) -> dict[str, Any]:
    """Return how often each estimator has the true sign, the opposite one or none, with 95 % intervals."""
    known = {at: gain for at, (gain, error) in truth.items() if abs(gain) > 3 * error + 1e-6}
    if not known:
        raise SystemExit("no step has an advantage that differs from 0; raise --continuations")
    tasks = [record.episodes[i].group_id for i, _ in known]
    found: dict[str, Any] = {}
    for name, earned in credit.items():
        signs = [np.sign(gain) * np.sign(round(earned[i][t], 9)) for (i, t), gain in known.items()]
        agrees, opposite = ([float(s == sign) for s in signs] for sign in (1, -1))
        every = np.array([(gain, earned[i][t]) for (i, t), (gain, _) in truth.items()]).T
        spread = every.std(axis=1).min() > 0
        found[name] = {
            "agrees": estimate_mean(agrees, tasks).to_builtins(),
            "opposite": estimate_mean(opposite, tasks).to_builtins(),
            "silent": float(np.mean([s == 0 for s in signs])),
            "correlation": float(np.corrcoef(every)[0, 1]) if spread else None,
        }
    return {
        "steps_measured": len(truth),
        "steps_counted": len(known),
        "success": float(np.mean([e.return_ for e in record.episodes])),
        "estimators": found,
    }


def table(result: dict[str, Any]) -> str:
    """Return the result as a Markdown table, estimators that agree most first."""
    worlds = list(result["worlds"])
    names = sorted(
        {name for world in result["worlds"].values() for name in world["estimators"]},
        key=lambda name: (
            -np.mean(
                [
                    world["estimators"][name]["agrees"]["value"]
                    for world in result["worlds"].values()
                    if name in world["estimators"]
                ]
            )
        ),
    )
    lines = [f"| | {' | '.join(worlds)} |", "|---" * (len(worlds) + 1) + "|"]
    for name in names:
        cells = []
        for world in result["worlds"].values():
            one = world["estimators"].get(name)
            if one is None:
                cells.append("")
                continue
            low, high = one["agrees"]["interval"]
            right = f"{one['agrees']['value']:.0%} [{low:.0%}, {high:.0%}]"
            cells.append(f"{right}, {one['opposite']['value']:.0%}, {one['silent']:.0%}")
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Play, measure, compare and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--model", type=Path, help="folder of a model trained on keydoor")
    parser.add_argument("--groups", type=int, default=32)
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--steps", type=int, default=300, help="steps whose truth is measured")
    parser.add_argument("--continuations", type=int, default=100)
    parser.add_argument("--exact", action="store_true", help="compute the truth by enumeration")
    parser.add_argument("--out", type=Path, default=ROOT / "results/credit_truth.json")
    arguments = parser.parse_args()
    players: dict[str, Callable[[], Scripted | Trained]] = {
        name: partial(Scripted, name, **WORLDS[name]) for name in arguments.worlds
    }
    if arguments.model is not None:
        players = {"games/keydoor, a trained model": partial(Trained, arguments.model)}
    worlds: dict[str, Any] = {}
    if arguments.out.exists():
        worlds = json.loads(arguments.out.read_bytes())["worlds"]
    for name, build in players.items():
        player = build()
        record = player.play(arguments.groups, arguments.members)
        truth = measure(player, record, arguments.steps, arguments.continuations, arguments.exact)
        worlds[name] = {
            "groups": arguments.groups,
            "members": arguments.members,
            "continuations": None if arguments.exact else arguments.continuations,
            **({"policy": WORLDS[name]} if name in WORLDS else {}),
            **compare(record, truth, credits_of(player, record)),
        }
        print(name, worlds[name]["steps_counted"], "of", len(truth), "steps count", flush=True)
        result = {
            "command": "python benchmarks/credit_truth.py",
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "worlds": worlds,
        }
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    print(table({"worlds": worlds}))


if __name__ == "__main__":
    main()
