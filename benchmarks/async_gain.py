"""Gain of asynchrony where environments are slow: lock-step play, play of whatever is ready, and async, in one run.

    python benchmarks/async_gain.py                 # about 15 minutes; the waits cost no processor time
    python benchmarks/async_gain.py --steps 4       # a try

Each environment step waits 0.2 to 2 seconds, drawn from the task, the state and the action, before keydoor answers. All
ways train the same warmed-up model for the same number of steps, groups and episodes:

    lock-step     train.mode = sync, play.batching = cohorts: two fixed sets of episodes, repeatable to the bit
    sets of four  the same with sets of four episodes, as repeatable
    ready         train.mode = sync, play.batching = ready: whichever episodes wait share a batch
    one-step-off  as lock-step, but the next step is played during the update
    async         train.mode = async, with loss decoupled around the log-linear proximal policy

Episodes a second are those that were trained on, over the wall time of the training steps. Success is that of the test
split after the last step, with its interval; evaluation does not wait.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

from verigym.envs.games.keydoor import KeyDoor
from verigym.trainers.certificate import verify_run
from verigym.trainers.config import Config, parse_config
from verigym.trainers.run import train

WAYS: dict[str, dict[str, dict[str, Any]]] = {
    "lock-step": {},
    "sets of four": {"play": {"batching": "cohorts", "cohorts": 0}},
    "ready": {"play": {"batching": "ready"}},
    "one-step-off": {"train": {"mode": "one-step-off"}},
    "async": {
        "train": {"mode": "async", "max_staleness": 2},
        "algorithm": {"loss": "decoupled", "old_logprobs": "loglinear"},
    },
}
AT_LEAST = {"lock-step": 2.1, "ready": 1.2}
"""Ratios of episodes a second that async has to reach."""


def config_for(model: str, given: argparse.Namespace, way: str) -> Config:
    """Return the configuration of one way; all but its own keys are the same."""
    tree: dict[str, dict[str, Any]] = {
        "env": {"id": "games/keydoor", "difficulty": "tiny"},
        "policy": {"model": model, "max_new_tokens": 2, "show_task": False},
        "algorithm": {"name": "gigpo", "invalid_penalty": 0.0},
        "train": {
            "steps": given.steps,
            "groups": given.groups,
            "group_size": given.group_size,
            "lr": given.lr,
            "lr_warmup_steps": 2,
            "minibatch_rows": 512,
            "threads": 1,
        },
        # A thread for each episode under way, in every way.
        "play": {"env_workers": 3 * given.groups * given.group_size},
        "eval": {"every": 100_000, "episodes": given.eval_episodes},
        "checkpoint": {"every": 100_000, "transcripts": 0},
        "canary": {"every": 0},
    }
    for name, section in WAYS.get(way, {}).items():
        tree[name] = {**tree[name], **section}
    if tree["play"].get("cohorts") == 0:
        tree["play"]["cohorts"] = max(1, given.groups * given.group_size // 4)
    return parse_config({"name": way, "seed": given.seed, **tree})


def warm_up(folder: Path, given: argparse.Namespace) -> Path:
    """Return the folder of a model that all ways start from, taught by the oracle for a while."""
    tree = config_for("tiny", given, "").model_dump(mode="json")
    tree["warmup"] = {"episodes": given.warmup, "epochs": 2, "lr": 1.5e-3}
    tree["train"]["steps"] = 0
    return train(parse_config(tree), folder) / "last"


def wait_at_each_step(low_s: float, high_s: float) -> None:
    """Make keydoor's steps on the training split take a time that the task, the state and the action decide."""
    step = KeyDoor.step

    def slow(self: KeyDoor, action: str) -> Any:
        if self.task.split == "train":
            name = f"{self.task.id} {self.state_key()} {action}".encode()
            share = int.from_bytes(hashlib.sha256(name).digest()[:4], "big") / 2**32
            time.sleep(low_s + (high_s - low_s) * share)
        return step(self, action)

    KeyDoor.step = slow  # type: ignore[method-assign]


def measure(folder: Path, config: Config) -> dict[str, Any]:
    """Train one way and return its figures."""
    train(config, folder)
    lines = [json.loads(raw) for raw in (folder / "metrics.jsonl").read_text().splitlines()]
    facts = json.loads((folder / "run.json").read_text())
    before, after = facts["stages"][0], facts["stages"][-1]
    trained = len(lines) * config.train.groups * config.train.group_size
    proofs = [json.loads(raw) for raw in (folder / "certificate.jsonl").read_text().splitlines()]
    ages = [
        (proof["version"] - int(version), n)
        for proof in proofs
        for version, n in proof["tokens_by_version"].items()
    ]
    return {
        "episodes": trained,
        "wall_s": round(lines[-1]["wall_s"], 1),
        "episodes_per_s": round(trained / lines[-1]["wall_s"], 3),
        "learner_waited_s": round(sum(line["time"]["wait_s"] for line in lines), 1),
        "generation_s": round(sum(line["time"]["generation_s"] for line in lines), 1),
        "update_s": round(sum(line["time"]["update_s"] for line in lines), 1),
        "turns_mean": round(sum(line["turns_mean"] for line in lines) / len(lines), 2),
        "staleness_mean": round(sum(a * n for a, n in ages) / sum(n for _, n in ages), 3),
        "staleness_max": max(a for a, _ in ages),
        "success_before": round(before["success_rate"], 4),
        "success": round(after["success_rate"], 4),
        "interval": [round(x, 4) for x in after["interval"]],
        "certificate_problems": verify_run(folder),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--groups", type=int, default=4)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--warmup", type=int, default=250, help="episodes of the oracle")
    parser.add_argument("--eval-episodes", type=int, default=384)
    parser.add_argument("--low-s", type=float, default=0.2)
    parser.add_argument("--high-s", type=float, default=2.0)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="verigym-async-") as scratch:
        model = str(warm_up(Path(scratch) / "warm", given))
        wait_at_each_step(given.low_s, given.high_s)
        for way in given.ways:
            found[way] = measure(
                Path(scratch) / way.replace(" ", "-"), config_for(model, given, way)
            )
            print(f"{way:<13} {json.dumps(found[way])}", flush=True)
    rates = {way: one["episodes_per_s"] for way, one in found.items()}
    ratios = {
        way: round(rates["async"] / rate, 2) for way, rate in rates.items() if "async" in rates
    }
    for way, least in AT_LEAST.items():
        if way in ratios and way != "async":
            print(f"async / {way}: {ratios[way]} (at least {least})")
    result = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": [round(x, 1) for x in os.getloadavg()],
        "arguments": {k: str(v) if isinstance(v, Path) else v for k, v in vars(given).items()},
        "ways": found,
        "async_times": ratios,
    }
    if given.out:
        given.out.write_text(json.dumps(result, indent=1) + "\n")
    return int(any(ratios.get(way, least) < least for way, least in AT_LEAST.items()))


if __name__ == "__main__":
    raise SystemExit(main())
