"""Policy losses per token, to be minimised, and what belongs to them: KL, weights, masks.

Shapes: `logp_BT` [B, T] log-probabilities of the tokens under the policy being trained, in nats, the
only argument with a gradient; `adv` [B, T], or [B] for one advantage per row; `mask_BT` 1 on tokens
that the policy sampled. Each loss comes back per token, 0 where masked; `aggregate` makes it a
scalar. Log-ratios are clamped to +-20 before exp.

Masked positions are replaced before anything is computed from them, not multiplied by 0 after, so
that NaN and infinity there reach neither the value nor the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from verigym.trainers.aggregate import Denominators, Mode, aggregate, trajectory_tokens

__all__ = [
    "Denominators",
    "Mode",
    "PolicyLoss",
    "SequenceLoss",
    "aggregate",
    "cispo",
    "contribution_loss",
    "decoupled_ppo",
    "entropy_mask",
    "entropy_threshold",
    "gspo",
    "importance_ratio",
    "kl",
    "kl_terms",
    "mismatch_weight",
    "ppo_clip",
    "prime_rl",
    "token_entropy",
    "trajectory_tokens",
]

MAX_LOG_RATIO = 20.0
MAX_K3 = 10.0


@dataclass(frozen=True, eq=False)
class PolicyLoss:
    """`loss_BT` per token; `ratio_BT` the importance ratio, or the weight that multiplied the
    gradient, detached; `clipped_BT` where clipping (or dropping) is in force."""

    loss_BT: Tensor
    ratio_BT: Tensor
    clipped_BT: Tensor


@dataclass(frozen=True, eq=False)
class SequenceLoss:
    """`loss_B`, `ratio_B`, `clipped_B` per row; a row without unmasked tokens has ratio 1, loss 0.

    `loss_BT` repeats a row's loss on each of its unmasked tokens: aggregated by
    `seq-mean-token-mean` it gives the mean over live rows.
    """

    loss_B: Tensor
    ratio_B: Tensor
    clipped_B: Tensor
    loss_BT: Tensor


def _log_ratio(a_BT: Tensor, b_BT: Tensor, on_BT: Tensor) -> Tensor:
    """a - b where unmasked, 0 elsewhere, not clamped."""
    difference = a_BT - b_BT
    return torch.where(on_BT, difference, torch.zeros_like(difference))


def _advantage(adv: Tensor, on_BT: Tensor) -> Tensor:
    adv_BT = adv[:, None].expand(on_BT.shape) if adv.dim() == 1 else adv
    if adv_BT.shape != on_BT.shape:
        raise ValueError(
            f"adv must be [B] or [B, T] = {tuple(on_BT.shape)}, got {tuple(adv.shape)}"
        )
    return torch.where(on_BT, adv_BT, torch.zeros_like(adv_BT)).detach()


def _bounds(clip_low: float | None, clip_high: float | None) -> tuple[float | None, float | None]:
    return (
        None if clip_low is None else 1.0 - clip_low,
        None if clip_high is None else 1.0 + clip_high,
    )


def _clamp(x: Tensor, low: float | None, high: float | None) -> Tensor:
    return x if low is None and high is None else torch.clamp(x, min=low, max=high)


def importance_ratio(logp_BT: Tensor, old_BT: Tensor, mask_BT: Tensor) -> Tensor:
    """exp(logp - old), log-ratio clamped to +-20; 1 where masked."""
    log_ratio = _log_ratio(logp_BT, old_BT.detach(), mask_BT != 0)
    return log_ratio.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()


def ppo_clip(
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
    """max(-A r, -A clip(r, 1 - clip_low, 1 + clip_high)); None leaves a side open.

    0.2 / 0.28 is DAPO's clip-higher. `dual_clip_c` (3 is usual) bounds the loss of tokens with
    A < 0 by -c A. `ratio_cap` bounds the r of the first, unclipped term, TRL's `delta`.
    Source: Schulman et al. 2017, arXiv 1707.06347, eq. 7; dual clip: Ye et al., arXiv 1912.09729.
    """
    on = mask_BT != 0
    adv_BT = _advantage(adv, on)
    ratio = importance_ratio(logp_BT, old_BT, mask_BT)
    free = -adv_BT * _clamp(ratio, None, ratio_cap)
    bound = -adv_BT * _clamp(ratio, *_bounds(clip_low, clip_high))
    loss = torch.maximum(free, bound)
    clipped = bound > free
    if dual_clip_c is not None:
        if dual_clip_c <= 1.0:
            raise ValueError(f"dual_clip_c must be above 1, got {dual_clip_c}")
        ceiling = -dual_clip_c * adv_BT
        clipped = clipped | ((adv_BT < 0) & (loss > ceiling))
        loss = torch.where(adv_BT < 0, torch.minimum(loss, ceiling), loss)
    loss = torch.where(on, loss, torch.zeros_like(loss))
    return PolicyLoss(loss, ratio.detach(), clipped & on)


def gspo(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv_B: Tensor,
    mask_BT: Tensor,
    *,
    clip_low: float | None = 3e-4,
    clip_high: float | None = 4e-4,
) -> SequenceLoss:
    """PPO's clip on one ratio per row, s = exp(mean log-ratio over its unmasked tokens).

    `adv_B` [B]. With step rows a row is a step, not an episode. It changes nothing on the first
    on-policy step.
    Source: Zheng et al. 2025, arXiv 2507.18071.
    """
    on = mask_BT != 0
    if adv_B.shape != on.shape[:1]:
        raise ValueError(f"adv must be [B] = [{on.shape[0]}], got {tuple(adv_B.shape)}")
    n_B = on.sum(dim=-1)
    live = n_B > 0
    adv_B = torch.where(live, adv_B, torch.zeros_like(adv_B)).detach()
    mean_B = _log_ratio(logp_BT, old_BT.detach(), on).sum(dim=-1) / n_B.clamp(min=1)
    ratio_B = mean_B.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
    free = -adv_B * ratio_B
    bound = -adv_B * _clamp(ratio_B, *_bounds(clip_low, clip_high))
    loss_B = torch.maximum(free, bound)
    loss_BT = torch.where(on, loss_B[:, None], torch.zeros_like(logp_BT))
    return SequenceLoss(loss_B, ratio_B.detach(), (bound > free) & live, loss_BT)


def cispo(
    logp_BT: Tensor,
    old_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    *,
    ratio_max: float | None = 5.0,
    ratio_min: float | None = None,
) -> PolicyLoss:
    """-stopgrad(clip(r, ratio_min, ratio_max)) A logp: every token keeps a gradient.

    The bounds are on the ratio itself. verl and SkyRL write 1 - clip_low and 1 + clip_high; TRL
    writes its epsilon_high as the bound and recommends 5. The value of this loss means nothing; only
    its gradient does. `ratio_BT` is the clipped weight, 0 where masked.
    Source: MiniMax-M1, arXiv 2506.13585.
    """
    on = mask_BT != 0
    ratio = importance_ratio(logp_BT, old_BT, mask_BT).detach()
    weight = _clamp(ratio, ratio_min, ratio_max)
    clipped = (weight != ratio) & on
    weight = torch.where(on, weight, torch.zeros_like(weight))
    safe_logp = torch.where(on, logp_BT, torch.zeros_like(logp_BT))
    return PolicyLoss(-weight * _advantage(adv, on) * safe_logp, weight, clipped)


MismatchMode = Literal[
    "token_truncate",
    "token_mask",
    "sequence_truncate",
    "sequence_mask",
    "geometric_truncate",
    "geometric_mask",
]


def mismatch_weight(
    train_BT: Tensor,
    rollout_BT: Tensor,
    mask_BT: Tensor,
    *,
    mode: MismatchMode,
    c_max: float | None,
    c_min: float | None = None,
) -> Tensor:
    """Weight [B, T] for the loss that corrects rollout log-probabilities to the trainer's; 0 where
    masked, and never with a gradient.

    w = pi_train,old / pi_rollout: per token, per `sequence` the product over unmasked tokens, or its
    `geometric` mean, repeated on each token. `truncate` brings w into [c_min, c_max] (TIS), `mask`
    sets w outside of it to 0 (MIS); None leaves a side open. Usual: token_truncate 2 (verl),
    sequence_mask 3 (TRL), token_mask 0.5 to 2 (IcePop).

    Keep the loss's denominator at the original token count, and never use this with a loss that
    is anchored on rollout log-probabilities already.
    """
    if mode not in get_args(MismatchMode):
        raise ValueError(f"mode must be one of {', '.join(get_args(MismatchMode))}, got {mode!r}")
    on = mask_BT != 0
    scope, action = mode.split("_")
    log_w = _log_ratio(train_BT.detach(), rollout_BT.detach(), on)
    if scope != "token":
        total_B1 = log_w.sum(dim=-1, keepdim=True)
        if scope == "geometric":
            total_B1 = total_B1 / on.sum(dim=-1, keepdim=True).clamp(min=1)
        log_w = total_B1.expand(on.shape)
    w = log_w.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
    bounded = _clamp(w, c_min, c_max)
    w = bounded if action == "truncate" else torch.where(bounded == w, w, torch.zeros_like(w))
    return torch.where(on, w, torch.zeros_like(w))


def decoupled_ppo(
    logp_BT: Tensor,
    prox_BT: Tensor,
    behav_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    *,
    clip_low: float | None = 0.2,
    clip_high: float | None = 0.2,
    dual_clip_c: float | None = None,
    cap: float | None = None,
) -> tuple[PolicyLoss, Tensor]:
    """PPO clipped around pi_prox, weighed by w = pi_prox / pi_behav: the loss and w [B, T].

    `prox_BT` is recomputed at the start of the update, `behav_BT` is what the sampler recorded, each
    token under its own version. Tokens with w > `cap` (AReaL once used 5) lose their gradient, with w
    0; the denominator stays the original token count. w is 0 where masked.
    Source: Hilton et al., arXiv 2110.00641; AReaL, arXiv 2505.24298.
    """
    on = mask_BT != 0
    ppo = ppo_clip(
        logp_BT,
        prox_BT,
        adv,
        mask_BT,
        clip_low=clip_low,
        clip_high=clip_high,
        dual_clip_c=dual_clip_c,
    )
    w = importance_ratio(prox_BT.detach(), behav_BT, mask_BT)
    keep = on if cap is None else on & (w <= cap)
    w = torch.where(keep, w, torch.zeros_like(w))
    return PolicyLoss(w * ppo.loss_BT, ppo.ratio_BT, ppo.clipped_BT | (on & ~keep)), w


def prime_rl(
    logp_BT: Tensor,
    inference_BT: Tensor,
    adv: Tensor,
    mask_BT: Tensor,
    *,
    drop_high: float = 0.2,
    drop_low: float = 0.2,
    kl_coef: float = 1e-3,
) -> PolicyLoss:
    """-A r + kl_coef * log(r)^2 with r = pi / mu, mu the inference policy.

    The policy term of a token is dropped if A > 0 and pi - mu > `drop_high`, or A <= 0 and
    pi - mu < -`drop_low`: differences of probabilities, not ratios. The squared term stays.
    Source: prime-rl's default loss. Advantages there have no deviation.
    """
    on = mask_BT != 0
    adv_BT = _advantage(adv, on)
    log_ratio = _log_ratio(logp_BT, inference_BT.detach(), on)
    ratio = log_ratio.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
    zero = torch.zeros_like(logp_BT)
    with torch.no_grad():
        pi = torch.where(on, logp_BT, zero).exp()
        gap = pi - torch.where(on, inference_BT, zero).exp()
        dropped = on & torch.where(adv_BT > 0, gap > drop_high, gap < -drop_low)
    policy = torch.where(dropped, zero, -adv_BT * ratio)
    loss = torch.where(on, policy + kl_coef * log_ratio.square(), zero)
    return PolicyLoss(loss, ratio.detach(), dropped)


def kl_terms(
    logp_BT: Tensor, ref_BT: Tensor, mask_BT: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """k1, k2, k3 per token: estimates of KL(policy || reference) on the policy's samples.

    d = logp - ref; k1 = d, k2 = d^2 / 2, k3 = exp(-d) + d - 1 with d clamped to +-20 and the result
    to +-10. 0 where masked.
    Source: Schulman, http://joschu.net/blog/kl-approx.html.
    """
    on = torch.ones_like(logp_BT, dtype=torch.bool) if mask_BT is None else mask_BT != 0
    d = _log_ratio(logp_BT, ref_BT.detach(), on)
    bounded = d.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
    k3 = (torch.exp(-bounded) + bounded - 1.0).clamp(-MAX_K3, MAX_K3)
    return d, d.square() / 2.0, k3


KlKind = Literal["k1", "k2", "k3", "k3+"]


def kl(logp_BT: Tensor, ref_BT: Tensor, mask_BT: Tensor, *, kind: KlKind = "k3") -> Tensor:
    """KL penalty per token for the loss, [B, T], 0 where masked; multiply by beta and add.

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


