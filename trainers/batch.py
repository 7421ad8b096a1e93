"""Builds training rows from episodes: ids and masks as sampled, credit per token."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, repeat
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor

from verigym.agents.rows import token_rows
from verigym.episode import Episode
from verigym.trainers.config import AlgorithmSection
from verigym.trainers.credit.anchors import anchor_repair
from verigym.trainers.credit.samples import Credit, Samples
from verigym.trainers.credit.segments import Floats
from verigym.trainers.reading import split
from verigym.trainers.subgoals import opens_subgoal, token_kinds


class TurnCredit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Credit of one turn. `step_group_size` is 0 if states are not compared; `tokens` is the advantage of
    each sampled token if they differ, else None. `targets` are those of a critic, [tokens][heads]."""

    episode_advantage: float
    step_advantage: float
    advantage: float
    step_group_size: int
    tokens: list[float] | None = None
    targets: list[list[float]] | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One training sequence. All lists are [L]; those of numbers are 0 off sampled tokens.

    `turn` is the index in the episode of the turn that sampled the token, -1 elsewhere; `trajectory`
    numbers the episode in its batch. `logprobs` are the sampler's, `old` those of the policy at the start
    of the update, `weight` corrects from one to the other (None for 1), and `dropped` marks tokens
    without a policy term (None for none).
    `values` [L][K] are those of a critic's K heads before each token, and `targets` [L][K] what they are
    to become, NaN where a head learns nothing; None without a critic. `demonstration` marks a row that
    the policy did not sample. `teacher` are ids that the teacher of self-distillation reads before the
    row's own, None if it has none. `answer` is the place from which the row's only turn sampled all tokens to the end, 0
    if there are others. `staleness` is the number of updates since a token was sampled, None if it
    does not matter.
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
    values: list[list[float]] | None = None
    targets: list[list[float]] | None = None
    demonstration: bool = False
    teacher: list[int] | None = None
    staleness: list[int] | None = None
    answer: int = 0


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
            answer=row.answer,
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
    decode: Callable[[Sequence[int]], str] | None = None,
    rewards: Sequence[Sequence[float]] | None = None,
    continued: Mapping[tuple[int, int], float] | None = None,
    tax: Sequence[Sequence[float]] = (),
) -> list[list[TurnCredit]]:
    """Return the credit of each turn of each episode. Faulted episodes get 0 and are not counted.

    `rows` and their `statistics` are for estimators that read tokens, the rows' `values` for those with a
    critic, and `decode`, ids to text, for those that tell subgoals from actions. `rewards` of each turn of
    each episode take the place of the recorded ones. `continued` maps the number of an episode and of a turn to
    the mean return of continuations from the state before it. `tax` of each token of each row is taken off the
    reward of its turn.
    """
    out: list[list[TurnCredit]] = [[] for _ in episodes]
    played = [number for number, episode in enumerate(episodes) if episode.turns]
    if not played:
        return out
    samples = _columns(episodes, played, algorithm, rows, statistics, decode, rewards)
    if tax:
        taken = _by_turn(episodes, played, rows, tax)
        left = samples.reward - np.array([line.sum() for line in taken], dtype=np.float64)
        samples = replace(samples, reward=left, tax=taken)
    if continued is not None:
        found = [
            continued.get((n, t), np.nan) for n in played for t in range(len(episodes[n].turns))
        ]
        samples = replace(samples, continued=np.array(found, dtype=np.float64))
    credit: Credit = algorithm.estimator.estimate(samples, algorithm.estimator_options)
    columns = zip(
        credit.episode.tolist(),
        credit.step.tolist(),
        credit.advantage.tolist(),
        credit.visits.tolist(),
        credit.tokens or repeat(None),
        credit.targets or repeat(None),
        strict=False,  # repeat() has no end
    )
    earned = [
        TurnCredit(
            episode_advantage=episode,
            step_advantage=step,
            advantage=advantage,
            step_group_size=visits,
            tokens=None if tokens is None else tokens.tolist(),
            targets=None if targets is None else targets.tolist(),
        )
        for episode, step, advantage, visits, tokens, targets in columns
    ]
    done = 0
    for number in played:
        out[number] = earned[done : done + len(episodes[number].turns)]
        done += len(out[number])
    return out


