"""The optimal token baseline: a baseline per position that weighs members by their score's variance.

Source: arXiv 2602.07078; verl's code.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.reinforce import returns_to_go, token_mask
from verigym.trainers.credit.segments import Bools, Floats, Ints

Align = Literal["column", "token"]
Singleton = Literal["zero", "raw"]


@dataclass(frozen=True, eq=False)
class BaselineCredit:
    """Undiscounted return to go, the baseline, and their difference, [B, T]; 0 where masked."""

    returns: Floats
    baseline: Floats
    advantage: Floats


def optimal_token_baseline(
    token_reward_BT: npt.ArrayLike,
    mask_BT: npt.ArrayLike,
    group: Sequence[Hashable],
    old_logp_BT: npt.ArrayLike,
    sum_pi_sq_BT: npt.ArrayLike,
    *,
    is_weight_BT: npt.ArrayLike | None = None,
    align: Align = "column",
    zero_tail: bool = True,
    singleton: Singleton = "zero",
    eps: float = 1e-8,
) -> BaselineCredit:
    """Return G - B with B_p = sum G W / (sum W + eps) over group members that have position p.

    W_t is the sum up to t of (1 - 2 pi + sum of pi^2) * is_weight^2, pi the probability of the sampled
    token, `sum_pi_sq_BT` the sum of squared probabilities over the vocabulary. A position is a column, or
    with `align="token"` the rank among the row's unmasked tokens, which is needed across tool output.
    `zero_tail` takes no baseline beyond the second-longest row of a group, as verl does: those tokens
    have nobody to be compared with. A group of one gives 0, or its raw returns with `singleton="raw"`.
    """
    if align not in get_args(Align):
        raise ValueError(f"align must be column or token, got {align!r}")
    if singleton not in get_args(Singleton):
        raise ValueError(f"singleton must be zero or raw, got {singleton!r}")
    reward = np.asarray(token_reward_BT, dtype=np.float64)
    mask = token_mask(mask_BT, reward.shape)
    segments.same_length(len(reward), group=group)
    returns = returns_to_go(reward, mask)
    pi = np.exp(_inside(old_logp_BT, mask, -np.inf))
    variance = 1.0 - 2.0 * pi + _inside(sum_pi_sq_BT, mask, 0.0)
    if is_weight_BT is not None:
        variance = variance * _inside(is_weight_BT, mask, 0.0) ** 2
    weight = np.where(mask, np.cumsum(np.where(mask, variance, 0.0), axis=1), 0.0)
    ids, count = segments.number(group, len(reward))
    size = segments.sizes(ids, count)
    columns = np.broadcast_to(np.arange(reward.shape[1]), mask.shape)
    position = columns if align == "column" else np.cumsum(mask, axis=1) - 1
    baseline = _baseline(returns, weight, mask, position, ids, count, eps)
    if zero_tail:
        baseline[_tail(mask, position, ids, count)] = 0.0
    advantage = np.where(mask, returns - baseline, 0.0)
    alone = size[ids] < 2
    baseline[alone] = 0.0
    advantage[alone] = returns[alone] if singleton == "raw" else 0.0
    return BaselineCredit(returns, baseline, advantage)


def _inside(values: npt.ArrayLike, mask: Bools, fill: float) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != mask.shape:
        raise ValueError(f"expected arrays of shape {mask.shape}, got {array.shape}")
    return np.where(mask, array, fill)


def _baseline(
    returns: Floats, weight: Floats, mask: Bools, position: Ints, ids: Ints, count: int, eps: float
) -> Floats:
    length = returns.shape[1]
    cell = (ids[:, None] * length + position)[mask]
    numerator = np.bincount(cell, (returns * weight)[mask], count * length)
    denominator = np.bincount(cell, weight[mask], count * length)
    out = np.zeros_like(returns)
    out[mask] = (numerator / (denominator + eps))[cell]
    return out


def _tail(mask: Bools, position: Ints, ids: Ints, count: int) -> Bools:
    """Return the tokens from the position n2 on, the length of a group's second-longest row, in groups
    with one strictly longest row. With columns and holes n2 is compared with columns, as in verl."""
    length = mask.sum(axis=1)
    out = np.zeros_like(mask)
    for number in range(count):
        at = np.flatnonzero(ids == number)
        ranked = np.sort(length[at])
        if len(ranked) > 1 and ranked[-1] > ranked[-2]:
            out[at] = mask[at] & (position[at] >= ranked[-2])
    return out
