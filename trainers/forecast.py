"""`verigym train --plan`: the memory and the time that a configuration needs on this machine.

A probe in a process of its own does the start of the run, smaller: some warm-up, some evaluation, two whole
training steps. Memory is the probe's peak, since a training step is whole in it. Time is added up from its
parts. Episodes change their length as a policy learns, so a turn is timed, and the number of turns of an episode is
taken half way between the probe's and the oracle's, if there is one.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from verigym.agents.loop import play
from verigym.agents.policies.oracle import OraclePolicy
from verigym.errors import RequestError, VerigymError
from verigym.trainers.config import Config, parse_config
from verigym.trainers.run import Progress, train
from verigym.trainers.tasks import TRAIN, Tasks

_DEMONSTRATIONS = 24
"""Maximum number of warm-up episodes of the probe."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """Needs of a run. `memory` is in bytes at the peak, of the process or, with CUDA, of the GPU;
    `available` is what this machine has free there. Times are in seconds."""

    memory: int
    available: int
    warmup_s: float
    step_s: float
    steps: int
    evaluation_s: float
    evaluations: int

    @property
    def total_s(self) -> float:
        """Seconds of the whole run."""
        return self.warmup_s + self.steps * self.step_s + self.evaluations * self.evaluation_s

    @property
    def fits(self) -> bool:
        """True if the memory is there."""
        return self.memory <= self.available


def forecast(config: Config) -> Forecast:
    """Probe `config` and add up. Raises RequestError if the probe fails, for want of memory say."""
    with tempfile.TemporaryDirectory(prefix="verigym-plan-") as scratch:
        folder = Path(scratch) / "probe"
        found = _in_a_process(_smaller(config), folder)
        last = (folder / "metrics.jsonl").read_bytes().splitlines()[-1]
    return _add_up(config, found, msgspec.json.decode(last)["turns_mean"])


def _add_up(config: Config, found: Mapping[str, Any], turns: float) -> Forecast:
    small, events = _smaller(config), [_Event(*event) for event in found["events"]]
    longer = (turns + found["oracle_turns"]) / (2 * turns) if found["oracle_turns"] else 1.0
    first, second = (e.at for e in events if e.stage == "reinforcement" and e.ended)
    asked, answered = [e for e in events if e.stage == "evaluation"][:2]
    evaluation_s = (answered.at - asked.at) * config.eval.episodes / small.eval.episodes
    return Forecast(
        memory=found["memory"],
        available=_available(config.policy.device),
        warmup_s=_warmup_s(config, small, events),
        step_s=(second - first) * longer,
        steps=config.train.steps,
        evaluation_s=evaluation_s * longer,
        evaluations=2 + config.train.steps // config.eval.every,
    )


def _warmup_s(config: Config, small: Config, events: Sequence[_Event]) -> float:
    found = [event for event in events if event.stage == "warm-up"]
    if not found:
        return 0.0
    more = max(1, config.warmup.episodes) / max(1, small.warmup.episodes)
    begun, batches = found[0], found[1:]
    batch_s = (batches[-1].at - batches[0].at) / max(1, len(batches) - 1)
    if len(batches) == 1:
        batch_s = batches[0].at - begun.at
    played_s = max(0.0, batches[0].at - begun.at - batch_s)
    return more * (played_s + batch_s * len(batches) * config.warmup.epochs)


@dataclass(frozen=True)
class _Event:
    stage: str
    ended: bool
    at: float


def _smaller(config: Config) -> Config:
    train, warmup, evaluation = config.train, config.warmup, config.eval
    return config.model_copy(
        update={
            "train": train.model_copy(
                update={"steps": 2, "max_env_steps": None, "time_limit_s": None}
            ),
            "warmup": warmup.model_copy(
                update={"episodes": min(warmup.episodes, _DEMONSTRATIONS), "epochs": 1}
            ),
            "eval": evaluation.model_copy(
                update={
                    "every": 1000,
                    "stop_at": None,
                    "episodes": min(evaluation.episodes, train.groups * train.group_size),
                }
            ),
            "log": config.log.model_copy(update={"wandb": "off"}),
        }
    )


def _in_a_process(config: Config, folder: Path) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_probe, args=(config.model_dump(), str(folder), sender))
    process.start()
    sender.close()
    try:
        found: dict[str, Any] = receiver.recv()
    except EOFError:
        process.join()
        raise RequestError(
            f"the probe ended with {process.exitcode}, probably for want of memory; lower "
            "train.microbatch_tokens or train.group_size, or set train.gradient_checkpointing or policy.lora"
        ) from None
    finally:
        if process.is_alive():
            process.join(timeout=30)
        process.kill()
        process.join()
    if "error" in found:
        raise RequestError(found["error"])
    return found


def _probe(tree: dict[str, Any], folder: str, sender: Any) -> None:
    """Run the smaller configuration; send when each stage ended, and the peak of memory."""
    events: list[tuple[str, bool, float]] = []

    def listen(progress: Progress) -> None:
        events.append((progress.stage, progress.line is not None, time.perf_counter()))

    config = parse_config(tree)
    try:
        train(config, Path(folder), listen=listen)
    except VerigymError as error:
        sender.send({"error": f"the probe failed: {error}"})
        return
    memory = peak_memory(config.policy.device)
    sender.send({"events": events, "memory": memory, "oracle_turns": _oracle_turns(config)})


def _oracle_turns(config: Config) -> float | None:
    """Return the mean number of turns of the oracle; None if an environment has none."""
    tasks = Tasks(config)
    plans = tasks.plans(TRAIN, 0, config.train.groups, 1, "train")
    if not all(map(tasks.has_oracle, plans)):
        return None
    return float(np.mean([len(episode.turns) for episode in play(plans, OraclePolicy())]))


def peak_memory(device: str) -> int:
    """Return the peak memory of this process in bytes: resident, or on the GPU."""
    if device.startswith("cuda"):
        return int(torch.cuda.max_memory_reserved(device))
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def _available(device: str) -> int:
    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    return int(Path("/proc/meminfo").read_text().partition("MemAvailable:")[2].split()[0]) * 1024
