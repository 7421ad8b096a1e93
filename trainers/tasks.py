"""Tasks of a run: the environments that it plays, drawn by a curriculum, as plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verigym.agents.plan import Plan
from verigym.episode import Episode
from verigym.errors import RequestError
from verigym.making import arguments_of, make
from verigym.registry import make_verifier, resolve
from verigym.trainers.arms import Curriculum
from verigym.trainers.batch import TurnCredit
from verigym.trainers.config import Config, EnvSection
from verigym.trainers.tiny_words import learn_words

# Streams of seeds that never meet: warm-up, training, evaluation, canaries.
WARM_UP, TRAIN, EVAL, CANARY = 1, 2, 3, 4


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One environment at one level. `weight` is its share if the curriculum does not say otherwise."""

    name: str
    env_id: str
    kwargs: Mapping[str, Any]
    difficulty: int | str | None
    weight: float
    has_oracle: bool


class Tasks:
    """Draws plans. Every draw is a function of the run's seed, the stream, the step and the curriculum.

    Raises RequestError if an environment cannot be made as configured.
    """

    def __init__(self, config: Config) -> None:
        self.seed = config.seed
        self.arms = [arm for env in config.env for arm in _arms(env, config)]
        self.curriculum = Curriculum(
            config.curriculum, [arm.weight for arm in self.arms], config.train.steps
        )
        self._drawn: list[int] = []

    @property
    def env_ids(self) -> list[str]:
        """Full ids of the environments, each once."""
        return list(dict.fromkeys(arm.env_id for arm in self.arms))

    def probabilities(self, step: int) -> dict[str, float]:
        """Return the probability of each arm at training step `step`, by name."""
        found = self.curriculum.probabilities(step).tolist()
        return {arm.name: p for arm, p in zip(self.arms, found, strict=True)}

    def plans(
        self, stream: int, step: int, groups: int, members: int, split: str, batch: int = 0
    ) -> list[Plan]:
        """Return `members` plans for each of `groups` tasks.

        Training draws arms by the curriculum, the other streams take them in turn. `batch` numbers
        further draws of one step.
        """
        key = (self.seed, stream, step) if batch == 0 else (self.seed, stream, step, batch)
        rng = np.random.default_rng(key)
        seeds = rng.integers(2**31, size=groups).tolist()
        if len(self.arms) == 1:
            drawn = [0] * groups
        elif stream == TRAIN:
            p = self.curriculum.probabilities(step)
            drawn = rng.choice(len(self.arms), size=groups, p=p).tolist()
        else:
            drawn = [group % len(self.arms) for group in range(groups)]
        name = f"{stream}.{step}" if batch == 0 else f"{stream}.{step}b{batch}"
        plans = []
        for group, (seed, number) in enumerate(zip(seeds, drawn, strict=True)):
            arm = self.arms[number]
            for member in range(members):
                plans.append(
                    Plan(
                        id=f"{name}.{group}.{member}",
                        env=arm.env_id,
                        seed=seed,
                        env_kwargs=arm.kwargs,
                        difficulty=arm.difficulty,
                        split=split,
                        group_id=f"{name}.{group}",
                        key=(*key, group, member),
                    )
                )
        return plans

    def training_group(self, number: int, members: int, step: int) -> list[Plan]:
        """Return the plans of group `number` of a run whose groups belong to no step; the curriculum draws its
        environment and level as for training step `step`."""
        key = (self.seed, TRAIN, number)
        rng = np.random.default_rng(key)
        seed = int(rng.integers(2**31))
        arm = self.arms[0]
        if len(self.arms) > 1:
            arm = self.arms[int(rng.choice(len(self.arms), p=self.curriculum.probabilities(step)))]
        name = f"{TRAIN}.{number}"
        return [_plan(arm, name, member, seed, (*key, 0, member)) for member in range(members)]

    def to_plain(self, plan: Plan) -> dict[str, Any]:
        """Return a plan that was drawn here as plain data."""
        names = ("id", "seed", "split", "group_id", "key", "hint")
        return {"arm": self.arm_of(plan), **{name: getattr(plan, name) for name in names}}

    def from_plain(self, plain: Mapping[str, Any]) -> Plan:
        """Read what `to_plain` returned."""
        arm = self.arms[plain["arm"]]
        given = {name: value for name, value in plain.items() if name != "arm"}
        return Plan(
            env=arm.env_id,
            env_kwargs=arm.kwargs,
            difficulty=arm.difficulty,
            **{**given, "key": tuple(given["key"])},
        )

    def words(self, show_legal: bool) -> tuple[str, ...]:
        """Return the tokens of a tiny model for all arms."""
        found = (
            learn_words(arm.env_id, arm.kwargs, arm.difficulty, show_legal=show_legal)
            for arm in self.arms
        )
        return tuple(dict.fromkeys(word for words in found for word in words))

    def has_oracle(self, plan: Plan) -> bool:
        """Return True if the environment of `plan` has a solver."""
        return self.arms[self.arm_of(plan)].has_oracle

    def arm_of(self, plan: Plan) -> int:
        """Return the number of the arm that `plan` was drawn from."""
        for number, arm in enumerate(self.arms):
            same = plan.env == arm.env_id and plan.difficulty == arm.difficulty
            if same and plan.env_kwargs is arm.kwargs:
                return number
        raise ValueError(f"{plan.id} was not drawn here")

    def observe(
        self,
        plans: Sequence[Plan],
        episodes: Sequence[Episode],
        credit: Mapping[str, Sequence[TurnCredit]],
    ) -> None:
        """Teach the curriculum what all groups of a step earned, those without signal included.

        `credit` is by episode id; episodes that were not trained on have none, and count as advantage 0. A group
        of faults teaches nothing.
        """
        if len(self.arms) == 1:
            return
        arm_of = {plan.group_id: self.arm_of(plan) for plan in plans}
        signal: dict[str, list[float]] = {}
        success: dict[str, list[float]] = {}
        for episode in episodes:
            if episode.status == "fault":
                continue
            earned = credit.get(episode.id, ())
            signal.setdefault(episode.group_id, []).extend(abs(turn.advantage) for turn in earned)
            success.setdefault(episode.group_id, []).append(float(episode.success))
        names = list(success)
        self.curriculum.observe(
            [arm_of[name] for name in names],
            [float(np.mean(signal[name] or [0.0])) for name in names],
            [float(np.mean(success[name])) for name in names],
        )


