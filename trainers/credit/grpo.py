"""GRPO over step rows: every row of a trajectory receives the trajectory's group advantage."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import rows as step_rows
from verigym.trainers.credit.group import Norm, check_norm, group_advantage
from verigym.trainers.credit.rows import Rows, Semantics
from verigym.trainers.credit.segments import Floats


@dataclass(frozen=True, eq=False)
class GrpoCredit:
    """Per row [N]; rows left out with `valid` hold 0. `advantage` is what the loss takes."""

    episode_return: Floats
    episode_advantage: Floats
    step_advantage: Floats
    advantage: Floats


def grpo(
    group: Sequence[Hashable],
    trajectory: Sequence[Hashable],
    reward: npt.ArrayLike,
    *,
    invalid: npt.ArrayLike | None = None,
    norm: Norm = "mean_std",
    semantics: Semantics = "paper",
    penalty: float = 0.0,
    ddof: int = 1,
    eps: float = 1e-6,
    valid: npt.ArrayLike | None = None,
) -> GrpoCredit:
    """Return the group-relative credit of each trajectory, on each of its rows.

    `group`, `trajectory`, `reward` and `invalid` hold one entry per row, as for `gigpo`, whose
    episode half this is; `step_advantage` is all 0. `norm="mean"` is Dr.GRPO.

    `paper` takes mean and deviation over the trajectories of a group. `verl_agent` takes them over
    its step rows, so that a trajectory weighs its length, gives a group of one row its raw
    reward, and takes `penalty` off row by row.
    `valid` [N] False leaves a row out (mark every row of a faulted episode); with `valid` given, a
    group with fewer than two valid trajectories gives advantage 0.
    """
    check_norm(norm)
    rows = step_rows.read(
        group,
        trajectory,
        reward,
        invalid=invalid,
        penalty=penalty,
        semantics=semantics,
        valid=valid,
    )
    returns = step_rows.episode_returns(rows)
    advantage = episode_advantage(rows, returns, norm=norm, semantics=semantics, ddof=ddof, eps=eps)
    advantage[rows.lonely] = 0.0
    out = rows.spread(advantage)
    return GrpoCredit(
        episode_return=rows.spread(returns),
        episode_advantage=out,
        step_advantage=np.zeros(len(out)),
        advantage=out,
    )


def episode_advantage(
    rows: Rows, returns: Floats, *, norm: Norm, semantics: Semantics, ddof: int, eps: float
) -> Floats:
    """Return A_E per counted row, from the `episode_returns` of those rows."""
    if semantics == "verl_agent":
        advantage = group_advantage(returns, rows.group, norm=norm, ddof=ddof, eps=eps)
        raw = rows.born_alone
        advantage[raw] = returns[raw] / (1.0 + eps if norm == "mean_std" else 1.0)
        return advantage
    per_trajectory = np.zeros(rows.n_trajectories)
    per_trajectory[rows.trajectory] = returns
    present = np.zeros(rows.n_trajectories, dtype=np.bool_)
    present[rows.trajectory] = True
    advantage = group_advantage(
        per_trajectory,
        rows.group_of_trajectory,
        norm=norm,
        ddof=ddof,
        eps=eps,
        valid=present,
    )
    return advantage[rows.trajectory]
