"""Section `[algorithm]` of the configuration: estimator, loss and corrections, and which go together."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, Self, cast

from pydantic import Field, field_validator, model_validator

from verigym.errors import suggestion
from verigym.trainers.config_errors import check_options
from verigym.trainers.credit.estimator import Estimator, Level, Options
from verigym.trainers.credit.table import ESTIMATORS
from verigym.trainers.losses import LOSSES, REJECTIONS, Loss, Mode
from verigym.trainers.sections import BranchSection, Section


class CorrectionSection(Section):
    """Weights for the difference between the sampler's log-probabilities and the trainer's."""

    level: Literal["token", "sequence", "geometric"] | None = None
    """Ratio used as the weight: that of each token, the product over a row, or its geometric mean. None for no
    correction."""
    action: Literal["truncate", "mask"] = "truncate"
    """Treatment of a weight out of bounds: it is cut to the bound (TIS), or set to 0 (MIS, IcePop)."""
    c_max: float | None = Field(default=2.0, gt=0)
    c_min: float | None = Field(default=None, gt=0)
    batch_normalize: bool = False
    """Divide by the mean weight of the batch."""
    reject: dict[str, float] = Field(default_factory=dict)
    """Upper bounds by quantity, such as {seq_mean_k3 = 0.01}; rows or tokens beyond one are dropped."""
    veto_low: float | None = Field(default=None, gt=0)
    """Ratio of a single token below which its row is dropped."""
    veto_high: float | None = Field(default=None, gt=0)

    @field_validator("reject")
    @classmethod
    def _known(cls, value: dict[str, float]) -> dict[str, float]:
        for name, bound in value.items():
            if name not in REJECTIONS:
                raise ValueError(f"unknown quantity {name!r}; {suggestion(name, REJECTIONS)}")
            if bound <= 0:
                raise ValueError(f"the bound of {name} must be above 0, got {bound}")
        return value

    @property
    def is_used(self) -> bool:
        """True if rows have to be compared with the trainer's own log-probabilities."""
        return bool(self.level or self.reject or self.veto_low or self.veto_high)


