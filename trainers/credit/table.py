"""Every estimator by name: what `algorithm.name` may be, with its options, and the loss it goes with.

The configuration, the training loop, the documentation and the tests read this table and no other.
An entry adapts one function of this folder to `Samples`. Add an estimator by writing its file, its
options and its entry here.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field

from verigym.trainers.credit import samples as made
from verigym.trainers.credit import segments
from verigym.trainers.credit.branch import branch
from verigym.trainers.credit.critics import CRITICS
from verigym.trainers.credit.estimator import Estimator, NoOptions, Options
from verigym.trainers.credit.g2po import g2po
from verigym.trainers.credit.gigpo import gigpo
from verigym.trainers.credit.graphgpo import graphgpo
from verigym.trainers.credit.group import group_advantage, loop_keep, rloo
from verigym.trainers.credit.grpo import grpo
from verigym.trainers.credit.hgpo import hgpo
from verigym.trainers.credit.mt_grpo import mt_grpo_turns
from verigym.trainers.credit.optimal_baseline import optimal_token_baseline
from verigym.trainers.credit.outcome import gdpo, maxrl, opo
from verigym.trainers.credit.pkpo import pkpo, pkpo_groups, pkpo_loo, pkpo_loo_minus_1
from verigym.trainers.credit.reinforce import reinforce_pp, w_reinforce, whiten
from verigym.trainers.credit.samples import Credit, Samples, visits_of
from verigym.trainers.credit.turn_credit import turn_credit

UseFeedback = Literal["never", "always", "fallback"]

Norm = Literal["mean_std", "mean"]
Semantics = Literal["paper", "verl_agent"]


class Grpo(Options):
    """Options of `grpo`."""

    norm: Norm = "mean_std"
    """Divide by the group's deviation, or centre only."""
    semantics: Semantics = "paper"
    """Statistics over episodes, or over step rows as verl-agent's code."""
    eps: float = Field(default=1e-6, gt=0)


class Gigpo(Grpo):
    """Options of `gigpo`."""

    gamma: float = Field(default=0.95, gt=0, le=1)
    """Discount of the returns that visits of a state are compared by."""
    omega: float = Field(default=1.0, ge=0)
    """Weight of the step advantage."""
    similarity: float | None = Field(default=None, gt=0, le=1)
    """Ratio at which two anchors count as one state; None for equal state keys."""


class Hgpo(Grpo):
    """Options of `hgpo`."""

    history: int = Field(default=2, ge=0)
    """Number of earlier states that the longest history holds."""
    alpha: float = Field(default=1.0, ge=0)
    """Level k weighs (k + 1)^alpha."""
    gamma: float = Field(default=0.95, gt=0, le=1)
    base_group: bool = False
    """Add the advantage of the episode as a level of its own."""


class G2po(Grpo):
    """Options of `g2po`."""

    gamma: float = Field(default=0.95, gt=0, le=1)
    omega: float = Field(default=1.0, ge=0)
    success: float = 1.0
    """Return of a solved task."""


class GraphGpo(Grpo):
    """Options of `graphgpo`."""

    decay: float = Field(default=0.1, gt=0, le=1)
    """Factor of a step's value for each step to success."""
    scale: float = Field(default=10.0, gt=0)
    """Value of reaching success."""
    omega: float = Field(default=1.0, ge=0)
    episode_weight: float = Field(default=1.0, ge=0)
    progress: bool = False
    """Value the change of distance instead of the distance."""


class Branch(Options):
    """Options of `branch`; its budget stands in `[algorithm.branch]`."""

    gamma: float = Field(default=1.0, gt=0, le=1)
    """Discount of the returns, those of continuations included."""


class TurnCreditOptions(Options):
    """Options of `turn-credit`."""

    gamma: float = Field(default=0.9, ge=0, le=1)
    """Decay of the credit that a turn hands to earlier ones."""
    beta: float = Field(default=1.0, ge=0)
    """Weight of the differences between turns."""


class MtGrpo(Options):
    """Options of `mt-grpo`."""

    lam: float = Field(default=1.0, ge=0)
    """Weight of the turns' own rewards."""
    gamma: float = Field(default=1.0, ge=0, le=1)
    eps: float = Field(default=1e-4, gt=0)


class Loop(Options):
    """Options of `loop`."""

    threshold: float = Field(default=0.01, ge=0)
    """Episodes with a smaller advantage are not trained on."""


class ReinforcePp(Options):
    """Options of `reinforce++`."""

    gamma: float = Field(default=1.0, gt=0, le=1)
    """Discount per token."""


class ReinforcePpBaseline(Options):
    """Options of `reinforce++-baseline`."""

    per_episode: bool = False
    """Whiten over episodes, so that long ones do not weigh more."""


class Pkpo(Options):
    """Options of `pkpo`."""

    k: int = Field(default=4, ge=1)
    """Number of attempts of which the best counts."""
    baseline: Literal["loo-minus-one", "loo", "none"] = "loo-minus-one"


class WReinforce(Options):
    """Options of `w-reinforce`."""

    lam: float = Field(default=0.1, ge=0)
    """Advantage of a success; a failure has -1."""
    keep: Literal["all", "positive", "negative"] = "all"


