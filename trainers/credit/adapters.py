"""Adapters of the estimators to `Samples`: each calls one function of this folder with its options."""

from __future__ import annotations

from typing import Any

import numpy as np

from verigym.trainers.credit import samples as made
from verigym.trainers.credit import segments
from verigym.trainers.credit.branch import branch
from verigym.trainers.credit.estimator import Options
from verigym.trainers.credit.g2po import g2po
from verigym.trainers.credit.gigpo import gigpo
from verigym.trainers.credit.graphgpo import graphgpo
from verigym.trainers.credit.group import group_advantage, loop_keep, rloo
from verigym.trainers.credit.grpo import grpo
from verigym.trainers.credit.hgpo import hgpo
from verigym.trainers.credit.mt_grpo import mt_grpo_turns
from verigym.trainers.credit.optimal_baseline import optimal_token_baseline
from verigym.trainers.credit.options import (
    Branch,
    G2po,
    Gdpo,
    Gigpo,
    GraphGpo,
    Grpo,
    Hgpo,
    LitePpo,
    Loop,
    MtGrpo,
    OptimalBaseline,
    Pkpo,
    ReinforcePp,
    ReinforcePpBaseline,
    Sdpo,
    TurnCreditOptions,
    WReinforce,
)
from verigym.trainers.credit.outcome import gdpo, maxrl, opo
from verigym.trainers.credit.pkpo import pkpo, pkpo_groups, pkpo_loo, pkpo_loo_minus_1
from verigym.trainers.credit.reinforce import reinforce_pp, w_reinforce, whiten
from verigym.trainers.credit.samples import Credit, Samples, visits_of
from verigym.trainers.credit.turn_credit import turn_credit


def estimate_sdpo(s: Samples, o: Sdpo) -> Credit:
    # The loss compares distributions, so no part of an episode has an advantage.
    return made.of_episodes(s, np.zeros(len(s.first)))


def estimate_grpo(s: Samples, o: Grpo) -> Credit:
    found = grpo(
        s.group,
        s.trajectory.tolist(),
        s.reward,
        invalid=s.invalid,
        penalty=s.penalty,
        valid=s.valid,
        **o.model_dump(),
    )
    return made.of_turns(s, found.advantage, episode=found.episode_advantage)


def estimate_dr_grpo(s: Samples, o: Options) -> Credit:
    return made.of_episodes(s, group_advantage(s.returns, s.groups, norm="mean", valid=s.counted))


def estimate_rloo(s: Samples, o: Options) -> Credit:
    return made.of_episodes(s, rloo(s.returns, s.groups, valid=s.counted))


def estimate_loop(s: Samples, o: Loop) -> Credit:
    advantage = rloo(s.returns, s.groups, valid=s.counted)
    return made.of_episodes(
        s, np.where(loop_keep(advantage, threshold=o.threshold), advantage, 0.0)
    )


def estimate_reinforce_pp(s: Samples, o: ReinforcePp) -> Credit:
    rewards, mask = made.matrix(s, made.last_token_rewards(s))
    live = mask & s.counted[:, None]
    if live.sum() < 2:
        return made.of_episodes(s, np.zeros(len(s.first)))
    advantage, _ = reinforce_pp(rewards, live, gamma=o.gamma)
    return made.of_tokens(s, made.split(s, advantage, mask))


def estimate_reinforce_pp_baseline(s: Samples, o: ReinforcePpBaseline) -> Credit:
    centred = group_advantage(s.returns, s.groups, norm="mean", valid=s.counted)
    lengths = s.per_episode(s.tokens.astype(np.float64)).astype(np.intp)
    weight = np.where(s.counted, 1 if o.per_episode else lengths, 0)
    if weight.sum() < 2:
        return made.of_episodes(s, np.zeros(len(centred)))
    # Whitening over tokens that share their episode's value, without writing them all down.
    repeated = np.repeat(centred, weight)
    white = whiten(repeated[None], np.ones((1, len(repeated)), dtype=np.bool_))[0]
    out = np.zeros(len(centred))
    out[weight > 0] = white[np.cumsum(weight)[weight > 0] - 1]
    return made.of_episodes(s, out)


def _step_rows(s: Samples) -> dict[str, Any]:
    """Return the arguments that every estimator of visited states takes."""
    return {
        "group": s.group,
        "trajectory": s.trajectory.tolist(),
        "anchor": s.anchor,
        "reward": s.reward,
        "invalid": s.invalid,
        "penalty": s.penalty,
        "valid": s.valid,
    }


def estimate_gigpo(s: Samples, o: Gigpo) -> Credit:
    found = gigpo(**_step_rows(s), **o.model_dump())
    return Credit(
        advantage=found.advantage,
        episode=found.episode_advantage,
        step=found.step_advantage,
        visits=visits_of(found.step_group),
    )


def estimate_hgpo(s: Samples, o: Hgpo) -> Credit:
    found = hgpo(**_step_rows(s), **o.model_dump())
    return made.of_turns(s, found.advantage, visits=_visits(s))


def estimate_g2po(s: Samples, o: G2po) -> Credit:
    found = g2po(**_step_rows(s), **o.model_dump())
    return made.of_turns(s, found.advantage, episode=found.episode_advantage, visits=_visits(s))


