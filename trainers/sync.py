"""`train.mode = "sync"`: the episodes of a step are played when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from verigym.trainers.rollouts import draw_step, play_step
from verigym.trainers.run_parts import Run
from verigym.trainers.source import Rollouts, RolloutSource


class Sync(RolloutSource):
    """Plays, and then rests while the learner works. It keeps no state: a step is played from its number."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def next(self, number: int) -> Rollouts:
        """Play the episodes of training step `number`."""
        played = play_step(self.run, draw_step(self.run, number))
        self.run.players.rest()
        return played

    def advance(self) -> None:
        """Do nothing: the players follow the learner's weights."""

    def settle(self) -> None:
        """Do nothing: the players have the newest weights."""

    def files(self) -> Mapping[str, bytes]:
        """Return no file."""
        return {}

    def restore(self, saved: Path) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
