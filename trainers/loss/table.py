"""Every policy loss by name: what `algorithm.loss` may be, and its options.

The configuration, the engine, the documentation and the tests read this table and no other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor

from verigym.trainers.credit.estimator import Options
from verigym.trainers.loss.cispo import cispo
from verigym.trainers.loss.decoupled import decoupled
from verigym.trainers.loss.dppo import dppo
from verigym.trainers.loss.gmpo import gmpo
from verigym.trainers.loss.gspo import gspo
from verigym.trainers.loss.luffy import luffy
from verigym.trainers.loss.ppo import ppo
from verigym.trainers.loss.sapo import sapo
from verigym.trainers.loss.sdpo import Mode, sdpo
from verigym.trainers.loss.tokens import PolicyLoss
from verigym.trainers.loss.vespo import vespo


@dataclass(frozen=True, eq=False, kw_only=True)
class Inputs:
    """Inputs of a loss, all [B, T]: `logp_BT` has the gradient.

    `old_BT` is the policy at the start of the update, `rollout_BT` the sampler's record; the two are
    the same unless `algorithm.old_logprobs` is `recomputed`. `weight_BT` is the correction from one to
    the other, None without one. `demonstration_BT` is True on tokens that the policy did not sample,
    None if there are none.
    """

    logp_BT: Tensor
    old_BT: Tensor
    rollout_BT: Tensor
    adv_BT: Tensor
    mask_BT: Tensor
    weight_BT: Tensor | None = None
    demonstration_BT: Tensor | None = None

    @property
    def adv_B(self) -> Tensor:
        """The advantage of each row, that of its first unmasked token."""
        at_B1 = (self.mask_BT != 0).float().argmax(dim=-1, keepdim=True)
        return self.adv_BT.gather(1, at_B1)[:, 0]


@dataclass(frozen=True, eq=False, kw_only=True)
class Distributions:
    """Log-probabilities [N, V] of the policy, with its gradient, and of its teacher; the tokens sampled
    there, [N], and their log-probabilities in the rollout, [N]."""

    student_NV: Tensor
    teacher_NV: Tensor
    ids_N: Tensor
    old_N: Tensor


@dataclass(frozen=True, kw_only=True)
class Loss:
    """One entry of the table.

    `one_advantage` marks losses with one ratio per row, which need one advantage per row.
    `anchored` marks losses that are anchored on the sampler's log-probabilities already, so that no
    rollout correction may be added. `recomputes` asks for the policy at the start of the update.
    `imitates` marks losses that need demonstrations in each group. `distil` is given instead of `compute`
    by a loss on whole distributions: those of the policy and of its teacher at N tokens.
    """

    summary: str
    source: str
    options: type[Options]
    compute: Callable[[Inputs, Any], PolicyLoss] | None = None
    distil: Callable[[Distributions, Any], Tensor] | None = None
    imitates: bool = False
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

    mode: Mode = "topk"
    """Compare whole distributions, the policy's `topk` tokens, or the sampled token."""
    alpha: float = Field(default=0.5, ge=0, le=1)
    """1 is KL(policy || teacher), 0 KL(teacher || policy), between them a mixture."""
    topk: int = Field(default=100, ge=1)
    tail: bool = True
    """With `topk`, compare the rest of either distribution as one token."""
    is_clip: float | None = Field(default=2.0, gt=0)
    """Bound of the ratio to the rollout by which tokens are weighed; None for none."""


def _weighted(loss: PolicyLoss, x: Inputs) -> PolicyLoss:
    if x.weight_BT is None:
        return loss
    return PolicyLoss(x.weight_BT * loss.loss_BT, loss.ratio_BT, loss.clipped_BT)


def _ppo(x: Inputs, o: Ppo) -> PolicyLoss:
    found = ppo(
        x.logp_BT,
        x.old_BT,
        x.adv_BT,
        x.mask_BT,
        clip_low=o.clip_low,
        clip_high=o.clip_high,
        dual_clip_c=o.dual_clip,
        ratio_cap=o.ratio_cap,
    )
    return _weighted(found, x)


def _gspo(x: Inputs, o: Gspo) -> PolicyLoss:
    found = gspo(x.logp_BT, x.old_BT, x.adv_B, x.mask_BT, **o.model_dump())
    on = x.mask_BT != 0
    ratio_BT = found.ratio_B[:, None].expand(on.shape)
    return _weighted(PolicyLoss(found.loss_BT, ratio_BT, found.clipped_B[:, None] & on), x)


