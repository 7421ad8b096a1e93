"""Metrics of one training step, as plain numbers for the run folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verigym.agents.prefix_tree import count_distinct
from verigym.agents.record import summarise
from verigym.agents.rows import token_rows
from verigym.envs.audit.planted import HACKED
from verigym.episode import Episode
from verigym.trainers.batch import TurnCredit
from verigym.trainers.critic import CriticStats
from verigym.trainers.learner import StepStats


def total(episodes: Sequence[Episode], field: str) -> float:
    """Sum of one timing over all turns, in seconds."""
    return float(sum(getattr(turn, field) for episode in episodes for turn in episode.turns))


def by_difficulty(found: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the episodes and success rate for each difficulty."""
    return {
        name: {"n": part["episodes"], "success_rate": part["success_rate"]}
        for name, part in found["by_difficulty"].items()
    }


def outcome(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Return summary statistics of the episodes' outcomes."""
    found = summarise(episodes)
    return {
        "episodes": len(episodes),
        "success_rate": found["success_rate"],
        "return_mean": found["mean_return"],
        "turns_mean": found["turns_mean"],
        "faults": found["faults_by_cause"],
        "by_difficulty": by_difficulty(found),
    }


def hacks(episodes: Sequence[Episode]) -> dict[str, float]:
    """Return the share of episodes that used a planted loophole; nothing if none is planted (docs/audit.md)."""
    last = [
        episode.turns[-1].verdict
        for episode in episodes
        if episode.status != "fault" and episode.turns
    ]
    marked = [
        verdict.parts[HACKED] for verdict in last if verdict is not None and HACKED in verdict.parts
    ]
    return {"hack_rate": float(np.mean(marked))} if marked else {}


def signal(episodes: Sequence[Episode], credit: Sequence[Sequence[TurnCredit]]) -> dict[str, Any]:
    """Return the groups that teach nothing, and how many visits the states had that were compared."""
    teaches: dict[str, bool] = {}
    rows_in: Counter[int] = Counter()
    for episode, earned in zip(episodes, credit, strict=True):
        found = any(turn.advantage != 0.0 for turn in earned)
        teaches[episode.group_id] = teaches.get(episode.group_id, False) or found
        rows_in.update(turn.step_group_size for turn in earned if turn.step_group_size)
    return {
        "groups": len(teaches),
        "groups_without_signal": sum(not taught for taught in teaches.values()),
        # `size` rows share a group, so rows over size is the number of groups.
        "step_group_sizes": {str(size): n // size for size, n in sorted(rows_in.items())},
    }


def generation_tokens(episodes: Sequence[Episode], computed: int) -> dict[str, int]:
    """Return the number of tokens that the policy computed to play `episodes`, and of those that follow different
    beginnings. The last token of a row is sampled, but not read."""
    rows = [row.ids[:-1] for episode in episodes for row in token_rows(episode.turns)]
    return {
        "generation_tokens_computed": computed,
        "generation_tokens_distinct": count_distinct(rows),
    }


def optimisation(stats: Sequence[StepStats]) -> dict[str, Any]:
    """Return the means over the optimiser steps, weighed by their tokens; counts alone where there was none."""
    if not stats:
        return {"optimizer_steps": 0, "n_tokens": 0}
    weights = [s.n_tokens for s in stats]
    return {
        "optimizer_steps": len(stats),
        "n_tokens": sum(weights),
        "tokens_computed": sum(s.computed for s in stats),
        "tokens_distinct": sum(s.distinct for s in stats),
        "grad_norm": float(np.mean([s.grad_norm for s in stats])),
        **{
            name: float(np.average([getattr(s, name) for s in stats], weights=weights))
            for name in ("loss", "kl", "clip_share", "entropy")
        },
    }


def values(stats: Sequence[CriticStats]) -> dict[str, float]:
    """Return means over the critic's optimiser steps; nothing without a critic."""
    if not stats:
        return {}
    return {
        "value_loss": float(np.mean([s.loss for s in stats])),
        "value_explained": float(np.mean([s.explained for s in stats])),
        "value_grad_norm": float(np.mean([s.grad_norm for s in stats])),
    }
