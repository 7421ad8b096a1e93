"""Advantages relative to a group of tries at one task: GRPO, Dr.GRPO, batch deviation, RLOO, LOOP.

One entry per trajectory: `reward` [N] is the trajectory's undiscounted return, `group` names the
task instance. Everything is float64.

Covered: groups of any size in any order, row weights, faulted members.
Not covered: rows of one trajectory (see `grpo.py` and `gigpo.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.segments import Bools, Floats, Ints

Norm = Literal["mean_std", "mean", "batch_std"]
Singleton = Literal["zero", "raw"]


def check_norm(norm: str) -> None:
    """Raise ValueError unless `norm` is one of `Norm`."""
    if norm not in get_args(Norm):
        raise ValueError(f"norm must be one of {', '.join(get_args(Norm))}, got {norm!r}")


def group_advantage(
    reward: npt.ArrayLike,
    group: Sequence[Hashable] | Ints,
    *,
    norm: Norm = "mean_std",
    ddof: int = 1,
    eps: float = 1e-6,
    singleton: Singleton = "zero",
    weights: npt.ArrayLike | None = None,
    valid: npt.ArrayLike | None = None,
) -> Floats:
    """Return the advantage per entry [N] relative to the other entries of its group.

    `norm`: `mean_std` is GRPO, (R - mean_g) / (std_g + eps); `mean` is Dr.GRPO, R - mean_g;
    `batch_std` divides R - mean_g by the deviation of all rewards of the batch (TRL's
    `scale_rewards="batch"`).
    `ddof` 1 is the unbiased deviation of the papers. `eps` is 1e-6 in verl, 1e-4 in TRL, 1e-5 in
    AReaL. `weights` [N] count an entry several times in mean and deviation; the number of rows of
    each trajectory gives what verl-agent computes by default.
    `valid` [N] False takes an entry out of every statistic and gives it 0, whatever its reward,
    NaN included.

    Zero variance gives 0. A group with one valid entry gives 0, or with `singleton="raw"` its
    own reward, divided by 1 + eps under `mean_std`, as verl does. Under `raw` too, a group that
    faults have reduced to one gives 0: law 1 goes before compatibility.
    Source: DeepSeekMath, arXiv 2402.03300, 4.1; Dr.GRPO, arXiv 2503.20783.
    """
    check_norm(norm)
    if singleton not in get_args(Singleton):
        raise ValueError(f"singleton must be zero or raw, got {singleton!r}")
    reward = segments.floats(reward, "reward")
    segments.same_length(len(reward), group=group)
    keep = segments.kept(valid, len(reward))
    ids, count = segments.number(group, len(reward))
    mass = None if weights is None else _weights(weights, keep)

    out = np.zeros(len(reward))
    x, inside = reward[keep], ids[keep]
    segments.finite(x, "reward")
    if len(x) == 0:
        return out
    w = None if mass is None else mass[keep]
    alone = segments.sizes(inside, count)[inside] < 2

    advantage = x - segments.mean(x, inside, count, w)[inside]
    if norm == "mean_std":
        deviation = segments.std(x, inside, count, ddof=ddof, weights=w)[inside]
        advantage = segments.normalise(advantage, deviation, eps)
    elif norm == "batch_std":
        one = np.zeros(len(x), dtype=np.intp)
        deviation = segments.std(x, one, 1, ddof=ddof, weights=w)[one]
        advantage = segments.normalise(advantage, deviation, eps)
    advantage[alone] = 0.0
    if singleton == "raw":
        born_alone = alone & (segments.sizes(ids, count)[inside] == 1)
        scale = 1.0 + eps if norm == "mean_std" else 1.0
        advantage[born_alone] = x[born_alone] / scale
    out[keep] = advantage
    return out


def rloo(
    reward: npt.ArrayLike, group: Sequence[Hashable], *, valid: npt.ArrayLike | None = None
) -> Floats:
    """Return the reward less the mean of the *other* entries of the group, [N]; 0 for a group of one.

    Equal to n / (n - 1) times the centred reward. No deviation.
    Source: Ahmadian et al. 2024, arXiv 2402.14740.
    """
    reward = segments.floats(reward, "reward")
    centred = group_advantage(reward, group, norm="mean", valid=valid)
    keep = segments.kept(valid, len(reward))
    ids, count = segments.number(group, len(reward))
    n = segments.sizes(ids[keep], count)[ids]
    return centred * np.divide(n, n - 1, out=np.zeros(len(reward)), where=n > 1)


def loop_keep(advantage: npt.ArrayLike, *, threshold: float = 0.01) -> Bools:
    """Return True for rollouts that LOOP trains on, [N]: |A| is at least `threshold`.

    LOOP takes `rloo` over all rollouts, so the dropped ones still count in the baselines, then
    drops the ones that carry next to no signal. The loss is `ppo` with clip 0.1 and the
    aggregation `trajectory-mean`.
    Source: Chen et al. 2025, arXiv 2502.01600.
    """
    return np.abs(segments.floats(advantage, "advantage")) >= threshold


def _weights(weights: npt.ArrayLike, keep: Bools) -> Floats:
    mass = segments.floats(weights, "weights")
    segments.same_length(len(keep), weights=mass)
    if not (mass[keep] > 0).all():
        raise ValueError(f"weights must be above 0, got {float(mass[keep].min())}")
    return mass
