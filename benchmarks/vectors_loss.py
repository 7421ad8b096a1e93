"""The loss functions as test vectors call them: lists in, named outputs out, gradients included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from verigym.trainers import loss
from verigym.trainers.loss import Denominators, aggregate, trajectory_tokens

Outputs = dict[str, Any]
COUNTED_MODES = ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean")
MODES = (*COUNTED_MODES, "seq-mean-token-mean/all-rows", "dr-grpo", "sum-norm")


def tensor(values: Any, *, grad: bool = False) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=grad)


def ppo(
    *,
    logp: Any,
    old_logp: Any,
    advantage: Any,
    mask: Any,
    L: int | None = None,
    modes: Any = MODES,
    delta: float | None = None,
    trajectory: Any = None,
    **options: Any,
) -> Outputs:
    logp, mask = tensor(logp, grad=True), tensor(mask)
    policy = loss.ppo(logp, tensor(old_logp), tensor(advantage), mask, ratio_cap=delta, **options)
    whole = Denominators.of(mask, max_tokens=L, trajectory=trajectory)
    own = None if trajectory is None else trajectory_tokens(mask, trajectory)
    totals = {
        mode: aggregate(policy.loss_BT, mask, mode, denominators=whole, trajectory_tokens_B=own)
        for mode in modes
    }
    mean = aggregate(policy.loss_BT, mask, "token-mean")
    return {
        "ratio": policy.ratio_BT,
        "token_loss": policy.loss_BT,
        "clipped": policy.clipped_BT,
        "aggregated": totals,
        "grad_logp_token_mean": torch.autograd.grad(mean, logp)[0],
    }


def aggregated(**inputs: Any) -> Outputs:
    modes = COUNTED_MODES if inputs.get("L") is None else MODES
    if inputs.get("trajectory") is not None:
        modes = (*modes, "trajectory-mean")
    out: Outputs = ppo(**{"modes": modes, **inputs})["aggregated"]
    return out


def gspo(*, logp: Any, old_logp: Any, advantage_seq: Any, mask: Any, **options: Any) -> Outputs:
    logp, mask = tensor(logp, grad=True), tensor(mask)
    policy = loss.gspo(logp, tensor(old_logp), tensor(advantage_seq), mask, **options)
    total = aggregate(policy.loss_BT, mask, "seq-mean-token-mean")
    return {
        "seq_ratio": policy.ratio_B,
        "per_seq_loss": policy.loss_B,
        "clipped": policy.clipped_B,
        "loss": total,
        "grad_logp": torch.autograd.grad(total, logp)[0],
    }


def cispo(
    *,
    logp: Any,
    old_logp: Any,
    advantage: Any,
    mask: Any,
    clip_low: float | None = None,
    clip_high: float | None = None,
    **bounds: Any,
) -> Outputs:
    # Vectors follow verl's convention, the library bounds the ratio itself.
    bounds.setdefault("ratio_min", None if clip_low is None else 1.0 - clip_low)
    bounds.setdefault("ratio_max", None if clip_high is None else 1.0 + clip_high)
    logp, mask = tensor(logp, grad=True), tensor(mask)
    policy = loss.cispo(logp, tensor(old_logp), tensor(advantage), mask, **bounds)
    total = aggregate(policy.loss_BT, mask, "token-mean")
    return {
        "weight": policy.ratio_BT,
        "token_loss": policy.loss_BT,
        "loss_token_mean": total,
        "grad_logp": torch.autograd.grad(total, logp)[0],
    }


def decoupled_ppo(
    *,
    logp: Any,
    prox_logp: Any,
    behav_logp: Any,
    advantage: Any,
    mask: Any,
    cap_mask: float | None = None,
    **options: Any,
) -> Outputs:
    logp, prox, mask = tensor(logp, grad=True), tensor(prox_logp), tensor(mask)
    policy, weight = loss.decoupled(
        logp, prox, tensor(behav_logp), tensor(advantage), mask, cap=cap_mask, **options
    )
    total = aggregate(policy.loss_BT, mask, "token-mean")
    return {
        "behav_weight": weight,
        "ppo_token_loss": loss.ppo(logp, prox, tensor(advantage), mask, **options).loss_BT,
        "token_loss": policy.loss_BT,
        "loss_token_mean": total,
        "grad_logp": torch.autograd.grad(total, logp)[0],
    }


def token_mean(policy: loss.PolicyLoss, logp: torch.Tensor, mask: torch.Tensor) -> Outputs:
    """Return the outputs in which most losses are compared."""
    total = aggregate(policy.loss_BT, mask, "token-mean")
    return {
        "token_loss": policy.loss_BT,
        "loss_token_mean": total,
        "grad_logp": torch.autograd.grad(total, logp)[0],
    }


def dppo(*, logp: Any, rollout_logp: Any, advantage: Any, mask: Any, **options: Any) -> Outputs:
    logp, mask = tensor(logp, grad=True), tensor(mask)
    policy = loss.dppo(logp, tensor(rollout_logp), tensor(advantage), mask, **options)
    return {"keep": (mask != 0) & ~policy.clipped_BT, **token_mean(policy, logp, mask)}


def sapo(*, logp: Any, old_logp: Any, advantage: Any, mask: Any, **options: Any) -> Outputs:
    logp, mask = tensor(logp, grad=True), tensor(mask)
    policy = loss.sapo(logp, tensor(old_logp), tensor(advantage), mask, **options)
    total = aggregate(policy.loss_BT, mask, "seq-mean-token-mean")
    return {
        "gate": policy.ratio_BT,
        "token_loss": policy.loss_BT,
        "loss": total,
        "grad_logp": torch.autograd.grad(total, logp)[0],
    }


def vespo(
    *,
    logp: Any,
    old_logp: Any,
    advantage_seq: Any,
    mask: Any,
    rollout_weight: Any = None,
    **options: Any,
) -> Outputs:
    logp, mask = tensor(logp, grad=True), tensor(mask)
    weight = None if rollout_weight is None else tensor(rollout_weight)
    policy, w, phi = loss.vespo(
        logp, tensor(old_logp), tensor(advantage_seq), mask, rollout_weight_BT=weight, **options
    )
    return {"w": w, "phi": phi, **token_mean(policy, logp, mask)}


def gmpo(*, logp: Any, old_logp: Any, advantage_seq: Any, mask: Any, **options: Any) -> Outputs:
    logp, mask = tensor(logp, grad=True), tensor(mask)
    policy, clipped = loss.gmpo(logp, tensor(old_logp), tensor(advantage_seq), mask, **options)
    total = aggregate(policy.loss_BT, mask, "seq-mean-token-mean")
    return {
        "seq_ratio": policy.ratio_B,
        "clipped": clipped,
        "per_seq_loss": policy.loss_B,
        "loss": total,
        "grad_logp": torch.autograd.grad(total, logp)[0],
    }


def clip_cov(
    *, logp: Any, old_logp: Any, advantage: Any, mask: Any, drop: Any = None, **options: Any
) -> Outputs:
    logp, mask = tensor(logp, grad=True), tensor(mask)
    inputs = logp, tensor(old_logp), tensor(advantage), mask
    cov, candidates, n_drop = loss.clip_cov_candidates(*inputs, **options)
    drawn = candidates if drop is None else tensor(drop)
    clips = {name: options[name] for name in ("clip_low", "clip_high") if name in options}
    policy = loss.clip_cov(*inputs, drawn, **clips)
    return {
        "cov": cov,
        "candidates": candidates,
        "n_drop": n_drop,
        **token_mean(policy, logp, mask),
    }


def kl_cov(
    *,
    logp: Any,
    old_logp: Any,
    advantage: Any,
    mask: Any,
    fraction: float = 2e-4,
    coef: float = 1.0,
) -> Outputs:
    logp, mask, adv = tensor(logp, grad=True), tensor(mask), tensor(advantage)
    cov = loss.covariance(logp, adv, mask)
    selected = loss.kl_cov_selected(cov, mask, fraction=fraction)
    policy = loss.kl_cov(logp, tensor(old_logp), adv, mask, selected, coef=coef)
    return {"cov": cov, "selected": selected, **token_mean(policy, logp, mask)}


def luffy(
    *, logp: Any, old_logp: Any, advantage: Any, mask: Any, off_mask: Any, **options: Any
) -> Outputs:
    logp, mask = tensor(logp, grad=True), tensor(mask)
    policy = loss.luffy(
        logp, tensor(old_logp), tensor(advantage), mask, tensor(off_mask), **options
    )
    whole = Denominators.of(mask, max_tokens=mask.shape[1])
    return {
        "weight": policy.ratio_BT,
        "loss_sum_norm": aggregate(policy.loss_BT, mask, "sum-norm", denominators=whole),
        **token_mean(policy, logp, mask),
    }


def sdpo(
    *,
    student_logits: Any,
    teacher_logits: Any,
    ids: Any,
    mask: Any,
    active: Any = None,
    old_logp: Any = None,
    **options: Any,
) -> Outputs:
    student, mask = tensor(student_logits, grad=True), tensor(mask)
    token_loss, live = loss.sdpo(
        student,
        tensor(teacher_logits),
        torch.tensor(ids),
        mask,
        active_B=None if active is None else tensor(active),
        old_BT=None if old_logp is None else tensor(old_logp),
        **options,
    )
    whole = Denominators(tokens=int(live.sum()), live_rows=1, rows=len(mask))
    some = bool(live.any())
    mean = (
        aggregate(token_loss, live, "token-mean", denominators=whole) if some else student.sum() * 0
    )
    rows = (
        aggregate(token_loss, live, "seq-mean-token-mean/all-rows", denominators=whole)
        if some
        else 0.0
    )
    grad = torch.autograd.grad(mean, student)[0] if some else torch.zeros_like(student)
    return {
        "token_loss": token_loss,
        "loss_token_mean": mean if some else 0.0,
        "loss_all_rows": rows,
        "grad_student_logits": grad,
    }


def sdpo_demos(*, rewards: Any, **inputs: Any) -> Outputs:
    return vars(loss.choose_teachers(rewards, **inputs))


FUNCTIONS: dict[str, Callable[..., Outputs]] = {
    "aggregate": aggregated,
    "cispo": cispo,
    "clip_cov": clip_cov,
    "decoupled_ppo": decoupled_ppo,
    "dppo": dppo,
    "gmpo": gmpo,
    "gspo": gspo,
    "kl_cov": kl_cov,
    "luffy": luffy,
    "ppo": ppo,
    "sapo": sapo,
    "sdpo": sdpo,
    "sdpo_demos": sdpo_demos,
    "vespo": vespo,
}
