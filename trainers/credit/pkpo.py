"""PKPO: rewards transformed so that their policy gradient is that of pass@k, or of max@k.

Works on the n samples of one task. Binary rewards are the case of max@k with values 0 and 1, and
give pass@k. All weights are ratios of binomials; they are built by their recurrence, which keeps
full relative precision for any n and needs no logarithms.
Source: Walder and Karkhanis 2025, arXiv 2505.15201.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.segments import Floats


def max_at_k(reward: npt.ArrayLike, k: int) -> float:
    """Return the unbiased estimate of the expected maximum of k samples, from n >= k; pass@k if binary.

    With ranks ascending: sum over i >= k of C(i-1, k-1) g_(i) / C(n, k).
    """
    g = np.sort(_rewards(reward, k, at_most_short=0))
    return float(_top(len(g), k) @ g)


def pkpo(reward: npt.ArrayLike, k: int) -> Floats:
    """Return s, [n], the transformed rewards of one task without a baseline.

    s_(i) = [C(i-1, k-1) g_(i) + sum over j > i of C(j-2, k-2) g_(j)] / C(n, k), ranks ascending.
    Not centred: do not divide by a deviation. Equal rewards have equal s.
    """
    g = _rewards(reward, k, at_most_short=0)
    n = len(g)
    order = np.argsort(g, kind="stable")
    ranked = g[order]
    above = _below_top(n, k) * ranked
    after = np.append(np.cumsum(above[::-1])[::-1][1:], 0.0)
    s = np.empty(n)
    s[order] = _top(n, k) * ranked + after
    return s


def pkpo_loo(reward: npt.ArrayLike, k: int) -> Floats:
    """Return s_i - k/(n-1) * max@k of the other samples, [n]; the leave-one-out baseline. Needs k < n."""
    g = _rewards(reward, k, at_most_short=1)
    return pkpo(g, k) - k / (len(g) - 1) * _max_without_each(g, k)


def pkpo_loo_minus_1(reward: npt.ArrayLike, k: int) -> Floats:
    """Return s_i - k/n * max@(k-1) of the other samples, [n]; the recommended form. Needs k >= 2.

    Never negative: it is k/n times the mean of what sample i adds to the maximum of a subset, and
    0 where it adds to none. For k = 1 use `rloo`.
    """
    g = _rewards(reward, k, at_most_short=0)
    if k < 2:
        raise ValueError(f"leave-one-out-minus-one needs k of at least 2, got {k}; use rloo for 1")
    return pkpo(g, k) - k / len(g) * _max_without_each(g, k - 1)


def pkpo_groups(
    reward: npt.ArrayLike,
    group: Sequence[Hashable],
    k: int,
    *,
    estimator: Callable[[Floats, int], Floats] = pkpo_loo_minus_1,
    valid: npt.ArrayLike | None = None,
) -> Floats:
    """Apply `estimator` to each group of a batch, [N].

    k falls to the group's size where faults have left fewer than k samples. A group with fewer
    than two valid samples, or too few for the estimator, gives 0.
    """
    reward = segments.floats(reward, "reward")
    segments.same_length(len(reward), group=group)
    keep = segments.kept(valid, len(reward))
    ids, count = segments.number(group, len(reward))
    out = np.zeros(len(reward))
    for one in range(count):
        members = np.flatnonzero(keep & (ids == one))
        at = min(k, len(members) - 1 if estimator is pkpo_loo else len(members))
        if len(members) >= 2 and at >= (2 if estimator is pkpo_loo_minus_1 else 1):
            out[members] = estimator(reward[members], at)
    return out


def _rewards(reward: npt.ArrayLike, k: int, *, at_most_short: int) -> Floats:
    g = segments.floats(reward, "reward")
    segments.finite(g, "reward")
    most = len(g) - at_most_short
    if not 1 <= k <= most:
        raise ValueError(f"k must be in 1..{most} for {len(g)} samples, got {k}")
    return g


def _top(n: int, k: int) -> Floats:
    """C(i-1, k-1) / C(n, k) for i = 1..n: the chance that rank i is the largest of k."""
    w = np.zeros(n)
    i = np.arange(n, k, -1, dtype=np.float64)  # from rank i to rank i - 1
    w[k - 1 :] = (k / n * np.cumprod(np.append(1.0, (i - k) / (i - 1))))[::-1]
    return w


def _below_top(n: int, k: int) -> Floats:
    """C(j-2, k-2) / C(n, k) for j = 1..n: the chance that j is the largest and a given lower rank
    is among the k."""
    w = np.zeros(n)
    if k < 2:
        return w
    j = np.arange(n, k, -1, dtype=np.float64)
    w[k - 1 :] = (k * (k - 1) / (n * (n - 1)) * np.cumprod(np.append(1.0, (j - k) / (j - 2))))[::-1]
    return w


def _max_without_each(g: Floats, k: int) -> Floats:
    """max@k of the samples without i, for each i, [n]; O(n log n)."""
    n = len(g)
    order = np.argsort(g, kind="stable")
    ranked, w = g[order], _top(n - 1, k)
    # Ranks below i keep their weight, those above move down by one.
    below = np.append(0.0, np.cumsum(w * ranked[:-1]))
    above = np.append(np.cumsum((w * ranked[1:])[::-1])[::-1], 0.0)
    out = np.empty(n)
    out[order] = below + above
    return out
