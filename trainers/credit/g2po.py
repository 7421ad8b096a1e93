"""G2PO: values of states from all their visits, and the gain of each step between two of them.

Source: arXiv 2606.22995 and its code.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import rows as step_rows
from verigym.trainers.credit import segments
from verigym.trainers.credit.group import Norm, check_norm, group_advantage
from verigym.trainers.credit.grpo import episode_advantage
from verigym.trainers.credit.rows import Semantics
from verigym.trainers.credit.segments import Floats


@dataclass(frozen=True, eq=False)
class G2poCredit:
    """Per row [N]; rows left out with `valid` hold 0.

    `node_value` V(s) of the row's state, `next_value` V(s'), `episode_advantage` A_E, `local_advantage`
    of V(s') among visits of s, `gain_advantage` of V(s') - V(s) among the task's rows.
    """

    node_value: Floats
    next_value: Floats
    episode_advantage: Floats
    local_advantage: Floats
    gain_advantage: Floats
    advantage: Floats


def g2po(
    group: Sequence[Hashable],
    trajectory: Sequence[Hashable],
    anchor: Sequence[Hashable],
    reward: npt.ArrayLike,
    *,
    invalid: npt.ArrayLike | None = None,
    gamma: float = 0.95,
    success: float = 10.0,
    penalty: float = 0.1,
    norm: Norm = "mean_std",
    omega: float = 1.0,
    semantics: Semantics = "paper",
    eps: float = 1e-6,
    valid: npt.ArrayLike | None = None,
) -> G2poCredit:
    """Return A_E + omega (A_local + A_gain) of each step row; arguments as for `gigpo`.

    V(s) is the mean over all visits of s in the group of gamma^(T - t) R, t from 0, R without
    penalties. After the last row comes `success` if the trajectory earned it, else 0. `success` is
    the return of a solved task: 10 in the public code, 1 in our environments.
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
    segments.same_length(len(rows.kept), anchor=anchor)
    raw = segments.floats(reward, "reward")[rows.kept]
    whole = np.bincount(rows.trajectory, raw, rows.n_trajectories)[rows.trajectory]
    following, left = step_rows.successors(rows)
    states = list(compress(anchor, rows.kept.tolist()))
    node, count = segments.number_pairs(rows.group, states)
    value = segments.mean(gamma**left * whole, node, count)[node]
    after = np.where(following >= 0, value[following], np.where(whole == success, success, 0.0))
    bad = np.zeros(len(rows.kept)) if invalid is None else segments.floats(invalid, "invalid")
    local = group_advantage(after - penalty * bad[rows.kept], node, norm=norm, eps=eps)
    gain = group_advantage(after - value, rows.group, norm=norm, eps=eps)
    returns = step_rows.episode_returns(rows)
    episode = episode_advantage(rows, returns, norm=norm, semantics=semantics, ddof=1, eps=eps)
    for part in (episode, local, gain):
        part[rows.lonely] = 0.0
    return G2poCredit(
        node_value=rows.spread(value),
        next_value=rows.spread(after),
        episode_advantage=rows.spread(episode),
        local_advantage=rows.spread(local),
        gain_advantage=rows.spread(gain),
        advantage=rows.spread(episode + omega * (local + gain)),
    )
