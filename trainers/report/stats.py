"""The few statistics that the report draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from verigym.agents.record import wilson


def interval(rate: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval for a share `rate` of `n` trials; (0, 1) where n is 0."""
    if n <= 0:
        return 0.0, 1.0
    return wilson(min(n, max(0, round(rate * n))), n)


@dataclass(frozen=True)
class PooledSuccess:
    """Success pooled over the last few steps, with Wilson's interval."""

    x: float
    rate: float
    low: float
    high: float
    n: int


def pool(points: Sequence[tuple[float, float | None, int]], window: int) -> list[PooledSuccess]:
    """Return the trailing pool over `window` points of (x, rate, n); points without episodes add nothing."""
    pooled: list[PooledSuccess] = []
    for end in range(1, len(points) + 1):
        valid = [
            (rate, n)
            for _, rate, n in points[max(0, end - window) : end]
            if rate is not None and n > 0
        ]
        total = sum(n for _, n in valid)
        if total:
            rate = min(1.0, max(0.0, sum(rate * n for rate, n in valid) / total))
            pooled.append(PooledSuccess(points[end - 1][0], rate, *interval(rate, total), total))
    return pooled


def window_for(n_steps: int) -> int:
    """Return the number of steps to pool: a twentieth of the run, from 1 to 25."""
    return min(25, max(1, round(n_steps / 20)))


@dataclass(frozen=True)
class Spread:
    """Mean and one unbiased standard deviation on either side, over `n` seeds; sd 0 for one seed."""

    x: float
    mean: float
    sd: float
    n: int


def spread(curves: Sequence[Sequence[tuple[float, float]]], n_grid: int = 120) -> list[Spread]:
    """Return the mean and deviation of several (x, y) curves on a common grid.

    The grid covers the range that every curve covers, so no curve is extended beyond its data.
    """
    curves = [curve for curve in curves if curve]
    if not curves:
        return []
    start = max(curve[0][0] for curve in curves)
    end = min(curve[-1][0] for curve in curves)
    if end < start:
        return []
    grid = np.linspace(start, end, n_grid if end > start else 1)
    table = np.array(
        [np.interp(grid, [x for x, _ in curve], [y for _, y in curve]) for curve in curves]
    )
    deviation = table.std(axis=0, ddof=1) if len(curves) > 1 else np.zeros(len(grid))
    return [
        Spread(float(x), float(mean), float(sd), len(curves))
        for x, mean, sd in zip(grid, table.mean(axis=0), deviation, strict=True)
    ]


def mean_sd(values: Iterable[float]) -> tuple[float, float]:
    """Return the mean and unbiased standard deviation; the deviation of one value is 0."""
    array = np.array(list(values), dtype=float)
    return float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else 0.0


def thin(n: int, limit: int) -> list[int]:
    """Return at most `limit` indices below `n`, evenly spread, first and last among them."""
    if n <= limit:
        return list(range(n))
    return sorted({round(i * (n - 1) / (limit - 1)) for i in range(limit)})
