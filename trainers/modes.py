"""Sources of episodes by `train.mode`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from verigym.trainers.one_step_off import OneStepOff
from verigym.trainers.play_ahead import PlayAhead
from verigym.trainers.run_parts import Run
from verigym.trainers.source import RolloutSource
from verigym.trainers.sync import Sync

MODES: Mapping[str, type[Sync | OneStepOff | PlayAhead]] = {
    "sync": Sync,
    "one-step-off": OneStepOff,
    "async": PlayAhead,
}


@contextmanager
def playing(run: Run) -> Iterator[RolloutSource]:
    """Give `run` the source that its configuration names, and stop it afterwards."""
    run.source = MODES[run.config.train.mode](run)
    try:
        yield run.source
    finally:
        run.source.close()
