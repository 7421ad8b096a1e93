"""Compare estimators by training: equal starts, tasks, settings and environment steps, paired by seed.

    python benchmarks/credit_league.py --list
    python benchmarks/credit_league.py --parts keydoor --only grpo gigpo --seeds 5 --threads 1
    python benchmarks/credit_league.py --summarise        # JSON and picture of the runs that are finished

Each run is a folder, `OUT/<part>/<estimator>-<seed>`. A finished one is skipped and an interrupted one
resumed, so that the league can be run in parts, and by several processes on different parts. All runs of a part
begin with the same weights, `OUT/<part>/start`, warmed up once on other tasks; a seed draws tasks and samples.
A run trains on few tasks, and each step plays all of them eight times with the policy as it then is: a run's
score is the mean success of its last five steps. A margin is the mean over seeds of the differences to `grpo`,
with Student's 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from typing_extensions import override

from verigym.agents.plan import Plan
from verigym.trainers import run, run_parts, tiny
from verigym.trainers.checkpoint import find
from verigym.trainers.config import Config, parse_config
from verigym.trainers.tasks import EVAL, TRAIN, Tasks
from verigym.trainers.tiny_words import learn_words

ROOT = Path(__file__).resolve().parents[1]
BASELINE = "grpo"
LAST = 5
"""Number of steps at the end of a run whose success is averaged."""
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""97.5th percentiles of Student's distribution with 1, 2, ... degrees of freedom, for up to 10 seeds."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One environment of the league. `width` is the model's; `words` is False for keydoor's own tokens.

    `tasks` is the number of tasks that a run trains and is evaluated on; warm-up draws others.
    """

    estimators: Sequence[str]
    env: dict[str, Any]
    policy: dict[str, Any]
    warmup: dict[str, Any]
    train: dict[str, Any]
    algorithm: dict[str, Any] = field(default_factory=dict)
    width: int = 96
    layers: int = 2
    words: bool = True
    tasks: int = 8


PARTS: dict[str, Part] = {
    "keydoor": Part(
        estimators=("grpo", "gigpo", "hgpo", "g2po", "rloo", "graphgpo"),
        env={"id": "games/keydoor", "difficulty": "tiny"},
        policy={"max_new_tokens": 2, "show_task": False},
        warmup={"episodes": 400, "epochs": 4, "lr": 2e-3},
        train={"max_env_steps": 9_000, "lr": 5e-4},
        words=False,
    ),
    "household": Part(
        estimators=("grpo", "gigpo", "g2po"),
        env={"id": "games/household", "difficulty": 1, "max_turns": 12},
        policy={"max_new_tokens": 8, "show_task": False},
        warmup={"episodes": 800, "epochs": 5, "lr": 2e-3},
        train={"max_env_steps": 6_000, "lr": 5e-4},
    ),
    "forms": Part(
        estimators=("grpo", "gigpo", "g2po"),
        env={"id": "web/forms", "difficulty": 1, "max_turns": 10},
        policy={"max_new_tokens": 12},
        warmup={"episodes": 1200, "epochs": 5, "lr": 2e-3},
        train={"max_env_steps": 3_000, "lr": 5e-4},
    ),
}


class FewTasks(Tasks):
    """Draws of a run that trains on `n` tasks and is evaluated on the same ones, in turn.

    With new tasks at each step, a model this small needs hours before estimators part.
    """

    def __init__(self, config: Config, n: int) -> None:
        super().__init__(config)
        self.n = n

    @override
    def plans(
        self, stream: int, step: int, groups: int, members: int, split: str, batch: int = 0
    ) -> list[Plan]:
        drawn = super().plans(stream, step, groups, members, split, batch)
        if stream not in (TRAIN, EVAL):
            return drawn
        numbers = {name: i for i, name in enumerate(dict.fromkeys(p.group_id for p in drawn))}
        first = 0 if stream == EVAL else (step - 1) * groups
        return [
            replace(
                plan,
                seed=1000 * (self.seed + 1) + (first + numbers[plan.group_id]) % self.n,
                split="train",
            )
            for plan in drawn
        ]


