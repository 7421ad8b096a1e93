"""`Learner`: an engine that trains on token rows. The torch one is in engine.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from verigym.agents.engines.sampler import Weights
from verigym.trainers.batch import Row
from verigym.trainers.engine import Imitation, PolicyLoss, Preference, StepStats


class Learner(Protocol):
    """Interface of an engine that trains. A sampler takes what `weights` returns."""

    def train_step(
        self, rows: Sequence[Row], loss: PolicyLoss | Imitation | Preference
    ) -> StepStats:
        """Take one optimiser step on `rows`. Raises DivergedError, and then the weights are as before."""

    def logprobs(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return the log-probability of each token of each row; 0 off the mask."""

    def weights(self, version: int) -> Weights:
        """Return the weights under a version number; of LoRA, the adapter."""

    def save(self, folder: Path) -> None:
        """Write the weights as a transformers folder; of LoRA, the adapter."""

    def load(self, folder: Path) -> None:
        """Take the weights of a folder that `save` wrote, bit for bit."""
