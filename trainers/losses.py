"""Every policy loss by name: what `algorithm.loss` may be, and its options. `loss/compute.py` computes them.

The configuration, the documentation and the tests read this table and no other. It does not import torch, so that a
configuration can be read without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from verigym.trainers.credit.estimator import Options

Mode = Literal[
    "token-mean",
    "seq-mean-token-sum",
    "seq-mean-token-mean",
    "seq-mean-token-mean/all-rows",
    "dr-grpo",
    "sum-norm",
    "trajectory-mean",
]
"""Reductions of the tokens' losses to one number (`loss/aggregate.py`)."""
Distance = Literal["sampled", "full", "topk"]
"""Tokens that a loss on distributions compares: the sampled token, all tokens, or the likeliest ones."""
_SCOPES = ("token", "seq_sum", "seq_mean", "seq_max")
REJECTIONS = tuple(
    f"{scope}_{kind}"
    for scope in _SCOPES
    for kind in ("k1", "k2", "k3")
    if (scope, kind) != ("seq_max", "k1")
)
"""Rules by which a correction drops tokens or rows (`loss/correction.py`)."""


@dataclass(frozen=True, kw_only=True)
class Loss:
    """One entry of the table.

    `one_advantage` marks losses with one ratio per row, which need one advantage per row.
    `anchored` marks losses that are anchored on the sampler's log-probabilities already, so that no
    rollout correction may be added. `recomputes` asks for the policy at the start of the update.
    `imitates` marks losses that need demonstrations in each group, `distils` a loss on whole distributions: those of
    the policy and of its teacher.
    """

    summary: str
    source: str
    options: type[Options]
    imitates: bool = False
    distils: bool = False
    one_advantage: bool = False
    anchored: bool = False
    recomputes: bool = False
    aggregation: str | None = None


class Ppo(Options):
    """Options of `ppo`."""

    clip_low: float = Field(default=0.2, gt=0)
    clip_high: float = Field(default=0.2, gt=0)
    """0.28 is DAPO's clip-higher."""
    dual_clip: float | None = Field(default=None, gt=1)
    """Bound on the loss of tokens with a negative advantage, usually 3; None for none."""
    ratio_cap: float | None = Field(default=None, gt=1)
    """TRL's delta: a bound on the unclipped ratio; None for none."""


class Gspo(Options):
    """Options of `gspo`."""

    clip_low: float = Field(default=3e-4, gt=0)
    clip_high: float = Field(default=4e-4, gt=0)


class Gmpo(Options):
    """Options of `gmpo`; both bounds hold for the log-ratio."""

    clip_low: float = Field(default=0.4, gt=0)
    clip_high: float = Field(default=0.4, gt=0)


class Cispo(Options):
    """Options of `cispo`; the bounds hold for the ratio itself."""

    ratio_max: float = Field(default=5.0, gt=0)
    ratio_min: float | None = Field(default=None, ge=0)


class Sapo(Options):
    """Options of `sapo`."""

    tau_pos: float = Field(default=1.0, gt=0)
    tau_neg: float = Field(default=1.05, gt=0)


class Vespo(Options):
    """Options of `vespo`: power and decay for either sign of the advantage."""

    k_pos: float = Field(default=2.0, ge=0)
    lambda_pos: float = Field(default=3.0, ge=0)
    k_neg: float = Field(default=3.0, ge=0)
    lambda_neg: float = Field(default=2.0, ge=0)


class Dppo(Options):
    """Options of `dppo`."""

    kind: Literal["tv", "kl", "abs"] = "tv"
    """Measure of how far a probability moved."""
    delta_low: float = Field(default=0.15, gt=0)
    """Bound for tokens with a negative advantage; usual are 0.15 with `tv`, 0.05 with `kl` and 0.1 with `abs`."""
    delta_high: float = Field(default=0.15, gt=0)
    form: Literal["logp", "ratio"] = "logp"
    ratio_cap: float | None = Field(default=20.0, gt=0)
    kl_coef: float = Field(default=0.0, ge=0)
    """Weight of the squared log-ratio."""


class Decoupled(Options):
    """Options of `decoupled`."""

    clip_low: float = Field(default=0.2, gt=0)
    clip_high: float = Field(default=0.2, gt=0)
    dual_clip: float | None = Field(default=None, gt=1)
    cap: float | None = Field(default=None, gt=1)
    """Tokens whose weight is larger lose their gradient; None for none."""


class Luffy(Options):
    """Options of `luffy`."""

    shape: float = Field(default=0.1, gt=0)
    """Probability at which a demonstrated token has half of its weight."""
    clip_low: float | None = Field(default=None, gt=0)
    """Bounds of the policy's own tokens; the paper has none."""
    clip_high: float | None = Field(default=None, gt=0)


class SdpoLoss(Options):
    """Options of `sdpo`."""

    mode: Distance = "topk"
    """Compare whole distributions, the policy's `topk` tokens, or the sampled token."""
    alpha: float = Field(default=0.5, ge=0, le=1)
    """1 is KL(policy || teacher), 0 KL(teacher || policy), between them a mixture."""
    topk: int = Field(default=100, ge=1)
    tail: bool = True
    """With `topk`, compare the rest of either distribution as one token."""
    is_clip: float | None = Field(default=2.0, gt=0)
    """Bound of the ratio to the rollout by which tokens are weighed; None for none."""


LOSSES: dict[str, Loss] = {
    "ppo": Loss(
        summary="clip each token's ratio",
        source="arXiv 1707.06347",
        options=Ppo,
    ),
    "gspo": Loss(
        summary="clip one ratio per row",
        source="arXiv 2507.18071",
        options=Gspo,
        one_advantage=True,
        aggregation="seq-mean-token-mean",
    ),
    "cispo": Loss(
        summary="clip the weight, keep every token's gradient",
        source="arXiv 2506.13585",
        options=Cispo,
    ),
    "gmpo": Loss(
        summary="geometric mean of clipped ratios",
        source="arXiv 2507.20673",
        options=Gmpo,
        one_advantage=True,
        aggregation="seq-mean-token-mean",
    ),
    "sapo": Loss(
        summary="a soft gate in place of the clip",
        source="arXiv 2511.20347",
        options=Sapo,
        aggregation="seq-mean-token-mean",
    ),
    "vespo": Loss(
        summary="a smooth kernel on the row's weight",
        source="arXiv 2602.10693",
        options=Vespo,
        one_advantage=True,
    ),
    "dppo": Loss(
        summary="drop tokens whose probability moved too far",
        source="arXiv 2602.04879",
        options=Dppo,
        anchored=True,
    ),
    "decoupled": Loss(
        summary="clip around a proximal policy, weighed by its distance from the sampler's",
        source="arXiv 2505.24298",
        options=Decoupled,
        anchored=True,
        recomputes=True,
    ),
    "luffy": Loss(
        summary="demonstrations in each group, weighed towards unlikely tokens",
        source="arXiv 2504.14945",
        options=Luffy,
        imitates=True,
        aggregation="dr-grpo",
    ),
    "sdpo": Loss(
        summary="the distance to the same policy that has seen a success or feedback",
        source="arXiv 2601.20802",
        options=SdpoLoss,
        distils=True,
    ),
}
