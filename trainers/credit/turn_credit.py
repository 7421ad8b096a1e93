"""Turn credit: progress that a judge saw in each turn, shared with the turns that led to it.

Source: prime-rl, pull request 3282.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.segments import Floats


@dataclass(frozen=True, eq=False)
class TurnCreditResult:
    """Per trajectory [N]: `progress` and `credit` of each turn (None without scores), the `level`
    relative to the group, and the advantage of each turn's tokens."""

    progress: list[Floats | None]
    credit: list[Floats | None]
    level: Floats
    turn_advantage: list[Floats]


def turn_credit(
    reward: npt.ArrayLike,
    group: Sequence[Hashable],
    turn_scores: Sequence[Sequence[float | None] | None],
    turn_tokens: Sequence[Sequence[int]],
    *,
    gamma: float = 0.9,
    beta: float = 1.0,
    valid: npt.ArrayLike | None = None,
) -> TurnCreditResult:
    """Return the advantage of each turn of each trajectory.

    A turn's progress is its score less the last score before it; the first score and turns without
    one give 0. It is shared among the turn and those before it in proportion to gamma^distance. The
    level is reward + sum of progress, less the group's mean of that. A turn's advantage is the level
    + beta * (credit - mean credit over the trajectory's trained tokens).
    `beta=0` is not GRPO: the progress stays in the level. A group of one trains on shaping alone.
    """
    x = segments.floats(reward, "reward")
    n = len(x)
    segments.same_length(n, group=group, turn_scores=turn_scores, turn_tokens=turn_tokens)
    keep = segments.kept(valid, n)
    ids, count = segments.number(group, n)
    progress: list[Floats | None] = []
    credit: list[Floats | None] = []
    total = np.where(keep, x, 0.0)
    for i, (scores, tokens) in enumerate(zip(turn_scores, turn_tokens, strict=True)):
        if scores is not None and len(scores) != len(tokens):
            raise ValueError(f"trajectory {i} has {len(scores)} scores for {len(tokens)} turns")
        if scores is None or not keep[i]:
            progress.append(None)
            credit.append(None)
            continue
        gained = _progress(scores, i)
        progress.append(gained)
        credit.append(_share(gained, gamma))
        total[i] += gained.sum()
    segments.finite(total[keep], "reward")
    mean = segments.mean(total[keep], ids[keep], count)[ids]
    level = np.where(keep, total - mean, 0.0)
    if valid is not None:
        alone = segments.sizes(ids[keep], count)[ids] < 2
        level[alone] = 0.0
    advantage = []
    for i, tokens in enumerate(turn_tokens):
        mine, weights = credit[i], np.asarray(tokens, dtype=np.float64)
        flat = np.full(len(weights), level[i])
        dead = valid is not None and (not keep[i] or alone[i])
        if mine is not None and beta != 0 and weights.sum() > 0 and not dead:
            flat = level[i] + beta * (mine - (weights @ mine) / weights.sum())
        advantage.append(flat)
    return TurnCreditResult(progress, credit, level, advantage)


def _progress(scores: Sequence[float | None], number: int) -> Floats:
    out, last = np.zeros(len(scores)), None
    for t, score in enumerate(scores):
        if score is None:
            continue
        if not np.isfinite(score):
            raise ValueError(f"score {t} of trajectory {number} is {score}; use None for no score")
        if last is not None:
            out[t] = score - last
        last = score
    return out


def _share(progress: Floats, gamma: float) -> Floats:
    """Return each turn's credit: progress handed back to itself and earlier turns, nothing lost."""
    credit = np.zeros(len(progress))
    for t, gained in enumerate(progress):
        if gained:
            weights = gamma ** np.arange(t, -1, -1, dtype=np.float64)
            credit[: t + 1] += gained * weights / weights.sum()
    return credit
