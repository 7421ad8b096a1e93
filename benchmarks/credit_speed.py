"""Time of GiGPO credit, beside the loops of the public code.

    python benchmarks/credit_speed.py --rows 5000 --runs 21

The baseline, `reference`, is ours, written in the shape that verl-agent's code has: a search through
all rows for each row's return, and lists of torch scalars per group. Both give the same numbers; the
program stops if they do not. Prints both medians and their ratio, and writes a JSON file with every
run (`--out`, by default results/credit_speed.json). Exit status 1 if the median exceeds `--bar-s`.

    python benchmarks/credit_speed.py --iteration

Share of one training step (16 groups of 8 episodes of up to 50 turns of keydoor, a model of a million
parameters) that credit takes, in processor time: GiGPO in the step itself, and every estimator without a
critic on the same episodes. Exit status 1 if GiGPO takes more than 0.2 %.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
import torch

from verigym.trainers.credit import gigpo

ROOT = Path(__file__).resolve().parents[1]


def synthetic(rows: int, *, members: int = 8, steps: int = 40, seed: int = 0) -> dict[str, Any]:
    """Step rows with sparse rewards and states that repeat, about as a text game gives them."""
    rng = np.random.default_rng(seed)
    group: list[str] = []
    trajectory: list[str] = []
    anchor: list[str] = []
    reward: list[float] = []
    number = 0
    while len(group) < rows:
        length = min(int(rng.integers(steps // 4, 2 * steps)), rows - len(group))
        group += [f"task-{number // members}"] * length
        trajectory += [f"try-{number}"] * length
        # Digests, as state keys are; early states are shared by most members.
        states = (np.arange(length) * rng.integers(1, 4, length)).tolist()
        anchor += [f"{number // members:08x}{state:056x}" for state in states]
        reward += [0.0] * (length - 1) + [10.0 * float(rng.random() < 0.5)]
        number += 1
    return {"group": group, "trajectory": trajectory, "anchor": anchor, "reward": reward}


def reference(
    group: Sequence[str],
    trajectory: Sequence[str],
    anchor: Sequence[str],
    reward: Sequence[float],
    *,
    gamma: float = 0.95,
    omega: float = 1.0,
    eps: float = 1e-6,
    cross_steps: bool = True,
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Advantages by plain loops. `cross_steps` is the public default: statistics over rows."""
    rewards, names = np.asarray(reward, dtype=np.float64), np.asarray(trajectory)
    n = len(rewards)
    by_name = {}
    for name in np.unique(names):
        mine = rewards[np.where(names == name)[0]]
        returns, running = np.zeros_like(mine), 0.0
        for t in reversed(range(len(mine))):
            running = mine[t] + gamma * running
            returns[t] = running
        by_name[name] = (returns, mine.sum())
    step_return = torch.zeros(n, dtype=torch.float64)
    score = torch.zeros(n, dtype=torch.float64)
    for i, name in enumerate(names):
        at = np.where(np.where(names == name)[0] == i)[0][0]
        step_return[i] = by_name[name][0][at]
        score[i] = by_name[name][1]

    once = None if cross_steps else list(trajectory)
    episode = normalised(score, list(group), eps, once, raw_alone=cross_steps)
    clusters: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i in range(n):
        clusters[group[i], anchor[i]].append(i)
    ids = [0] * n
    for k, members in enumerate(clusters.values()):
        for i in members:
            ids[i] = k
    joint = episode + omega * normalised(step_return, ids, eps, None)
    return np.asarray(joint.numpy(), dtype=np.float64)


def normalised(
    score: torch.Tensor,
    ids: Sequence[Any],
    eps: float,
    once: Sequence[Any] | None,
    raw_alone: bool = False,
) -> torch.Tensor:
    """(x - mean) / (std + eps) per id; one member per (id, name) if `once` names them.

    A group of one gives 0, or its own value over 1 + eps if `raw_alone`.
    """
    lists: dict[Any, list[torch.Tensor]] = defaultdict(list)
    seen = set()
    for i in range(len(score)):
        if once is not None:
            if (ids[i], once[i]) in seen:
                continue
            seen.add((ids[i], once[i]))
        lists[ids[i]].append(score[i])
    stats = {}
    for key, values in lists.items():
        x = torch.stack(values)
        mean = torch.zeros_like(x[0]) if raw_alone and len(values) == 1 else x.mean()
        stats[key] = (mean, x.std() if len(values) > 1 else torch.ones_like(mean))
    out = score.clone()
    for i in range(len(score)):
        mean, std = stats[ids[i]]
        out[i] = (score[i] - mean) / (std + eps)
    return out


