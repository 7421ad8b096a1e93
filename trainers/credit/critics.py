"""Estimators that subtract a learnt value: PPO over tokens or turns, HAE, SPA-RL and StepSearch.

Each reads the critic's values in `Samples.values` and returns what its heads are to learn.
"""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
from pydantic import Field

from verigym.trainers.credit import samples as made
from verigym.trainers.credit.estimator import Estimator, Options
from verigym.trainers.credit.gae import gae, gae_turns
from verigym.trainers.credit.hae import KeepMode, hae
from verigym.trainers.credit.reinforce import whiten
from verigym.trainers.credit.samples import Credit, Samples
from verigym.trainers.credit.segments import Bools, Floats
from verigym.trainers.credit.step_rewards import spa_reward
from verigym.trainers.subgoals import ACTION, SUBGOAL, SWITCH


class PpoCredit(Options):
    """Options of `ppo`."""

    level: Literal["token", "turn"] = "token"
    """Generalised advantages over tokens, or over turns (Turn-PPO, arXiv 2512.17008)."""
    gamma: float | None = Field(default=None, gt=0, le=1)
    """Discount per token or turn; None for 1 over tokens and 0.99 over turns."""
    lam: float | None = Field(default=None, ge=0, le=1)
    """GAE's lambda; None for 1 over tokens and 0.9 over turns."""
    whiten: bool = True
    """Shift and scale the advantages of the batch to mean 0 and variance 1."""


class StepSearch(PpoCredit):
    """Options of `stepsearch`; `gain` and `redundancy` are arguments of the search environments."""

    gain: float = Field(default=0.5, ge=0, le=0.5)
    """Reward, in all, for opening supporting pages for the first time."""
    redundancy: float = Field(default=0.05, ge=0, le=0.05)
    """Cost of a call that was made before."""


class Hae(Options):
    """Options of `hae`."""

    gamma: float = Field(default=1.0, gt=0, le=1)
    lam_turn: float = Field(default=1.0, ge=0, le=1)
    """GAE's lambda inside a subgoal."""
    lam_seg: float = Field(default=0.95, ge=0, le=1)
    """GAE's lambda over subgoals."""
    keep_penalty: float = Field(default=0.0, le=0)
    """Added to the reward of turns that keep their subgoal."""
    keep_mode: KeepMode = "normalized"
    bootstrap_truncated: bool = False
    """End an episode that a limit cut with the critics' last values, not with 0."""
    whiten: bool = True


class Spa(Options):
    """Options of `spa-rl`."""

    alpha: float = Field(default=1.0, ge=0)
    """Weight of a turn's learnt contribution to the return."""
    beta: float = Field(default=0.5, ge=0)
    """Weight of an action that could be carried out."""
    gamma: float = Field(default=1.0, gt=0, le=1)
    lam: float = Field(default=0.95, ge=0, le=1)
    whiten: bool = True


def _scaled(values: Floats, live: Bools, on: bool) -> Floats:
    """Return `values` [N], whitened over the entries of `live` if `on`; 0 elsewhere."""
    if not on or live.sum() < 2:
        return np.where(live, values, 0.0)
    return np.where(live, whiten(values[None], live[None])[0], 0.0)


def _before(s: Samples, head: int) -> Floats:
    """Return the value at the end of each turn's prompt, [N]; 0 for a turn without tokens."""
    return np.array([v[0, head] if len(v) else 0.0 for v in s.values], dtype=np.float64)


def _no_targets(s: Samples) -> list[Floats]:
    return [np.full(v.shape, np.nan) for v in s.values]


def _episodes(s: Samples) -> list[slice]:
    edges = [*s.first.tolist(), len(s.reward)]
    return [slice(a, b) for a, b in itertools.pairwise(edges)]


def _over_turns(s: Samples, reward: Floats, value: Floats, gamma: float, lam: float) -> Floats:
    parts = [gae_turns(reward[e], value[e], gamma=gamma, lam=lam) for e in _episodes(s)]
    return np.concatenate([np.zeros(0), *parts])


def _sampled(s: Samples) -> Bools:
    """Return True for turns that were sampled and count, [N]."""
    return s.valid & (s.tokens > 0)