def _gmpo(x: Inputs, o: Gmpo) -> PolicyLoss:
    found, clipped_BT = gmpo(x.logp_BT, x.old_BT, x.adv_B, x.mask_BT, **o.model_dump())
    ratio_BT = found.ratio_B[:, None].expand(clipped_BT.shape)
    return _weighted(PolicyLoss(found.loss_BT, ratio_BT, clipped_BT), x)


def _cispo(x: Inputs, o: Cispo) -> PolicyLoss:
    return _weighted(cispo(x.logp_BT, x.old_BT, x.adv_BT, x.mask_BT, **o.model_dump()), x)


def _sapo(x: Inputs, o: Sapo) -> PolicyLoss:
    return _weighted(sapo(x.logp_BT, x.old_BT, x.adv_BT, x.mask_BT, **o.model_dump()), x)


def _vespo(x: Inputs, o: Vespo) -> PolicyLoss:
    found, _, _ = vespo(
        x.logp_BT,
        x.old_BT,
        x.adv_B,
        x.mask_BT,
        rollout_weight_BT=x.weight_BT,
        **o.model_dump(),
    )
    return found


def _dppo(x: Inputs, o: Dppo) -> PolicyLoss:
    return dppo(x.logp_BT, x.rollout_BT, x.adv_BT, x.mask_BT, **o.model_dump())


def _decoupled(x: Inputs, o: Decoupled) -> PolicyLoss:
    found, _ = decoupled(
        x.logp_BT,
        x.old_BT,
        x.rollout_BT,
        x.adv_BT,
        x.mask_BT,
        clip_low=o.clip_low,
        clip_high=o.clip_high,
        dual_clip_c=o.dual_clip,
        cap=o.cap,
    )
    return found


def _luffy(x: Inputs, o: Luffy) -> PolicyLoss:
    assert x.demonstration_BT is not None
    return luffy(x.logp_BT, x.old_BT, x.adv_BT, x.mask_BT, x.demonstration_BT, **o.model_dump())


def _sdpo(x: Distributions, o: SdpoLoss) -> Tensor:
    loss_1N, _ = sdpo(
        x.student_NV[None],
        x.teacher_NV[None],
        x.ids_N[None],
        torch.ones_like(x.ids_N[None]),
        mode=o.mode,
        alpha=o.alpha,
        topk=min(o.topk, x.student_NV.shape[-1]),
        tail=o.tail and o.topk < x.student_NV.shape[-1],
        old_BT=x.old_N[None],
        is_clip=o.is_clip,
    )
    return loss_1N[0]


LOSSES: dict[str, Loss] = {
    "ppo": Loss(
        summary="clip each token's ratio",
        source="arXiv 1707.06347",
        options=Ppo,
        compute=_ppo,
    ),
    "gspo": Loss(
        summary="clip one ratio per row",
        source="arXiv 2507.18071",
        options=Gspo,
        compute=_gspo,
        one_advantage=True,
        aggregation="seq-mean-token-mean",
    ),
    "cispo": Loss(
        summary="clip the weight, keep every token's gradient",
        source="arXiv 2506.13585",
        options=Cispo,
        compute=_cispo,
    ),
    "gmpo": Loss(
        summary="geometric mean of clipped ratios",
        source="arXiv 2507.20673",
        options=Gmpo,
        compute=_gmpo,
        one_advantage=True,
        aggregation="seq-mean-token-mean",
    ),
    "sapo": Loss(
        summary="a soft gate in place of the clip",
        source="arXiv 2511.20347",
        options=Sapo,
        compute=_sapo,
        aggregation="seq-mean-token-mean",
    ),
    "vespo": Loss(
        summary="a smooth kernel on the row's weight",
        source="arXiv 2602.10693",
        options=Vespo,
        compute=_vespo,
        one_advantage=True,
    ),
    "dppo": Loss(
        summary="drop tokens whose probability moved too far",
        source="arXiv 2602.04879",
        options=Dppo,
        compute=_dppo,
        anchored=True,
    ),
    "decoupled": Loss(
        summary="clip around a proximal policy, weighed by its distance from the sampler's",
        source="arXiv 2505.24298",
        options=Decoupled,
        compute=_decoupled,
        anchored=True,
        recomputes=True,
    ),
    "luffy": Loss(
        summary="demonstrations in each group, weighed towards unlikely tokens",
        source="arXiv 2504.14945",
        options=Luffy,
        compute=_luffy,
        imitates=True,
        aggregation="dr-grpo",
    ),
    "sdpo": Loss(
        summary="the distance to the same policy that has seen a success or feedback",
        source="arXiv 2601.20802",
        options=SdpoLoss,
        distil=_sdpo,
    ),
}
