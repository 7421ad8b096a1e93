"""Log-probabilities of recorded episodes under the trainer's own forward pass, for the transcripts."""

from __future__ import annotations

from collections.abc import Sequence

from verigym.episode import Episode
from verigym.trainers.batch import make_rows
from verigym.trainers.engine import Engine


def recompute(
    episodes: Sequence[Episode], engine: Engine
) -> tuple[list[list[list[float]]], list[float]]:
    """Return the log-probability of each token of each turn of each episode, 0 off the mask, and the absolute
    differences to the sampler's on all sampled tokens, with a first 0 for no token."""
    per_episode, gaps = [], [0.0]
    for episode in episodes:
        rows = make_rows([episode])
        found = []
        for row, logprobs in zip(rows, engine.logprobs(rows), strict=True):
            found += [p for p, on in zip(logprobs, row.mask, strict=True) if on]
            gaps += [
                abs(p - q) for p, q, on in zip(logprobs, row.logprobs, row.mask, strict=True) if on
            ]
        tokens = iter(found)
        per_episode.append(
            [[next(tokens) if on else 0.0 for on in turn.mask] for turn in episode.turns]
        )
    return per_episode, gaps
