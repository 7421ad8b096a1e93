"""Builds training rows from episodes: ids and masks as sampled, credit per token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from verigym.agents.rows import token_rows
from verigym.episode import Episode
from verigym.trainers.config import AlgorithmSection
from verigym.trainers.credit.samples import Credit, Samples
from verigym.trainers.credit.segments import Floats


@dataclass(frozen=True, kw_only=True)
class TurnCredit:
    """Credit of one turn. `step_group_size` is 0 if states are not compared; `tokens` is the advantage of
    each sampled token if they differ, else None."""

    episode_advantage: float
    step_advantage: float
    advantage: float
    step_group_size: int
    tokens: list[float] | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One training sequence. All lists are [L]; those of numbers are 0 off sampled tokens.

    `turn` is the index in the episode of the turn that sampled the token, -1 elsewhere; `trajectory`
    numbers the episode in its batch. `logprobs` are the sampler's, `old` those of the policy at the start
    of the update, `weight` corrects from one to the other (None for 1), and `dropped` marks tokens
    without a policy term (None for none).
    """

    ids: list[int]
    mask: list[int]
    logprobs: list[float]
    turn: list[int]
    trajectory: int
    advantage: list[float]
    old: list[float]
    weight: list[float] | None = None
    dropped: list[bool] | None = None


def make_rows(episodes: Sequence[Episode]) -> list[Row]:
    """Return training rows in order, without credit; faulted episodes give none."""
    return [
        Row(
            ids=row.ids,
            mask=row.mask,
            logprobs=row.logprobs,
            turn=row.turn,
            trajectory=number,
            advantage=[0.0] * len(row.ids),
            old=row.logprobs,
        )
        for number, episode in enumerate(episodes)
        if episode.status != "fault"
        for row in token_rows(episode.turns)
    ]


@dataclass(frozen=True)
class TokenStatistics:
    """Log-probability and sum of squared probabilities at each token of each row; 0 off the mask."""

    logprobs: list[list[float]]
    sum_pi_sq: list[list[float]]


def assign_credit(
    episodes: Sequence[Episode],
    algorithm: AlgorithmSection,
    rows: Sequence[Row] = (),
    statistics: TokenStatistics | None = None,
) -> list[list[TurnCredit]]:
    """Return the credit of each turn of each episode. Faulted episodes get 0 and are not counted.

    `rows` and their `statistics` are for estimators that read tokens.
    """
    out: list[list[TurnCredit]] = [[] for _ in episodes]
    played = [number for number, episode in enumerate(episodes) if episode.turns]
    if not played:
        return out
    samples = _columns(episodes, played, algorithm, rows, statistics)
    credit: Credit = algorithm.estimator.estimate(samples, algorithm.estimator_options)
    for i, trajectory in enumerate(samples.trajectory.tolist()):
        tokens = None if credit.tokens is None else credit.tokens[i].tolist()
        out[played[trajectory]].append(
            TurnCredit(
                episode_advantage=float(credit.episode[i]),
                step_advantage=float(credit.step[i]),
                advantage=float(credit.advantage[i]),
                step_group_size=int(credit.visits[i]),
                tokens=tokens,
            )
        )
    return out


def _columns(
    episodes: Sequence[Episode],
    played: Sequence[int],
    algorithm: AlgorithmSection,
    rows: Sequence[Row],
    statistics: TokenStatistics | None,
) -> Samples:
    where = [(m, turn) for m, number in enumerate(played) for turn in episodes[number].turns]
    turns = [turn for _, turn in where]
    mine = [episodes[played[m]] for m, _ in where]
    judged = [turn.verdict for turn in turns]
    last = [episodes[number].verdict for number in played]
    samples = Samples(
        group=[episode.group_id for episode in mine],
        trajectory=np.array([m for m, _ in where], dtype=np.intp),
        anchor=[turn.state_key for turn in turns],
        reward=np.array([turn.reward for turn in turns], dtype=np.float64),
        invalid=np.array([not turn.valid_action for turn in turns], dtype=np.float64),
        penalty=algorithm.invalid_penalty,
        valid=np.array([episode.status != "fault" for episode in mine], dtype=np.bool_),
        tokens=np.array([sum(turn.mask) for turn in turns], dtype=np.intp),
        score=[None if verdict is None else verdict.score for verdict in judged],
        parts=[{} if verdict is None else dict(verdict.parts) for verdict in last],
    )
    if statistics is None:
        return samples
    return replace(
        samples,
        logp=_by_turn(episodes, played, rows, statistics.logprobs),
        sum_pi_sq=_by_turn(episodes, played, rows, statistics.sum_pi_sq),
    )


def _by_turn(
    episodes: Sequence[Episode],
    played: Sequence[int],
    rows: Sequence[Row],
    values: Sequence[Sequence[float]],
) -> list[Floats]:
    """Return one array per turn over its sampled tokens; 0 for episodes without rows."""
    found: dict[tuple[int, int], list[float]] = {}
    for row, line in zip(rows, values, strict=True):
        for turn, value in zip(row.turn, line, strict=True):
            if turn >= 0:
                found.setdefault((row.trajectory, turn), []).append(value)
    return [
        np.array(found.get((number, t)) or [0.0] * sum(turn.mask), dtype=np.float64)
        for number in played
        for t, turn in enumerate(episodes[number].turns)
    ]


def give_credit(rows: Sequence[Row], credit: Sequence[Sequence[TurnCredit]]) -> list[Row]:
    """Return the rows with the advantage of each token."""
    return [replace(row, advantage=_advantages(row, credit[row.trajectory])) for row in rows]


def _advantages(row: Row, earned: Sequence[TurnCredit]) -> list[float]:
    out, place = [], dict.fromkeys(row.turn, 0)
    for turn in row.turn:
        if turn < 0:
            out.append(0.0)
            continue
        tokens = earned[turn].tokens
        out.append(earned[turn].advantage if tokens is None else tokens[place[turn]])
        place[turn] += 1
    return out


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows as tensors, padded on the right; B rows, T tokens.

    All but `attention_BT` refer to the token at the same place in `ids_BT`. The first token of a row is
    never trained, since nothing precedes it. `weight_BT` is None if no row has one; `dropped_BT` is
    True on tokens without a policy term.
    """

    ids_BT: Tensor
    attention_BT: Tensor
    mask_BT: Tensor
    rollout_BT: Tensor
    old_BT: Tensor
    advantage_BT: Tensor
    dropped_BT: Tensor
    weight_BT: Tensor | None
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
            rollout_BT=pad([row.logprobs for row in rows], 0.0, torch.float32),
            old_BT=pad([row.old for row in rows], 0.0, torch.float32),
            advantage_BT=pad([row.advantage for row in rows], 0.0, torch.float32),
            dropped_BT=pad(
                [[int(d) for d in row.dropped or [False] * len(row.ids)] for row in rows],
                0,
                torch.bool,
            ),
            weight_BT=None
            if all(row.weight is None for row in rows)
            else pad([row.weight or [1.0] * len(row.ids) for row in rows], 1.0, torch.float32),
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
