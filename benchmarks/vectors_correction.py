"""Masks, weights and divergences as test vectors call them: what corrects for samples of another policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from vectors_loss import Outputs, tensor

from verigym.trainers import loss
from verigym.trainers.loss import Reject, aggregate


def mismatch_weight(
    *, train_logp: Any, rollout_logp: Any, mask: Any, mode: str, c_max: Any, c_min: Any = None
) -> Outputs:
    level, action = mode.split("_")
    weight = loss.rollout_weight(
        tensor(train_logp),
        tensor(rollout_logp),
        tensor(mask),
        level=level,  # type: ignore[arg-type]
        action=action,  # type: ignore[arg-type]
        c_max=c_max,
        c_min=c_min,
    )
    return {"weight": weight}


def entropy_mask(*, entropy: Any, mask: Any, rho: float) -> Outputs:
    entropy, mask = tensor(entropy), tensor(mask)
    threshold = loss.entropy_threshold(entropy, mask, rho=rho)
    return {"threshold": threshold, "selected": loss.entropy_mask(entropy, mask, threshold)}


def off_policy_mask(
    *, logp: Any, sampler_logp: Any, advantage_seq: Any, mask: Any, threshold: float = 0.5
) -> Outputs:
    drift, keep = loss.off_policy_mask(
        tensor(logp),
        tensor(sampler_logp),
        tensor(advantage_seq),
        tensor(mask),
        threshold=threshold,
    )
    return {"drift": drift, "keep": keep}


def rollout_correction(
    *,
    train_logp: Any,
    rollout_logp: Any,
    mask: Any,
    reject: Any = None,
    veto_low: float | None = None,
    veto_high: float | None = None,
    **options: Any,
) -> Outputs:
    inputs = tensor(train_logp), tensor(rollout_logp), tensor(mask)
    rules = [Reject(**rule) for rule in reject or ()]
    return {
        "weight": loss.rollout_weight(*inputs, **options),
        "keep": loss.accepted(*inputs, reject=rules, veto_low=veto_low, veto_high=veto_high),
    }


def m2po_mask(*, behav_logp: Any, prox_logp: Any, mask: Any, threshold: float = 0.04) -> Outputs:
    moment, keep = loss.m2po_mask(
        tensor(behav_logp), tensor(prox_logp), tensor(mask), threshold=threshold
    )
    return {"m2": moment, "keep": keep}


def prox_logp(
    *, behav_logp: Any, logp: Any, versions: Any, current_version: int, **options: Any
) -> Outputs:
    alpha, prox = loss.proximal_logp(
        tensor(behav_logp), tensor(logp), tensor(versions), current_version, **options
    )
    return {"alpha": alpha, "prox_logp": prox}


def kl_terms(*, logp: Any, ref_logp: Any) -> Outputs:
    k1, k2, k3 = loss.kl_terms(tensor(logp), tensor(ref_logp))
    return {"k1": k1, "k2": k2, "k3": k3}


def unbiased_kl(*, logp: Any, old_logp: Any, ref_logp: Any, mask: Any) -> Outputs:
    logp, mask, ref = tensor(logp, grad=True), tensor(mask), tensor(ref_logp)
    k3, each = loss.unbiased_kl(logp, tensor(old_logp), ref, mask)
    total = aggregate(each, mask, "token-mean")
    return {
        "k3": k3,
        "kl": each,
        "loss_token_mean": total,
        "grad_logp": torch.autograd.grad(total, logp)[0],
    }


FUNCTIONS: dict[str, Callable[..., Outputs]] = {
    "entropy_mask": entropy_mask,
    "kl_terms": kl_terms,
    "m2po_mask": m2po_mask,
    "mismatch_weight": mismatch_weight,
    "off_policy_mask": off_policy_mask,
    "prox_logp": prox_logp,
    "rollout_correction": rollout_correction,
    "unbiased_kl": unbiased_kl,
}
