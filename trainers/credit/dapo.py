"""DAPO's two parts that act on rewards: dynamic sampling and the overlong penalty.

Its other parts are in the loss: clip 0.2 / 0.28 and the aggregation `token-mean`, without KL.
Source: Yu et al. 2025, arXiv 2503.14476.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from verigym.trainers.credit import segments
from verigym.trainers.credit.segments import Bools, Floats


def has_signal(
    reward: npt.ArrayLike, group: Sequence[Hashable], *, valid: npt.ArrayLike | None = None
) -> Bools:
    """Return True for each valid entry whose group has two unequal valid rewards, [N].

    Groups without signal are dropped and refilled, in DAPO from up to 10 generation batches. With
    GiGPO and gamma < 1 such a group may still have step credit, so do not drop it there unseen.
    """
    reward = segments.floats(reward, "reward")
    segments.same_length(len(reward), group=group)
    keep = segments.kept(valid, len(reward))
    segments.finite(reward[keep], "reward")
    ids, count = segments.number(group, len(reward))
    return keep & ~segments.constant(reward[keep], ids[keep], count)[ids]


def overlong(
    length: npt.ArrayLike, *, max_length: int = 20480, cache: int = 4096, factor: float = 1.0
) -> Floats:
    """Return the penalty to add to the reward, [N], at most 0, from response lengths [N] in tokens.

    0 up to `max_length - cache`, then falling in a line: `-factor` at `max_length`, and less beyond it, as in verl, where
    no response is longer. DAPO's formula stops at `-factor`; so does the trainer, whose episodes may be longer.
    """
    if not 0 < cache <= max_length:
        raise ValueError(f"cache must be in (0, max_length], got {cache} and {max_length}")
    excess = segments.floats(length, "length") - (max_length - cache)
    return np.minimum(-excess / cache * factor, 0.0) + 0.0  # + 0.0 turns -0.0 into 0.0
