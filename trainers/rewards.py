"""Rewards that depend on length, on how rare a task is or on the policy, added before advantages are estimated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import numpy.typing as npt

from verigym.episode import Episode
from verigym.trainers.credit import segments
from verigym.trainers.credit.dapo import overlong
from verigym.trainers.credit.disco import difficulty_weight, domain_weight
from verigym.trainers.credit.segments import Floats
from verigym.trainers.policy_rewards import POLICY_REWARDS, PlayedBatch
from verigym.trainers.sections import RewardSection


def relative_length(
    length: npt.ArrayLike, right: npt.ArrayLike, group: Sequence[Hashable]
) -> Floats:
    """Return the reward for being short among the members of a group, [N], from -0.5 to 0.5.

    0.5 - (length - least) / (most - least) if the answer is right, at most 0 if it is wrong; 0 in a group
    of equal lengths. Multiply it by a small weight.
    Source: Kimi k1.5, arXiv 2501.12599, section 2.3.3.
    """
    n = segments.floats(length, "length")
    segments.same_length(len(n), group=group)
    ids, count = segments.number(group, len(n))
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, ids, n)
    np.maximum.at(most, ids, n)
    span = (most - least)[ids]
    score: Floats = 0.5 - np.divide(n - least[ids], span, out=np.full(len(n), 0.5), where=span > 0)
    wrong = ~np.asarray(right, dtype=np.bool_)
    score[wrong] = np.minimum(score[wrong], 0.0)
    return score


def shape_rewards(
    episodes: Sequence[Episode],
    section: RewardSection,
    reading: Callable[[Sequence[Episode]], PlayedBatch] | None = None,
) -> list[list[float]]:
    """Return the reward of each turn of each episode as it is trained on.

    What is added stands on the last turn. Recorded rewards and verdicts stay as they are, so that
    success, reports and regrading do not change. Faulted episodes get no addition and are not counted.
    `reading` is what rewards from the policy read.
    """
    paid = [[turn.reward for turn in episode.turns] for episode in episodes]
    played = [i for i, e in enumerate(episodes) if e.status != "fault" and e.turns]
    if not played or not section.is_used:
        return paid
    chosen = [episodes[i] for i in played]
    length = np.array([sum(sum(t.mask) for t in e.turns) for e in chosen], dtype=np.float64)
    groups = [episode.group_id for episode in chosen]
    added = np.zeros(len(chosen))
    if section.disco is not None:
        weight = _rarity(chosen, section)
        for i, w in zip(played, weight.tolist(), strict=True):
            paid[i] = [w * reward for reward in paid[i]]
    if section.policy is not None and reading is not None:
        if section.policy.replace:
            for i in played:
                paid[i] = [0.0] * len(paid[i])
        added += section.policy.weight * POLICY_REWARDS[section.policy.name](reading(chosen))
    if section.relative_length:
        right = [episode.success for episode in chosen]
        added += section.relative_length * relative_length(length, right, groups)
    if section.overlong is not None:
        limits = section.overlong
        penalty = overlong(
            length, max_length=limits.max_length, cache=limits.cache, factor=limits.factor
        )
        added += np.maximum(penalty, -limits.factor)
    for i, extra in zip(played, added.tolist(), strict=True):
        paid[i][-1] += extra
    return paid


def _rarity(episodes: Sequence[Episode], section: RewardSection) -> Floats:
    """Return DISCO's weight of each episode: rare environments and hard tasks weigh more."""
    assert section.disco is not None
    envs = Counter(episode.env_id for episode in episodes)
    share = [envs[episode.env_id] / len(episodes) for episode in episodes]
    right = np.array([episode.success for episode in episodes], dtype=np.float64)
    ids, count = segments.number([e.group_id for e in episodes], len(episodes))
    accuracy = segments.mean(right, ids, count)[ids]
    return domain_weight(share, variant=section.disco) * difficulty_weight(accuracy)