def timed(function: Callable[[], object], runs: int) -> list[float]:
    """Seconds of each of `runs` calls, after one that does not count."""
    function()
    out = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        out.append(time.perf_counter() - start)
    return out


def summary(seconds: list[float]) -> dict[str, Any]:
    """Median and quartiles beside the runs themselves."""
    low, _, high = quantiles(seconds, n=4)
    return {"median_s": median(seconds), "quartiles_s": [low, high], "runs_s": seconds}


def iteration() -> dict[str, Any]:
    """Return the processor time of a training step, and of each estimator's credit on its episodes."""
    import tempfile

    from verigym.trainers import credited, run
    from verigym.trainers.batch import assign_credit
    from verigym.trainers.config import AlgorithmSection, parse_config
    from verigym.trainers.credit.table import ESTIMATORS

    spent: dict[str, float] = {}
    kept: dict[str, Any] = {}

    def clocked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            kept[name] = given
            began = time.process_time()
            found = function(*given, **named)
            spent[name] = spent.get(name, 0.0) + time.process_time() - began
            return found

        return call

    for name in ("assign_credit", "give_credit"):
        setattr(credited, name, clocked(name, getattr(credited, name)))
    run.train_step = clocked("step", run.train_step)
    config = {
        "env": {"id": "games/keydoor", "difficulty": "hard", "max_turns": 50},
        "policy": {"max_new_tokens": 2, "show_task": False},
        "algorithm": {"name": "gigpo"},
        "train": {"steps": 1, "groups": 16, "group_size": 8, "threads": 1},
        "eval": {"episodes": 1, "every": 2},
        "checkpoint": {"transcripts": 0},
    }
    with tempfile.TemporaryDirectory() as folder:
        run.train(parse_config(config), Path(folder) / "run")
    episodes, _, rows, *_ = kept["assign_credit"]
    each = {}
    for name, entry in ESTIMATORS.items():
        if entry.heads or entry.reads_tokens:
            continue
        algorithm = AlgorithmSection(name=name)
        began = time.process_time()
        assign_credit(episodes, algorithm, rows)
        each[name] = time.process_time() - began
    credit = spent["assign_credit"] + spent["give_credit"]
    return {
        "turns": sum(len(episode.turns) for episode in episodes),
        "step_s": spent["step"],
        "credit_s": credit,
        "share": credit / spent["step"],
        "estimators_s": each,
    }


def commit() -> str | None:
    """The checked-out commit; None outside of a checkout."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=21, help="timed runs of ours, at least 5")
    parser.add_argument("--reference-runs", type=int, default=5)
    parser.add_argument("--bar-s", type=float, default=0.05, help="fail above this median")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "credit_speed.json")
    parser.add_argument("--iteration", action="store_true", help="measure a whole training step")
    options = parser.parse_args(arguments)
    if options.iteration:
        measured = iteration()
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.with_name("credit_share.json").write_text(json.dumps(measured, indent=1) + "\n")
        print(json.dumps(measured, indent=1))
        return 0 if measured["share"] <= 0.002 else 1
    if min(options.runs, options.reference_runs) < 5:
        parser.error("a median needs at least 5 runs")
    torch.set_num_threads(1)

    data = synthetic(options.rows)
    apart = np.abs(gigpo(**data, semantics="verl_agent").advantage - reference(**data)).max()
    if not apart < 1e-9:
        print(f"ours and the reference differ by {apart}", file=sys.stderr)
        return 2
    credit = gigpo(**data)
    ours = summary(timed(lambda: gigpo(**data), options.runs))
    theirs = summary(timed(lambda: reference(**data), options.reference_runs))
    ratio = theirs["median_s"] / ours["median_s"]
    result = {
        "command": ["python", *sys.argv],
        "commit": commit(),
        "machine": {
            "platform": platform.platform(),
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
        },
        "rows": options.rows,
        "step_groups": len(credit.group_sizes()),
        "largest_difference": float(apart),
        "verigym": ours,
        "reference": theirs,
        "ratio": ratio,
        "bar_s": options.bar_s,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for name, one in (("verigym", ours), ("reference loops", theirs)):
        low, high = (1000 * q for q in one["quartiles_s"])
        print(
            f"{name:16} median {1000 * one['median_s']:9.2f} ms   "
            f"quartiles {low:.2f} to {high:.2f}   {len(one['runs_s'])} runs"
        )
    print(f"{options.rows} rows: {ratio:.0f} times faster; bar {1000 * options.bar_s:.0f} ms")
    print(f"wrote {options.out}")
    return 0 if ours["median_s"] <= options.bar_s else 1


if __name__ == "__main__":
    sys.exit(main())