class AlgorithmSection(Section):
    """Estimation of advantages, and the loss. Defaults: GiGPO, arXiv 2505.10978."""

    name: str = "gigpo"
    """Estimator of the advantages; `verigym train --list` prints all."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of that estimator."""
    branch: BranchSection | None = None
    """Budget of `branch`; None for its defaults."""
    loss: str | None = None
    """Policy loss; None for the one that the estimator's paper uses."""
    loss_options: dict[str, Any] = Field(default_factory=dict)
    """Options of the loss."""
    aggregation: Mode | None = None
    """Reduction of the tokens' losses to one number; None for the loss's or the estimator's own."""
    demonstrations: int = Field(default=0, ge=0)
    """Number of the oracle's episodes in each group, for loss `luffy`."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Constant length L of `dr-grpo` and `sum-norm`; None for `policy.max_new_tokens`."""
    anchors: Literal["state", "observation", "repaired"] = "state"
    """Name of the state that visits are compared by: the environment's key of its state, the
    observation, or the last observation that was no mere "Nothing happens" (arXiv 2606.22995)."""
    invalid_penalty: float = Field(default=0.1, ge=0)
    """Penalty subtracted from the reward of a turn with an invalid action."""
    old_logprobs: Literal["rollout", "recomputed", "loglinear"] = "rollout"
    """Log-probabilities in the ratio: those that the sampler recorded, or the trainer's at the start of
    the update, for one more forward pass. `loglinear`, for loss `decoupled`, estimates the trainer's from the
    sampler's, the current ones and the age of the token, without that pass (AReaL)."""
    correction: CorrectionSection = CorrectionSection()
    off_policy_threshold: float | None = Field(default=None, gt=0)
    """Drift in nats per token beyond which rows with a negative advantage are dropped; None for none."""
    m2po_threshold: float | None = Field(default=None, gt=0)
    """Second moment of the log-ratio down to which the farthest tokens are dropped; None for none."""
    kl_coef: float = Field(default=0.0, ge=0)
    """Weight of the KL term to the initial model of reinforcement learning; 0 keeps no copy of it."""
    kl: Literal["k1", "k2", "k3", "k3+", "unbiased", "reward"] = "k3"
    """Estimate of that KL term; `reward` has no term in the loss, and takes k1 off the rewards instead."""
    entropy_coef: float = Field(default=0.0, ge=0)
    """Weight of the entropy bonus."""
    entropy_control: Literal["none", "high-entropy", "clip-cov", "kl-cov"] = "none"
    """`high-entropy` trains only the tokens of highest entropy (80/20), the other two treat the tokens
    that would lower it most."""
    entropy_fraction: float | None = Field(default=None, gt=0, le=1)
    """Share of tokens for `entropy_control`; None for 0.2 with `high-entropy`, else 0.0002."""
    clip_cov_bounds: tuple[float, float] = (1.0, 5.0)
    """Covariances between which `clip-cov` draws the tokens that it drops."""
    kl_cov_coef: float = Field(default=1.0, ge=0)
    """Weight of the distance from the old policy on the tokens that `kl-cov` chooses."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.name not in ESTIMATORS:
            raise ValueError(
                f"unknown algorithm.name {self.name!r}; {suggestion(self.name, ESTIMATORS)}"
            )
        if self.loss is not None and self.loss not in LOSSES:
            raise ValueError(
                f"unknown algorithm.loss {self.loss!r}; {suggestion(self.loss, LOSSES)}"
            )
        _ = self.estimator_options, self.policy_loss_options
        if self.branch is not None and not self.estimator.branches:
            raise ValueError(
                f"algorithm.name {self.name} plays no continuations; leave out [algorithm.branch], or "
                "choose branch"
            )
        chosen = self.policy_loss
        if chosen.one_advantage and self.level == "token":
            raise ValueError(
                f"loss {self.loss_name} has one ratio per row, but {self.name} gives each token an "
                "advantage of its own; use a loss per token, such as ppo"
            )
        if chosen.anchored and (self.correction.level or self.old_logprobs == "recomputed"):
            raise ValueError(
                f"loss {self.loss_name} is anchored on the sampler's log-probabilities already; leave "
                "out algorithm.correction.level and algorithm.old_logprobs"
            )
        if self.old_logprobs == "loglinear" and self.loss_name != "decoupled":
            raise ValueError(
                f"algorithm.old_logprobs loglinear is for loss decoupled, got {self.loss_name}"
            )
        self._check_recipe(chosen)
        if self.entropy_control in ("clip-cov", "kl-cov") and self.loss_name != "ppo":
            raise ValueError(
                f"entropy_control {self.entropy_control} is defined for loss ppo, got {self.loss_name}"
            )
        low, high = self.clip_cov_bounds
        if low >= high:
            raise ValueError(f"clip_cov_bounds must rise, got {low} and {high}")
        return self

    def _check_recipe(self, chosen: Loss) -> None:
        if chosen.imitates != bool(self.demonstrations):
            raise ValueError(
                f"loss {self.loss_name} needs demonstrations in each group: set algorithm.demonstrations, "
                "such as 1"
                if chosen.imitates
                else f"loss {self.loss_name} cannot learn from algorithm.demonstrations; use loss luffy"
            )
        if chosen.imitates and (
            self.correction.is_used
            or self.m2po_threshold
            or self.off_policy_threshold
            or self.kl in ("unbiased", "reward")
        ):
            raise ValueError(
                "demonstrations have no log-probabilities of a sampler: leave out algorithm.correction, "
                "m2po_threshold, off_policy_threshold, kl unbiased and kl reward"
            )
        if self.kl == "reward" and self.estimator.knows_success:
            raise ValueError(
                f"{self.name} tells a success by its reward, from which kl reward takes something off; use "
                "a KL term in the loss, such as kl k3"
            )
        if chosen.distils != (self.name == "sdpo"):
            raise ValueError(
                f"algorithm.name sdpo and loss sdpo go together, got {self.name} and {self.loss_name}"
            )

    @property
    def taxes_rewards(self) -> bool:
        """True if the distance from the initial model is taken off the rewards."""
        return self.kl == "reward" and self.kl_coef > 0

    @property
    def estimator(self) -> Estimator:
        """The entry of the estimator in the table."""
        return ESTIMATORS[self.name]

    @property
    def level(self) -> Level:
        """The finest part of an episode that has an advantage of its own."""
        return cast(Level, getattr(self.estimator_options, "level", self.estimator.level))

    @cached_property
    def estimator_options(self) -> Options:
        """The estimator's options, checked."""
        return check_options(self.estimator.options, self.options, "algorithm.options")

    @property
    def loss_name(self) -> str:
        """Name of the policy loss."""
        return self.loss or self.estimator.loss

    @property
    def policy_loss(self) -> Loss:
        """The entry of the loss in the table."""
        return LOSSES[self.loss_name]

    @cached_property
    def policy_loss_options(self) -> Options:
        """The loss's options, checked; those of the estimator's paper hold if it names the loss."""
        own = self.estimator.loss_options if self.loss_name == self.estimator.loss else {}
        given = {**own, **self.loss_options}
        return check_options(self.policy_loss.options, given, "algorithm.loss_options")

    @property
    def aggregation_mode(self) -> Mode:
        """Reduction of the tokens' losses to one number."""
        chosen = self.aggregation or self.policy_loss.aggregation or self.estimator.aggregation
        return cast(Mode, chosen)
