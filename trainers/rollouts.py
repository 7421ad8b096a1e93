"""The play of one training step: its groups, and all that is played beside them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from verigym.agents.groups import reward_groups
from verigym.agents.plan import Plan
from verigym.episode import Episode
from verigym.trainers.branching import State
from verigym.trainers.canaries import play_canaries
from verigym.trainers.run_parts import Run
from verigym.trainers.sampling import play_enough
from verigym.trainers.source import Rollouts
from verigym.trainers.tasks import CANARY, TRAIN
from verigym.trainers.warmup import Demonstrator, oracle_plans


@dataclass(frozen=True, kw_only=True)
class DrawnTasks:
    """The tasks of training step `number`: its batches of plans, of which those after the first are for dynamic
    sampling, and the probability of each environment and level."""

    number: int
    batches: Sequence[list[Plan]]
    chances: Mapping[str, float]


def draw_step(run: Run, number: int) -> DrawnTasks:
    """Draw the tasks of training step `number` by the curriculum as it is now."""
    train = run.config.train
    return DrawnTasks(
        number=number,
        chances=run.tasks.probabilities(number),
        batches=[
            run.tasks.plans(TRAIN, number, train.groups, train.group_size, "train", batch)
            for batch in range(run.config.sampling.dynamic_batches)
        ],
    )


def play_step(run: Run, drawn: DrawnTasks) -> Rollouts:
    """Play the groups of a training step, demonstrations, continuations and canaries."""
    began, number = time.perf_counter(), drawn.number
    computed = run.players.computed_tokens
    (plans, episodes), (all_plans, all_episodes) = play_enough(
        drawn.batches.__getitem__,
        partial(play_rewarded, run),
        run.config.sampling,
        lambda plans: play_oracle(run, oracle_plans(plans)),
    )
    computed = run.players.computed_tokens - computed
    demonstrations = play_demonstrations(run, plans)
    continued: dict[State, float] = {}
    extra_steps, figures = 0, {}
    if run.branching is not None:
        continued, extra_steps = run.branching.run(
            number,
            plans,
            episodes,
            partial(run.play, policy=run.players.trained),
            run.engine.statistics,
        )
        figures = {"branch": {"states": len(continued), "env_steps": extra_steps}}
    figures |= check_verifiers(run, number)
    return Rollouts(
        number=number,
        plans=plans,
        episodes=episodes,
        all_plans=all_plans,
        all_episodes=all_episodes,
        demonstrations=demonstrations,
        continued=continued,
        extra_steps=extra_steps,
        computed_tokens=computed,
        chances=drawn.chances,
        figures=figures,
        play_s=time.perf_counter() - began,
    )


def play_rewarded(run: Run, plans: Sequence[Plan]) -> list[Episode]:
    """Play `plans`; the group verifier, if there is one, sets their rewards."""
    on_fork = None if run.branching is None else run.branching.keep
    episodes = run.play(plans, run.players.trained, on_fork)
    if run.group is not None:
        reward_groups(episodes, run.group, fault_limit=run.config.limits.fault_share)
    return episodes


def play_demonstrations(run: Run, plans: Sequence[Plan]) -> list[Episode]:
    """Play the oracle's episodes of each group, if the loss learns from them."""
    n = run.config.algorithm.demonstrations
    return play_oracle(run, oracle_plans(plans, n)) if n else []


def play_oracle(run: Run, plans: Sequence[Plan]) -> list[Episode]:
    """Play `plans` by the environments' solvers, in the policy's tokens."""
    return run.play(plans, Demonstrator(run.policy, 0.0))


def check_verifiers(run: Run, number: int) -> dict[str, Any]:
    """Play episodes of known worth where they are due, and return the shares of wrong outcomes."""
    section = run.config.canary
    if not section.every or (number - 1) % section.every:
        return {}
    plans = run.tasks.plans(CANARY, number, section.episodes, 1, "train")
    return {"canaries": play_canaries(plans, run.play, run.tasks.has_oracle)}
