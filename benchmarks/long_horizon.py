"""The curves of the long-horizon runs, finished or not: JSON and a picture.

verigym train examples/long_keydoor.toml --out results/long/keydoor
python benchmarks/long_horizon.py results/long/*
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def curve(folder: Path) -> dict[str, Any]:
    """Return what a run folder says: configuration, evaluations, and the success of each step's own episodes."""
    facts = json.loads((folder / "run.json").read_bytes())
    evaluations = [json.loads(line) for line in (folder / "eval.jsonl").read_bytes().splitlines()]
    steps = [json.loads(line) for line in (folder / "metrics.jsonl").read_bytes().splitlines()]
    kept = ("step", "env_steps", "split", "episodes", "success_rate", "interval")
    shown = ("step", "env_steps", "wall_s", "success_rate", "turns_mean", "entropy")
    return {
        "name": facts["name"],
        "config": facts["config"],
        "n_parameters": facts["n_parameters"],
        "finished": facts["finished"],
        "evaluations": [{name: line[name] for name in kept} for line in evaluations],
        "steps": [{name: line[name] for name in shown} for line in steps],
    }


def plot(runs: dict[str, dict[str, Any]], path: Path) -> None:
    """Draw success on held-out tasks, with intervals, over environment steps."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for name, run in runs.items():
        found = run["evaluations"]
        x = [line["env_steps"] for line in found]
        axes.plot(x, [line["success_rate"] for line in found], label=name)
        low, high = zip(*(line["interval"] for line in found), strict=True)
        axes.fill_between(x, low, high, alpha=0.2)
    axes.set(
        xlabel="environment steps", ylabel="success on held-out tasks, 95 % interval", ylim=(0, 1)
    )
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Write JSON and picture of the given run folders."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path, nargs="+", help="run folders")
    parser.add_argument("--out", type=Path, default=Path("results/long_horizon.json"))
    options = parser.parse_args()
    found = {folder.name: curve(folder) for folder in options.runs}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    plot(found, options.out.with_suffix(".png"))


if __name__ == "__main__":
    main()
