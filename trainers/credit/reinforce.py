"""REINFORCE with batch statistics, and W-REINFORCE. Token arrays are [B, T], masks 1 on tokens
that the policy sampled."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.group import group_advantage
from verigym.trainers.credit.segments import Bools, Floats


def token_mask(mask: npt.ArrayLike, shape: tuple[int, ...]) -> Bools:
    """Return `mask` as booleans. Raises ValueError unless it has the shape [B, T] of the other arrays."""
    array = np.asarray(mask, dtype=np.bool_)
    if array.ndim != 2 or array.shape != shape:
        raise ValueError(f"mask must be [B, T] with shape {shape}, got {array.shape}")
    return array


def whiten(x_BT: npt.ArrayLike, mask_BT: npt.ArrayLike, *, eps: float = 1e-8) -> Floats:
    """Return (x - mean) / sqrt(variance + eps) over all unmasked tokens of the batch; 0 where masked.

    The variance is unbiased. Raises ValueError with fewer than two unmasked tokens, as then it
    does not exist.
    """
    x = np.asarray(x_BT, dtype=np.float64)
    mask = token_mask(mask_BT, x.shape)
    tokens = x[mask]
    if len(tokens) < 2:
        raise ValueError(f"whitening needs at least two unmasked tokens, got {len(tokens)}")
    out = np.zeros_like(x)
    out[mask] = (tokens - tokens.mean()) / np.sqrt(tokens.var(ddof=1) + eps)
    return out


def returns_to_go(
    token_reward_BT: npt.ArrayLike, mask_BT: npt.ArrayLike, *, gamma: float = 1.0
) -> Floats:
    """Return the discounted sum of the rewards from each unmasked token on, [B, T]; 0 where masked.

    Masked positions are passed over: they are not discounted, and a reward on one is lost, so put a
    step's reward on its last sampled token.
    """
    reward = np.asarray(token_reward_BT, dtype=np.float64)
    mask = token_mask(mask_BT, reward.shape)
    out = np.zeros_like(reward)
    running = np.zeros(len(reward))
    for t in range(reward.shape[1] - 1, -1, -1):
        on = mask[:, t]
        running[on] = reward[on, t] + gamma * running[on]
        out[on, t] = running[on]
    return out


def reinforce_pp(
    token_reward_BT: npt.ArrayLike, mask_BT: npt.ArrayLike, *, gamma: float = 1.0
) -> tuple[Floats, Floats]:
    """Return advantages of REINFORCE++ [B, T], the returns-to-go whitened over the batch, and the returns.

    `token_reward_BT` is the terminal reward less beta times the k1 KL of each token; see
    `kl_in_reward`. Needs two unmasked tokens.
    Source: Hu 2025, arXiv 2501.03262.
    """
    returns = returns_to_go(token_reward_BT, mask_BT, gamma=gamma)
    return whiten(returns, mask_BT), returns


def reinforce_pp_baseline(
    reward: npt.ArrayLike,
    group: Sequence[Hashable],
    mask_BT: npt.ArrayLike,
    *,
    per_row: bool = False,
    valid: npt.ArrayLike | None = None,
) -> Floats:
    """Return advantages of REINFORCE++ with the group mean as baseline, [B, T]: centre, broadcast, whiten globally.

    `reward` [B] one per row. With `per_row`, rows weigh alike in the global mean and deviation, not
    by their length: use it for step rows, where long responses should not dominate.
    `valid` [B] False leaves a row out of both statistics and gives it 0.
    """
    centred = group_advantage(reward, group, norm="mean", valid=valid)
    mask = token_mask(mask_BT, np.shape(mask_BT)).copy()
    segments.same_length(len(centred), mask=mask)
    mask[~segments.kept(valid, len(centred))] = False
    if per_row:
        live = mask.any(axis=1, keepdims=True)
        return np.where(mask, whiten(centred[:, None], live), 0.0)
    return whiten(np.broadcast_to(centred[:, None], mask.shape), mask)


def kl_in_reward(
    reward: npt.ArrayLike,
    logp_BT: npt.ArrayLike,
    ref_BT: npt.ArrayLike,
    mask_BT: npt.ArrayLike,
    *,
    beta: float,
) -> Floats:
    """Return the token rewards [B, T]: `reward` [B] on each row's last unmasked token, less beta * k1 on all.

    k1 = logp - ref estimates KL(policy || reference). A row without unmasked tokens holds 0.
    """
    logp, ref = np.asarray(logp_BT, dtype=np.float64), np.asarray(ref_BT, dtype=np.float64)
    mask = token_mask(mask_BT, logp.shape)
    out = np.zeros_like(logp)
    out[mask] = -beta * (logp[mask] - ref[mask])
    live = mask.any(axis=1)
    last = mask.shape[1] - 1 - np.argmax(mask[:, ::-1], axis=1)
    out[live, last[live]] += segments.floats(reward, "reward")[live]
    return out


Keep = Literal["all", "positive", "negative"]


def w_reinforce(correct: npt.ArrayLike, *, lam: float = 0.1, keep: Keep = "all") -> Floats:
    """Return the advantage [N]: `lam` if correct, -1 if wrong; no baseline, so no group is needed.

    `lam=0` or `keep="negative"` learns from wrong answers alone; `keep="positive"` gives wrong ones
    0, so that they drop out of the gradient (leave them out of the denominators too).
    Source: Zhu et al. 2025, arXiv 2506.01347.
    """
    if keep not in get_args(Keep):
        raise ValueError(f"keep must be one of {', '.join(get_args(Keep))}, got {keep!r}")
    right = segments.floats(correct, "correct")
    if not np.isin(right, (0.0, 1.0)).all():
        raise ValueError("correct must hold 0 and 1 only")
    up = 0.0 if keep == "negative" else lam
    down = 0.0 if keep == "positive" else -1.0
    return np.where(right > 0, up, down)
