"""Statistics of an evaluation: pass@k, intervals and tests, all of which count tasks and not answers.

Several answers to one task are not independent, nor are tasks with equal content that were drawn from
different seeds. So the unit is the task, and tasks of equal content are one cluster.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verigym.verifiers.audit.intervals import wilson

N_RESAMPLES = 10_000
"""Number of bootstrap samples, and of random sign flips where not all can be enumerated."""

_ENUMERATED = 16
_CELLS = 2_000_000
"""Maximum number of random draws to hold at once."""


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Return the chance that at least one of `k` answers is correct, of `n` of which `correct` are.

    The `k` are drawn without replacement from the `n`, which makes the estimate unbiased.
    Source: Chen et al. 2021, arXiv 2107.03374, eq. 1.
    """
    if not (0 <= correct <= n and 1 <= k <= n):
        raise ValueError(f"need 0 <= correct <= n and 1 <= k <= n, got {correct=}, {n=}, {k=}")
    return 1.0 - math.comb(n - correct, k) / math.comb(n, k)


def sizes_up_to(k: int) -> list[int]:
    """Return the powers of two below `k`, and `k`."""
    return [*(2**i for i in range(k.bit_length()) if 2**i < k), k]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean over tasks with its 95 % interval; `clusters` is the number of tasks with distinct content."""

    value: float
    low: float
    high: float
    tasks: int
    clusters: int

    def to_builtins(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "value": self.value,
            "interval": [self.low, self.high],
            "tasks": self.tasks,
            "distinct_tasks": self.clusters,
        }


def estimate_mean(
    values: Sequence[float], clusters: Sequence[Hashable], trials: int | None = None
) -> Estimate:
    """Estimate the mean of `values` in [0, 1], one per task; tasks of equal `clusters` depend on another.

    The interval is Wilson's with an effective number of trials, m = p (1 - p) / v. Here p is the mean and
    v its variance, computed from the G cluster sums s of (value - p):  v = G / (G - 1) * sum(s²) / N².
    m is at least the effective number of clusters, N² / sum(size²), as if all tasks of a cluster had one
    outcome, and at most `trials` (default N), the number of independent answers behind the values. So
    the interval is never a point, and it is Wilson's own if each of N different tasks was answered once.

    Sources: Wilson 1927; Dean and Pagano 2015, "Evaluating confidence interval methods for binomial
    proportions in clustered surveys" (Wilson's interval with an effective number); Miller 2024, arXiv
    2411.00640 (standard errors clustered by question).
    """
    n = len(values)
    if n == 0 or n != len(clusters):
        raise ValueError(f"need as many values as clusters, and one at least, got {n} values")
    if not all(0.0 <= value <= 1.0 for value in values):
        raise ValueError("values must be in [0, 1]")
    mean = min(1.0, math.fsum(values) / n)
    sums: defaultdict[Hashable, float] = defaultdict(float)
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] += value - mean
    sizes = Counter(clusters)
    n_clusters = len(sizes)
    least = n * n / sum(size * size for size in sizes.values())
    variance = 0.0
    if n_clusters > 1:
        squares = math.fsum(one * one for one in sums.values())
        variance = n_clusters / (n_clusters - 1) * squares / (n * n)
    effective = least
    if n_clusters > 1 and 0.0 < mean < 1.0:
        most = max(least, float(n if trials is None else trials))
        # Below: all clusters have the same mean, but for rounding.
        equal = variance <= 1e-24
        effective = most if equal else min(most, max(least, mean * (1.0 - mean) / variance))
    low, high = wilson(mean * effective, effective)
    return Estimate(
        value=mean, low=min(low, mean), high=max(high, mean), tasks=n, clusters=n_clusters
    )


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """Mean of paired differences, B minus A, with its 95 % interval and the p-value of no difference."""

    value: float
    low: float
    high: float
    p: float
    tasks: int
    clusters: int
    up: int
    """Number of tasks at which B is better."""
    down: int
    """Number of tasks at which A is better."""

    @property
    def is_real(self) -> bool:
        """True if the test rejects equality at 5 % and the interval leaves 0 out."""
        return self.p < 0.05 and not self.low <= 0.0 <= self.high

    def to_builtins(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "value": self.value,
            "interval": [self.low, self.high],
            "p": self.p,
            "tasks": self.tasks,
            "distinct_tasks": self.clusters,
            "up": self.up,
            "down": self.down,
            "is_real": self.is_real,
        }


def estimate_difference(
    differences: Sequence[float], clusters: Sequence[Hashable], seed: int = 0
) -> PairedDifference:
    """Estimate the mean of paired `differences`, one per task.

    The interval is the percentile bootstrap over clusters (Efron and Tibshirani 1993, chapter 13), the
    p-value that of the sign-flip test over clusters (`sign_flip_p`). Equal `seed`, equal result.
    """
    n = len(differences)
    if n == 0 or n != len(clusters):
        raise ValueError(f"need as many differences as clusters, and one at least, got {n}")
    by_cluster: defaultdict[Hashable, list[float]] = defaultdict(list)
    for difference, cluster in zip(differences, clusters, strict=True):
        by_cluster[cluster].append(difference)
    sums = np.array([math.fsum(group) for group in by_cluster.values()])
    sizes = np.array([len(group) for group in by_cluster.values()])
    means = _resampled_means(sums, sizes, seed)
    mean = math.fsum(differences) / n
    low, high = (float(one) for one in np.quantile(means, [0.025, 0.975]))
    return PairedDifference(
        value=mean,
        low=min(low, mean),
        high=max(high, mean),
        p=sign_flip_p(sums.tolist(), seed),
        tasks=n,
        clusters=len(by_cluster),
        up=sum(one > 0 for one in differences),
        down=sum(one < 0 for one in differences),
    )


def _resampled_means(
    sums: NDArray[np.float64], sizes: NDArray[np.int64], seed: int
) -> NDArray[np.float64]:
    """Return the means of `N_RESAMPLES` samples of clusters, drawn with replacement."""
    rng = np.random.default_rng(seed)
    n = len(sums)
    rows = max(1, _CELLS // n)
    parts = []
    for first in range(0, N_RESAMPLES, rows):
        drawn = rng.integers(n, size=(min(rows, N_RESAMPLES - first), n))
        parts.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    return np.concatenate(parts)


def sign_flip_p(differences: Sequence[float], seed: int = 0) -> float:
    """Return the two-sided p-value of the sign-flip test that `differences` are symmetric around 0.

    The statistic is the absolute sum. If all differences have one size, the p-value is McNemar's exact
    one, from the binomial distribution; up to 16 are enumerated; for more, `N_RESAMPLES` random flips
    are drawn, and the observed one is counted among them, so that p is never 0.
    Sources: Fisher 1935, "The design of experiments", section 21; McNemar 1947; Phipson and Smyth 2010.
    """
    moved = np.array([one for one in differences if one != 0.0])
    n = len(moved)
    if n == 0:
        return 1.0
    sizes = np.abs(moved)
    if np.allclose(sizes, sizes[0], rtol=1e-12, atol=0.0):
        fewer = min(int((moved > 0).sum()), int((moved < 0).sum()))
        tail = sum(math.comb(n, i) for i in range(fewer + 1))
        return min(1.0, float(2 * tail / 2**n))
    observed = abs(float(moved.sum())) - 1e-9 * float(sizes.sum())
    if n <= _ENUMERATED:
        totals = np.zeros(1)
        for size in sizes:
            totals = np.concatenate([totals + size, totals - size])
        return float((np.abs(totals) >= observed).mean())
    rng = np.random.default_rng(seed)
    rows = max(1, _CELLS // n)
    extreme = 0
    for first in range(0, N_RESAMPLES, rows):
        signs = rng.integers(2, size=(min(rows, N_RESAMPLES - first), n), dtype=np.int8) * 2 - 1
        extreme += int((np.abs(signs @ sizes) >= observed).sum())
    return (extreme + 1) / (N_RESAMPLES + 1)
