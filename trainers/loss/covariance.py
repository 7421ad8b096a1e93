"""Clip-Cov and KL-Cov: keep entropy up at the tokens that would lower it most.

A token's covariance is (A - mean A)(logp - mean logp), over the unmasked tokens of the batch. The mean,
the count and the ranking are of the whole batch, so take them before it is cut into micro-batches.
Source: Cui et al. 2025, arXiv 2505.22617, and its code.
"""

from __future__ import annotations

import torch
from torch import Tensor

from verigym.trainers.loss.ppo import ppo
from verigym.trainers.loss.tokens import (
    MAX_LOG_RATIO,
    PolicyLoss,
    bounded_exp,
    keep,
    log_ratio,
    spread_advantage,
)


def covariance(logp_BT: Tensor, adv: Tensor, mask_BT: Tensor) -> Tensor:
    """Return the covariance of each unmasked token, [B, T], detached; 0 where masked."""
    on = mask_BT != 0
    n = on.sum().clamp(min=1)
    adv_BT, logp_BT = spread_advantage(adv, on), keep(logp_BT.detach(), on)
    return keep((adv_BT - adv_BT.sum() / n) * (logp_BT - logp_BT.sum() / n), on)


def clip_cov_candidates(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    *,
    fraction: float = 2e-4,
    lower: float = 1.0,
    upper: float = 5.0,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
) -> tuple[Tensor, Tensor, int]:
    """Return each token's covariance, the candidates to drop, both [B, T], and how many to drop.

    Candidates have a covariance between `lower` and `upper` and are not clipped already. Draw the
    number to drop among them, and pass the draw to `clip_cov`.
    """
    on = mask_BT != 0
    cov = covariance(logp_BT, adv, mask_BT)
    clipped = ppo(
        logp_BT.detach(), old_BT, adv, mask_BT, clip_low=clip_low, clip_high=clip_high
    ).clipped_BT
    candidates = on & ~clipped & (cov > lower) & (cov < upper)
    n_drop = min(max(int(fraction * int(on.sum())), 1), int(candidates.sum()))
    return cov, candidates, n_drop


def clip_cov(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    dropped_BT: Tensor,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
) -> PolicyLoss:
    """Return PPO's loss, 0 on the tokens of `dropped_BT`; the denominator keeps counting them."""
    plain = ppo(logp_BT, old_BT, adv, mask_BT, clip_low=clip_low, clip_high=clip_high)
    dropped = (mask_BT != 0) & (dropped_BT != 0)
    return PolicyLoss(keep(plain.loss_BT, ~dropped), plain.ratio_BT, plain.clipped_BT | dropped)


def kl_cov_selected(cov_BT: Tensor, mask_BT: Tensor, *, fraction: float = 2e-4) -> Tensor:
    """Return the max(1, int(fraction n)) unmasked tokens of largest covariance, boolean [B, T].

    Of equal ones the earlier in row-major order comes first.
    """
    on = (mask_BT != 0).reshape(-1)
    n = int(on.sum())
    ranked = torch.where(on, cov_BT.reshape(-1), torch.full_like(cov_BT.reshape(-1), -torch.inf))
    order = torch.argsort(ranked, descending=True, stable=True)
    chosen = torch.zeros_like(on)
    chosen[order[: min(n, max(1, int(fraction * n)))]] = True
    return chosen.reshape(cov_BT.shape)


def kl_cov(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    selected_BT: Tensor,
    *,
    coef: float = 1.0,
) -> PolicyLoss:
    """Return -A r without a clip, plus coef |log r| on the tokens of `selected_BT`."""
    on = mask_BT != 0
    x_BT = log_ratio(logp_BT, old_BT.detach(), on).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    ratio = bounded_exp(x_BT)
    chosen = on & (selected_BT != 0)
    loss = keep(-spread_advantage(adv, on) * ratio, on) + coef * keep(x_BT.abs(), chosen)
    return PolicyLoss(loss, ratio.detach(), chosen)
