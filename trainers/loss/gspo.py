"""GSPO: PPO's clip on one length-normalised importance ratio per row.

Source: Zheng et al. 2025, arXiv 2507.18071.
"""

from __future__ import annotations

import torch
from torch import Tensor

from verigym.trainers.loss.tokens import (
    SequenceLoss,
    bounded_exp,
    clamp,
    log_ratio,
    ratio_bounds,
    row_advantage,
    row_mean,
)


def gspo(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv_B: Tensor,
    mask_BT: Tensor,
    *,
    clip_low: float | None = 3e-4,
    clip_high: float | None = 4e-4,
) -> SequenceLoss:
    """Return PPO's loss on s = exp(mean log-ratio over the row's unmasked tokens).

    `adv_B` [B]. With step rows a row is a step, not an episode. The clip has no effect on the first
    on-policy step.
    """
    on = mask_BT != 0
    adv_B = row_advantage(adv_B, on)
    ratio_B = bounded_exp(row_mean(log_ratio(logp_BT, old_BT.detach(), on), on))
    free = -adv_B * ratio_B
    bound = -adv_B * clamp(ratio_B, *ratio_bounds(clip_low, clip_high))
    loss_B = torch.maximum(free, bound)
    loss_BT = torch.where(on, loss_B[:, None], torch.zeros_like(logp_BT))
    return SequenceLoss(loss_B, ratio_B.detach(), (bound > free) & on.any(dim=-1), loss_BT)
