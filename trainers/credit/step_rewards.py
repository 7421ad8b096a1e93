"""Rewards of single steps where the outcome alone is too sparse: SPA-RL and StepSearch.

Both give rewards for a critic-based update (`gae`), not advantages.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.segments import Floats


def spa_reward(
    contribution: npt.ArrayLike,
    executed: npt.ArrayLike,
    *,
    alpha: float = 1.0,
    beta: float = 0.5,
) -> Floats:
    """Return alpha * c_t + beta * g_t per step, [K].

    `contribution` is a learnt estimate of the step's share of the return, trained by
    `loss.contribution_loss` so that the shares of a trajectory sum to its return; `executed` is 1
    where the action could be carried out.
    Source: SPA-RL, arXiv 2505.20732; alpha 1 and beta 0.5 are its code's.
    """
    c, g = segments.floats(contribution, "contribution"), segments.floats(executed, "executed")
    segments.same_length(len(c), executed=g)
    return alpha * c + beta * g


@dataclass(frozen=True, eq=False)
class SearchReward:
    """Per search turn [K]; `reward` = scale * (gain - redundancy)."""

    gain: Floats
    redundancy: Floats
    reward: Floats


def stepsearch_reward(
    similarity_KG: npt.ArrayLike,
    documents: Sequence[Sequence[Hashable]],
    *,
    scale: float = 0.6,
) -> SearchReward:
    """Return the reward of each of K search turns for new information.

    `similarity_KG` is the best similarity (the paper: TF-IDF cosine) of the turn's results to each
    of G gold documents; `gain` is the mean over those of how far it beats the best so far.
    `documents` names the results of each turn; `redundancy` is the share seen in earlier turns, 0
    for a turn without results.
    Source: StepSearch, arXiv 2505.15107, as intended: its code pays 1.6 times, by aliasing.
    """
    similarity = np.asarray(similarity_KG, dtype=np.float64)
    if similarity.ndim != 2 or similarity.shape[1] == 0:
        raise ValueError(f"similarity must be [turns, gold documents], got {similarity.shape}")
    segments.same_length(len(similarity), documents=documents)
    best = np.maximum.accumulate(np.vstack([np.zeros(similarity.shape[1]), similarity]), axis=0)
    gain = np.diff(best, axis=0).mean(axis=1)
    seen: set[Hashable] = set()
    redundancy = np.zeros(len(documents))
    for turn, found in enumerate(documents):
        if found:
            redundancy[turn] = sum(document in seen for document in found) / len(found)
        seen.update(found)
    return SearchReward(gain, redundancy, scale * (gain - redundancy))


def stepsearch_terminal(answer_f1: float, key_f1: float, *, answered: bool) -> float:
    """Return the terminal reward: answer F1 + 0.618 * search-key F1, or -1 if the output ends in no answer."""
    return answer_f1 + 0.618 * key_f1 if answered else -1.0
