"""Compare estimators by training: equal starts, tasks, settings and environment steps, paired by seed.

    python benchmarks/credit_league.py --list
    python benchmarks/credit_league.py --parts keydoor --only grpo gigpo --seeds 5 --threads 1
    python benchmarks/credit_league.py --summarise        # JSON and picture of the runs that are finished

Each run is a folder, `OUT/<part>/<estimator>-<seed>`. A finished one is skipped and an interrupted one
resumed, so that the league can be run in parts, and by several processes on different parts. All estimators
of a part and seed begin with the same weights: `OUT/<part>/start-<seed>` is warmed up once. A run's score is
the mean success of its last five evaluations on held-out tasks; a margin is the mean over seeds of the
differences to `grpo`, with Student's 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from verigym.making import make
from verigym.trainers import tiny
from verigym.trainers.checkpoint import find
from verigym.trainers.config import Config, parse_config
from verigym.trainers.run import train

ROOT = Path(__file__).resolve().parents[1]
BASELINE = "grpo"
LAST = 5
"""Number of evaluations at the end of a run that are averaged."""
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""97.5th percentiles of Student's distribution with 1, 2, ... degrees of freedom, for up to 10 seeds."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One environment of the league. `width` is the model's; `words` is False for keydoor's own tokens."""

    estimators: Sequence[str]
    env: dict[str, Any]
    policy: dict[str, Any]
    warmup: dict[str, Any]
    train: dict[str, Any]
    evaluation: dict[str, Any]
    algorithm: dict[str, Any] = field(default_factory=dict)
    width: int = 96
    layers: int = 2
    words: bool = True


PARTS: dict[str, Part] = {
    "keydoor": Part(
        estimators=("grpo", "gigpo", "hgpo", "branch", "g2po", "rloo", "graphgpo"),
        env={"id": "games/keydoor", "difficulty": "tiny"},
        policy={"max_new_tokens": 2, "show_task": False},
        warmup={"episodes": 260, "epochs": 3, "lr": 1.5e-3},
        train={"max_env_steps": 10_000, "lr": 5e-4, "lr_warmup_steps": 3},
        evaluation={"every": 2, "episodes": 64},
        width=128,
        words=False,
    ),
    "household": Part(
        estimators=("grpo", "gigpo", "hgpo"),
        env={"id": "games/household", "difficulty": 1, "max_turns": 20},
        policy={"max_new_tokens": 10},
        warmup={"episodes": 300, "epochs": 3, "lr": 3e-3},
        train={"max_env_steps": 16_000, "lr": 1e-3, "lr_warmup_steps": 3},
        evaluation={"every": 2, "episodes": 64},
    ),
    "search": Part(
        estimators=("grpo", "gigpo", "hgpo"),
        env={"id": "search/lookup", "difficulty": 1, "max_turns": 8},
        policy={"max_new_tokens": 48, "history": 1, "show_legal": False},
        warmup={"episodes": 300, "epochs": 3, "lr": 3e-3},
        train={"max_env_steps": 6_000, "lr": 1e-3, "lr_warmup_steps": 3},
        evaluation={"every": 2, "episodes": 64},
    ),
}


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
                "minibatch_rows": 256,
                "threads": threads,
                **part.train,
            },
            "eval": part.evaluation,
            "checkpoint": {"every": 5, "keep": 1, "transcripts": 0},
        }
    )


def learn_words(env: dict[str, Any], show_legal: bool, tasks: int = 40) -> list[str]:
    """Return sentences that all tasks share, and frequent words, from the oracle's play of training tasks."""
    arguments = {k: v for k, v in env.items() if k not in ("id", "difficulty")}
    lines: Counter[str] = Counter()
    words: Counter[str] = Counter()
    with make(env["id"], **arguments) as made:
        for seed in range(tasks):
            seen, _ = made.reset(
                seed=10_000_000 + seed,
                options={"difficulty": env["difficulty"], "split": "train"},
            )
            over, texts = False, [str(made.task.prompt), str(seen)]
            while not over:
                action = made.oracle()
                seen, _, ended, cut, _ = made.step(action)
                texts += [action, str(seen)]
                over = ended or cut
            text = "\n".join(texts)
            lines.update(set(re.findall(r"[^\n.]{12,}\.?", text)))
            words.update(re.findall(r" ?[A-Za-z]{2,}", text))
    own = ["Legal actions: "] if show_legal else []
    common = [line for line, n in lines.items() if n == tasks]
    return [*own, *sorted(common), *sorted(word for word, n in words.items() if n >= tasks // 4)]


def warm_start(part: Part, folder: Path, seed: int, threads: int) -> str:
    """Return the folder of the model that all runs of `seed` start from; it is made if it is missing."""
    done = folder / "policy"
    if not (done / "config.json").exists():
        model = folder / "model"
        if not (model / "config.json").exists():
            words: Sequence[str] = tiny.KEYDOOR_WORDS
            if part.words:
                words = learn_words(part.env, part.policy.get("show_legal", True))
            tiny.build(model, seed=seed, words=words, width=part.width, layers=part.layers)
        config = config_for(part, BASELINE, seed, str(model), threads)
        tree = config.model_dump(mode="json", exclude={"critic"})
        # One step, for the trainer always makes one; what counts is the checkpoint before it.
        tree["warmup"], tree["train"]["steps"] = part.warmup, 1
        tree["eval"]["every"] = 2
        tree["checkpoint"]["keep"] = 2
        run = folder / "run"
        train(parse_config(tree), run, resume=bool(find(run / "checkpoints")))
        find(run / "checkpoints")[0].joinpath("policy").rename(done)
    return str(done)


def play(part: str, estimator: str, seed: int, out: Path, threads: int) -> None:
    """Make or finish one run."""
    folder = out / part / f"{estimator}-{seed}"
    if is_finished(folder):
        return
    model = warm_start(PARTS[part], out / part / f"start-{seed}", seed, threads)
    began = time.perf_counter()
    config = config_for(PARTS[part], estimator, seed, model, threads)
    train(config, folder, resume=bool(find(folder / "checkpoints")))
    run = read_run(folder)
    print(
        f"{part} {estimator} seed {seed}: {run['score']:.3f} from {run['start']:.3f}, "
        f"{time.perf_counter() - began:.0f} s",
        flush=True,
    )


def is_finished(folder: Path) -> bool:
    """Return True if the run in `folder` has reached its end."""
    facts = folder / "run.json"
    return facts.exists() and bool(json.loads(facts.read_bytes())["finished"])


def read_run(folder: Path) -> dict[str, Any]:
    """Return the score of a finished run, its curve over environment steps, and the test split's success."""
    lines = [json.loads(line) for line in (folder / "eval.jsonl").read_text().splitlines()]
    curve = [
        [line["env_steps"], line["success_rate"]] for line in lines if line["split"] == "validation"
    ]
    facts = json.loads((folder / "run.json").read_bytes())
    stages = {stage["name"]: stage["success_rate"] for stage in facts["stages"]}
    return {
        "score": float(np.mean([rate for _, rate in curve[-LAST:]])),
        "start": stages["start"],
        "test": stages["reinforcement"],
        "env_steps": lines[-1]["env_steps"],
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
                "eval": part.evaluation,
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
            lines = [
                np.interp(grid, *np.array([[0, r["start"]], *r["curve"]], dtype=float).T)
                for r in runs.values()
            ]
            label = f"{estimator} ({len(runs)} seed{'s' * (len(runs) > 1)})"
            ax.plot(grid, np.mean(lines, axis=0), label=label)
        ax.set(xlabel="environment steps", ylabel="success on held-out tasks", title=name)
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
