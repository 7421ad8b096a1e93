"""Continuations from states of the episodes, which measure those states' values for estimator `branch`.

A state is chosen by a coin of its own, before anything is known of the action taken there: a choice that
looked at the action or at what came of it would bias the policy's gradient. The coin's chance follows from
the budget and from the length of continuations in earlier steps. In the first step alone, where there are
none yet, it follows from the lengths of the step's own episodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verigym.agents.fork import Fork
from verigym.agents.plan import Plan
from verigym.episode import Episode
from verigym.trainers.batch import Row, TokenStatistics, make_rows
from verigym.trainers.config import Config
from verigym.trainers.credit.options import Branch
from verigym.trainers.sections import BranchSection

_COINS = 4
"""Stream of the coins, beside those of warm-up, training and evaluation."""

State = tuple[int, int]
"""Number of an episode, and of the turn that is chosen in the state."""


@dataclass(kw_only=True)
class Branching:
    """Chooses states and plays on from them.

    Returns are discounted by `gamma`; `penalty` is taken off the reward of an invalid action. The other
    fields are sums over all steps so far, for the next step's budget.
    """

    section: BranchSection
    seed: int
    gamma: float = 1.0
    penalty: float = 0.0
    turns: int = 0
    continuations: int = 0
    entropy: float = 0.0
    states: int = 0

    def __post_init__(self) -> None:
        self._forks: dict[tuple[str, int], Fork] = {}

    def keep(self, episode: Episode, fork: Fork) -> None:
        """Keep a point of an episode until the next `run`; for `play(on_fork=...)`."""
        self._forks[episode.id, fork.turn] = fork

    def state(self) -> dict[str, Any]:
        """Return the sums as plain data."""
        names = ("turns", "continuations", "entropy", "states")
        return {name: getattr(self, name) for name in names}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from a state of `state()`."""
        for name, value in state.items():
            setattr(self, name, value)

    def run(
        self,
        step: int,
        plans: Sequence[Plan],
        episodes: Sequence[Episode],
        play: Callable[[Sequence[Plan]], list[Episode]],
        read: Callable[[Sequence[Row]], TokenStatistics],
    ) -> tuple[dict[State, float], int]:
        """Choose states of training step `step` and `measure` them; `read` gives statistics of rows."""
        entropies = None
        if self.section.states == "entropy":
            rows = make_rows(episodes)
            entropies = first_token_entropies(rows, read(rows))
        found = self.measure(self.choose(step, episodes, entropies), plans, episodes, play)
        self._forks.clear()
        return found

    def choose(
        self, step: int, episodes: Sequence[Episode], entropies: Mapping[State, float] | None = None
    ) -> list[State]:
        """Return the chosen states of training step `step`; first states are valued by the group instead.

        `entropies` weigh the chances of states; all states of the batch must be in it.
        """
        lengths = [len(e.turns) for e in episodes if e.status != "fault"]
        if not sum(lengths):
            return []
        ahead = sum(n * (n + 1) / 2 for n in lengths) / sum(lengths)
        if self.continuations:
            ahead = max(1.0, self.turns / self.continuations)
        chance = self.section.share / (self.section.continuations * ahead)
        mean = 1.0
        if entropies is not None:
            mean = (
                self.entropy / self.states if self.states else float(np.mean([*entropies.values()]))
            )
            self.entropy += sum(entropies.values())
            self.states += len(entropies)
        chosen = []
        for i, episode in enumerate(episodes):
            coins = np.random.default_rng((self.seed, _COINS, step, i)).random(len(episode.turns))
            for t in range(1, len(episode.turns)):
                weight = 1.0 if entropies is None else entropies.get((i, t), 0.0) / max(mean, 1e-12)
                if episode.status != "fault" and coins[t] < chance * weight:
                    chosen.append((i, t))
        return chosen

    def measure(
        self,
        chosen: Sequence[State],
        plans: Sequence[Plan],
        episodes: Sequence[Episode],
        play: Callable[[Sequence[Plan]], list[Episode]],
    ) -> tuple[dict[State, float], int]:
        """Return the value of each chosen state, and the number of environment steps that it took.

        Faulted continuations are left out; a state without another has no value.
        """
        of = {plan.id: plan for plan in plans}
        asked: list[tuple[State, Plan]] = []
        for i, t in chosen:
            plan = of[episodes[i].id]
            for k in range(self.section.continuations):
                name, key = f"{plan.id}.t{t}.{k}", (*plan.key, -1, t, k)
                fork = self._forks[plan.id, t]
                more = replace(plan, id=name, group_id=name, key=key, fork=fork)
                asked.append(((i, t), more))
        played = play([plan for _, plan in asked]) if asked else []
        found: defaultdict[State, list[float]] = defaultdict(list)
        steps = 0
        for (state, _), episode in zip(asked, played, strict=True):
            steps += len(episode.turns)
            if episode.status != "fault":
                found[state].append(discounted_return(episode, self.gamma, self.penalty))
                self.turns += len(episode.turns)
                self.continuations += 1
        return {state: float(np.mean(values)) for state, values in found.items()}, steps


def make_branching(config: Config) -> Branching | None:
    """Return what the configured estimator needs to branch; None if it does not."""
    algorithm = config.algorithm
    if not isinstance(algorithm.estimator_options, Branch):
        return None
    return Branching(
        section=algorithm.branch or BranchSection(),
        seed=config.seed,
        gamma=algorithm.estimator_options.gamma,
        penalty=algorithm.invalid_penalty,
    )


def discounted_return(episode: Episode, gamma: float, penalty: float) -> float:
    """Return the sum of gamma^t (reward - penalty where the action was invalid)."""
    paid = [turn.reward - penalty * (not turn.valid_action) for turn in episode.turns]
    return float(sum(gamma**t * reward for t, reward in enumerate(paid)))


def first_token_entropies(rows: Sequence[Row], found: TokenStatistics) -> dict[State, float]:
    """Return -log of the sum of squared probabilities at the first sampled token of each turn (Rényi's entropy
    of order 2, in nats), which depends on the state and not on the action."""
    out: dict[State, float] = {}
    for row, line in zip(rows, found.sum_pi_sq, strict=True):
        for turn, value in zip(row.turn, line, strict=True):
            if turn >= 0 and (row.trajectory, turn) not in out:
                out[row.trajectory, turn] = float(-np.log(max(value, 1e-12)))
    return out
