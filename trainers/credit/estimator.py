"""Description of an estimator: its options, what it reads, and the loss it goes with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from verigym.trainers.credit.samples import Credit, Samples

Level = Literal["episode", "turn", "token"]
"""Finest part of an episode that gets its own advantage."""


class Options(BaseModel):
    """Base of the options of one estimator or loss: an unknown or impossible one is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoOptions(Options):
    """An estimator or loss without options."""


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """One entry of the table.

    `loss`, `loss_options` and `aggregation` are the defaults of the method's paper. `reads_tokens` asks
    for the log-probability and the sum of squared probabilities at each token, which costs one more
    forward pass; `heads` for a critic with one output each; `reads_subgoals` for the kinds of tokens.
    `branches` asks for continuations from states of the episodes (`trainers/branching.py`).
    `env_options` names those of its options that are arguments of the environment: step rewards.
    `knows_success` marks estimators that tell a success by the sum of its rewards.
    """

    summary: str
    source: str
    level: Level
    options: type[Options]
    estimate: Callable[[Samples, Any], Credit]
    loss: str = "ppo"
    loss_options: Mapping[str, Any] = field(default_factory=dict)
    aggregation: str = "token-mean"
    reads_tokens: bool = False
    reads_subgoals: bool = False
    branches: bool = False
    heads: tuple[str, ...] = ()
    env_options: tuple[str, ...] = ()
    knows_success: bool = False
