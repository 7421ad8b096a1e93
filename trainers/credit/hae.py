"""HAE, the hierarchical advantage of HiPER: one critic inside subgoals, one over them.

Source: arXiv 2602.16165 and its code.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.segments import Bools, Floats

KeepMode = Literal["fixed", "normalized"]


@dataclass(frozen=True, eq=False)
class HaeCredit:
    """Per turn [N]. `reward` has the penalty in it; `low` is the policy's, `high` (0 off the starts of
    segments) the planner's, `term` the decision to go on, None without its critic. `ret` are the
    critics' targets, advantage + value."""

    reward: Floats
    adv_low: Floats
    ret_low: Floats
    adv_high: Floats
    ret_high: Floats
    adv_term: Floats | None
    ret_term: Floats | None


def hae(
    trajectory: Sequence[Hashable],
    reward: npt.ArrayLike,
    switch: npt.ArrayLike,
    done: npt.ArrayLike,
    value_low: npt.ArrayLike,
    value_high: npt.ArrayLike,
    value_term: npt.ArrayLike | None = None,
    *,
    gamma: float = 1.0,
    lam_turn: float = 1.0,
    lam_seg: float = 0.95,
    keep_penalty: float = 0.0,
    keep_mode: KeepMode = "normalized",
    bootstrap_truncated: bool = False,
) -> HaeCredit:
    """Return advantages and targets of each turn. One entry per turn, those of a trajectory in order.

    A segment starts at turn 0 and wherever `switch` opens a new subgoal. `low`: GAE over the turns of a
    segment, whose end is worth `value_high` of the next start. `high`, at starts: GAE over segments,
    sum gamma^j r_j + gamma^length V_high(next) - V_high + gamma^length lam_seg * (next). `term`: the
    discounted rest of the segment and the same end, less `value_term`.
    `keep_penalty`, at most 0, is added to the reward of turns that do not switch; `normalized` divides it
    by the turns of the trajectory. A trajectory that was cut short ends with 0, or with
    `bootstrap_truncated` with the values of its last turn and last start. Not normalised here.
    """
    if keep_mode not in get_args(KeepMode):
        raise ValueError(f"keep_mode must be fixed or normalized, got {keep_mode!r}")
    if keep_penalty > 0:
        raise ValueError(f"keep_penalty must be at most 0, got {keep_penalty}")
    r = segments.floats(reward, "reward").copy()
    n = len(r)
    low, high = segments.floats(value_low, "value_low"), segments.floats(value_high, "value_high")
    term = None if value_term is None else segments.floats(value_term, "value_term")
    turned, ended = np.asarray(switch, np.bool_), np.asarray(done, np.bool_)
    segments.same_length(
        n, trajectory=trajectory, switch=turned, done=ended, value_low=low, value_high=high
    )
    segments.same_length(n, value_term=term)
    ids, count = segments.number(trajectory, n)
    adv_low, adv_high, adv_term = np.zeros(n), np.zeros(n), np.zeros(n)
    starts = np.zeros(n, dtype=np.bool_)
    for number in range(count):
        at = np.flatnonzero(ids == number)
        opens = turned[at].copy()
        opens[0] = True
        starts[at] = opens
        if keep_mode == "fixed":
            r[at[~opens]] += keep_penalty
        elif len(at) > 1:
            r[at[~opens]] += keep_penalty / len(at)
        cut = bootstrap_truncated and not ended[at[-1]]
        first = at[np.flatnonzero(opens)]
        adv_low[at], adv_high[first], rest = _one(
            r[at], opens, low[at], high[at], gamma, lam_turn, lam_seg, cut
        )
        if term is not None:
            adv_term[at] = rest - term[at]
    return HaeCredit(
        reward=r,
        adv_low=adv_low,
        ret_low=adv_low + low,
        adv_high=adv_high,
        ret_high=np.where(starts, adv_high + high, 0.0),
        adv_term=None if term is None else adv_term,
        ret_term=None if term is None else adv_term + term,
    )


def _one(
    r: Floats,
    opens: Bools,
    low: Floats,
    high: Floats,
    gamma: float,
    lam_turn: float,
    lam_seg: float,
    cut: bool,
) -> tuple[Floats, Floats, Floats]:
    """Return low [T], high [segments] and the discounted rest of the segment with its end, [T]."""
    edges = [*np.flatnonzero(opens).tolist(), len(r)]
    advantage, rest = np.zeros(len(r)), np.zeros(len(r))
    above = np.zeros(len(edges) - 1)
    following = 0.0
    for k in range(len(edges) - 2, -1, -1):
        start, end = edges[k], edges[k + 1]
        last = end == len(r)
        end_low = (low[-1] if cut else 0.0) if last else high[end]
        end_high = (high[start] if cut else 0.0) if last else high[end]
        running, value, total = 0.0, end_low, end_high
        for t in range(end - 1, start - 1, -1):
            running = r[t] + gamma * value - low[t] + gamma * lam_turn * running
            advantage[t], value = running, low[t]
            total = r[t] + gamma * total
            rest[t] = total
        discount = gamma ** (end - start)
        above[k] = rest[start] - high[start] + discount * lam_seg * following
        following = above[k]
    return advantage, above, rest
