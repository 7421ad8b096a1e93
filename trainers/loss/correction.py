"""Correct for a sampler whose log-probabilities are not the trainer's: weights and masks.

All inputs are log-probabilities [B, T] without a gradient; masked positions are never read. Weights
multiply the loss; the loss keeps its denominator at the original token count. Never combine a weight
with a loss that is anchored on the sampler's log-probabilities already.
Source: the code of verl, TRL, SkyRL and slime; IcePop, arXiv 2510.18855.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from verigym.trainers.loss.tokens import (
    MAX_LOG_RATIO,
    bounded_exp,
    clamp,
    keep,
    log_ratio,
    row_advantage,
    row_mean,
)
from verigym.trainers.losses import REJECTIONS

Level = Literal["token", "sequence", "geometric"]
Action = Literal["truncate", "mask"]


@dataclass(frozen=True, kw_only=True)
class Reject:
    """A bound on how far trainer and sampler may differ; `option` is one of `REJECTIONS`.

    The quantity is k1 = -x, k2 = x^2 / 2 or k3 = e^x - 1 - x with x = log(train / rollout), of the
    token or summed, averaged or maximised over the row. k1 must lie in [ln lower, ln upper], with
    `lower` 1 / upper if None: the bounds hold for the ratio rollout / train. The others must be at
    most `upper`.
    """

    option: str
    upper: float
    lower: float | None = None


def rollout_weight(
    train_BT: Tensor,
    rollout_BT: Tensor,
    mask_BT: Tensor,
    *,
    level: Level = "token",
    action: Action = "truncate",
    c_max: float | None = 2.0,
    c_min: float | None = None,
    batch_normalize: bool = False,
) -> Tensor:
    """Return the weight of each token, [B, T], 0 where masked, without a gradient.

    w = pi_train,old / pi_rollout of the token, of the `sequence` (the product over unmasked tokens), or
    its `geometric` mean. `truncate` brings w into [c_min, c_max] (TIS), `mask` sets w outside of it to
    0 (MIS; IcePop with `token`, 0.5 and 5); None leaves a side open. Usual: token truncate 2 (verl),
    sequence mask 3 (TRL). `batch_normalize` divides by the mean weight, over unmasked tokens with
    `token` and over rows that have any otherwise, zeros included.
    """
    _check("level", level, get_args(Level))
    _check("action", action, get_args(Action))
    on = mask_BT != 0
    log_w = log_ratio(train_BT.detach(), rollout_BT.detach(), on)
    if level == "sequence":
        log_w = log_w.sum(dim=-1, keepdim=True).expand(on.shape)
    elif level == "geometric":
        log_w = row_mean(log_w, on)[:, None].expand(on.shape)
    w = bounded_exp(log_w)
    bounded = clamp(w, c_min, c_max)
    w = bounded if action == "truncate" else keep(w, bounded == w)
    w = keep(w, on)
    if batch_normalize:
        live = on.any(dim=-1)
        per_row_B = w.amax(dim=-1)[live]
        mean = w[on].mean() if level == "token" else per_row_B.mean()
        if mean > 1e-8:
            w = w / mean
    return w


def accepted(
    train_BT: Tensor,
    rollout_BT: Tensor,
    mask_BT: Tensor,
    *,
    reject: Sequence[Reject] = (),
    veto_low: float | None = None,
    veto_high: float | None = None,
) -> Tensor:
    """Return the unmasked tokens that pass every bound of `reject` and no veto, boolean [B, T].

    A token whose ratio train / rollout is below `veto_low` or above `veto_high` rejects its row.
    """
    on = mask_BT != 0
    x = log_ratio(train_BT.detach(), rollout_BT.detach(), on).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    kept = on
    for rule in reject:
        kept = kept & _passes(x, on, rule)
    ratio = x.exp()
    vetoed = torch.zeros_like(on)
    if veto_low is not None:
        vetoed = vetoed | (on & (ratio < veto_low))
    if veto_high is not None:
        vetoed = vetoed | (on & (ratio > veto_high))
    return kept & ~vetoed.any(dim=-1, keepdim=True)


def _passes(x_BT: Tensor, on: Tensor, rule: Reject) -> Tensor:
    _check("option", rule.option, REJECTIONS)
    scope, kind = rule.option.rsplit("_", 1)
    value = {"k1": -x_BT, "k2": x_BT.square() / 2.0, "k3": x_BT.exp() - 1.0 - x_BT}[kind]
    value = keep(value, on)
    if scope == "seq_sum":
        value = value.sum(dim=-1, keepdim=True)
    elif scope == "seq_mean":
        value = row_mean(value, on)[:, None]
    elif scope == "seq_max":
        value = torch.where(on, value, torch.full_like(value, -torch.inf)).amax(-1, keepdim=True)
    if kind != "k1":
        return (value <= rule.upper).expand(on.shape)
    lower = 1.0 / rule.upper if rule.lower is None else rule.lower
    return ((value >= math.log(lower)) & (value <= math.log(rule.upper))).expand(on.shape)


def off_policy_mask(
    logp_BT: Tensor, sampler_BT: Tensor, adv_B: Tensor, mask_BT: Tensor, *, threshold: float = 0.5
) -> tuple[Tensor, Tensor]:
    """Return each row's drift, [B], and the rows to keep, boolean [B].

    The drift is the mean of sampler - logp in nats per token. A row is dropped if its advantage is
    negative and its drift above `threshold` (TRL suggests 0.5; slime's default is 1e-4).
    Source: DeepSeek-V3.2, arXiv 2512.02556.
    """
    on = mask_BT != 0
    drift_B = row_mean(log_ratio(sampler_BT.detach(), logp_BT.detach(), on), on)
    kept_B = (row_advantage(adv_B, on) >= 0) | (drift_B <= threshold)
    return drift_B, kept_B


def m2po_mask(
    behav_BT: Tensor, prox_BT: Tensor, mask_BT: Tensor, *, threshold: float = 0.04
) -> tuple[Tensor, Tensor]:
    """Return the second moment over the batch, a scalar, and the tokens to keep, boolean [B, T].

    Drops the tokens of largest (behav - prox)^2 until the mean square of the rest is below
    `threshold`; one always stays. Of equal ones the earlier in row-major order goes first.
    Source: arXiv 2510.01161; AReaL's code, which compares with the proximal policy where the paper
    has the current one.
    """
    on = (mask_BT != 0).reshape(-1)
    square = log_ratio(behav_BT.detach(), prox_BT.detach(), mask_BT != 0).square().reshape(-1)
    at = on.nonzero()[:, 0]
    if len(at) == 0:
        return square.sum(), on.reshape(mask_BT.shape)
    order = at[torch.argsort(square[at], descending=True, stable=True)]
    ranked = square[order]
    # Mean of what is left after the k largest are gone, for k = 0 .. n - 1.
    left = torch.flip(torch.cumsum(torch.flip(ranked, (0,)), 0), (0,))
    mean_left = left / torch.arange(len(ranked), 0, -1, dtype=left.dtype, device=left.device)
    below = (mean_left < threshold).nonzero()[:, 0]
    n_drop = int(below[0]) if len(below) else len(ranked) - 1
    kept = on.clone()
    kept[order[:n_drop]] = False
    return square[at].mean(), kept.reshape(mask_BT.shape)


def _check(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
