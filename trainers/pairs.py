"""Pairs of recorded turns to compare: the same task, state and prompt, another response, a better and a worse end.

The worth of a response is the mean of the rewards that followed it, over all episodes that gave it in that state. The
best is paired with the worst, the second best with the second worst, and so on while they differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verigym.episode import Episode, Turn
from verigym.trainers.batch import Row

Pair = tuple[Row, Row]
"""The better response, and the worse one, each behind the same prompt."""


def make_pairs(episodes: Sequence[Episode]) -> list[Pair]:
    """Return the pairs of all states in which responses differ in worth."""
    visits: dict[tuple[object, ...], dict[tuple[int, ...], list[tuple[float, Turn]]]] = {}
    for episode in episodes:
        left = 0.0
        for turn in reversed(episode.turns):
            left += turn.reward
            if not turn.response_ids:
                continue
            state = (episode.env_id, repr(episode.env_kwargs), episode.task_id, turn.state_key)
            said = visits.setdefault((*state, tuple(turn.prompt_ids)), {})
            said.setdefault(tuple(turn.response_ids), []).append((left, turn))
    pairs: list[Pair] = []
    for responses in visits.values():
        worth = [
            (float(np.mean([value for value, _ in found])), found[0][1])
            for found in responses.values()
        ]
        worth.sort(key=lambda one: -one[0])
        for (high, better), (low, worse) in zip(worth, reversed(worth), strict=True):
            if high <= low:
                break
            pairs.append((_row(better, 2 * len(pairs)), _row(worse, 2 * len(pairs) + 1)))
    return pairs


def _row(turn: Turn, number: int) -> Row:
    nothing = [0.0] * (len(turn.prompt_ids) + len(turn.response_ids))
    return Row(
        ids=[*turn.prompt_ids, *turn.response_ids],
        mask=[0] * len(turn.prompt_ids) + list(turn.mask),
        logprobs=nothing,
        turn=[-1] * len(turn.prompt_ids) + [0 if on else -1 for on in turn.mask],
        trajectory=number,
        advantage=nothing,
        old=nothing,
    )