class LitePpo(Options):
    """Options of `lite-ppo`."""

    eps: float = Field(default=1e-4, gt=0)


class Gdpo(Options):
    """Options of `gdpo`."""

    weights: dict[str, float] = Field(default_factory=dict)
    """Weight of each named part of the verdict; empty for all parts alike."""
    eps: float = Field(default=1e-4, gt=0)


class OptimalBaseline(Options):
    """Options of `otb`."""

    align: Literal["column", "token"] = "token"
    zero_tail: bool = True


class Sdpo(Options):
    """Options of `sdpo`: what its teacher is shown."""

    threshold: float = 0.5
    """Return from which an attempt is shown to the other members of its group."""
    exclude_self: bool = True
    """Show no episode its own attempt."""
    use_feedback: UseFeedback = "fallback"
    """Show the verdict's reason and evidence: never, always, or if no attempt can be shown."""


def _sdpo(s: Samples, o: Sdpo) -> Credit:
    # The loss compares distributions, so no part of an episode has an advantage.
    return made.of_episodes(s, np.zeros(len(s.first)))


def _grpo(s: Samples, o: Grpo) -> Credit:
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


def _dr_grpo(s: Samples, o: Options) -> Credit:
    return made.of_episodes(s, group_advantage(s.returns, s.groups, norm="mean", valid=s.counted))


def _rloo(s: Samples, o: Options) -> Credit:
    return made.of_episodes(s, rloo(s.returns, s.groups, valid=s.counted))


def _loop(s: Samples, o: Loop) -> Credit:
    advantage = rloo(s.returns, s.groups, valid=s.counted)
    return made.of_episodes(
        s, np.where(loop_keep(advantage, threshold=o.threshold), advantage, 0.0)
    )


def _reinforce_pp(s: Samples, o: ReinforcePp) -> Credit:
    rewards, mask = made.matrix(s, made.last_token_rewards(s))
    live = mask & s.counted[:, None]
    if live.sum() < 2:
        return made.of_episodes(s, np.zeros(len(s.first)))
    advantage, _ = reinforce_pp(rewards, live, gamma=o.gamma)
    return made.of_tokens(s, made.split(s, advantage, mask))


def _reinforce_pp_baseline(s: Samples, o: ReinforcePpBaseline) -> Credit:
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


def _gigpo(s: Samples, o: Gigpo) -> Credit:
    found = gigpo(**_step_rows(s), **o.model_dump())
    return Credit(
        advantage=found.advantage,
        episode=found.episode_advantage,
        step=found.step_advantage,
        visits=visits_of(found.step_group),
    )


def _hgpo(s: Samples, o: Hgpo) -> Credit:
    found = hgpo(**_step_rows(s), **o.model_dump())
    return made.of_turns(s, found.advantage, visits=_visits(s))


def _g2po(s: Samples, o: G2po) -> Credit:
    found = g2po(**_step_rows(s), **o.model_dump())
    return made.of_turns(s, found.advantage, episode=found.episode_advantage, visits=_visits(s))


def _graphgpo(s: Samples, o: GraphGpo) -> Credit:
    found = graphgpo(**_step_rows(s), **o.model_dump())
    return made.of_turns(
        s,
        found.advantage,
        episode=o.episode_weight * found.episode_advantage,
        visits=_visits(s),
    )


def _branch(s: Samples, o: Branch) -> Credit:
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


def _turn_credit(s: Samples, o: TurnCreditOptions) -> Credit:
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


def _mt_grpo(s: Samples, o: MtGrpo) -> Credit:
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


def _pkpo(s: Samples, o: Pkpo) -> Credit:
    advantage = pkpo_groups(s.returns, s.groups, o.k, estimator=_PKPO[o.baseline], valid=s.counted)
    return made.of_episodes(s, advantage)


def _w_reinforce(s: Samples, o: WReinforce) -> Credit:
    solved = s.per_episode(s.reward * s.valid) >= 1.0
    advantage = w_reinforce(solved.astype(np.float64), lam=o.lam, keep=o.keep)
    return made.of_episodes(s, np.where(s.counted, advantage, 0.0))


def _lite_ppo(s: Samples, o: LitePpo) -> Credit:
    return made.of_episodes(
        s, group_advantage(s.returns, s.groups, norm="batch_std", eps=o.eps, valid=s.counted)
    )


def _maxrl(s: Samples, o: Options) -> Credit:
    return made.of_episodes(s, maxrl(s.returns, s.groups, valid=s.counted))


def _opo(s: Samples, o: Options) -> Credit:
    lengths = s.per_episode(s.tokens.astype(np.float64))
    return made.of_episodes(s, opo(s.returns, s.groups, lengths, valid=s.counted))


def _gdpo(s: Samples, o: Gdpo) -> Credit:
    names = sorted(o.weights or {name for parts in s.parts for name in parts})
    if not names:  # the verdicts have no parts, so the return is the only reward
        rows: list[list[float | None]] = [[value] for value in s.returns.tolist()]
        weights = None
    else:
        rows = [[parts.get(name) for name in names] for parts in s.parts]
        weights = [o.weights.get(name, 1.0) for name in names]
    _, _, advantage = gdpo(rows, s.groups, weights=weights, eps=o.eps, valid=s.counted)
    return made.of_episodes(s, advantage)


