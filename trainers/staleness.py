"""Staleness: how far generation may run ahead of training, and how old each token is.

Version v rises by one when a training batch is consumed. Admission bounds the age of a rollout at its
start; a long rollout may still be older when it finishes.
Source: AReaL, arXiv 2505.24298.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from verigym.episode import Episode
from verigym.trainers.batch import Row
from verigym.trainers.config import Config


def admission_capacity(
    *, version: int, accepted: int, running: int, batch: int, eta: int, max_concurrent: int
) -> int:
    """Return the rollouts that may start now; none may when this is 0 or below.

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
    """Return the age of a sample in versions: that of its oldest token when it is trained on."""
    return train_version - oldest_token_version


def tokens_by_version(episodes: Iterable[Episode]) -> dict[int, int]:
    """Return the number of sampled tokens by the version of the weights that sampled them."""
    found: Counter[int] = Counter()
    for episode in episodes:
        for turn in episode.turns:
            found[turn.policy_version] += sum(turn.mask)
    return {version: n for version, n in sorted(found.items()) if n}


def mark_staleness(
    rows: Sequence[Row], episodes: Sequence[Episode], train_version: int
) -> list[Row]:
    """Return the rows with the staleness of each sampled token, 0 elsewhere."""
    return [
        replace(
            row,
            staleness=[
                0
                if turn < 0 or row.demonstration
                else staleness(train_version, episodes[row.trajectory].turns[turn].policy_version)
                for turn in row.turn
            ],
        )
        for row in rows
    ]


def check_correction(config: Config) -> str | None:
    """Return a warning if tokens may be older than one version and the loss takes no account of it."""
    train, algorithm = config.train, config.algorithm
    corrected = algorithm.policy_loss.anchored or algorithm.correction.level is not None
    if train.mode != "async" or train.max_staleness < 2 or corrected:
        return None
    return (
        f"tokens may be {train.max_staleness} updates old, and loss {algorithm.loss_name} clips around the policy "
        'that sampled them; set algorithm.loss = "decoupled", algorithm.correction.level = "token", or '
        "train.max_staleness = 1"
    )
