"""`Rollouts`, the episodes of a training step, and `RolloutSource`, which gives them to the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from verigym.agents.plan import Plan
from verigym.episode import Episode
from verigym.trainers.branching import State

FILE = "ahead.json"
"""File of a checkpoint with the episodes that were played, or are to be played, before their step."""


@dataclass(frozen=True, kw_only=True)
class Rollouts:
    """The episodes of one training step. `plans` and `episodes` are those to train on, the `all_` ones those of
    groups without signal too; `demonstrations` are the oracle's. `continued` has values of states, which took
    `extra_steps` environment steps."""

    number: int
    plans: Sequence[Plan]
    episodes: Sequence[Episode]
    all_plans: Sequence[Plan]
    all_episodes: Sequence[Episode]
    demonstrations: Sequence[Episode]
    continued: Mapping[State, float]
    extra_steps: int
    computed_tokens: int
    chances: Mapping[str, float]
    """Probability of each environment and level to be drawn."""
    figures: Mapping[str, Any]
    """Further metrics."""
    play_s: float


class RolloutSource(Protocol):
    """Interface of a source. The loop calls `next`, updates the weights, and calls `advance`."""

    def next(self, number: int) -> Rollouts:
        """Return the episodes of training step `number`; wait for them if need be."""

    def advance(self) -> None:
        """Note that the step has ended: its weights and its number are those of the run now."""

    def settle(self) -> None:
        """Bring all players to the run's weights, for an evaluation."""

    def files(self) -> Mapping[str, bytes]:
        """Return the files that a checkpoint needs beside the run's own, by name."""

    def restore(self, saved: Path) -> None:
        """Continue from the files in the checkpoint `saved`."""

    def close(self) -> None:
        """Stop playing."""
