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
from verigym.trainers.loss import Denominators, aggregate, trajectory_tokens

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
    policy = loss.ppo_clip(
        logp, tensor(old_logp), tensor(advantage), mask, ratio_cap=delta, **options
    )
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
    weight = loss.mismatch_weight(
        tensor(train_logp),
        tensor(rollout_logp),
        tensor(mask),
        mode=mode,  # type: ignore[arg-type]
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
    policy, weight = loss.decoupled_ppo(
        logp, prox, tensor(behav_logp), tensor(advantage), mask, cap=cap_mask, **options
    )
    total = aggregate(policy.loss_BT, mask, "token-mean")
    return {
        "behav_weight": weight,
        "ppo_token_loss": loss.ppo_clip(logp, prox, tensor(advantage), mask, **options).loss_BT,
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


FUNCTIONS: dict[str, Callable[..., Outputs]] = {
    "aggregate": aggregated,
    "areal_capacity": areal_capacity,
    "cispo": cispo,
    "decoupled_ppo": decoupled_ppo,
    "disco_weight": disco_weight,
    "dump_probs": dump_probs,
    "entropy_mask": entropy_mask,
    "gae": gae_tokens,
    "gae_turns": gae_turns,
    "gigpo": gigpo_rows,
    "group_adv": group_adv,
    "group_mean_batch_std": partial(group_adv, norm="batch_std"),
    "gspo": gspo,
    "kl_terms": kl_terms,
    "mismatch_weight": mismatch_weight,
    "mt_grpo": two_segments,
    "overlong": overlong,
    "pkpo": pkpo_all,
    "ppo": ppo,
    "reinforce_pp": reinforce_pp,
    "reinforce_pp_baseline": reinforce_pp_baseline,
    "rloo": rloo,
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
    """Arrays, tensors and dicts of them as lists and numbers."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
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
