"""DISCO: rewards weighed by how rare a domain and how hard a task is, then Dr.GRPO.

Source: arXiv 2505.15074 and its code.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.group import group_advantage
from verigym.trainers.credit.segments import Floats

Variant = Literal["log", "log2", "inv"]


def domain_weight(share: npt.ArrayLike, *, variant: Variant = "log") -> Floats:
    """Weight of a domain from its share p of the data, [N]: ln(1 + 1/p), its square, or 1/p."""
    if variant not in get_args(Variant):
        raise ValueError(f"variant must be one of {', '.join(get_args(Variant))}, got {variant!r}")
    p = segments.floats(share, "share")
    if not ((p > 0) & (p <= 1)).all():
        raise ValueError("a domain's share must be in (0, 1]")
    if variant == "inv":
        return 1.0 / p
    weight = np.log1p(1.0 / p)
    return weight**2 if variant == "log2" else weight


def difficulty_weight(accuracy: npt.ArrayLike, *, eps: float = 1e-5) -> Floats:
    """Return 1 / (group accuracy + eps), [N]. At accuracy 0 all rewards are 0, so its size is moot."""
    return 1.0 / (segments.floats(accuracy, "accuracy") + eps)


def disco(
    reward: npt.ArrayLike,
    group: Sequence[Hashable],
    share: npt.ArrayLike,
    *,
    variant: Variant = "log",
    eps: float = 1e-5,
    valid: npt.ArrayLike | None = None,
) -> Floats:
    """Return the advantage [N]: reward * domain weight * difficulty weight, less the group's mean.

    `share` [N] is the share of the entry's domain. Rewards are 0 or 1; the accuracy is the mean
    over the valid members of the group.
    """
    reward = segments.floats(reward, "reward")
    keep = segments.kept(valid, len(reward))
    ids, count = segments.number(group, len(reward))
    accuracy = segments.mean(reward[keep], ids[keep], count)[ids]
    weight = domain_weight(share, variant=variant) * difficulty_weight(accuracy, eps=eps)
    return group_advantage(reward * weight, group, norm="mean", valid=keep)
