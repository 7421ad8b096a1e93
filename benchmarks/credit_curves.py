"""GRPO against GiGPO at equal environment steps on keydoor, reward at the end only.

    python benchmarks/credit_curves.py                     # 5 seeds, about 12 minutes on two quiet cores
    python benchmarks/credit_curves.py --seeds 1 --env-steps 5000

The default size has up to 16 turns an episode, which a model of one million parameters learns within
minutes on a CPU. `--max-turns 30` lengthens the horizon; `--difficulty hard` has 50 turns and wants hours.

Both start each seed from the same warmed-up weights, see the same tasks, and share every setting but
the estimator. What is plotted is success on training tasks when they are first met (no task is met
twice), and the held-out test split at the end. Runs that are there already are not run again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from verigym.trainers.checkpoint import find
from verigym.trainers.config import Config, parse_config
from verigym.trainers.run import train

ALGORITHMS = ("grpo", "gigpo")
BIN = 1000


def config_for(algorithm: str, seed: int, arguments: argparse.Namespace) -> Config:
    """Everything but the estimator is the same for both."""
    return parse_config(
        {
            "name": f"{algorithm}-{seed}",
            "seed": seed,
            "env": {
                "id": "games/keydoor",
                "difficulty": arguments.difficulty,
                "max_turns": arguments.max_turns,
            },
            "policy": {"model": "tiny", "max_new_tokens": 2, "show_task": False},
            "warmup": {"episodes": 250, "epochs": 2, "lr": 1.5e-3},
            "algorithm": {
                "name": algorithm,
                "invalid_penalty": 0.0,
                "aggregation": "token-mean",
            },
            "train": {
                "steps": 100_000,
                "max_env_steps": arguments.env_steps,
                "groups": 8,
                "group_size": 8,
                "lr": 3e-4,
                "lr_warmup_steps": 3,
                "minibatch_rows": 256,
                "threads": arguments.threads,
            },
            "eval": {"every": 100_000, "episodes": 256},
            "checkpoint": {"every": 100_000, "keep": 1, "transcripts": 1},
        }
    )


def curve(folder: Path, env_steps: int) -> list[float | None]:
    """Success of the episodes that ended in each thousand environment steps; None if none did."""
    wins = np.zeros(env_steps // BIN)
    played = np.zeros(env_steps // BIN)
    for raw in (folder / "metrics.jsonl").read_text().splitlines():
        line = json.loads(raw)
        slot = min((line["env_steps"] - 1) // BIN, len(wins) - 1)
        wins[slot] += (line["success_rate"] or 0.0) * line["episodes"]
        played[slot] += line["episodes"]
    return [w / n if n else None for w, n in zip(wins, played, strict=True)]


def summary(curves: list[list[float | None]]) -> dict[str, list[float | None]]:
    """Mean and standard deviation over seeds, bin by bin."""
    means: list[float | None] = []
    spreads: list[float | None] = []
    for column in zip(*curves, strict=True):
        values = [v for v in column if v is not None]
        means.append(float(np.mean(values)) if values else None)
        spreads.append(float(np.std(values, ddof=1)) if len(values) > 1 else None)
    return {"mean": means, "std": spreads}


def plot(result: dict[str, Any], path: Path) -> None:
    """Mean and one standard deviation of both, as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for algorithm in ALGORITHMS:
        found = result["curves"][algorithm]
        bins = [i for i, m in enumerate(found["mean"]) if m is not None]
        x = (np.array(bins) + 1) * BIN
        mean = np.array([found["mean"][i] for i in bins])
        spread = np.array([found["std"][i] or 0.0 for i in bins])
        axes.plot(x, mean, label=algorithm)
        axes.fill_between(x, mean - spread, mean + spread, alpha=0.2)
    axes.set(
        xlabel="environment steps",
        ylabel="success",
        ylim=(0, 1),
        title=f"keydoor {result['difficulty']}, up to {result['max_turns'] or 'its own'} turns, "
        f"{len(result['seeds'])} seeds, mean and one deviation",
    )
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Run what is missing, then write JSON and a plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--env-steps", type=int, default=20_000)
    parser.add_argument("--difficulty", default="tiny")
    parser.add_argument("--max-turns", type=int, help="in place of the size's own limit")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--out", type=Path, default=Path("results/credit_curves"))
    arguments = parser.parse_args()

    curves: dict[str, list[list[float | None]]] = {name: [] for name in ALGORITHMS}
    tests: dict[str, list[dict[str, Any]]] = {name: [] for name in ALGORITHMS}
    for seed in range(arguments.seeds):
        for algorithm in ALGORITHMS:
            turns = arguments.max_turns or "own"
            folder = arguments.out / f"{arguments.difficulty}-{turns}-{algorithm}-{seed}"
            facts = folder / "run.json"
            if not facts.exists() or not json.loads(facts.read_bytes())["finished"]:
                train(
                    config_for(algorithm, seed, arguments),
                    folder,
                    resume=bool(find(folder / "checkpoints")),
                )
            curves[algorithm].append(curve(folder, arguments.env_steps))
            stages = {s["name"]: s for s in json.loads(facts.read_bytes())["stages"]}
            tests[algorithm].append(
                {
                    "seed": seed,
                    "before": stages["warm-up"]["success_rate"],
                    "after": stages["reinforcement"]["success_rate"],
                }
            )
            print(f"seed {seed} {algorithm:<6} test {tests[algorithm][-1]}", flush=True)
    result = {
        "difficulty": arguments.difficulty,
        "max_turns": arguments.max_turns,
        "env_steps": arguments.env_steps,
        "bin": BIN,
        "seeds": list(range(arguments.seeds)),
        "curves": {name: {**summary(curves[name]), "runs": curves[name]} for name in ALGORITHMS},
        "test": tests,
    }
    (arguments.out / "credit_curves.json").write_text(json.dumps(result, indent=1))
    plot(result, arguments.out / "credit_curves.png")
    for name in ALGORITHMS:
        after = [t["after"] for t in tests[name]]
        spread = np.std(after, ddof=1) if len(after) > 1 else float("nan")
        print(
            f"{name:<6} test success {np.mean(after):.3f} +- {spread:.3f} over {len(after)} seeds"
        )
    difference = [
        a["after"] - b["after"] for a, b in zip(tests["gigpo"], tests["grpo"], strict=True)
    ]
    print(
        f"gigpo - grpo, paired by seed: {np.mean(difference):+.3f}, {[round(d, 3) for d in difference]}"
    )
    print(f"written: {arguments.out / 'credit_curves.json'} and credit_curves.png")


if __name__ == "__main__":
    main()