def token_entropy(logits_BTV: Tensor) -> Tensor:
    """Entropy of the next-token distribution, [B, T], nats. The bonus is minus c times its mean."""
    log_p = torch.log_softmax(logits_BTV, dim=-1)
    # A forbidden token has logit -inf and p = 0, and 0 * -inf is NaN, in the gradient too.
    log_p = torch.where(torch.isfinite(log_p), log_p, torch.zeros_like(log_p))
    p = torch.where(torch.isfinite(logits_BTV), log_p.exp(), torch.zeros_like(log_p))
    return -(p * log_p).sum(dim=-1)


def entropy_threshold(entropy_BT: Tensor, mask_BT: Tensor, *, rho: float = 0.2) -> Tensor:
    """The (1 - rho) quantile of the unmasked entropies, linear interpolation; a scalar.

    Take it over the whole batch before it is cut into micro-batches. Raises ValueError if no token
    is unmasked.
    """
    if not 0.0 < rho <= 1.0:
        raise ValueError(f"rho must be in (0, 1], got {rho}")
    ranked = entropy_BT.detach()[mask_BT != 0].sort().values
    if len(ranked) == 0:
        raise ValueError("no unmasked token: there is no quantile")
    # Not torch.quantile: it refuses more than 16 million elements.
    at = (1.0 - rho) * (len(ranked) - 1)
    low = min(int(at), len(ranked) - 1)
    high = min(low + 1, len(ranked) - 1)
    return torch.lerp(ranked[low], ranked[high], at - low)


def entropy_mask(entropy_BT: Tensor, mask_BT: Tensor, threshold: Tensor | float) -> Tensor:
    """Unmasked tokens with an entropy of at least `threshold`, boolean [B, T].

    For the policy term alone; the denominator stays all unmasked tokens.
    Source: Wang et al. 2025, arXiv 2506.01939 (the 80/20 rule).
    """
    return (mask_BT != 0) & (entropy_BT.detach() >= threshold)


def contribution_loss(contribution_BK: Tensor, mask_BK: Tensor, return_B: Tensor) -> Tensor:
    """(sum of a trajectory's step contributions - its return)^2, [B]: trains SPA-RL's estimator.

    `mask_BK` is 1 on steps that exist.
    Source: SPA-RL, arXiv 2505.20732.
    """
    on = mask_BK != 0
    total_B = torch.where(on, contribution_BK, torch.zeros_like(contribution_BK)).sum(dim=-1)
    return (total_B - return_B.detach()).square()
