"""CISPO: a clipped importance weight without a gradient, so that every token keeps its own.

Source: MiniMax-M1, arXiv 2506.13585.
"""

from __future__ import annotations

from torch import Tensor

from verigym.trainers.loss.tokens import (
    PolicyLoss,
    clamp,
    importance_ratio,
    keep,
    spread_advantage,
)


def cispo(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    *,
    ratio_max: float | None = 5.0,
    ratio_min: float | None = None,
) -> PolicyLoss:
    """Return -stopgrad(clip(r, ratio_min, ratio_max)) A logp.

    The bounds are on the ratio itself. verl and SkyRL write 1 - clip_low and 1 + clip_high; TRL
    writes its epsilon_high as the bound and recommends 5. The value of this loss means nothing; only
    its gradient does. `ratio_BT` is the clipped weight, 0 where masked.
    """
    on = mask_BT != 0
    ratio = importance_ratio(logp_BT, old_BT, mask_BT).detach()
    weight = clamp(ratio, ratio_min, ratio_max)
    clipped = (weight != ratio) & on
    weight = keep(weight, on)
    return PolicyLoss(-weight * spread_advantage(adv, on) * keep(logp_BT, on), weight, clipped)
