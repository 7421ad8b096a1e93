"""Run a file of test vectors against the credit and loss functions.

    python benchmarks/vectors.py tests/data/vectors.json

Prints the vectors that fail and why, and last `N passed, M failed`. Exit status: 0 if all pass, 1 if
one fails, 2 if the file cannot be read. `--json` prints one JSON object instead.

A vector is {"name", "function", "inputs", "expected", "tolerance"}; the tolerance is absolute, in
float64. `FUNCTIONS` maps a vector's function to the library: each entry takes the inputs as keyword
arguments, so that an input nobody knows is a failure, not a thing passed over. Only what
`expected` names is compared. `step_group` numbers are compared as a partition, since its labels carry
no meaning.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from verigym.trainers import credit, curriculum, loss, staleness
from verigym.trainers.credit.disco import difficulty_weight, domain_weight
from verigym.trainers.loss import Denominators, Reject, aggregate, trajectory_tokens

Outputs = dict[str, Any]
NORMS = {"batch": "batch_std", "mean_batch_std": "batch_std", "group_mean_batch_std": "batch_std"}
COUNTED_MODES = ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean")
MODES = (*COUNTED_MODES, "seq-mean-token-mean/all-rows", "dr-grpo", "sum-norm")


def tensor(values: Any, *, grad: bool = False) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=grad)


def group_adv(*, rewards: Any, group: Any, norm: Any, weights: Any = None, **rest: Any) -> Outputs:
    norm = NORMS.get(norm, norm)
    # A reward that no function gave is null, and its entry leaves the statistics, as in TRL.
    rest.setdefault("valid", [reward is not None for reward in rewards])
    out = {"advantage": credit.group_advantage(rewards, group, norm=norm, weights=weights, **rest)}
    if weights is not None:
        out["unweighted"] = credit.group_advantage(rewards, group, norm=norm, **rest)
    return out


def rloo(*, rewards: Any, group: Any) -> Outputs:
    return {"advantage": credit.rloo(rewards, group)}


def reinforce_pp(*, token_rewards: Any, mask: Any, gamma: float) -> Outputs:
    advantage, returns = credit.reinforce_pp(token_rewards, mask, gamma=gamma)
    return {"advantage": advantage, "returns": returns}


def reinforce_pp_baseline(*, rewards: Any, group: Any, mask: Any) -> Outputs:
    return {"advantage": credit.reinforce_pp_baseline(rewards, group, mask)}


def w_reinforce(*, correct: Any, lam: float) -> Outputs:
    return {"advantage": credit.w_reinforce(correct, lam=lam)}


def two_segments(**inputs: Any) -> Outputs:
    return vars(credit.mt_grpo(**inputs))


def gigpo_rows(*, rows: list[dict[str, Any]], **options: Any) -> Outputs:
    got = credit.gigpo(
        [row["group"] for row in rows],
        [row["traj"] for row in rows],
        [row["anchor"] for row in rows],
        [row["reward"] for row in rows],
        invalid=[row.get("invalid", 0) for row in rows],
        **options,
    )
    return {**vars(got), "A_E": got.episode_advantage, "A_S": got.step_advantage}


def pkpo_all(*, rewards: Any, k: int) -> Outputs:
    n, best = len(rewards), credit.max_at_k(rewards, k)
    out: Outputs = {"max_at_k": best, "s": credit.pkpo(rewards, k)}
    out.update(s_loo=None, s_loo_minus_1=None)
    if set(rewards) <= {0, 1}:
        out["pass_at_k"] = best
    if k < n:
        out["s_loo"] = credit.pkpo_loo(rewards, k)
    if k >= 2:
        out["s_loo_minus_1"] = credit.pkpo_loo_minus_1(rewards, k)
    return out


def kl_terms(*, logp: Any, ref_logp: Any) -> Outputs:
    k1, k2, k3 = loss.kl_terms(tensor(logp), tensor(ref_logp))
    return {"k1": k1, "k2": k2, "k3": k3}


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


def gae_tokens(*, rewards: Any, values: Any, mask: Any, **options: Any) -> Outputs:
    advantage, returns = credit.gae(rewards, values, mask, **options)
    return {
        "advantage": advantage,
        "returns": returns,
        "whitened": credit.whiten(advantage, mask),
    }


def gae_turns(*, rewards: Any, values: Any, **options: Any) -> Outputs:
    advantage = credit.gae_turns(rewards, values, **options)
    return {"advantage": advantage, "returns": advantage + values}


def entropy_mask(*, entropy: Any, mask: Any, rho: float) -> Outputs:
    entropy, mask = tensor(entropy), tensor(mask)
    threshold = loss.entropy_threshold(entropy, mask, rho=rho)
    return {"threshold": threshold, "selected": loss.entropy_mask(entropy, mask, threshold)}


def overlong(*, lengths: Any, Lmax: int, cache: int, factor: float = 1.0) -> Outputs:
    penalty = credit.overlong(lengths, max_length=Lmax, cache=cache, factor=factor)
    return {"penalty": penalty}


def disco_weight(*, p_domain: Any, mean_acc: Any, eps: float = 1e-5) -> Outputs:
    return {
        "domain_log": domain_weight(p_domain, variant="log"),
        "domain_log2": domain_weight(p_domain, variant="log2"),
        "domain_inv": domain_weight(p_domain, variant="inv"),
        "difficulty": difficulty_weight(mean_acc, eps=eps),
    }


def dump_probs(*, L: Any, n: Any, tau: float) -> Outputs:
    return {
        "ucb": curriculum.dump_ucb(L, n),
        "prob": curriculum.dump_probabilities(L, n, tau=tau),
    }


def areal_capacity(*, cases: list[dict[str, int]]) -> Outputs:
    return {"capacity": [staleness.admission_capacity(**case) for case in cases]}


def columns(rows: list[dict[str, Any]]) -> Outputs:
    """The rows of a vector as the arguments that step estimators take."""
    out: Outputs = {
        "group": [row["group"] for row in rows],
        "trajectory": [row["traj"] for row in rows],
        "anchor": [row["anchor"] for row in rows],
        "reward": [row["reward"] for row in rows],
        "invalid": [row.get("invalid", 0) for row in rows],
    }
    if any("valid" in row for row in rows):
        out["valid"] = [row.get("valid", True) for row in rows]
    return out


def hgpo(*, rows: list[dict[str, Any]], **options: Any) -> Outputs:
    return vars(credit.hgpo(**columns(rows), **options))


def g2po(*, rows: list[dict[str, Any]], **options: Any) -> Outputs:
    got = credit.g2po(**columns(rows), **options)
    return {
        **vars(got),
        "A_E": got.episode_advantage,
        "A_local": got.local_advantage,
        "A_gain": got.gain_advantage,
    }


def graphgpo(*, rows: list[dict[str, Any]], **options: Any) -> Outputs:
    ends = [row.get("next_anchor") for row in rows]
    got = credit.graphgpo(**columns(rows), next_anchor=ends, **options)
    return {**vars(got), "A_E": got.episode_advantage, "A_graph": got.graph_advantage}


def anchor_repair(*, observations: Any, **options: Any) -> Outputs:
    return {"anchor": credit.anchor_repair(observations, **options)}


def turn_credit(*, rewards: Any, **inputs: Any) -> Outputs:
    return vars(credit.turn_credit(rewards, **inputs))


def hae(**inputs: Any) -> Outputs:
    return {name: value for name, value in vars(credit.hae(**inputs)).items() if value is not None}


def maxrl(*, rewards: Any, **inputs: Any) -> Outputs:
    return {"advantage": credit.maxrl(rewards, **inputs)}


def opo(*, rewards: Any, lengths: Any, **inputs: Any) -> Outputs:
    return {"advantage": credit.opo(rewards, length=lengths, **inputs)}


def gdpo(*, rewards: Any, **inputs: Any) -> Outputs:
    each, combined, advantage = credit.gdpo(rewards, **inputs)
    return {"per_reward": each, "combined": combined, "advantage": advantage}


def optimal_token_baseline(
    *, token_rewards: Any, mask: Any, group: Any, old_logp: Any, sum_pi_sq: Any, **options: Any
) -> Outputs:
    options["is_weight_BT"] = options.pop("is_weight", None)
    return vars(
        credit.optimal_token_baseline(token_rewards, mask, group, old_logp, sum_pi_sq, **options)
    )


def batch_std_adv(*, rewards: Any, group: Any, eps: float = 1e-4) -> Outputs:
    return {"advantage": credit.group_advantage(rewards, group, norm="batch_std", eps=eps)}


def dars_extra(*, acc: Any, n: int = 8, n_max_ET: int = 32, n_max_HW: int = 64) -> Outputs:
    extra = partial(curriculum.dars_extra, acc, n=n)
    return {
        "ET": extra(schedule="et", n_max=n_max_ET),
        "HW": extra(schedule="hw", n_max=n_max_HW),
        "ET_std": extra(schedule="et", n_max=n_max_ET, with_std=True),
    }


def sec_update(*, Q: Any, mean_abs_adv: Any, alpha: float = 0.5, tau: float = 1.0) -> Outputs:
    arms = list(Q)
    after = curriculum.sec_update(
        [Q[arm] for arm in arms],
        [mean_abs_adv.get(arm, 0.0) for arm in arms],
        [arm in mean_abs_adv for arm in arms],
        alpha=alpha,
    )
    return {
        "Q": dict(zip(arms, after.tolist(), strict=True)),
        "prob": curriculum.softmax(after, tau=tau),
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
    "anchor_repair": anchor_repair,
    "areal_capacity": areal_capacity,
    "batch_std_adv": batch_std_adv,
    "cispo": cispo,
    "clip_cov": clip_cov,
    "dars_extra": dars_extra,
    "decoupled_ppo": decoupled_ppo,
    "disco_weight": disco_weight,
    "dppo": dppo,
    "dump_probs": dump_probs,
    "entropy_mask": entropy_mask,
    "g2po": g2po,
    "gae": gae_tokens,
    "gae_turns": gae_turns,
    "gdpo": gdpo,
    "gigpo": gigpo_rows,
    "gmpo": gmpo,
    "graphgpo": graphgpo,
    "group_adv": group_adv,
    "group_mean_batch_std": partial(group_adv, norm="batch_std"),
    "gspo": gspo,
    "hae": hae,
    "hgpo": hgpo,
    "kl_cov": kl_cov,
    "kl_terms": kl_terms,
    "luffy": luffy,
    "m2po_mask": m2po_mask,
    "maxrl": maxrl,
    "mismatch_weight": mismatch_weight,
    "mt_grpo": two_segments,
    "off_policy_mask": off_policy_mask,
    "opo": opo,
    "optimal_token_baseline": optimal_token_baseline,
    "overlong": overlong,
    "pkpo": pkpo_all,
    "ppo": ppo,
    "prox_logp": prox_logp,
    "reinforce_pp": reinforce_pp,
    "reinforce_pp_baseline": reinforce_pp_baseline,
    "rloo": rloo,
    "rollout_correction": rollout_correction,
    "sapo": sapo,
    "sdpo": sdpo,
    "sdpo_demos": sdpo_demos,
    "sec_update": sec_update,
    "turn_credit": turn_credit,
    "unbiased_kl": unbiased_kl,
    "vespo": vespo,
    "w_reinforce": w_reinforce,
}


def check(vector: dict[str, Any]) -> str | None:
    """Why a vector fails, in a sentence; None if it passes."""
    function = FUNCTIONS.get(vector["function"])
    if function is None:
        return f"unknown function {vector['function']!r}; known: {', '.join(sorted(FUNCTIONS))}"
    try:
        got = function(**vector["inputs"])
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this vector's failure
        return f"{type(error).__name__}: {error}"
    for key, want in vector["expected"].items():
        if key not in got:
            return f"no output {key!r}; got {', '.join(sorted(got))}"
        have = plain(got[key])
        if key == "step_group":
            want, have = canonical(want), canonical(have)
        why = difference(want, have, float(vector["tolerance"]), key)
        if why:
            return why
    return None


def plain(value: Any) -> Any:
    """Arrays, tensors, and lists and dicts of them as lists and numbers."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, torch.Tensor):
        value = value.detach()
    return value.tolist() if hasattr(value, "tolist") else value