def _plan(arm: Arm, group: str, member: int, seed: int, key: tuple[int, ...]) -> Plan:
    return Plan(
        id=f"{group}.{member}",
        env=arm.env_id,
        seed=seed,
        env_kwargs=arm.kwargs,
        difficulty=arm.difficulty,
        split="train",
        group_id=group,
        key=key,
    )


def _arms(env: EnvSection, config: Config) -> list[Arm]:
    env_id = resolve(env.id)
    kwargs: dict[str, Any] = dict(env.options)
    if env.max_turns is not None:
        kwargs["max_turns"] = env.max_turns
    if env.tools:
        kwargs["tools"] = list(env.tools)
    for name in ("attempts", "corpus"):
        if (value := getattr(env, name)) is not None:
            kwargs[name] = value
    if env.reflect:
        kwargs["reflect"] = True
    if isinstance(env.verifier, str):
        kwargs["verifier"] = env.verifier
    elif env.verifier is not None:
        kwargs["verifier"] = make_verifier(env.verifier.id, **env.verifier.params)
    algorithm = config.algorithm
    with make(env_id, **kwargs) as made:
        known = arguments_of(type(made))
        for name in algorithm.estimator.env_options:
            if name in known and name not in kwargs:
                kwargs[name] = getattr(algorithm.estimator_options, name)
        if config.sampling.hints and made.oracle_absent:
            raise RequestError(
                f"sampling.hints come from the oracle, and {env_id} has none: {made.oracle_absent}"
            )
        levels = env.difficulties or (env.difficulty,)
        for level in levels:
            if level is not None:
                made.written(level)
    return [
        Arm(
            name=env_id if level is None else f"{env_id}:{level}",
            env_id=env_id,
            kwargs=kwargs,
            difficulty=level,
            weight=env.weight / len(levels),
            has_oracle=made.oracle_absent is None,
        )
        for level in levels
    ]


def check_step_rewards(tasks: Tasks, config: Config) -> str | None:
    """Return a warning if no environment can pay the step rewards that the estimator asks for."""
    wanted = config.algorithm.estimator.env_options
    if not wanted or any(set(wanted) <= set(arm.kwargs) for arm in tasks.arms):
        return None
    return (
        f"{config.algorithm.name} asks for the step rewards {', '.join(wanted)}, which "
        f"{', '.join(tasks.env_ids)} cannot pay (search/* can), so it learns from the plain reward"
    )
