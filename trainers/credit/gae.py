"""Generalised advantage estimation over tokens and over turns, for policies with a critic."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.reinforce import token_mask
from verigym.trainers.credit.segments import Floats

Masked = Literal["skip", "through"]


def gae(
    reward_BT: npt.ArrayLike,
    value_BT: npt.ArrayLike,
    mask_BT: npt.ArrayLike,
    *,
    gamma: float = 1.0,
    lam: float = 1.0,
    bootstrap: npt.ArrayLike | None = None,
    masked: Masked = "skip",
) -> tuple[Floats, Floats]:
    """Return advantages and returns, both [B, T] and 0 where masked.

    delta_t = r_t + gamma V_{t+1} - V_t; A_t = delta_t + gamma lam A_{t+1}; return = A + V.
    `mask_BT` is 0 on observations and padding. With `masked="skip"` such positions do not exist:
    V_{t+1} is the value of the next unmasked token, nothing is discounted on the way, and a
    reward on a masked position is lost. `"through"` runs straight through them, padding included,
    as older forks of verl do.
    `bootstrap` [B] is the value after the last token, for episodes that were truncated; None is 0.
    Whiten the advantages with `reinforce.whiten`.
    Source: Schulman et al. 2016, arXiv 1506.02438.
    """
    if masked not in get_args(Masked):
        raise ValueError(f"masked must be skip or through, got {masked!r}")
    reward = np.asarray(reward_BT, dtype=np.float64)
    value = np.asarray(value_BT, dtype=np.float64)
    mask = token_mask(mask_BT, reward.shape)
    if value.shape != reward.shape:
        raise ValueError(f"values must have shape {reward.shape}, got {value.shape}")
    rows = len(reward)
    next_value = np.zeros(rows) if bootstrap is None else segments.floats(bootstrap, "bootstrap")
    segments.same_length(rows, bootstrap=next_value)
    next_value = next_value.copy()
    running = np.zeros(rows)
    advantage = np.zeros_like(reward)
    for t in range(reward.shape[1] - 1, -1, -1):
        on = mask[:, t] if masked == "skip" else np.ones(rows, dtype=np.bool_)
        delta = reward[on, t] + gamma * next_value[on] - value[on, t]
        running[on] = delta + gamma * lam * running[on]
        next_value[on] = value[on, t]
        advantage[on, t] = running[on]
    return np.where(mask, advantage, 0.0), np.where(mask, advantage + value, 0.0)


def gae_turns(
    reward: npt.ArrayLike,
    value: npt.ArrayLike,
    *,
    gamma: float = 0.99,
    lam: float = 0.9,
    bootstrap: float = 0.0,
) -> Floats:
    """Return the advantage of each turn of one trajectory, [K]: one value per turn, the same recursion.

    `value` is the critic's at the last prompt token of each turn. `bootstrap` is the value of the
    state after the last turn if a limit cut the episode short, 0 if the episode ended.
    Source: Turn-PPO, arXiv 2512.17008.
    """
    r, v = segments.floats(reward, "reward"), segments.floats(value, "value")
    segments.same_length(len(r), value=v)
    mask = np.ones((1, len(r)), dtype=np.bool_)
    advantage, _ = gae(r[None], v[None], mask, gamma=gamma, lam=lam, bootstrap=[bootstrap])
    return advantage.reshape(-1)
