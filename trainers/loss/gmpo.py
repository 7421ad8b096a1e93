"""GMPO: the geometric mean of token ratios, each clipped in log space.

Source: Zhao et al. 2025, arXiv 2507.20673.
"""

from __future__ import annotations

import torch
from torch import Tensor

from verigym.trainers.loss.tokens import (
    MAX_LOG_RATIO,
    SequenceLoss,
    bounded_exp,
    keep,
    log_ratio,
    row_advantage,
    row_mean,
)


def gmpo(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv_B: Tensor,
    mask_BT: Tensor,
    *,
    clip_low: float = 0.4,
    clip_high: float = 0.4,
) -> tuple[SequenceLoss, Tensor]:
    """Return -A exp(mean clipped log-ratio) per row, and the clipped tokens, boolean [B, T].

    The bounds hold for the log-ratio x: min(x, clip_high) if A > 0, else max(x, -clip_low).
    """
    on = mask_BT != 0
    adv_B = row_advantage(adv_B, on)
    x_BT = log_ratio(logp_BT, old_BT.detach(), on).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    up_B1 = (adv_B > 0)[:, None]
    bounded_BT = torch.where(up_B1, x_BT.clamp(max=clip_high), x_BT.clamp(min=-clip_low))
    ratio_B = bounded_exp(row_mean(keep(bounded_BT, on), on))
    loss_B = -adv_B * ratio_B
    clipped_BT = (bounded_BT != x_BT) & on
    loss_BT = torch.where(on, loss_B[:, None], torch.zeros_like(logp_BT))
    return SequenceLoss(loss_B, ratio_B.detach(), clipped_BT.any(dim=-1), loss_BT), clipped_BT
