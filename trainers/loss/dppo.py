"""DPPO: drop tokens by the divergence from the sampler's policy, not by the ratio.

With `form="ratio"`, deltas 0.2 and `kl_coef` 1e-3 it is prime-rl's default loss; with `kind="abs"`
prime-rl's IPO.
Source: arXiv 2602.04879 and its code.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from verigym.trainers.loss.tokens import (
    PolicyLoss,
    bounded_exp,
    clamp,
    keep,
    log_ratio,
    spread_advantage,
)

Kind = Literal["tv", "kl", "abs"]
Form = Literal["logp", "ratio"]
_TINY = 1e-8


def dppo(
    logp_BT: Tensor,
    rollout_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    *,
    kind: Kind = "tv",
    delta_low: float = 0.15,
    delta_high: float = 0.15,
    form: Form = "logp",
    ratio_cap: float | None = 20.0,
    kl_coef: float = 0.0,
) -> PolicyLoss:
    """Return -A stopgrad(min(r, ratio_cap)) logp, or with `form="ratio"` -A r, on tokens that are kept.

    r = pi / mu with mu the sampler's policy: `rollout_BT` are its log-probabilities, not recomputed
    ones. A token with A > 0 is dropped if it rose too far, one with A <= 0 if it fell too far:
    `tv` compares pi - mu with the deltas, `kl` the divergence of the two Bernoulli distributions
    "this token or another", `abs` |pi - mu| in both directions. kl_coef * log(r)^2 is added on all
    tokens, dropped ones included.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, got {kind!r}")
    if form not in get_args(Form):
        raise ValueError(f"form must be one of {', '.join(get_args(Form))}, got {form!r}")
    on = mask_BT != 0
    adv_BT = spread_advantage(adv, on)
    x_BT = log_ratio(logp_BT, rollout_BT.detach(), on)
    ratio_BT = bounded_exp(x_BT)
    with torch.no_grad():
        dropped = on & _too_far(
            keep(logp_BT, on), keep(rollout_BT, on), adv_BT, kind, delta_low, delta_high
        )
    if form == "ratio":
        policy_BT = -adv_BT * ratio_BT
    else:
        policy_BT = -adv_BT * clamp(ratio_BT.detach(), None, ratio_cap) * keep(logp_BT, on)
    loss_BT = keep(policy_BT, on & ~dropped) + kl_coef * x_BT.square()
    return PolicyLoss(loss_BT, ratio_BT.detach(), dropped)


def _too_far(
    logp_BT: Tensor, rollout_BT: Tensor, adv_BT: Tensor, kind: Kind, low: float, high: float
) -> Tensor:
    pi, mu = logp_BT.exp(), rollout_BT.exp()
    up = adv_BT > 0
    if kind == "tv":
        return torch.where(up, pi - mu > high, pi - mu < -low)
    if kind == "abs":
        return torch.where(up, (pi - mu).abs() > high, (pi - mu).abs() > low)
    other = torch.log((1.0 - mu + _TINY) / (1.0 - pi + _TINY))
    divergence = mu * (rollout_BT - logp_BT) + (1.0 - mu) * other
    return torch.where(up, (pi > mu) & (divergence > high), (pi < mu) & (divergence > low))
