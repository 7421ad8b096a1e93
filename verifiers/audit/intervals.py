"""Intervals for rates and quantiles for times; no library needed."""

from __future__ import annotations

import math
from collections.abc import Sequence


def wilson(successes: float, n: float, z: float = 1.959964) -> tuple[float, float]:
    """Return Wilson's interval for a proportion; z is the normal quantile, 95 % by default.

    `n` need not be whole: trials that are not independent count as fewer.

    Source: E. B. Wilson 1927, "Probable inference, the law of succession, and statistical inference".
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"need 0 <= successes <= n and n > 0, got {successes} of {n}")
    p = successes / n
    centre = p + z * z / (2 * n)
    spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # Rounding must not push the rate itself out of its interval.
    return min(p, max(0.0, (centre - spread) / scale)), max(p, min(1.0, (centre + spread) / scale))


def rate(successes: int, n: int) -> float | None:
    """Return the proportion of successes; None if `n` is 0."""
    return successes / n if n else None


def interval(successes: int, n: int) -> list[float] | None:
    """Return Wilson's interval as a list for JSON; None of nothing."""
    return list(wilson(successes, n)) if n else None


def quantile(values: Sequence[float], q: float) -> float | None:
    """Return the smallest of `values` that a share `q` of them does not exceed; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]
