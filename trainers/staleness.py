"""Limits on how far generation runs ahead of training.

Version v rises by one when a training batch is consumed. Admission bounds the age of a rollout at its
start; a long rollout may still be older when it finishes.
Source: AReaL, arXiv 2505.24298.
"""

from __future__ import annotations


def admission_capacity(
    *, version: int, accepted: int, running: int, batch: int, eta: int, max_concurrent: int
) -> int:
    """Rollouts that may start now; none may when this is 0 or below.

    `accepted` counts all finished and kept ones since the start, `running` those under way,
    `batch` the samples of a training step. `eta` is the versions allowed between start and
    training: 0 is synchronous, 1 overlaps one step, 2 to 8 are usual. After a restart from a
    checkpoint set accepted to version * batch.
    """
    if batch < 1 or eta < 0 or max_concurrent < 1:
        raise ValueError(
            f"batch and max_concurrent must be at least 1 and eta at least 0, got {batch}, {eta}, {max_concurrent}"
        )
    ahead = (eta + version + 1) * batch - (accepted + running)
    return min(ahead, max_concurrent - running)


def staleness(train_version: int, oldest_token_version: int) -> int:
    """Age of a sample in versions: that of its oldest token when it is trained on."""
    return train_version - oldest_token_version
