"""Penalties for the distance from a reference policy, per token.

Source: Schulman, http://joschu.net/blog/kl-approx.html; the unbiased form: TRL's code.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from verigym.trainers.loss.tokens import MAX_LOG_RATIO, importance_ratio, keep, log_ratio

MAX_K3 = 10.0

KlKind = Literal["k1", "k2", "k3", "k3+"]


def kl_terms(
    logp_BT: Tensor, ref_BT: Tensor, mask_BT: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return k1, k2, k3 per token: estimates of KL(policy || reference) on the policy's samples.

    d = logp - ref; k1 = d, k2 = d^2 / 2, k3 = exp(-d) + d - 1 with d clamped to +-20 and the result
    to +-10. 0 where masked.
    """
    on = torch.ones_like(logp_BT, dtype=torch.bool) if mask_BT is None else mask_BT != 0
    d = log_ratio(logp_BT, ref_BT.detach(), on)
    bounded = d.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    k3 = (torch.exp(-bounded) + bounded - 1.0).clamp(-MAX_K3, MAX_K3)
    return d, d.square() / 2.0, k3


def kl(logp_BT: Tensor, ref_BT: Tensor, mask_BT: Tensor, *, kind: KlKind = "k3") -> Tensor:
    """Return the KL penalty per token, [B, T], 0 where masked; multiply by beta and add to the loss.

    `k3` is GRPO's and GiGPO's; its gradient is biased for this KL. The gradient of `k2` is right on
    policy. `k3+` has the value of k3 and the gradient of k2. The gradient of `k1` in a loss has mean
    0: use k1 in the reward instead.
    """
    if kind not in get_args(KlKind):
        raise ValueError(f"kind must be one of {', '.join(get_args(KlKind))}, got {kind!r}")
    k1, k2, k3 = kl_terms(logp_BT, ref_BT, mask_BT)
    if kind == "k3+":
        return k2 + (k3 - k2).detach()
    return {"k1": k1, "k2": k2, "k3": k3}[kind]


def unbiased_kl(
    logp_BT: Tensor, old_BT: Tensor, ref_BT: Tensor, mask_BT: Tensor
) -> tuple[Tensor, Tensor]:
    """Return k3, not clamped, and r k3, both [B, T] and 0 where masked.

    The gradient of r k3 is that of KL(policy || reference) off policy too: r (logp - ref), since
    r = exp(logp - old) keeps its own.
    """
    on = mask_BT != 0
    d = log_ratio(logp_BT, ref_BT.detach(), on).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    k3_BT = keep(torch.exp(-d) + d - 1.0, on)
    return k3_BT, keep(importance_ratio(logp_BT, old_BT, mask_BT) * k3_BT, on)
