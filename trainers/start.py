"""The start of a run: its last checkpoint, or the warm-up, and then fresh reinforcement."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from verigym.errors import RequestError
from verigym.trainers import checkpoint
from verigym.trainers.config import CriticSection
from verigym.trainers.critic import Critic
from verigym.trainers.evaluation import finish_stage, write_facts
from verigym.trainers.keep import keep, restore
from verigym.trainers.progress import Progress
from verigym.trainers.run_folder import RunFolder
from verigym.trainers.run_parts import Run
from verigym.trainers.staleness import check_correction
from verigym.trainers.tasks import WARM_UP, check_step_rewards
from verigym.trainers.warm_start import WarmStart


def find_saved(folder: Path, resume: bool) -> Path | None:
    """Return the checkpoint to go on from. Raises RequestError if a run is here and `resume` is False."""
    saved = checkpoint.find(folder / "checkpoints")
    if not resume and (saved or (folder / "run.json").exists()):
        raise RequestError(
            f"{folder} holds a run already; resume it with --resume or choose another with --out"
        )
    return saved[-1] if resume and saved else None


def start(run: Run, saved: Path | None) -> None:
    """Load the checkpoint `saved`, or warm up and keep step 0."""
    if saved is not None:
        restore(run, saved, start_reinforcement)
    open_folder(run, resumed=saved is not None)
    if warning := check_step_rewards(run.tasks, run.config):
        run.say("warning", warning)
    if warning := check_correction(run.config):
        run.say("warning", warning)
    if run.engine.unshared is not None:
        run.say(
            "warning",
            f"tokens that rows share are computed for each row: {run.engine.unshared}",
        )
    if saved is None:
        if run.config.warmup.is_used:
            warm_up(run)
        start_reinforcement(run)
        run.is_whole = True
        finish_stage(run, "warm-up" if run.config.warmup.is_used else "start")
        keep(run)


def open_folder(run: Run, *, resumed: bool) -> None:
    """Open the run's folder for writing, and read what it says of earlier steps."""
    run.opened = RunFolder(run.path, run.step if resumed else None, run.config.log)
    facts = run.folder.read_run() if resumed else {}
    run.history = run.folder.read_lines("metrics.jsonl")
    run.validated = [
        line["success_rate"]
        for line in run.folder.read_lines("eval.jsonl")
        if line["split"] == "validation"
    ]
    run.stages = list(facts.get("stages", ()))
    run.started = facts.get("started") or datetime.now(UTC).isoformat(timespec="seconds")
    write_facts(run)


def start_reinforcement(run: Run) -> None:
    """Give the engine fresh optimiser state, and the estimator the critic that it needs."""
    run.engine.start_reinforcement()
    heads = run.config.algorithm.estimator.heads
    if heads:
        run.critic = Critic(
            run.policy.model,
            heads,
            pad_id=run.engine.pad_id,
            critic=run.config.critic or CriticSection(),
            train=run.config.train,
            tree=run.engine.unshared is None,
        )


def warm_up(run: Run) -> None:
    """Train by the demonstrations that the configuration names."""
    config = run.config.warmup
    began = time.perf_counter()

    def on_batch(done: int, total: int, loss: float) -> None:
        run.stop.check()
        run.watchdog.moved("warming up")
        run.listen(Progress(stage="warm-up", done=done, total=total, text=f"loss {loss:.3f}"))

    whose = {
        "oracle": f"{config.episodes} episodes of the oracle",
        "episodes": "recorded episodes",
    }
    run.say("warm-up", whose.get(config.source, f"episodes of {config.teacher}"))
    plans = []
    if config.source != "episodes":
        plans = run.tasks.plans(WARM_UP, 0, config.episodes, config.samples, "train")
    WarmStart(
        section=config,
        policy=run.policy,
        engine=run.engine,
        encoding=run.encoding,
        settings=run.settings,
        seed=run.config.seed,
        folder=run.path,
        say=partial(run.say, "warm start"),
        on_batch=on_batch,
        on_wait=run.wait,
    ).run(plans)
    run.wall_s += time.perf_counter() - began
