"""The forecast of `verigym train --plan` beside the run itself.

    python benchmarks/train_plan.py examples/demo.toml --set train.steps=40 --out results/train_plan.json

Forecasts, then trains in a process of its own, and prints both peaks of memory and both times with their ratios.
Early ends (`eval.stop_at`, `train.time_limit_s`, `train.max_env_steps`) are left out, so that the number of steps is
known. The bars are a ratio of memory within 1.2 and of time within 1.5; exits with 1 beyond them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

from verigym.trainers.config import Config, parse_config, read_config
from verigym.trainers.forecast import forecast, peak_memory
from verigym.trainers.run import train


def main() -> int:
    """Forecast, run, compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("config", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, default=Path("results/train_plan.json"))
    args = parser.parse_args()
    overrides = dict(_setting(text) for text in args.set)
    ends = ("eval.stop_at", "train.time_limit_s", "train.max_env_steps")
    config = read_config(args.config, overrides | dict.fromkeys(ends))
    planned = forecast(config)
    memory, seconds = _run(config)
    found = {
        "config": str(args.config),
        "set": overrides,
        "memory_planned": planned.memory,
        "memory_used": memory,
        "memory_ratio": planned.memory / memory,
        "seconds_planned": planned.total_s,
        "seconds_used": seconds,
        "seconds_ratio": planned.total_s / seconds,
    }
    print(f"memory  planned {planned.memory / 2**20:8.0f} MiB  used {memory / 2**20:8.0f} MiB")
    print(f"time    planned {planned.total_s:8.0f} s    used {seconds:8.0f} s")
    print(f"ratios  {found['memory_ratio']:.2f} and {found['seconds_ratio']:.2f}")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(found, indent=2) + "\n")
    right = 1 / 1.2 <= found["memory_ratio"] <= 1.2 and 1 / 1.5 <= found["seconds_ratio"] <= 1.5
    return 0 if right else 1


def _setting(text: str) -> tuple[str, Any]:
    key, _, value = text.partition("=")
    return key, tomllib.loads(f"value = {value}")["value"]


def _run(config: Config) -> tuple[int, float]:
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as scratch:
        process = context.Process(
            target=_child, args=(config.model_dump(), str(Path(scratch) / "run"), sender)
        )
        process.start()
        memory, seconds = receiver.recv()
        process.join()
    return memory, seconds


def _child(tree: dict[str, Any], folder: str, sender: Any) -> None:
    config = parse_config(tree)
    began = time.perf_counter()
    train(config, Path(folder))
    sender.send((peak_memory(config.policy.device), time.perf_counter() - began))


if __name__ == "__main__":
    sys.exit(main())