def _otb(s: Samples, o: OptimalBaseline) -> Credit:
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


ESTIMATORS: dict[str, Estimator] = {
    "grpo": Estimator(
        summary="return relative to the group",
        source="arXiv 2402.03300",
        level="episode",
        options=Grpo,
        estimate=_grpo,
        aggregation="seq-mean-token-mean",
    ),
    "dr-grpo": Estimator(
        summary="return less the group's mean, without a deviation",
        source="arXiv 2503.20783",
        level="episode",
        options=NoOptions,
        estimate=_dr_grpo,
        aggregation="dr-grpo",
    ),
    "rloo": Estimator(
        summary="return less the mean of the others",
        source="arXiv 2402.14740",
        level="episode",
        options=NoOptions,
        estimate=_rloo,
    ),
    "reinforce++": Estimator(
        summary="return to go of each token, whitened over the batch",
        source="arXiv 2501.03262",
        level="token",
        options=ReinforcePp,
        estimate=_reinforce_pp,
    ),
    "reinforce++-baseline": Estimator(
        summary="return less the group's mean, whitened over the batch's tokens",
        source="arXiv 2501.03262",
        level="episode",
        options=ReinforcePpBaseline,
        estimate=_reinforce_pp_baseline,
    ),
    "gigpo": Estimator(
        summary="grpo, and each step among all visits of its state",
        source="arXiv 2505.10978",
        level="turn",
        options=Gigpo,
        estimate=_gigpo,
    ),
    "hgpo": Estimator(
        summary="each step among visits with the same history, of several lengths",
        source="arXiv 2602.22817",
        level="turn",
        options=Hgpo,
        estimate=_hgpo,
    ),
    "g2po": Estimator(
        summary="values of states from all their visits, and the gain of each step",
        source="arXiv 2606.22995",
        level="turn",
        options=G2po,
        estimate=_g2po,
        knows_success=True,
    ),
    "graphgpo": Estimator(
        summary="distance to success in the graph of visited states",
        source="arXiv 2605.26684",
        level="turn",
        options=GraphGpo,
        estimate=_graphgpo,
        knows_success=True,
    ),
    "branch": Estimator(
        summary="gain in value of each stretch, values measured by playing on from states",
        source="ours; arXiv 2410.01679 and 2505.23564",
        level="turn",
        options=Branch,
        estimate=_branch,
        branches=True,
    ),
    "turn-credit": Estimator(
        summary="progress of the verdicts, shared with the turns before",
        source="prime-rl, pull request 3282",
        level="turn",
        options=TurnCreditOptions,
        estimate=_turn_credit,
    ),
    "mt-grpo": Estimator(
        summary="rewards of single turns beside the outcome, each normalised",
        source="arXiv 2505.11821",
        level="turn",
        options=MtGrpo,
        estimate=_mt_grpo,
    ),
    "loop": Estimator(
        summary="rloo without the episodes that teach next to nothing",
        source="arXiv 2502.01600",
        level="episode",
        options=Loop,
        estimate=_loop,
        loss_options={"clip_low": 0.1, "clip_high": 0.1},
        aggregation="trajectory-mean",
    ),
    "pkpo": Estimator(
        summary="the gradient of pass@k, or of the best of k",
        source="arXiv 2505.15201",
        level="episode",
        options=Pkpo,
        estimate=_pkpo,
    ),
    "w-reinforce": Estimator(
        summary="failures weigh more than successes, without a baseline",
        source="arXiv 2506.01347",
        level="episode",
        options=WReinforce,
        estimate=_w_reinforce,
        knows_success=True,
    ),
    "lite-ppo": Estimator(
        summary="return less the group's mean, by the deviation of the batch",
        source="arXiv 2508.08221",
        level="episode",
        options=LitePpo,
        estimate=_lite_ppo,
    ),
    "maxrl": Estimator(
        summary="return relative to the group's mean success",
        source="arXiv 2602.02710",
        level="episode",
        options=NoOptions,
        estimate=_maxrl,
    ),
    "opo": Estimator(
        summary="return less the group's mean by length",
        source="arXiv 2505.23585",
        level="episode",
        options=NoOptions,
        estimate=_opo,
    ),
    "gdpo": Estimator(
        summary="each part of the verdict normalised alone, then their sum",
        source="arXiv 2601.05242",
        level="episode",
        options=Gdpo,
        estimate=_gdpo,
    ),
    "otb": Estimator(
        summary="a baseline of least variance for each token",
        source="arXiv 2602.07078",
        level="token",
        options=OptimalBaseline,
        estimate=_otb,
        reads_tokens=True,
    ),
    "sdpo": Estimator(
        summary="no advantage: the policy, shown a success or feedback, teaches itself",
        source="arXiv 2601.20802",
        level="episode",
        options=Sdpo,
        estimate=_sdpo,
        loss="sdpo",
    ),
    **CRITICS,
}
