"""`Learner`: an engine that trains on token rows, the kinds of step that it takes, and what a step reports.

The torch one is in engine.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import torch
from torch import Tensor

from verigym.agents.engines.sampler import Weights
from verigym.errors import VerigymError
from verigym.trainers.batch import Row


class DivergedError(VerigymError):
    """The loss or a gradient is not finite; the weights were not touched by it."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Absolute difference in nats between the sampler's and the trainer's log-probabilities of `tokens`
    tokens: root mean square, mean, 99th percentile and maximum."""

    rms: float
    mean: float
    p99: float
    max: float
    tokens: int

    @staticmethod
    def of(differences: Sequence[Tensor]) -> Gap | None:
        """Return the statistics over all differences, None if there are none."""
        if not differences or not (found := torch.cat(list(differences))).numel():
            return None
        found = found.double()
        place = max(1, math.ceil(0.99 * len(found)))
        return Gap(
            rms=float(found.square().mean().sqrt()),
            mean=float(found.mean()),
            p99=float(found.kthvalue(place).values),
            max=float(found.max()),
            tokens=len(found),
        )


@dataclass(frozen=True, kw_only=True)
class StepStats:
    """Statistics of one optimiser step. Means over its sampled tokens, weighted by `n_tokens`.

    `loss` is the objective; `kl` k3 to the reference, 0 without one; `clip_share` of tokens at which
    clipping was in force; `entropy` in nats; `grad_norm` before clipping; `gap` to the sampler over the
    tokens that were read, None if there were none. `computed` is the number of tokens that the model computed
    with a gradient, padding included, and `distinct` the number of tokens after different beginnings.
    """

    loss: float
    kl: float
    clip_share: float
    entropy: float
    grad_norm: float
    n_tokens: int
    gap: Gap | None = None
    computed: int = 0
    distinct: int = 0


@dataclass(frozen=True, kw_only=True)
class Reinforcement:
    """Reinforcement by the configured objective; `seed` is for its draws."""

    seed: Sequence[int] = (0,)


@dataclass(frozen=True, kw_only=True)
class Imitation:
    """Supervised learning on the masked tokens. `smoothing` of each target's probability is spread evenly
    over `used_ids`."""

    smoothing: float
    used_ids: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class Preference:
    """Direct preference optimisation (`loss/dpo.py`) on rows that are pairs, the better one first.

    `reference` are the rows' log-probabilities under the frozen reference.
    """

    reference: Sequence[float]
    beta: float


StepKind: TypeAlias = Reinforcement | Imitation | Preference
"""Objective of one optimiser step."""


class Learner(Protocol):
    """Interface of an engine that trains. A sampler takes what `weights` returns."""

    def train_step(self, rows: Sequence[Row], kind: StepKind) -> StepStats:
        """Take one optimiser step on `rows`. Raises DivergedError, and then the weights are as before."""

    def logprobs(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return the log-probability of each token of each row; 0 off the mask."""

    def weights(self, version: int) -> Weights:
        """Return the weights under a version number; of LoRA, the adapter."""

    def save(self, folder: Path) -> None:
        """Write the weights as a transformers folder; of LoRA, the adapter."""

    def load(self, folder: Path) -> None:
        """Take the weights of a folder that `save` wrote, bit for bit."""
