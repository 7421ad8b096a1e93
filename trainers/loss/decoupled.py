"""Decoupled PPO: clip around a proximal policy, weigh by its distance from the sampler's.

Source: Hilton et al. 2021, arXiv 2110.00641; AReaL, arXiv 2505.24298.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from verigym.trainers.loss.ppo import ppo
from verigym.trainers.loss.tokens import PolicyLoss, importance_ratio, keep

Method = Literal["loglinear", "linear"]


def decoupled(
    logp_BT: Tensor,
    prox_BT: Tensor,
    behav_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    *,
    clip_low: float | None = 0.2,
    clip_high: float | None = 0.2,
    dual_clip_c: float | None = None,
    cap: float | None = None,
) -> tuple[PolicyLoss, Tensor]:
    """Return PPO clipped around pi_prox and weighed by w = pi_prox / pi_behav, and w [B, T].

    `prox_BT` is recomputed at the start of the update, `behav_BT` is what the sampler recorded, each
    token under its own version. Tokens with w > `cap` (AReaL once used 5) lose their gradient, with w
    0; the denominator stays the original token count. w is 0 where masked.
    """
    on = mask_BT != 0
    clipped = ppo(
        logp_BT,
        prox_BT,
        adv,
        mask_BT,
        clip_low=clip_low,
        clip_high=clip_high,
        dual_clip_c=dual_clip_c,
    )
    w = importance_ratio(prox_BT.detach(), behav_BT, mask_BT)
    kept = on if cap is None else on & (w <= cap)
    w = keep(w, kept)
    loss = PolicyLoss(w * clipped.loss_BT, clipped.ratio_BT, clipped.clipped_BT | (on & ~kept))
    return loss, w


def proximal_logp(
    behav_BT: Tensor,
    logp_BT: Tensor,
    version_BT: Tensor,
    current_version: int,
    *,
    method: Method = "loglinear",
) -> tuple[Tensor, Tensor]:
    """Return alpha and log pi_prox, both [B, T]: the proximal policy without a forward pass.

    alpha = (v - 1 - v_b) / (v - v_b) for a token sampled at version 0 <= v_b < v, else 0.
    `loglinear` interpolates log-probabilities, `linear` probabilities, between the sampler's and the
    current policy's (detached). A token that is one version old takes the sampler's.
    Source: AReaL's code.
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, got {method!r}")
    behav_BT, logp_BT = behav_BT.detach(), logp_BT.detach()
    age_BT = (current_version - version_BT).to(logp_BT.dtype)
    old = (version_BT >= 0) & (version_BT < current_version)
    alpha = torch.where(old, (age_BT - 1.0) / age_BT.clamp(min=1.0), torch.zeros_like(logp_BT))
    if method == "loglinear":
        return alpha, behav_BT + alpha * (logp_BT - behav_BT)
    return alpha, torch.log((1.0 - alpha) * behav_BT.exp() + alpha * logp_BT.exp() + 1e-10)
