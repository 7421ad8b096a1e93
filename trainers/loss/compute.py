"""Computation of every policy loss in the table `trainers/losses.py`, from one set of inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from verigym.trainers.loss.cispo import cispo
from verigym.trainers.loss.decoupled import decoupled
from verigym.trainers.loss.dppo import dppo
from verigym.trainers.loss.gmpo import gmpo
from verigym.trainers.loss.gspo import gspo
from verigym.trainers.loss.luffy import luffy
from verigym.trainers.loss.ppo import ppo
from verigym.trainers.loss.sapo import sapo
from verigym.trainers.loss.sdpo import sdpo
from verigym.trainers.loss.tokens import PolicyLoss
from verigym.trainers.loss.vespo import vespo
from verigym.trainers.losses import (
    Cispo,
    Decoupled,
    Dppo,
    Gmpo,
    Gspo,
    Luffy,
    Ppo,
    Sapo,
    SdpoLoss,
    Vespo,
)


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


COMPUTE: dict[str, Callable[[Inputs, Any], PolicyLoss]] = {
    "ppo": _ppo,
    "gspo": _gspo,
    "cispo": _cispo,
    "gmpo": _gmpo,
    "sapo": _sapo,
    "vespo": _vespo,
    "dppo": _dppo,
    "decoupled": _decoupled,
    "luffy": _luffy,
}
"""Losses of tokens by name."""

DISTIL: dict[str, Callable[[Distributions, Any], Tensor]] = {"sdpo": _sdpo}
"""Losses on distributions by name."""
