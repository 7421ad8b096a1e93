"""The credit estimators as test vectors call them: lists in, named outputs out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from verigym.trainers import credit
from verigym.trainers.credit.disco import difficulty_weight, domain_weight

Outputs = dict[str, Any]
NORMS = {"batch": "batch_std", "mean_batch_std": "batch_std", "group_mean_batch_std": "batch_std"}


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


FUNCTIONS: dict[str, Callable[..., Outputs]] = {
    "anchor_repair": anchor_repair,
    "batch_std_adv": batch_std_adv,
    "disco_weight": disco_weight,
    "g2po": g2po,
    "gae": gae_tokens,
    "gae_turns": gae_turns,
    "gdpo": gdpo,
    "gigpo": gigpo_rows,
    "graphgpo": graphgpo,
    "group_adv": group_adv,
    "group_mean_batch_std": partial(group_adv, norm="batch_std"),
    "hae": hae,
    "hgpo": hgpo,
    "maxrl": maxrl,
    "mt_grpo": two_segments,
    "opo": opo,
    "optimal_token_baseline": optimal_token_baseline,
    "overlong": overlong,
    "pkpo": pkpo_all,
    "reinforce_pp": reinforce_pp,
    "reinforce_pp_baseline": reinforce_pp_baseline,
    "rloo": rloo,
    "turn_credit": turn_credit,
    "w_reinforce": w_reinforce,
}