def _columns(
    episodes: Sequence[Episode],
    played: Sequence[int],
    algorithm: AlgorithmSection,
    rows: Sequence[Row],
    statistics: TokenStatistics | None,
    decode: Callable[[Sequence[int]], str] | None,
    rewards: Sequence[Sequence[float]] | None,
) -> Samples:
    mine = [episodes[number] for number in played]
    turns = [turn for episode in mine for turn in episode.turns]
    length = [len(episode.turns) for episode in mine]
    judged = [turn.verdict for turn in turns]
    last = [episode.verdict for episode in mine]
    if rewards is None:
        paid = [turn.reward for turn in turns]
    else:
        paid = [reward for number in played for reward in rewards[number]]
    subgoals = algorithm.estimator.reads_subgoals
    samples = Samples(
        group=[name for e, n in zip(mine, length, strict=True) for name in [e.group_id] * n],
        trajectory=np.repeat(np.arange(len(mine)), length),
        anchor=[key for episode in mine for key in _anchors(episode, algorithm)],
        reward=np.array(paid, dtype=np.float64),
        invalid=np.array([not turn.valid_action for turn in turns], dtype=np.float64),
        penalty=algorithm.invalid_penalty,
        valid=np.repeat([episode.status != "fault" for episode in mine], length),
        tokens=np.array([sum(turn.mask) for turn in turns], dtype=np.intp),
        score=[None if verdict is None else verdict.score for verdict in judged],
        parts=[{} if verdict is None else dict(verdict.parts) for verdict in last],
        cut=np.array([episode.status == "truncated" for episode in mine], dtype=np.bool_),
        opens=[subgoals and opens_subgoal(turn.response) for turn in turns],
    )
    if heads := len(algorithm.estimator.heads):
        lines = [row.values or [] for row in rows]
        by_turn = _by_turn(episodes, played, rows, lines, [0.0] * heads)
        samples = replace(samples, values=[line.reshape(-1, heads) for line in by_turn])
    if decode is not None and algorithm.estimator.reads_subgoals:
        sampled = [
            [token for token, on in zip(turn.response_ids, turn.mask, strict=True) if on]
            for turn in turns
        ]
        samples = replace(samples, kinds=[token_kinds(ids, decode) for ids in sampled])
    if statistics is None:
        return samples
    return replace(
        samples,
        logp=_by_turn(episodes, played, rows, statistics.logprobs),
        sum_pi_sq=_by_turn(episodes, played, rows, statistics.sum_pi_sq),
    )


def _anchors(episode: Episode, algorithm: AlgorithmSection) -> list[str]:
    if algorithm.anchors == "state":
        return [turn.state_key for turn in episode.turns]
    seen = [turn.observation for turn in episode.turns]
    return anchor_repair(seen) if algorithm.anchors == "repaired" else seen


def _by_turn(
    episodes: Sequence[Episode],
    played: Sequence[int],
    rows: Sequence[Row],
    values: Sequence[Sequence[Any]],
    empty: Any = 0.0,
) -> list[Floats]:
    """Return one array per turn over its sampled tokens; `empty` for episodes without rows."""
    found: dict[tuple[int, int], list[Any]] = {}
    for row, line in zip(rows, values, strict=True):
        for turn, value in zip(row.turn, line, strict=True):
            if turn >= 0:
                found.setdefault((row.trajectory, turn), []).append(value)
    return [
        np.array(found.get((number, t)) or [empty] * sum(turn.mask), dtype=np.float64)
        for number in played
        for t, turn in enumerate(episodes[number].turns)
    ]


def give_credit(rows: Sequence[Row], credit: Sequence[Sequence[TurnCredit]]) -> list[Row]:
    """Write the advantage of each token into the rows, and return them, with a critic's targets if it has any."""
    return [_credited(row, credit[row.trajectory]) for row in rows]


def _credited(row: Row, earned: Sequence[TurnCredit]) -> Row:
    # In place: there are thousands of rows, and copies of them would cost most of what credit costs.
    advantage, turns = row.advantage, row.turn
    if (first := row.answer) and not row.values and (own := earned[turns[-1]]).tokens is None:
        # A step row, as most are: its one answer ends it.
        advantage[first:] = [own.advantage] * (len(advantage) - first)
        return row
    sampled = bytes(row.mask)
    heads = len(row.values[0]) if row.values else 0
    targets = [[float("nan")] * heads] * len(row.ids)
    place: dict[int, int] = {}
    for i in compress(range(len(sampled)), sampled):
        turn = turns[i]
        own, at = earned[turn], place.get(turn, 0)
        advantage[i] = own.advantage if own.tokens is None else own.tokens[at]
        if own.targets is not None:
            targets[i] = own.targets[at]
        place[turn] = at + 1
    return replace(row, targets=targets) if heads else row


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows as tensors, padded on the right; B rows, T tokens.

    All refer to the token at the same place in `ids_BT`. The first token of a row is never trained, since
    nothing precedes it. `weight_BT` is None if no row has one; `dropped_BT` is True on tokens without a
    policy term.
    """

    ids_BT: Tensor
    mask_BT: Tensor
    rollout_BT: Tensor
    old_BT: Tensor
    advantage_BT: Tensor
    dropped_BT: Tensor
    weight_BT: Tensor | None
    trajectory_B: Tensor
    demonstration_B: Tensor
    staleness_BT: Tensor | None = None

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
            demonstration_B=torch.tensor([row.demonstration for row in rows], device=device),
            staleness_BT=None
            if all(row.staleness is None for row in rows)
            else pad([row.staleness or [0] * len(row.ids) for row in rows], 0, torch.long),
        )


def microbatches(
    rows: Sequence[Row], max_tokens: int | None, device: torch.device, *, tree: bool
) -> list[list[Row]]:
    """Return the rows of each micro-batch; see `reading.split`."""
    parts = split([row.ids for row in rows], max_tokens, device, tree=tree)
    return [[rows[i] for i in part] for part in parts]
