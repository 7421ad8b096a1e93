"""Step rows, one per call of the policy: which trajectory and group each belongs to, and returns.

Encoding: `group`, `trajectory`, `reward` hold one entry per row. A trajectory is the pair (group,
trajectory), so ids may repeat between groups. Rows of one trajectory stand in time order; rows of
different trajectories may be interleaved.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.segments import Bools, Floats, Ints

Semantics = Literal["paper", "verl_agent"]


def check_semantics(semantics: str) -> None:
    """Raise ValueError unless `semantics` is one of `Semantics`."""
    if semantics not in get_args(Semantics):
        raise ValueError(f"semantics must be paper or verl_agent, got {semantics!r}")


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that count. All arrays have one entry per counted row but those named `_of_`.

    `kept` [N] says which rows of the input these are. `reward` has the penalty in it under
    `paper`; `penalty` is what `verl_agent` takes off afterwards. `lonely` marks rows whose group has
    fewer than two valid trajectories though `valid` was given; they earn nothing (law 1).
    """

    kept: Bools
    group: Ints
    n_groups: int
    trajectory: Ints
    n_trajectories: int
    group_of_trajectory: Ints
    trajectories_of_group: Ints
    born_alone: Bools
    reward: Floats
    penalty: Floats
    lonely: Bools

    def spread(self, values: Floats, fill: float = 0.0) -> Floats:
        """Return `values` of the counted rows at their places among all rows; `fill` elsewhere."""
        out = np.full(len(self.kept), fill)
        out[self.kept] = values
        return out


def read(
    group: Sequence[Hashable],
    trajectory: Sequence[Hashable] | Ints,
    reward: npt.ArrayLike,
    *,
    invalid: npt.ArrayLike | None,
    penalty: float,
    semantics: Semantics,
    valid: npt.ArrayLike | None,
) -> Rows:
    """Number groups and trajectories, drop the rows that do not count, place the penalty."""
    check_semantics(semantics)
    reward = segments.floats(reward, "reward")
    n = len(reward)
    bad = np.zeros(n) if invalid is None else segments.floats(invalid, "invalid")
    segments.same_length(n, group=group, trajectory=trajectory, invalid=bad)
    keep = segments.kept(valid, n)

    all_group, n_groups = segments.number(group, n)
    all_trajectory, n_trajectories = segments.number_pairs(all_group, trajectory)
    group_of_trajectory = np.zeros(n_trajectories, dtype=np.intp)
    group_of_trajectory[all_trajectory] = all_group

    ids, inside = all_trajectory[keep], all_group[keep]
    alive = np.zeros(n_trajectories, dtype=np.bool_)
    alive[ids] = True
    trajectories_of_group = segments.sizes(group_of_trajectory[alive], n_groups)

    x, cost = reward[keep], penalty * bad[keep]
    segments.finite(x, "reward")
    if valid is None:
        lonely = np.zeros(len(x), dtype=np.bool_)
    else:
        lonely = trajectories_of_group[inside] < 2
    paper = semantics == "paper"
    return Rows(
        kept=keep,
        group=inside,
        n_groups=n_groups,
        trajectory=ids,
        n_trajectories=n_trajectories,
        group_of_trajectory=group_of_trajectory,
        trajectories_of_group=trajectories_of_group,
        born_alone=segments.sizes(all_group, n_groups)[inside] == 1,
        reward=x - cost if paper else x,
        penalty=np.zeros_like(cost) if paper else cost,
        lonely=lonely,
    )


def episode_returns(rows: Rows) -> Floats:
    """Return the undiscounted return of each row's trajectory, R, as that row sees it.

    Under `verl_agent` a row's own penalty comes off its own copy of R, so the rows of one
    trajectory may differ (ALGORITHMS.md, G.3).
    """
    total = np.bincount(rows.trajectory, rows.reward, rows.n_trajectories)
    return total[rows.trajectory] - rows.penalty


def step_returns(rows: Rows, gamma: float) -> Floats:
    """Return the discounted return from each row on, G_t = sum over k >= t of gamma^(k-t) r_k.

    Under `verl_agent` the penalty of a row comes off after discounting and reaches no other row.
    Time is O(rows) with one numpy call per time step of the longest trajectory.
    """
    if not 0.0 <= gamma <= 1.0:
        raise ValueError(f"gamma must be in [0, 1], got {gamma}")
    n = len(rows.reward)
    if n == 0:
        return np.zeros(0)
    order = np.argsort(rows.trajectory, kind="stable")
    owner = rows.trajectory[order]
    last = np.flatnonzero(np.diff(owner, append=-1))
    steps_left = np.repeat(last, np.diff(last, prepend=-1)) - np.arange(n)
    # Rows by distance from the end of their trajectory: each slice below is one time step of all.
    by_distance = np.argsort(steps_left, kind="stable")
    edges = np.cumsum(np.bincount(steps_left))

    x = rows.reward[order]
    running, out, start = np.zeros(rows.n_trajectories), np.empty(n), 0
    for end in edges:
        at = by_distance[start:end]
        whose = owner[at]
        running[whose] = x[at] + gamma * running[whose]
        out[at] = running[whose]
        start = end
    back = np.empty(n)
    back[order] = out
    return back - rows.penalty


def successors(rows: Rows) -> tuple[Ints, Floats]:
    """Return the row after each row in its trajectory, -1 after the last, and the rows from each to
    the end, itself included; both [counted rows]."""
    n = len(rows.reward)
    order = np.argsort(rows.trajectory, kind="stable")
    owner = rows.trajectory[order]
    following = np.full(n, -1, dtype=np.intp)
    same = owner[1:] == owner[:-1]
    following[order[:-1][same]] = order[1:][same]
    last = np.flatnonzero(np.diff(owner, append=-1))
    left = np.zeros(n)
    left[order] = np.repeat(last, np.diff(last, prepend=-1)) - np.arange(n) + 1.0
    return following, left
