"""Which tasks to sample next: the formulas of SEC, DUMP, ADCL, DARS and GHPO, without state.

Arms are categories of tasks. An arm without a usable group in a step reports nothing, not 0: that
is what `sampled` is for.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit.segments import Floats, Ints, floats, same_length


def sec_update(
    value: npt.ArrayLike,
    mean_abs_advantage: npt.ArrayLike,
    sampled: npt.ArrayLike,
    *,
    alpha: float = 0.5,
) -> Floats:
    """Return the arm values after a step, [K]: (1 - alpha) Q + alpha * mean |A| on arms that were sampled.

    Start from 0. Entries of `mean_abs_advantage` on arms not sampled are not read.
    Source: SEC, arXiv 2505.14970.
    """
    q, signal = floats(value, "value"), floats(mean_abs_advantage, "mean_abs_advantage")
    on = np.asarray(sampled, dtype=np.bool_)
    same_length(len(q), mean_abs_advantage=signal, sampled=on)
    out = q.copy()
    out[on] = (1.0 - alpha) * q[on] + alpha * signal[on]
    return out


def softmax(score: npt.ArrayLike, *, tau: float = 1.0) -> Floats:
    """Return the sampling probabilities proportional to exp(score / tau), [K]. SEC uses it with tau 1."""
    if tau <= 0:
        raise ValueError(f"tau must be above 0, got {tau}")
    x = floats(score, "score") / tau
    weight = np.exp(x - x.max())
    return np.asarray(weight / weight.sum(), dtype=np.float64)


def dump_ucb(mean_abs_advantage: npt.ArrayLike, count: npt.ArrayLike) -> Floats:
    """Return the upper confidence bound per arm, [K]: L + sqrt(2 ln(n_total + 1) / (n + 1)).

    L is the mean |A| in a window of the last 300 samples, `count` how often the arm was drawn.
    Source: DUMP, arXiv 2504.09710. Its code also feeds validation rewards in as advantages; do not.
    """
    level, n = floats(mean_abs_advantage, "mean_abs_advantage"), floats(count, "count")
    same_length(len(level), count=n)
    return np.asarray(level + np.sqrt(2.0 * np.log(n.sum() + 1.0) / (n + 1.0)), dtype=np.float64)


def dump_probabilities(
    mean_abs_advantage: npt.ArrayLike, count: npt.ArrayLike, *, tau: float = 0.1
) -> Floats:
    """Return the sampling probabilities of DUMP's arms, [K]."""
    return softmax(dump_ucb(mean_abs_advantage, count), tau=tau)


def adcl_chunks(error_rate: npt.ArrayLike, *, chunks: int = 4) -> list[Ints]:
    """Return the indices of tasks from easy to hard in chunks as equal as they come.

    Before each next chunk, measure the model's error rate on that chunk alone and sort it again.
    Source: ADCL, arXiv 2505.08364.
    """
    order = np.argsort(floats(error_rate, "error_rate"), kind="stable")
    return np.array_split(order, chunks)


Schedule = Literal["et", "hw"]


def dars_extra(
    accuracy: npt.ArrayLike,
    *,
    n: int = 8,
    schedule: Schedule = "et",
    n_max: int | None = None,
    with_std: bool = False,
) -> Ints:
    """Return the extra rollouts per task, [K], after `n` first ones of which `accuracy` were right.

    A task at or above one half gets none. Below, with signal S = 2a(1-a) per rollout and peak n/2
    (with deviations: 2 sqrt(a(1-a)) and n), `et` (equal treatment) gives ceil((peak - nS)/S), and
    `hw` (hardness weighted) takes 2(1-a) times the peak. Accuracy 0 counts as 0.5/n. At most
    `n_max - n`; `n_max` is 32 for `et` and 64 for `hw` unless given. Merge both phases into one
    group for the statistics.
    Source: DARS, arXiv 2508.13755, and its code.
    """
    if schedule not in get_args(Schedule):
        raise ValueError(f"schedule must be et or hw, got {schedule!r}")
    most = n_max if n_max is not None else (32 if schedule == "et" else 64)
    if n < 1 or most < n:
        raise ValueError(f"n must be from 1 to n_max, got n = {n} and n_max = {most}")
    a = floats(accuracy, "accuracy")
    a = np.where(a == 0.0, 0.5 / n, a)
    hard = a < 0.5
    out: Ints = np.zeros(len(a), dtype=np.intp)
    a = a[hard]
    signal = 2.0 * np.sqrt(a * (1.0 - a)) if with_std else 2.0 * a * (1.0 - a)
    peak = np.full(len(a), n if with_std else n / 2)
    if schedule == "hw":
        peak = peak * 2.0 * (1.0 - a)
    out[hard] = np.minimum(np.ceil((peak - n * signal) / signal), most - n).astype(np.intp)
    return out


def ghpo_hint(solution: str, failed_rounds: int) -> str | None:
    """Return the part of the reference solution to show after all tries of a round were wrong.

    "" before the first failure, then the first 25, 50 and 75 % of the characters; None when even
    that has failed. Train on the prompt with the hint in it.
    Source: GHPO, arXiv 2507.10628.
    """
    if failed_rounds < 0:
        raise ValueError(f"failed_rounds must not be negative, got {failed_rounds}")
    if failed_rounds > 3:
        return None
    return solution[: math.floor(0.25 * failed_rounds * len(solution))]
