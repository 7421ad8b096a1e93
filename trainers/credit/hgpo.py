"""HGPO: steps compared among ever longer shared histories, the longer ones weighing more.

Source: arXiv 2602.22817 and its code.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import rows as step_rows
from verigym.trainers.credit import segments
from verigym.trainers.credit.group import Norm, check_norm
from verigym.trainers.credit.grpo import episode_advantage
from verigym.trainers.credit.rows import Rows, Semantics
from verigym.trainers.credit.segments import Floats


@dataclass(frozen=True, eq=False)
class HgpoCredit:
    """Per row [N]: G_t, the advantage at each level [N, history + 1] (0 where absent), their mean."""

    step_return: Floats
    levels: Floats
    advantage: Floats


def hgpo(
    group: Sequence[Hashable],
    trajectory: Sequence[Hashable],
    anchor: Sequence[Hashable],
    reward: npt.ArrayLike,
    *,
    invalid: npt.ArrayLike | None = None,
    history: int = 2,
    alpha: float = 1.0,
    gamma: float = 0.95,
    norm: Norm = "mean_std",
    semantics: Semantics = "paper",
    penalty: float = 0.0,
    base_group: bool = False,
    eps: float = 1e-6,
    valid: npt.ArrayLike | None = None,
) -> HgpoCredit:
    """Return the credit of each step row; arguments as for `gigpo`.

    Level k = 1 .. history + 1 groups the rows of a task by their last k anchors, their own included; a
    row with fewer anchors so far has no level k. A_k is the row's return in its group, with the biased
    deviation, and absent in a group of one and at the group's mean. The advantage is
    sum w_k A_k / (sum w_k + eps) over the levels that are present, w_k = (k + 1)^alpha. `base_group`
    adds the episode's advantage as level 0 with weight 1.
    """
    check_norm(norm)
    if history < 0:
        raise ValueError(f"history must not be negative, got {history}")
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
    returns = step_rows.step_returns(rows, gamma)
    pasts = _last_anchors(rows, list(compress(anchor, rows.kept.tolist())), history + 1)
    levels = np.zeros((len(returns), history + 1))
    for k in range(1, history + 2):
        here = np.array([len(past) >= k for past in pasts], dtype=np.bool_)
        keys = [(g, past[-k:]) for g, past in zip(rows.group.tolist(), pasts, strict=True)]
        levels[here, k - 1] = _within(
            returns[here], list(compress(keys, here.tolist())), norm=norm, eps=eps
        )
    weights = np.arange(2, history + 3, dtype=np.float64) ** alpha
    found, values = [weights * (levels != 0)], [weights * levels]
    if base_group:
        whole = step_rows.episode_returns(rows)
        base = episode_advantage(rows, whole, norm=norm, semantics=semantics, ddof=1, eps=eps)
        found.append((base != 0).astype(np.float64)[:, None])
        values.append(base[:, None])
    mass = np.concatenate(found, axis=1).sum(axis=1)
    advantage = np.concatenate(values, axis=1).sum(axis=1) / (mass + eps)
    advantage[rows.lonely] = 0.0
    levels[rows.lonely] = 0.0
    spread = np.zeros((len(rows.kept), history + 1))
    spread[rows.kept] = levels
    return HgpoCredit(
        step_return=rows.spread(returns), levels=spread, advantage=rows.spread(advantage)
    )


def _within(x: Floats, keys: Sequence[Hashable], *, norm: Norm, eps: float) -> Floats:
    ids, count = segments.number(keys, len(x))
    centred = x - segments.mean(x, ids, count)[ids]
    largest = np.zeros(count)
    np.maximum.at(largest, ids, np.abs(x))
    out = centred
    if norm == "mean_std":
        deviation = segments.std(x, ids, count, ddof=0)[ids]
        out = segments.normalise(centred, deviation, eps)
    out[np.abs(centred) <= segments.EQUAL * largest[ids]] = 0.0
    out[segments.sizes(ids, count)[ids] < 2] = 0.0
    return out


def _last_anchors(rows: Rows, anchors: Sequence[Hashable], most: int) -> list[tuple[Hashable, ...]]:
    """Return up to `most` anchors of each row's trajectory that end with its own, oldest first."""
    seen: dict[int, tuple[Hashable, ...]] = {}
    out = []
    for trajectory, anchor in zip(rows.trajectory.tolist(), anchors, strict=True):
        past = (*seen.get(trajectory, ()), anchor)[-most:]
        seen[trajectory] = past
        out.append(past)
    return out
