"""The training loop: play groups, assign credit, update, evaluate, keep.

Each step is a function in the file that it comes from. Every draw is a function of the run's seed and the
step, and batches are formed in lockstep, so a run that is stopped and resumed ends in the weights of one that
was not (on CPU, to the bit).
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from verigym.trainers.config import Config, read_config
from verigym.trainers.credited import credit_step
from verigym.trainers.evaluation import finish, validate
from verigym.trainers.keep import keep, resumable
from verigym.trainers.long_lived import long_lived
from verigym.trainers.modes import playing
from verigym.trainers.progress import Interrupted, Listener, Progress
from verigym.trainers.record_step import advance, record_step, write_transcripts
from verigym.trainers.run_parts import Run
from verigym.trainers.start import find_saved, start
from verigym.trainers.stop import StopRequest
from verigym.trainers.update import update

__all__ = ["Interrupted", "Listener", "Progress", "train", "train_from_config"]


def train_from_config(
    path: Path,
    overrides: Mapping[str, Any] | None = None,
    resume: bool = False,
    out: Path | None = None,
    listen: Listener | None = None,
) -> Path:
    """Train as the TOML file at `path` says, into `out` or `runs/<name>`; return the run folder.

    Raises ConfigError or RequestError for the caller's mistakes, Interrupted if the run stopped early and
    can be resumed.
    """
    config = read_config(path, overrides)
    folder = out if out is not None else Path("runs") / config.name
    return train(config, folder, resume=resume, listen=listen)


def leads() -> bool:
    """Return True in the process that plays and writes: the only one, or the first of torchrun's."""
    return not dist.is_torchelastic_launched() or os.environ["RANK"] == "0"


def train(
    config: Config, folder: Path, *, resume: bool = False, listen: Listener | None = None
) -> Path:
    """Run `config` in `folder`. See `train_from_config`."""
    if config.train.threads is not None:
        torch.set_num_threads(config.train.threads)
    if dist.is_torchelastic_launched():
        from verigym.trainers.sharded import join

        if join(config):
            return folder
    saved = find_saved(folder, resume)
    with (
        StopRequest() as stop,
        Run(config, folder, listen or (lambda progress: None), stop) as run,
        resumable(run),
        run.watchdog,
        playing(run),
        long_lived(),
    ):
        start(run, saved)
        while not run.has_ended():
            train_step(run)
            if run.step % config.eval.every == 0:
                validate(run)
            if run.has_ended() or run.step % config.checkpoint.every == 0:
                keep(run)
        run.source.close()
        finish(run)
    return folder


def train_step(run: Run) -> None:
    """Take one step: from tasks to new weights."""
    began = time.perf_counter()
    played = run.source.next(run.step + 1)
    waited_s = time.perf_counter() - began
    rows, credit = credit_step(run, played)
    gaps = write_transcripts(run, played, credit)
    run.is_whole = False
    with run.players.updating():
        done = update(run, played.number, rows)
        version = advance(run, played, credit, done)
    run.source.advance()
    seconds = time.perf_counter() - began
    record_step(
        run,
        played,
        rows,
        credit,
        done,
        version=version,
        gaps=gaps,
        seconds=seconds,
        waited_s=waited_s,
    )
    run.wall_s += time.perf_counter() - began
