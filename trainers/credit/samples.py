"""The turns of a batch of episodes as columns, which every estimator reads, and the credit it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from verigym.trainers.credit import segments
from verigym.trainers.credit.segments import Bools, Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Samples:
    """N turns of M episodes, the turns of an episode in order; all lists and arrays are [N] but `parts`.

    `group` names the task instance, `trajectory` numbers the episode 0..M-1, `anchor` is the state key.
    `reward` is the environment's, `invalid` 1 where the action had no effect, `penalty` is to be taken
    off there. `valid` is False on all turns of a faulted episode. `tokens` counts sampled tokens.
    `score` is the verdict's score in that turn, None if nothing was judged. `parts` [M] holds the named
    parts of each episode's last verdict.
    `logp` and `sum_pi_sq`, one array per turn over its sampled tokens, are there for estimators that
    declare `reads_tokens`. `cut` [M] marks episodes that a limit ended. `opens` [N] says if the reply
    of the turn sets a subgoal. `values`, one array [tokens, K] per turn, are a critic's before each
    sampled token, for estimators with `heads`; `kinds` [tokens] tell subgoals from actions
    (`trainers/subgoals.py`), for those that declare `reads_subgoals`. `continued` [N] is the mean return of
    continuations from the state before each turn, NaN where there were none, for those that declare
    `branches`. `tax`, one array per turn over its sampled tokens, has been taken off the turn's reward; empty
    for none.
    """

    group: Sequence[str]
    trajectory: Ints
    anchor: Sequence[str]
    reward: Floats
    invalid: Floats
    penalty: float
    valid: Bools
    tokens: Ints
    score: Sequence[float | None]
    parts: Sequence[Mapping[str, float]]
    cut: Bools
    opens: Sequence[bool]
    logp: Sequence[Floats] = ()
    sum_pi_sq: Sequence[Floats] = ()
    values: Sequence[Floats] = ()
    kinds: Sequence[Ints] = ()
    continued: Floats | None = None
    tax: Sequence[Floats] = ()

    @cached_property
    def paid(self) -> Floats:
        """Reward of each turn less the penalty of an invalid action, [N]; 0 in faulted episodes."""
        return np.where(self.valid, self.reward - self.penalty * self.invalid, 0.0)

    @cached_property
    def first(self) -> Ints:
        """Index of each episode's first turn, [M]. Episodes without turns are not in a batch."""
        return np.flatnonzero(np.diff(self.trajectory, prepend=-1))

    def per_episode(self, values: Floats) -> Floats:
        """Return the sum of `values` [N] over the turns of each episode, [M]."""
        return np.bincount(self.trajectory, values, len(self.first)).astype(np.float64, copy=False)

    @cached_property
    def returns(self) -> Floats:
        """Undiscounted return of each episode, [M], penalties included."""
        return self.per_episode(self.paid)

    @cached_property
    def groups(self) -> list[str]:
        """Group of each episode, [M]."""
        return [self.group[i] for i in self.first.tolist()]

    @cached_property
    def counted(self) -> Bools:
        """False for faulted episodes, [M]."""
        return self.valid[self.first]


@dataclass(frozen=True, eq=False, kw_only=True)
class Credit:
    """Advantage of each turn, [N], and where it comes from.

    `episode` and `step` are the parts relative to the group and to the visits of a state; `visits` is
    the size of the group of states, 0 if states are not compared. `tokens`, one array per turn over its
    sampled tokens, takes the place of `advantage` for estimators that tell tokens of a turn apart.
    `targets`, one array [tokens, K] per turn, are what a critic's heads learn, NaN for nothing.
    """

    advantage: Floats
    episode: Floats
    step: Floats
    visits: Ints
    tokens: Sequence[Floats] | None = None
    targets: Sequence[Floats] | None = None


def of_episodes(samples: Samples, advantage: Floats) -> Credit:
    """Give every turn the advantage of its episode, [M]."""
    spread = advantage[samples.trajectory]
    return Credit(
        advantage=spread,
        episode=spread,
        step=np.zeros(len(spread)),
        visits=np.zeros(len(spread), dtype=np.intp),
    )


def of_turns(
    samples: Samples,
    advantage: Floats,
    *,
    episode: Floats | None = None,
    visits: Ints | None = None,
    targets: Sequence[Floats] | None = None,
) -> Credit:
    """Give each turn its advantage, [N], of which `episode` [N] is the part of the whole episode."""
    base = np.zeros(len(advantage)) if episode is None else episode
    return Credit(
        advantage=advantage,
        episode=base,
        step=advantage - base,
        visits=np.zeros(len(advantage), dtype=np.intp) if visits is None else visits,
        targets=targets,
    )


def of_tokens(
    samples: Samples, tokens: Sequence[Floats], *, targets: Sequence[Floats] | None = None
) -> Credit:
    """Give each token its advantage; a turn's is the mean over its tokens."""
    mean = np.array([t.mean() if len(t) else 0.0 for t in tokens], dtype=np.float64)
    return Credit(
        advantage=mean,
        episode=np.zeros(len(mean)),
        step=mean,
        visits=np.zeros(len(mean), dtype=np.intp),
        tokens=tokens,
        targets=targets,
    )


def matrix(samples: Samples, values: Sequence[Floats]) -> tuple[Floats, Bools]:
    """Return `values`, one array per turn over its sampled tokens, as rows of whole episodes, [M, T].

    The second is the mask of places that exist; T is the most sampled tokens of an episode.
    """
    lengths = samples.per_episode(samples.tokens.astype(np.float64)).astype(np.intp)
    mask = np.arange(lengths.max(initial=0))[None, :] < lengths[:, None]
    out = np.zeros(mask.shape)
    out[mask] = np.concatenate([np.zeros(0), *values])
    return out, mask


def last_token_rewards(samples: Samples) -> list[Floats]:
    """Return the reward of each turn on its last sampled token, and each token's tax on the token itself.

    A turn without tokens is lost.
    """
    out = []
    for i, (n, reward) in enumerate(
        zip(samples.tokens.tolist(), samples.paid.tolist(), strict=True)
    ):
        row = np.zeros(n)
        if n and samples.tax and samples.valid[i]:
            row -= samples.tax[i]
            row[-1] += samples.tax[i].sum()
        if n:
            row[-1] += reward
        out.append(row)
    return out


def split(samples: Samples, rows: Floats, mask: Bools) -> list[Floats]:
    """Undo `matrix`: one array per turn."""
    flat = rows[mask]
    return np.split(flat, np.cumsum(samples.tokens)[:-1])


def visits_of(step_group: Ints) -> Ints:
    """Return the size of each row's step group, 0 where it is -1."""
    inside = step_group >= 0
    out = np.zeros(len(step_group), dtype=np.intp)
    sizes = segments.sizes(step_group[inside], int(step_group.max(initial=-1)) + 1)
    out[inside] = sizes[step_group[inside]]
    return out
