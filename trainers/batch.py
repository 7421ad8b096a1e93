"""Builds training rows from episodes: credit per turn, ids and masks as sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from verigym.agents.rows import token_rows
from verigym.episode import Episode
from verigym.trainers.config import AlgorithmSection
from verigym.trainers.credit.gigpo import GigpoCredit, gigpo
from verigym.trainers.credit.grpo import grpo


@dataclass(frozen=True, kw_only=True)
class TurnCredit:
    """Credit of one turn. `step_group_size` is 0 if states are not compared."""

    episode_advantage: float
    step_advantage: float
    advantage: float
    step_group_size: int


@dataclass(frozen=True, kw_only=True)
class Row:
    """One training sequence. All lists are [L]; `advantage` and `mask` are 0 off sampled tokens.

    `trajectory` numbers the episode in its batch.
    """

    ids: list[int]
    mask: list[int]
    logprobs: list[float]
    advantage: list[float]
    trajectory: int


def assign_credit(
    episodes: Sequence[Episode], algorithm: AlgorithmSection
) -> list[list[TurnCredit]]:
    """Return the credit of each turn of each episode. Faulted episodes get none and are not counted."""
    where = [(e, t) for e, episode in enumerate(episodes) for t in range(len(episode.turns))]
    turns = [episodes[e].turns[t] for e, t in where]
    group = [episodes[e].group_id for e, _ in where]
    trajectory = [e for e, _ in where]
    reward = np.array([turn.reward for turn in turns], dtype=float)
    invalid = np.array([not turn.valid_action for turn in turns], dtype=float)
    valid = np.array([episodes[e].status != "fault" for e, _ in where], dtype=bool)
    sizes = np.zeros(len(turns), dtype=int)
    if algorithm.name == "gigpo":
        found = gigpo(
            group,
            trajectory,
            [turn.state_key for turn in turns],
            reward,
            invalid=invalid,
            norm=algorithm.norm,
            semantics=algorithm.semantics,
            gamma=algorithm.gamma,
            omega=algorithm.omega,
            penalty=algorithm.invalid_penalty,
            valid=valid,
        )
        sizes = _sizes_of(found)
        episode_advantage, step_advantage = found.episode_advantage, found.step_advantage
        advantage = found.advantage
    else:
        plain = grpo(
            group,
            trajectory,
            reward,
            invalid=invalid,
            norm=algorithm.norm,
            semantics=algorithm.semantics,
            penalty=algorithm.invalid_penalty,
            valid=valid,
        )
        episode_advantage, advantage = plain.episode_advantage, plain.advantage
        step_advantage = np.zeros(len(turns))
    credit: list[list[TurnCredit]] = [[] for _ in episodes]
    for i, (e, _) in enumerate(where):
        credit[e].append(
            TurnCredit(
                episode_advantage=float(episode_advantage[i]),
                step_advantage=float(step_advantage[i]),
                advantage=float(advantage[i]),
                step_group_size=int(sizes[i]),
            )
        )
    return credit


def _sizes_of(credit: GigpoCredit) -> np.ndarray:
    inside = credit.step_group >= 0
    sizes = np.zeros(len(credit.step_group), dtype=int)
    sizes[inside] = credit.group_sizes()[credit.step_group[inside]]
    return sizes


def make_rows(episodes: Sequence[Episode], credit: Sequence[Sequence[TurnCredit]]) -> list[Row]:
    """Return training rows in order, with the turns' own ids; faulted episodes give none."""
    rows = []
    for number, (episode, earned) in enumerate(zip(episodes, credit, strict=True)):
        if episode.status == "fault":
            continue
        for row in token_rows(episode.turns):
            advantage = [earned[t].advantage if t >= 0 else 0.0 for t in row.turn]
            rows.append(
                Row(
                    ids=row.ids,
                    mask=row.mask,
                    logprobs=row.logprobs,
                    advantage=advantage,
                    trajectory=number,
                )
            )
    return rows


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows as tensors, padded on the right; B rows, T tokens.

    `mask_BT`, `old_logp_BT` and `advantage_BT` refer to the token at the same place in `ids_BT`.
    The first token of a row is never trained, since nothing precedes it.
    """

    ids_BT: Tensor
    attention_BT: Tensor
    mask_BT: Tensor
    old_logp_BT: Tensor
    advantage_BT: Tensor
    trajectory_B: Tensor

    @staticmethod
    def of(rows: Sequence[Row], pad_id: int, device: torch.device) -> Batch:
        """Pad `rows` to one length."""
        length = max(len(row.ids) for row in rows)

        def pad(
            values: list[list[int]] | list[list[float]], fill: float, dtype: torch.dtype
        ) -> Tensor:
            full = [[*line, *[fill] * (length - len(line))] for line in values]
            return torch.tensor(full, dtype=dtype, device=device)

        return Batch(
            ids_BT=pad([row.ids for row in rows], pad_id, torch.long),
            attention_BT=pad([[1] * len(row.ids) for row in rows], 0, torch.long),
            mask_BT=pad([[0, *row.mask[1:]] for row in rows], 0, torch.bool),
            old_logp_BT=pad([row.logprobs for row in rows], 0.0, torch.float32),
            advantage_BT=pad([row.advantage for row in rows], 0.0, torch.float32),
            trajectory_B=torch.tensor([row.trajectory for row in rows], device=device),
        )


def microbatches(rows: Sequence[Row], max_tokens: int) -> list[list[Row]]:
    """Split `rows`, in order of length, into parts of at most `max_tokens` padded tokens.

    A longer row is a part of its own. The order changes no gradient: denominators are global.
    """
    parts: list[list[Row]] = []
    for row in sorted(rows, key=lambda row: len(row.ids)):
        if not parts or (len(parts[-1]) + 1) * len(row.ids) > max_tokens:
            parts.append([])
        parts[-1].append(row)
    return parts
