"""PPO's clipped surrogate, with clip-higher, dual clip and TRL's cap.

Source: Schulman et al. 2017, arXiv 1707.06347, eq. 7; dual clip: Ye et al. 2019, arXiv 1912.09729;
clip-higher: DAPO, arXiv 2503.14476.
"""

from __future__ import annotations

import torch
from torch import Tensor

from verigym.trainers.loss.tokens import (
    PolicyLoss,
    clamp,
    importance_ratio,
    keep,
    ratio_bounds,
    spread_advantage,
)


def ppo(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    *,
    clip_low: float | None = 0.2,
    clip_high: float | None = 0.2,
    dual_clip_c: float | None = None,
    ratio_cap: float | None = None,
) -> PolicyLoss:
    """Return max(-A r, -A clip(r, 1 - clip_low, 1 + clip_high)); None leaves a side open.

    0.2 and 0.28 are DAPO's clip-higher. `dual_clip_c` (usually 3) bounds the loss of tokens with
    A < 0 by -c A. `ratio_cap` bounds the r of the first, unclipped term (TRL's `delta`).
    """
    on = mask_BT != 0
    adv_BT = spread_advantage(adv, on)
    ratio = importance_ratio(logp_BT, old_BT, mask_BT)
    free = -adv_BT * clamp(ratio, None, ratio_cap)
    bound = -adv_BT * clamp(ratio, *ratio_bounds(clip_low, clip_high))
    loss = torch.maximum(free, bound)
    clipped = bound > free
    if dual_clip_c is not None:
        if dual_clip_c <= 1.0:
            raise ValueError(f"dual_clip_c must be above 1, got {dual_clip_c}")
        ceiling = -dual_clip_c * adv_BT
        clipped = clipped | ((adv_BT < 0) & (loss > ceiling))
        loss = torch.where(adv_BT < 0, torch.minimum(loss, ceiling), loss)
    return PolicyLoss(keep(loss, on), ratio.detach(), clipped & on)