def _ppo(s: Samples, o: PpoCredit) -> Credit:
    by_turn = o.level == "turn"
    gamma = o.gamma or (0.99 if by_turn else 1.0)
    lam = o.lam if o.lam is not None else (0.9 if by_turn else 1.0)
    if by_turn:
        return _ppo_turns(s, gamma, lam, o.whiten)
    rewards, mask = made.matrix(s, made.last_token_rewards(s))
    values, _ = made.matrix(s, [v[:, 0] for v in s.values])
    live = mask & s.counted[:, None]
    advantage, returns = gae(rewards, values, live, gamma=gamma, lam=lam)
    if o.whiten and live.sum() > 1:
        advantage = whiten(advantage, live)
    learnt = made.split(s, np.where(live, returns, np.nan), mask)
    return made.of_tokens(s, made.split(s, advantage, mask), targets=[t[:, None] for t in learnt])


def _ppo_turns(s: Samples, gamma: float, lam: float, scale: bool) -> Credit:
    value, live = _before(s, 0), _sampled(s)
    advantage = _over_turns(s, s.paid, value, gamma, lam)
    targets = _no_targets(s)
    for i in np.flatnonzero(live).tolist():
        targets[i][0, 0] = advantage[i] + value[i]
    return made.of_turns(s, _scaled(advantage, live, scale), targets=targets)


def _hae(s: Samples, o: Hae) -> Credit:
    last = np.append(s.first[1:], len(s.reward)) - 1
    done = np.zeros(len(s.reward), dtype=np.bool_)
    done[last] = ~s.cut
    found = hae(
        s.trajectory.tolist(),
        s.paid,
        np.array(s.opens, dtype=np.bool_),
        done,
        _before(s, 0),
        _before(s, 1),
        _before(s, 2),
        **o.model_dump(exclude={"whiten"}),
    )
    assert found.adv_term is not None
    assert found.ret_term is not None
    live = _sampled(s)
    starts = np.array(s.opens, dtype=np.bool_)
    starts[s.first] = True
    low = _scaled(found.adv_low, live, o.whiten)
    high = _scaled(found.adv_high, live & starts, o.whiten)
    term = _scaled(found.adv_term, live, o.whiten)
    targets = _no_targets(s)
    for i in np.flatnonzero(live).tolist():
        targets[i][0, 0], targets[i][0, 2] = found.ret_low[i], found.ret_term[i]
        if starts[i]:
            targets[i][0, 1] = found.ret_high[i]
    tokens = []
    for i, n in enumerate(s.tokens.tolist()):
        kind = s.kinds[i] if s.kinds else np.full(n, ACTION)
        by_kind = np.zeros(3)
        by_kind[[ACTION, SUBGOAL, SWITCH]] = low[i], high[i], term[i]
        tokens.append(by_kind[kind])
    return made.of_tokens(s, tokens, targets=targets)


def _spa(s: Samples, o: Spa) -> Credit:
    live = _sampled(s)
    share = np.array([v[-1, 0] if len(v) else 0.0 for v in s.values], dtype=np.float64)
    value = _before(s, 1)
    reward = np.where(live, spa_reward(share, 1.0 - s.invalid, alpha=o.alpha, beta=o.beta), 0.0)
    advantage = _over_turns(s, reward, value, o.gamma, o.lam)
    # The nearest contributions that sum to the return: their squared error has the direction of
    # the gradient of (sum - return)^2, whatever the cut into mini-batches.
    number = np.maximum(s.per_episode(live.astype(np.float64)), 1.0)
    excess = (s.per_episode(share * live) - s.returns) / number
    targets = _no_targets(s)
    for i in np.flatnonzero(live).tolist():
        targets[i][-1, 0] = share[i] - excess[s.trajectory[i]]
        targets[i][0, 1] = advantage[i] + value[i]
    return made.of_turns(s, _scaled(advantage, live, o.whiten), targets=targets)


CRITICS: dict[str, Estimator] = {
    "ppo": Estimator(
        summary="generalised advantages with a critic, over tokens or turns",
        source="arXiv 1707.06347, 1506.02438",
        level="token",
        options=PpoCredit,
        estimate=_ppo,
        heads=("value",),
    ),
    "hae": Estimator(
        summary="critics inside subgoals, over them, and of the decision to change",
        source="arXiv 2602.16165",
        level="token",
        options=Hae,
        estimate=_hae,
        heads=("low", "high", "term"),
        reads_subgoals=True,
    ),
    "spa-rl": Estimator(
        summary="learnt contributions of turns to the return, with a critic",
        source="arXiv 2505.20732",
        level="turn",
        options=Spa,
        estimate=_spa,
        heads=("contribution", "value"),
    ),
    "stepsearch": Estimator(
        summary="rewards for new and against repeated searches, with a critic",
        source="arXiv 2505.15107",
        level="token",
        options=StepSearch,
        estimate=_ppo,
        heads=("value",),
        env_options=("gain", "redundancy"),
    ),
}