def config_for(part: Part, estimator: str, seed: int, model: str, threads: int) -> Config:
    """Return a run's configuration: everything but the estimator is the same within a part."""
    return parse_config(
        {
            "name": f"{estimator}-{seed}",
            "seed": seed,
            "env": part.env,
            "policy": {"model": model, **part.policy},
            "algorithm": {
                "name": estimator,
                "loss": "ppo",
                "invalid_penalty": 0.0,
                "aggregation": "token-mean",
                **part.algorithm,
            },
            "train": {
                "steps": 100_000,
                "groups": 8,
                "group_size": 8,
                # One minibatch, four times: with several small ones nothing was learnt, for their noise.
                "minibatch_rows": 2048,
                "epochs": 4,
                "lr_warmup_steps": 3,
                "threads": threads,
                **part.train,
            },
            "play": {"cohorts": 1},
            # The steps' own episodes are the evaluation.
            "eval": {"every": 100_000, "episodes": 8},
            "checkpoint": {"every": 5, "keep": 1, "transcripts": 0},
        }
    )


def warm_start(part: Part, folder: Path, threads: int) -> str:
    """Return the folder of the model that all runs of a part start from; it is made if it is missing."""
    done = folder / "policy"
    if not (done / "config.json").exists():
        model = folder / "model"
        if not (model / "config.json").exists():
            words: Sequence[str] = tiny.KEYDOOR_WORDS
            if part.words:
                given = {k: v for k, v in part.env.items() if k not in ("id", "difficulty")}
                words = learn_words(part.env["id"], given, part.env["difficulty"])
            tiny.build(model, seed=0, words=words, width=part.width, layers=part.layers)
        config = config_for(part, BASELINE, 0, str(model), threads)
        tree = config.model_dump(mode="json", exclude={"critic"})
        # One step, for the trainer always makes one; what counts is the checkpoint before it.
        tree["warmup"], tree["train"]["steps"] = part.warmup, 1
        tree["checkpoint"]["keep"] = 2
        made = folder / "run"
        run.train(parse_config(tree), made, resume=bool(find(made / "checkpoints")))
        find(made / "checkpoints")[0].joinpath("policy").rename(done)
    return str(done)


def play(part: str, estimator: str, seed: int, out: Path, threads: int) -> None:
    """Make or finish one run."""
    folder = out / part / f"{estimator}-{seed}"
    if is_finished(folder):
        return
    model = warm_start(PARTS[part], out / part / "start", threads)
    began = time.perf_counter()
    config = config_for(PARTS[part], estimator, seed, model, threads)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "commit.txt").write_text(commit())
    with patch.object(run_parts, "Tasks", partial(FewTasks, n=PARTS[part].tasks)):
        run.train(config, folder, resume=bool(find(folder / "checkpoints")))
    found = read_run(folder)
    print(
        f"{part} {estimator} seed {seed}: {found['score']:.3f} from {found['start']:.3f}, "
        f"{time.perf_counter() - began:.0f} s",
        flush=True,
    )


def is_finished(folder: Path) -> bool:
    """Return True if the run in `folder` has reached its end."""
    facts = folder / "run.json"
    return facts.exists() and bool(json.loads(facts.read_bytes())["finished"])


def read_run(folder: Path) -> dict[str, Any]:
    """Return the score of a finished run, and its curve over the environment steps learnt from.

    Each step plays every task with the policy before its update, so its own episodes are the evaluation.
    """
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    learnt = [0, *(line["env_steps"] for line in lines)]
    curve = [[n, line["success_rate"]] for n, line in zip(learnt, lines, strict=False)]
    return {
        "score": float(np.mean([rate for _, rate in curve[-LAST:]])),
        "start": curve[0][1],
        "env_steps": learnt[-1],
        "commit": (folder / "commit.txt").read_text(),
        "curve": curve,
    }


def interval(differences: Sequence[float]) -> list[float] | None:
    """Return Student's 95 % interval of the mean of `differences`; None for fewer than two."""
    n = len(differences)
    if n < 2:
        return None
    half = STUDENT[n - 2] * float(np.std(differences, ddof=1)) / n**0.5
    mean = float(np.mean(differences))
    return [mean - half, mean + half]


