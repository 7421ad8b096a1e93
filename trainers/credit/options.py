"""Options of the estimators: what `algorithm.options` may hold for each of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from verigym.trainers.credit.estimator import Options

UseFeedback = Literal["never", "always", "fallback"]

Norm = Literal["mean_std", "mean"]
Semantics = Literal["paper", "verl_agent"]


class Grpo(Options):
    """Options of `grpo`."""

    norm: Norm = "mean_std"
    """Divide by the group's deviation, or centre only."""
    semantics: Semantics = "paper"
    """Statistics over episodes, or over step rows as verl-agent's code."""
    eps: float = Field(default=1e-6, gt=0)


class Gigpo(Grpo):
    """Options of `gigpo`."""

    gamma: float = Field(default=0.95, gt=0, le=1)
    """Discount of the returns that visits of a state are compared by."""
    omega: float = Field(default=1.0, ge=0)
    """Weight of the step advantage."""
    similarity: float | None = Field(default=None, gt=0, le=1)
    """Ratio at which two anchors count as one state; None for equal state keys."""


class Hgpo(Grpo):
    """Options of `hgpo`."""

    history: int = Field(default=2, ge=0)
    """Number of earlier states that the longest history holds."""
    alpha: float = Field(default=1.0, ge=0)
    """Level k weighs (k + 1)^alpha."""
    gamma: float = Field(default=0.95, gt=0, le=1)
    base_group: bool = False
    """Add the advantage of the episode as a level of its own."""


class G2po(Grpo):
    """Options of `g2po`."""

    gamma: float = Field(default=0.95, gt=0, le=1)
    omega: float = Field(default=1.0, ge=0)
    success: float = 1.0
    """Return of a solved task."""


class GraphGpo(Grpo):
    """Options of `graphgpo`."""

    decay: float = Field(default=0.1, gt=0, le=1)
    """Factor of a step's value for each step to success."""
    scale: float = Field(default=10.0, gt=0)
    """Value of reaching success."""
    omega: float = Field(default=1.0, ge=0)
    episode_weight: float = Field(default=1.0, ge=0)
    progress: bool = False
    """Value the change of distance instead of the distance."""


class Branch(Options):
    """Options of `branch`; its budget stands in `[algorithm.branch]`."""

    gamma: float = Field(default=1.0, gt=0, le=1)
    """Discount of the returns, those of continuations included."""


class TurnCreditOptions(Options):
    """Options of `turn-credit`."""

    gamma: float = Field(default=0.9, ge=0, le=1)
    """Decay of the credit that a turn hands to earlier ones."""
    beta: float = Field(default=1.0, ge=0)
    """Weight of the differences between turns."""


class MtGrpo(Options):
    """Options of `mt-grpo`."""

    lam: float = Field(default=1.0, ge=0)
    """Weight of the turns' own rewards."""
    gamma: float = Field(default=1.0, ge=0, le=1)
    eps: float = Field(default=1e-4, gt=0)


class Loop(Options):
    """Options of `loop`."""

    threshold: float = Field(default=0.01, ge=0)
    """Episodes with a smaller advantage are not trained on."""


class ReinforcePp(Options):
    """Options of `reinforce++`."""

    gamma: float = Field(default=1.0, gt=0, le=1)
    """Discount per token."""


class ReinforcePpBaseline(Options):
    """Options of `reinforce++-baseline`."""

    per_episode: bool = False
    """Whiten over episodes, so that long ones do not weigh more."""


class Pkpo(Options):
    """Options of `pkpo`."""

    k: int = Field(default=4, ge=1)
    """Number of attempts of which the best counts."""
    baseline: Literal["loo-minus-one", "loo", "none"] = "loo-minus-one"


class WReinforce(Options):
    """Options of `w-reinforce`."""

    lam: float = Field(default=0.1, ge=0)
    """Advantage of a success; a failure has -1."""
    keep: Literal["all", "positive", "negative"] = "all"


class LitePpo(Options):
    """Options of `lite-ppo`."""

    eps: float = Field(default=1e-4, gt=0)


class Gdpo(Options):
    """Options of `gdpo`."""

    weights: dict[str, float] = Field(default_factory=dict)
    """Weight of each named part of the verdict; empty for all parts alike."""
    eps: float = Field(default=1e-4, gt=0)


class OptimalBaseline(Options):
    """Options of `otb`."""

    align: Literal["column", "token"] = "token"
    zero_tail: bool = True


class Sdpo(Options):
    """Options of `sdpo`: what its teacher is shown."""

    threshold: float = 0.5
    """Return from which an attempt is shown to the other members of its group."""
    exclude_self: bool = True
    """Show no episode its own attempt."""
    use_feedback: UseFeedback = "fallback"
    """Show the verdict's reason and evidence: never, always, or if no attempt can be shown."""
