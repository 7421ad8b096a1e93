"""VESPO: a smooth kernel on the whole sequence's importance weight, detached.

Source: arXiv 2602.10693 and its code.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from verigym.trainers.loss.tokens import (
    MAX_LOG_RATIO,
    PolicyLoss,
    keep,
    log_ratio,
    row_advantage,
)

LEAST_WEIGHT = 1e-8


def vespo(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv_B: Tensor,
    mask_BT: Tensor,
    *,
    k_pos: float = 2.0,
    lambda_pos: float = 3.0,
    k_neg: float = 3.0,
    lambda_neg: float = 2.0,
    rollout_weight_BT: Tensor | None = None,
) -> tuple[PolicyLoss, Tensor, Tensor]:
    """Return -stopgrad(phi) A logp, with w and phi, both [B].

    w is the product of the row's token ratios, and of `rollout_weight_BT` (pi_old / pi_rollout after
    truncation or masking) if given; phi = exp(lambda + k log w - lambda w), with the `pos` pair
    where A >= 0. log w is clamped to [ln 1e-8, 20]. phi is 1 at w = 1.
    """
    on = mask_BT != 0
    adv_B = row_advantage(adv_B, on)
    with torch.no_grad():
        x_BT = log_ratio(logp_BT, old_BT, on).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
        log_w_B = x_BT.sum(dim=-1)
        if rollout_weight_BT is not None:
            safe_BT = torch.where(on, rollout_weight_BT, torch.ones_like(rollout_weight_BT))
            log_w_B = log_w_B + safe_BT.clamp(min=LEAST_WEIGHT).log().sum(dim=-1)
        log_w_B = log_w_B.clamp(math.log(LEAST_WEIGHT), MAX_LOG_RATIO)
        w_B = log_w_B.exp()
        up_B = adv_B >= 0
        k = torch.where(up_B, torch.full_like(w_B, k_pos), torch.full_like(w_B, k_neg))
        lam = torch.where(up_B, torch.full_like(w_B, lambda_pos), torch.full_like(w_B, lambda_neg))
        phi_B = torch.exp(lam + k * log_w_B - lam * w_B)
    weight_BT = keep(phi_B[:, None].expand(on.shape), on)
    loss_BT = -weight_BT * adv_B[:, None] * keep(logp_BT, on)
    return PolicyLoss(loss_BT, weight_BT, torch.zeros_like(on)), w_B, phi_B