def canonical(labels: list[Any]) -> list[int]:
    """Labels renumbered by first appearance."""
    seen: dict[Any, int] = {}
    return [seen.setdefault(label, len(seen)) for label in labels]


def difference(want: Any, have: Any, tolerance: float, where: str) -> str | None:
    """First place where `have` is not `want` within `tolerance`, in a sentence."""
    if isinstance(want, dict):
        if not isinstance(have, dict) or not want.keys() <= have.keys():
            return f"{where}: got {have!r}, want keys {', '.join(want)}"
        pairs = [(f"{where}[{key}]", item, have[key]) for key, item in want.items()]
    elif isinstance(want, list):
        if not isinstance(have, list) or len(have) != len(want):
            return f"{where}: got {have!r}, want a list of {len(want)}"
        pairs = [(f"{where}[{i}]", item, have[i]) for i, item in enumerate(want)]
    elif isinstance(want, bool) or want is None or isinstance(want, str):
        return None if have == want else f"{where}: got {have!r}, want {want!r}"
    else:
        if not isinstance(have, (int, float)):
            return f"{where}: got {have!r}, want {want!r}"
        # Written so that NaN never passes for a number.
        near = abs(have - want) <= tolerance or have == want
        both_nan = math.isnan(want) and math.isnan(have)
        return None if near or both_nan else f"{where}: got {have!r}, want {want!r}"
    return next(filter(None, (difference(w, h, tolerance, at) for at, w, h in pairs)), None)


def load(path: Path) -> list[dict[str, Any]]:
    """The vectors of a file. Raises ValueError if it holds none."""
    data = json.loads(path.read_text(encoding="utf-8"))
    vectors = data.get("vectors") if isinstance(data, dict) else data
    if not isinstance(vectors, list) or not vectors:
        raise ValueError(f"{path} holds no vectors; want a list, or an object with 'vectors'")
    return vectors


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("file", type=Path, help="JSON file of vectors")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        vectors = load(options.file)
    except (OSError, ValueError) as error:
        print(f"cannot read vectors: {error}", file=sys.stderr)
        return 2
    failures = [
        {"name": vector.get("name", f"number {i}"), "why": why}
        for i, vector in enumerate(vectors)
        if (why := check(vector)) is not None
    ]
    passed = len(vectors) - len(failures)
    if options.json:
        print(json.dumps({"passed": passed, "failed": len(failures), "failures": failures}))
    else:
        for failure in failures:
            print(f"FAILED {failure['name']}: {failure['why']}")
        print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
