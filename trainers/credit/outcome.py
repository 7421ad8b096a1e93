"""Other baselines and scales for one reward per trajectory: MaxRL, OPO, GDPO.

Statistics are over the valid members of a group; a group with one gives 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.group import group_advantage
from verigym.trainers.credit.segments import Floats


def maxrl(
    reward: npt.ArrayLike, group: Sequence[Hashable], *, valid: npt.ArrayLike | None = None
) -> Floats:
    """Return (R - mean) / mean, [N]: it leans towards maximum likelihood as tasks get harder.

    0 in groups whose mean is not above 0: dividing by a negative one would flip all signs.
    Source: arXiv 2602.02710.
    """
    x = segments.floats(reward, "reward")
    centred = group_advantage(x, group, norm="mean", valid=valid)
    keep = segments.kept(valid, len(x))
    ids, count = segments.number(group, len(x))
    mean = segments.mean(x[keep], ids[keep], count)[ids]
    return np.divide(centred, mean, out=np.zeros(len(x)), where=mean > 0)


def opo(
    reward: npt.ArrayLike,
    group: Sequence[Hashable],
    length: npt.ArrayLike,
    *,
    valid: npt.ArrayLike | None = None,
) -> Floats:
    """Return R less the group's mean reward weighted by length in trained tokens, [N].

    The weighted mean is the baseline of least variance if gradients of tokens are uncorrelated.
    Source: arXiv 2505.23585.
    """
    x, size = segments.floats(reward, "reward"), segments.floats(length, "length")
    segments.same_length(len(x), group=group, length=size)
    keep = segments.kept(valid, len(x))
    ids, count = segments.number(group, len(x))
    segments.finite(x[keep], "reward")
    inside = ids[keep]
    baseline = segments.mean(x[keep], inside, count, size[keep])
    mass = np.bincount(inside, size[keep], count)
    members = segments.sizes(inside, count)
    out = np.zeros(len(x))
    live = keep & (members[ids] > 1) & (mass[ids] > 0)
    out[live] = x[live] - baseline[ids[live]]
    return out


def gdpo(
    reward_ND: Sequence[Sequence[float | None]],
    group: Sequence[Hashable],
    *,
    weights: Sequence[float] | None = None,
    eps: float = 1e-4,
    valid: npt.ArrayLike | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return each reward normalised in its group [N, D], their weighted sum [N], and its whitening [N].

    Several rewards keep their own scales: each is normalised alone, and the sum over the batch. None is
    a reward that does not exist; it leaves the statistics of that reward, and a row with nothing but
    None gets 0.
    Source: arXiv 2601.05242; TRL's code.
    """
    x = np.array(
        [[np.nan if v is None else float(v) for v in row] for row in reward_ND], dtype=np.float64
    )
    if x.ndim != 2:
        raise ValueError("reward must be [N, D]: the same number of rewards for every row")
    keep = segments.kept(valid, len(x))
    present = keep[:, None] & ~np.isnan(x)
    each = np.zeros_like(x)
    for d in range(x.shape[1]):
        each[:, d] = group_advantage(x[:, d], group, eps=eps, valid=present[:, d])
    scale = np.ones(x.shape[1]) if weights is None else segments.floats(weights, "weights")
    segments.same_length(x.shape[1], weights=scale)
    combined = each @ scale
    ids, count = segments.number(group, len(x))
    live = present.any(axis=1)
    whole = group_advantage(combined, [0] * len(x), eps=eps, valid=live)
    if valid is not None:
        alone = segments.sizes(ids[keep], count)[ids] < 2
        each[alone], combined[alone], whole[alone] = 0.0, 0.0, 0.0
    return each, combined, whole
