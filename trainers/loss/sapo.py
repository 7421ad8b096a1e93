"""SAPO: a soft gate in place of the clip.

Source: Gao et al. 2025, arXiv 2511.20347.
"""

from __future__ import annotations

import torch
from torch import Tensor

from verigym.trainers.loss.tokens import PolicyLoss, importance_ratio, keep, spread_advantage


def sapo(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    *,
    tau_pos: float = 1.0,
    tau_neg: float = 1.05,
) -> PolicyLoss:
    """Return -A (4 / tau) sigmoid(tau (r - 1)), with `tau_pos` where A > 0 and `tau_neg` elsewhere.

    On policy the gate is 2 / tau and its slope 1. `ratio_BT` is the gate, 0 where masked. Aggregate
    by `seq-mean-token-mean`.
    """
    if min(tau_pos, tau_neg) <= 0:
        raise ValueError(f"tau_pos and tau_neg must be above 0, got {tau_pos} and {tau_neg}")
    on = mask_BT != 0
    adv_BT = spread_advantage(adv, on)
    ratio = importance_ratio(logp_BT, old_BT, mask_BT)
    tau = torch.where(
        adv_BT > 0, torch.full_like(adv_BT, tau_pos), torch.full_like(adv_BT, tau_neg)
    )
    gate = keep(4.0 / tau * torch.sigmoid(tau * (ratio - 1.0)), on)
    return PolicyLoss(-gate * adv_BT, gate.detach(), torch.zeros_like(on))
