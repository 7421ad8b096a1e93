"""MT-GRPO: a turn's own reward beside the outcome, each normalised within its group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.group import group_advantage
from verigym.trainers.credit.segments import Floats


@dataclass(frozen=True, eq=False)
class TwoSegments:
    """Advantage [N] of the tokens before a trajectory's first tool result, and of those after."""

    before_tool_result: Floats
    after_tool_result: Floats


def mt_grpo(
    turn_reward: npt.ArrayLike,
    outcome_reward: npt.ArrayLike,
    merged_reward: npt.ArrayLike,
    group: Sequence[Hashable],
    has_tool_result: npt.ArrayLike,
    *,
    lam: float = 1.0,
    eps: float = 1e-4,
    valid: npt.ArrayLike | None = None,
) -> TwoSegments:
    """Credit of a trajectory with one tool call; all arguments hold one entry per trajectory.

    Before the tool result: A_outcome + lam * A_turn; after it: A_outcome. A trajectory that never
    saw a tool result takes the normalised `merged_reward` throughout. Every normalisation runs over
    the whole group, whether a member called the tool or not.
    Source: Zeng et al. 2025, arXiv 2505.11821, and its code.
    """
    turn = group_advantage(turn_reward, group, eps=eps, valid=valid)
    outcome = group_advantage(outcome_reward, group, eps=eps, valid=valid)
    merged = group_advantage(merged_reward, group, eps=eps, valid=valid)
    called = np.asarray(has_tool_result, dtype=np.bool_)
    segments.same_length(len(turn), outcome_reward=outcome, merged_reward=merged)
    segments.same_length(len(turn), has_tool_result=called)
    return TwoSegments(
        before_tool_result=np.where(called, outcome + lam * turn, merged),
        after_tool_result=np.where(called, outcome, merged),
    )


def mt_grpo_turns(
    outcome_reward: npt.ArrayLike,
    turn_reward_NK: npt.ArrayLike,
    reached_NK: npt.ArrayLike,
    group: Sequence[Hashable],
    *,
    lam: float = 1.0,
    gamma: float = 1.0,
    eps: float = 1e-4,
    valid: npt.ArrayLike | None = None,
) -> Floats:
    """Credit of each turn of trajectories with up to K turns, [N, K]; 0 on turns not reached.

    A_k = Norm(outcome) + lam * sum over l >= k of gamma^(l-k) * Norm(T_l), where turn index l is
    normalised over those members of the group that reached it; fewer than two give 0.
    `reached_NK` is 1 where the trajectory has such a turn. Our generalisation of `mt_grpo`.
    """
    turn = np.asarray(turn_reward_NK, dtype=np.float64)
    reached = np.asarray(reached_NK, dtype=np.bool_)
    if turn.ndim != 2 or reached.shape != turn.shape:
        raise ValueError(
            f"turn_reward and reached must be [N, K], got {turn.shape}, {reached.shape}"
        )
    keep = segments.kept(valid, len(turn))
    outcome = group_advantage(outcome_reward, group, eps=eps, valid=valid)
    segments.same_length(len(turn), outcome_reward=outcome)
    out = np.zeros_like(turn)
    running = np.zeros(len(turn))
    for k in range(turn.shape[1] - 1, -1, -1):
        here = reached[:, k] & keep
        running = group_advantage(turn[:, k], group, eps=eps, valid=here) + gamma * running
        out[:, k] = np.where(here, outcome + lam * running, 0.0)
    return out
