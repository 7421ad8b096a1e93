"""Shapes and helpers that every policy loss shares.

`logp_BT` [B, T] are log-probabilities of the tokens under the policy being trained, in nats; `adv` is
[B, T], or [B] for one advantage per row; `mask_BT` is 1 on tokens that the policy sampled.

Masked positions are replaced before anything is computed from them, not multiplied by 0 after, so
that NaN and infinity there reach neither the value nor the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

MAX_LOG_RATIO = 20.0


@dataclass(frozen=True, eq=False)
class PolicyLoss:
    """Loss per token, [B, T], 0 where masked, and what to report about it.

    `ratio_BT` is the importance ratio, or the weight that multiplied the gradient, detached;
    `clipped_BT` is True where clipping, masking or dropping is in force.
    """

    loss_BT: Tensor
    ratio_BT: Tensor
    clipped_BT: Tensor


@dataclass(frozen=True, eq=False)
class SequenceLoss:
    """Loss of one importance ratio per row: `loss_B`, `ratio_B`, `clipped_B`, all [B].

    `loss_BT` repeats a row's loss on each of its unmasked tokens, so that `seq-mean-token-mean`
    gives the mean over rows that have any. A row without unmasked tokens has ratio 1 and loss 0.
    """

    loss_B: Tensor
    ratio_B: Tensor
    clipped_B: Tensor
    loss_BT: Tensor


def keep(x_BT: Tensor, on_BT: Tensor) -> Tensor:
    """Return `x_BT` where `on_BT`, and 0 elsewhere, in value and gradient."""
    return torch.where(on_BT, x_BT, torch.zeros_like(x_BT))


def log_ratio(a_BT: Tensor, b_BT: Tensor, on_BT: Tensor) -> Tensor:
    """Return a - b where unmasked and 0 elsewhere, not clamped."""
    return keep(a_BT - b_BT, on_BT)


def bounded_exp(log_ratio: Tensor) -> Tensor:
    """Return exp of a log-ratio clamped to +-20."""
    return log_ratio.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()


def importance_ratio(logp_BT: Tensor, old_BT: Tensor, mask_BT: Tensor) -> Tensor:
    """Return exp(logp - old), [B, T], with the log-ratio clamped to +-20; 1 where masked."""
    return bounded_exp(log_ratio(logp_BT, old_BT.detach(), mask_BT != 0))


def spread_advantage(adv: Tensor, on_BT: Tensor) -> Tensor:
    """Return `adv` ([B] or [B, T]) as [B, T], 0 where masked, without a gradient."""
    adv_BT = adv[:, None].expand(on_BT.shape) if adv.dim() == 1 else adv
    if adv_BT.shape != on_BT.shape:
        raise ValueError(
            f"adv must be [B] or [B, T] = {tuple(on_BT.shape)}, got {tuple(adv.shape)}"
        )
    return keep(adv_BT, on_BT).detach()


def row_advantage(adv_B: Tensor, on_BT: Tensor) -> Tensor:
    """Return `adv_B` [B], 0 for rows without unmasked tokens, without a gradient."""
    if adv_B.shape != on_BT.shape[:1]:
        raise ValueError(f"adv must be [B] = [{on_BT.shape[0]}], got {tuple(adv_B.shape)}")
    return keep(adv_B, on_BT.any(dim=-1)).detach()


def row_mean(x_BT: Tensor, on_BT: Tensor) -> Tensor:
    """Return the mean over each row's unmasked tokens, [B]; 0 for a row without any.

    `x_BT` must be 0 where masked."""
    return x_BT.sum(dim=-1) / on_BT.sum(dim=-1).clamp(min=1)


def ratio_bounds(
    clip_low: float | None, clip_high: float | None
) -> tuple[float | None, float | None]:
    """Return 1 - clip_low and 1 + clip_high; None leaves a side open."""
    return (
        None if clip_low is None else 1.0 - clip_low,
        None if clip_high is None else 1.0 + clip_high,
    )


def clamp(x: Tensor, low: float | None, high: float | None) -> Tensor:
    """Return `x` clamped; None leaves a side open."""
    return x if low is None and high is None else torch.clamp(x, min=low, max=high)