def summarise(out: Path, seeds: int) -> dict[str, Any]:
    """Return scores, paired margins over the baseline and curves of all finished runs."""
    found: dict[str, Any] = {}
    for name, part in PARTS.items():
        runs = {
            estimator: {
                str(seed): read_run(out / name / f"{estimator}-{seed}")
                for seed in range(seeds)
                if is_finished(out / name / f"{estimator}-{seed}")
            }
            for estimator in part.estimators
        }
        runs = {estimator: one for estimator, one in runs.items() if one}
        if not runs:
            continue
        margins = {}
        for estimator, one in runs.items():
            shared = sorted(set(one) & set(runs.get(BASELINE, {})))
            if estimator == BASELINE or not shared:
                continue
            apart = [one[s]["score"] - runs[BASELINE][s]["score"] for s in shared]
            margins[estimator] = {
                "seeds": [int(s) for s in shared],
                "differences": apart,
                "mean": float(np.mean(apart)),
                "interval": interval(apart),
            }
        found[name] = {
            "settings": {
                "env": part.env,
                "policy": part.policy,
                "warmup": part.warmup,
                "train": part.train,
                "tasks": part.tasks,
                "width": part.width,
                "layers": part.layers,
            },
            "missing": [
                f"{estimator}-{seed}"
                for estimator in part.estimators
                for seed in range(seeds)
                if str(seed) not in runs.get(estimator, {})
            ],
            "score": {
                e: float(np.mean([r["score"] for r in one.values()])) for e, one in runs.items()
            },
            "margin_over_grpo": margins,
            "runs": runs,
        }
    return found


def draw(parts: dict[str, Any], path: Path) -> None:
    """Write mean curves of all parts as one SVG picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "credit_league"
    figure, axes = pyplot.subplots(1, len(parts), figsize=(6 * len(parts), 4), squeeze=False)
    for name, ax in zip(parts, axes[0], strict=True):
        for estimator, runs in parts[name]["runs"].items():
            grid = np.linspace(0, min(r["curve"][-1][0] for r in runs.values()), 25)
            lines = [np.interp(grid, *np.array(r["curve"], dtype=float).T) for r in runs.values()]
            label = f"{estimator} ({len(runs)} seed{'s' * (len(runs) > 1)})"
            ax.plot(grid, np.mean(lines, axis=0), label=label)
        ax.set(xlabel="environment steps", ylabel="success on the tasks trained on", title=name)
        ax.set_ylim(0, 1)
        ax.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def commit() -> str:
    """Return the checked-out commit."""
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=10
    ).stdout.strip()


def main() -> None:
    """Play what is missing, then write the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--only", nargs="+", help="names of estimators")
    parser.add_argument("--seeds", type=int, default=5, choices=range(1, 11))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "results/credit_league")
    parser.add_argument("--list", action="store_true", help="say which runs are finished, and end")
    parser.add_argument("--summarise", action="store_true", help="play nothing")
    arguments = parser.parse_args()
    out = arguments.out
    # Seeds outside, so that whatever is finished can be compared by pairs.
    wanted = [
        (part, estimator, seed)
        for part in arguments.parts
        for seed in range(arguments.seeds)
        for estimator in PARTS[part].estimators
        if arguments.only is None or estimator in arguments.only
    ]
    if arguments.list:
        for part, estimator, seed in wanted:
            done = is_finished(out / part / f"{estimator}-{seed}")
            print(f"{part} {estimator} {seed} {'finished' if done else 'missing'}")
        return
    if not arguments.summarise:
        for part, estimator, seed in wanted:
            play(part, estimator, seed, out, arguments.threads)
    parts = summarise(out, arguments.seeds)
    result = {
        "command": "python benchmarks/credit_league.py",
        "commit": commit(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {arguments.threads} thread(s) a run",
        "parts": parts,
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "credit_league.json").write_text(json.dumps(result, indent=1) + "\n")
    if parts:
        draw(parts, out / "credit_league.svg")
    for name, found in parts.items():
        for estimator, score in sorted(found["score"].items(), key=lambda item: -item[1]):
            margin = found["margin_over_grpo"].get(estimator)
            said = f"{score:.3f}"
            if margin:
                low, high = margin["interval"] or [float("nan")] * 2
                said += f"   over grpo {margin['mean']:+.3f} [{low:+.3f}, {high:+.3f}]"
            print(f"{name:10} {estimator:10} {len(found['runs'][estimator])} seeds {said}")


if __name__ == "__main__":
    main()