def estimate_graphgpo(s: Samples, o: GraphGpo) -> Credit:
    found = graphgpo(**_step_rows(s), **o.model_dump())
    return made.of_turns(
        s,
        found.advantage,
        episode=o.episode_weight * found.episode_advantage,
        visits=_visits(s),
    )


def estimate_branch(s: Samples, o: Branch) -> Credit:
    value = np.full(len(s.reward), np.nan) if s.continued is None else s.continued
    advantage = branch(
        s.paid, s.trajectory.tolist(), s.groups, value, gamma=o.gamma, valid=s.counted
    )
    return made.of_turns(s, advantage, visits=(~np.isnan(value)).astype(np.intp))


def _visits(s: Samples) -> segments.Ints:
    groups, _ = segments.number(s.group, len(s.group))
    ids, count = segments.number_pairs(groups, s.anchor)
    return np.where(s.valid, segments.sizes(ids[s.valid], count)[ids], 0)


def _by_episode(s: Samples, values: list[Any]) -> list[list[Any]]:
    out: list[list[Any]] = [[] for _ in s.first]
    for trajectory, value in zip(s.trajectory.tolist(), values, strict=True):
        out[trajectory].append(value)
    return out


def estimate_turn_credit(s: Samples, o: TurnCreditOptions) -> Credit:
    found = turn_credit(
        s.returns,
        s.groups,
        _by_episode(s, list(s.score)),
        _by_episode(s, s.tokens.tolist()),
        gamma=o.gamma,
        beta=o.beta,
        valid=s.counted,
    )
    advantage = np.concatenate([np.zeros(0), *found.turn_advantage])
    return made.of_turns(s, advantage, episode=found.level[s.trajectory])


def estimate_mt_grpo(s: Samples, o: MtGrpo) -> Credit:
    last = np.append(s.first[1:], len(s.reward)) - 1
    turn = np.arange(len(s.reward)) - s.first[s.trajectory]
    shape = len(s.first), int(turn.max(initial=-1)) + 1
    rewards, reached = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    reached[s.trajectory, turn] = True
    own = s.paid.copy()
    own[last] = 0.0  # the outcome is not a turn's own
    rewards[s.trajectory, turn] = own
    advantage = mt_grpo_turns(
        s.paid[last], rewards, reached, s.groups, valid=s.counted, **o.model_dump()
    )
    return made.of_turns(s, advantage[s.trajectory, turn])


_PKPO = {"loo-minus-one": pkpo_loo_minus_1, "loo": pkpo_loo, "none": pkpo}


def estimate_pkpo(s: Samples, o: Pkpo) -> Credit:
    advantage = pkpo_groups(s.returns, s.groups, o.k, estimator=_PKPO[o.baseline], valid=s.counted)
    return made.of_episodes(s, advantage)


def estimate_w_reinforce(s: Samples, o: WReinforce) -> Credit:
    solved = s.per_episode(s.reward * s.valid) >= 1.0
    advantage = w_reinforce(solved.astype(np.float64), lam=o.lam, keep=o.keep)
    return made.of_episodes(s, np.where(s.counted, advantage, 0.0))


def estimate_lite_ppo(s: Samples, o: LitePpo) -> Credit:
    return made.of_episodes(
        s, group_advantage(s.returns, s.groups, norm="batch_std", eps=o.eps, valid=s.counted)
    )


def estimate_maxrl(s: Samples, o: Options) -> Credit:
    return made.of_episodes(s, maxrl(s.returns, s.groups, valid=s.counted))


def estimate_opo(s: Samples, o: Options) -> Credit:
    lengths = s.per_episode(s.tokens.astype(np.float64))
    return made.of_episodes(s, opo(s.returns, s.groups, lengths, valid=s.counted))


def estimate_gdpo(s: Samples, o: Gdpo) -> Credit:
    names = sorted(o.weights or {name for parts in s.parts for name in parts})
    if not names:  # the verdicts have no parts, so the return is the only reward
        rows: list[list[float | None]] = [[value] for value in s.returns.tolist()]
        weights = None
    else:
        rows = [[parts.get(name) for name in names] for parts in s.parts]
        weights = [o.weights.get(name, 1.0) for name in names]
    _, _, advantage = gdpo(rows, s.groups, weights=weights, eps=o.eps, valid=s.counted)
    return made.of_episodes(s, advantage)


def estimate_otb(s: Samples, o: OptimalBaseline) -> Credit:
    rewards, mask = made.matrix(s, made.last_token_rewards(s))
    live = mask & s.counted[:, None]
    # Faulted episodes get groups of their own, in which a single member earns 0.
    groups = [
        name if on else f"\0{i}"
        for i, (name, on) in enumerate(zip(s.groups, s.counted, strict=True))
    ]
    found = optimal_token_baseline(
        rewards,
        live,
        groups,
        made.matrix(s, s.logp)[0],
        made.matrix(s, s.sum_pi_sq)[0],
        align=o.align,
        zero_tail=o.zero_tail,
    )
    return made.of_tokens(s, made.split(s, found.advantage, mask))
