"""Training of a small model by an agent program that knows nothing of Verigym: keydoor, played over HTTP.

    python -P benchmarks/gateway_training.py --steps 45 --out docs/results/gateway_training.json

The program (tests/agents/gateway/programs/keydoor_bare.py, or examples/keydoor_agent.py with --openai) runs once for each
episode, asks a chat API for its moves and posts them to the game. The figures are success on held-out tasks
before and after, the mean success of the first and the last ten training steps, and the largest gap between sampled and
recomputed log-probabilities, which shows that what was sampled is what is trained.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import fmean

from verigym.trainers.config import parse_config
from verigym.trainers.run import train

ROOT = Path(__file__).parents[1]
BARE = ROOT / "tests" / "agents" / "gateway" / "programs" / "keydoor_bare.py"
WITH_OPENAI = ROOT / "examples" / "keydoor_agent.py"
ENDS = 10


def main() -> None:
    """Train once, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument(
        "--openai", action="store_true", help="use the program with the package openai"
    )
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    command = [sys.executable, str(WITH_OPENAI)]
    if not given.openai:
        command = [sys.executable, "-S", str(BARE)]
    config = parse_config(
        {
            "name": "agent-program",
            "seed": given.seed,
            "env": {"id": "games/keydoor", "difficulty": "tiny"},
            "policy": {"model": "tiny", "max_new_tokens": 2, "show_task": False},
            "warmup": {"episodes": 200, "epochs": 2, "lr": 1.5e-3},
            "algorithm": {"name": "gigpo", "invalid_penalty": 0.0},
            "harness": {"command": command, "deadline_s": 60.0, "concurrency": given.concurrency},
            "train": {
                "steps": given.steps,
                "groups": given.groups,
                "group_size": given.group_size,
                "lr": 4e-4,
                "lr_final": 0.1,
                "lr_warmup_steps": 3,
                "threads": 1,
            },
            "eval": {"every": 10 * given.steps + 1, "episodes": 256},
            "checkpoint": {"every": 10 * given.steps + 1},
            "canary": {"every": 0},
        }
    )
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as tmp:
        folder = train(config, Path(tmp) / "run", listen=_say)
        lines = [json.loads(line) for line in (folder / "metrics.jsonl").open()]
        stages = json.loads((folder / "run.json").read_text())["stages"]
    rates = [line["success_rate"] for line in lines]
    found = {
        "program": Path(command[-1]).name,
        "episodes": sum(line["episodes"] for line in lines),
        "steps": len(lines),
        "train_success_first": fmean(rates[:ENDS]),
        "train_success_last": fmean(rates[-ENDS:]),
        "held_out": {
            stage["name"]: {key: stage[key] for key in ("success_rate", "interval", "episodes")}
            for stage in stages
        },
        "logp_gap_max": max(line["logp_gap_max"] for line in lines),
        "faults": sum(sum(line["faults"].values()) for line in lines),
        "wall_s": round(time.perf_counter() - began, 1),
        "success_by_step": rates,
    }
    print(json.dumps(found, indent=1))
    if given.out is not None:
        given.out.write_text(json.dumps(found, indent=1) + "\n")


def _say(progress) -> None:
    if progress.stage in ("reinforcement", "evaluation"):
        print(progress.stage, progress.done, progress.text, flush=True)


if __name__ == "__main__":
    main()
