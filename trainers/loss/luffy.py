"""LUFFY: demonstrations inside the group, with a weight that favours unlikely tokens.

Source: Yan et al. 2025, arXiv 2504.14945, and its code.
"""

from __future__ import annotations

import torch
from torch import Tensor

from verigym.trainers.loss.ppo import ppo
from verigym.trainers.loss.tokens import PolicyLoss, keep, spread_advantage


def luffy(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    demonstration_BT: Tensor,
    *,
    shape: float = 0.1,
    clip_low: float | None = None,
    clip_high: float | None = None,
) -> PolicyLoss:
    """Return -A p / (p + shape) on tokens of demonstrations, and PPO's loss on all others.

    p = exp(logp). `demonstration_BT` is 1 on tokens that the policy did not sample; `old_BT` is never
    read there. The others are clipped only if a bound is given: the public script clips nothing,
    divides the sum by the length T and leaves the deviation out of advantages.
    """
    if shape <= 0:
        raise ValueError(f"shape must be above 0, got {shape}")
    on = mask_BT != 0
    off = on & (demonstration_BT != 0)
    own = on & ~off
    sampled = ppo(logp_BT, old_BT, adv, own, clip_low=clip_low, clip_high=clip_high)
    p = keep(logp_BT, off).exp()
    shaped = keep(p / (p + shape), off)
    loss = torch.where(off, -spread_advantage(adv, on) * shaped, sampled.loss_BT)
    weight = torch.where(off, shaped.detach(), keep(sampled.ratio_BT, own))
    return PolicyLoss(loss, weight, sampled.clipped_BT)
