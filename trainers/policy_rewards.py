"""Rewards that come from the policy itself: its entropy, its confidence, its likelihood of the reference.

One function for each name of `reward.policy.name`, all with one signature: episodes and the policy in, one number
for each episode out. What each can be fooled by stands in docs/rewards.md. None of them knows if an answer
is true, save `calibration`, which asks the verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from verigym.agents.plan import Plan
from verigym.episode import Episode
from verigym.reply import scope
from verigym.trainers.batch import Row, make_rows
from verigym.trainers.credit.segments import Floats
from verigym.trainers.warmup import oracle_plans


class ValueReader(Protocol):
    """The trainer's engine: values at each token of each row, 0 off the mask, in nats."""

    def logprobs(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return log-probabilities."""

    def entropies(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return entropies of the distributions that the tokens were drawn from."""


@dataclass(frozen=True, kw_only=True)
class PlayedBatch:
    """M episodes without faults, and the policy. `references` [M] are the oracle's last replies to the same
    tasks, None if it has none; they are played only if they are asked for."""

    episodes: Sequence[Episode]
    engine: ValueReader
    encode: Callable[[str], list[int]]
    references: Callable[[], list[str | None]]


def entropy(read: PlayedBatch) -> Floats:
    """Return minus the sum of the entropies of all sampled tokens, [M].

    Source: EM-RL, arXiv 2505.15134 (its reward per token).
    """
    return -_per_episode(read, read.engine.entropies)[0]


def confidence(read: PlayedBatch) -> Floats:
    """Return minus the mean entropy of the sampled tokens, [M].

    Source: RENT, arXiv 2505.22660.
    """
    total, count = _per_episode(read, read.engine.entropies)
    return -total / np.maximum(count, 1)


def likelihood(read: PlayedBatch) -> Floats:
    """Return the log-probability of all sampled tokens, [M].

    Source: EM-RL, arXiv 2505.15134 (its reward per sequence).
    """
    return np.array(
        [
            sum(
                p
                for turn in episode.turns
                for p, on in zip(turn.logprobs, turn.mask, strict=True)
                if on
            )
            for episode in read.episodes
        ],
        dtype=np.float64,
    )


def reference_likelihood(read: PlayedBatch) -> Floats:
    """Return the gain in mean probability of the reference's tokens by what the last reply says before its answer, [M].

    clip(p(z) - p(), 0, 1), p(z) = mean over tokens of pi(y*_i | prompt, z, y*_<i): z is the reply up to its
    answer, y* the oracle's answer in its place. 0 without a reference, or if nothing precedes the answer.
    Source: RLPR, arXiv 2506.18254; its filter by deviation is `sampling.dynamic_batches`.
    """
    rows, places = [], []
    for i, (episode, reference) in enumerate(zip(read.episodes, read.references(), strict=True)):
        last = episode.turns[-1]
        before = reasoning(last.response)
        answer = read.encode(scope(reference).strip()) if reference else []
        if before and answer and last.prompt_ids:
            rows += [
                _row([*last.prompt_ids, *read.encode(before)], answer),
                _row(last.prompt_ids, answer),
            ]
            places.append(i)
    out = np.zeros(len(read.episodes))
    found = [
        float(np.mean(np.exp([p for p, on in zip(line, row.mask, strict=True) if on])))
        for row, line in zip(rows, read.engine.logprobs(rows) if rows else [], strict=True)
    ]
    for place, told, blind in zip(places, found[::2], found[1::2], strict=True):
        out[place] = min(1.0, max(0.0, told - blind))
    return out


def calibration(read: PlayedBatch) -> Floats:
    """Return minus the squared distance of the stated confidence from success, [M]: -(q - correct)^2.

    q is the number in the last reply's last `<confidence>` tag, from 0 to 1, or in percent; without one
    the reward is -1. Added to the environment's reward this is RLCR, arXiv 2507.16806.
    """
    out = []
    for episode in read.episodes:
        q = stated_confidence(episode.turns[-1].response)
        out.append(-1.0 if q is None else -((q - float(episode.success)) ** 2))
    return np.array(out, dtype=np.float64)


POLICY_REWARDS: dict[str, Callable[[PlayedBatch], Floats]] = {
    "entropy": entropy,
    "confidence": confidence,
    "likelihood": likelihood,
    "reference-likelihood": reference_likelihood,
    "calibration": calibration,
}

_CONFIDENCE = re.compile(r"<confidence>\s*(\d+(?:\.\d+)?|\.\d+)\s*(%?)\s*</confidence>", re.I)


def stated_confidence(reply: str) -> float | None:
    """Return the confidence that a reply states, in [0, 1]; None if it states none, or an impossible one."""
    found = _CONFIDENCE.findall(reply)
    if not found:
        return None
    number, percent = found[-1]
    q = float(number) / (100 if percent else 1)
    return q if q <= 1 else None


def reasoning(reply: str) -> str:
    """Return the part of a reply before its answer, its opening tag included; "" if nothing precedes it."""
    answer = scope(reply).strip()
    return reply[: reply.rfind(answer)] if answer else reply


def last_replies(
    plans: Sequence[Plan],
    episodes: Sequence[Episode],
    play_oracle: Callable[[Sequence[Plan]], list[Episode]],
) -> list[str | None]:
    """Return the oracle's last reply to the task of each episode, [M]; None if it did not solve it."""
    chosen = oracle_plans(plans)
    found = {
        shown.group_id: shown.turns[-1].response for shown in play_oracle(chosen) if shown.success
    }
    return [found.get(episode.group_id) for episode in episodes]


def _row(before: Sequence[int], answer: Sequence[int]) -> Row:
    n, m = len(before), len(answer)
    zeros = [0.0] * (n + m)
    return Row(
        ids=[*before, *answer],
        mask=[0] * n + [1] * m,
        logprobs=zeros,
        turn=[-1] * n + [0] * m,
        trajectory=0,
        advantage=zeros,
        old=zeros,
    )


def _per_episode(
    read: PlayedBatch, values: Callable[[Sequence[Row]], list[list[float]]]
) -> tuple[Floats, Floats]:
    """Return sum and number of `values` at the sampled tokens of each episode, [M] both."""
    rows = make_rows(read.episodes)
    total, count = np.zeros(len(read.episodes)), np.zeros(len(read.episodes))
    for row, line in zip(rows, values(rows) if rows else [], strict=True):
        total[row.trajectory] += sum(v for v, on in zip(line, row.mask, strict=True) if on)
        count[row.trajectory] += sum(row.mask)
    return total, count
