"""The configuration of a training run: one typed tree, read from TOML.

An unknown key is refused with the nearest known one; so is a value out of range. The sections are in
files of their own; what is checked here concerns more than one of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from verigym.errors import ConfigError
from verigym.trainers.algorithm_section import AlgorithmSection, CorrectionSection
from verigym.trainers.config_errors import explain
from verigym.trainers.credit.table import ESTIMATORS
from verigym.trainers.env_section import EnvSection, VerifierSection
from verigym.trainers.harness_section import HarnessSection
from verigym.trainers.policy_section import LoraSection, PolicySection
from verigym.trainers.run_sections import (
    CanarySection,
    CheckpointSection,
    CriticSection,
    EvalSection,
    LimitsSection,
    LogSection,
    TrainSection,
)
from verigym.trainers.sections import (
    CurriculumSection,
    EngineSection,
    GroupSection,
    PlaySection,
    RewardSection,
    SamplingSection,
    Section,
    WarmUpSection,
    WorkersSection,
)
from verigym.trainers.tinker_fit import TinkerFit

__all__ = [
    "AlgorithmSection",
    "Config",
    "CorrectionSection",
    "CriticSection",
    "EnvSection",
    "LogSection",
    "LoraSection",
    "PolicySection",
    "TrainSection",
    "VerifierSection",
    "parse_config",
    "read_config",
]


class Config(Section):
    """Configuration of a training run."""

    name: str = "run"
    seed: int = Field(default=0, ge=0)
    env: tuple[EnvSection, ...] = Field(min_length=1)
    curriculum: CurriculumSection = CurriculumSection()
    sampling: SamplingSection = SamplingSection()
    reward: RewardSection = RewardSection()
    group: GroupSection = GroupSection()
    policy: PolicySection = PolicySection()
    engine: EngineSection = EngineSection()
    harness: HarnessSection | None = None
    """An agent program that plays the episodes; None for the built-in prompts."""
    warmup: WarmUpSection = WarmUpSection()
    algorithm: AlgorithmSection = AlgorithmSection()
    critic: CriticSection | None = None
    """None for the defaults if the estimator needs a critic."""
    train: TrainSection = TrainSection()
    eval: EvalSection = EvalSection()
    limits: LimitsSection = LimitsSection()
    play: PlaySection = PlaySection()
    workers: WorkersSection = WorkersSection()
    checkpoint: CheckpointSection = CheckpointSection()
    canary: CanarySection = CanarySection()
    log: LogSection = LogSection()

    @field_validator("env", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return [value] if isinstance(value, Mapping) else value

    @model_validator(mode="after")
    def _group_verifier_is_clear(self) -> Self:
        if self.group.verifier is not None and self.group.of is None and len(self.env) > 1:
            raise ValueError(
                "group.verifier needs group.of with more than one [[env]]: the environments' own verifiers "
                "may differ"
            )
        return self

    @model_validator(mode="after")
    def _branches_are_here(self) -> Self:
        workers = self.workers
        is_away = workers.name == "ray" and workers.runs == "environments"
        if is_away and self.algorithm.estimator.branches:
            raise ValueError(
                f"algorithm.name {self.algorithm.name} copies environments, which workers.name ray keeps "
                'elsewhere; leave out [workers], or set workers.runs = "verifiers"'
            )
        return self

    @model_validator(mode="after")
    def _critic_is_used(self) -> Self:
        if self.critic is not None and not self.algorithm.estimator.heads:
            raise ValueError(
                f"algorithm.name {self.algorithm.name} has no critic; leave out [critic], or choose "
                f"{', '.join(name for name, one in ESTIMATORS.items() if one.heads)}"
            )
        return self

    @model_validator(mode="after")
    def _all_episodes_are_paid_alike(self) -> Self:
        if self.reward.policy is not None and self.algorithm.demonstrations:
            raise ValueError(
                "reward.policy cannot pay the oracle; leave out algorithm.demonstrations"
            )
        if self.algorithm.estimator.branches and (self.group.verifier or self.reward.is_used):
            raise ValueError(
                f"algorithm.name {self.algorithm.name} compares episodes with continuations, which have "
                "the environment's reward alone; leave out [group] and [reward]"
            )
        return self

    @model_validator(mode="after")
    def _can_play_ahead(self) -> Self:
        mode = self.train.mode
        usual = TrainSection.model_fields["max_staleness"].default
        if self.train.max_staleness != usual and mode != "async":
            raise ValueError(
                f'train.max_staleness is for train.mode "async", got mode "{mode}"; leave it out'
            )
        if mode == "sync":
            return self
        reasons = {
            f"algorithm.name {self.algorithm.name}: continuations need the weights that played the episodes": (
                self.algorithm.estimator.branches
            ),
            "engine.sleep_level: the engine never rests": self.engine.sleep_level > 0,
        }
        if mode == "async":
            reasons |= {
                "[harness]: an agent program plays the episodes of one step at a time": (
                    self.harness is not None
                ),
                "sampling.dars: it plays a group on when the others have ended": (
                    self.sampling.dars != "none"
                ),
                "sampling.hints: they play a group again when the others have ended": (
                    self.sampling.hints > 0
                ),
            }
        for reason, applies in reasons.items():
            if applies:
                raise ValueError(f'train.mode "{mode}" cannot play {reason}; use mode "sync"')
        return self

    @model_validator(mode="after")
    def _fits_the_engine(self) -> Self:
        if self.engine.name == "tinker":
            fit = TinkerFit(
                engine=self.engine,
                policy=self.policy,
                algorithm=self.algorithm,
                train=self.train,
                warmup=self.warmup,
                reward=self.reward,
            )
            if found := fit.misfit():
                raise ValueError(f"engine tinker cannot do this: {found}")
        return self

    @model_validator(mode="after")
    def _replicas_take_all_weights(self) -> Self:
        if self.engine.replicas is not None and self.policy.lora is not None:
            raise ValueError(
                "engine.replicas get whole models, not adapters; leave out [policy.lora], or [engine.replicas]"
            )
        return self

    @model_validator(mode="after")
    def _one_ratio_per_turn(self) -> Self:
        chosen = self.algorithm
        grows = self.policy.encoding == "transcript" or self.harness is not None
        if grows and chosen.level != "episode" and chosen.policy_loss.one_advantage:
            cause = "an agent program" if self.harness is not None else "policy.encoding transcript"
            raise ValueError(
                f"loss {chosen.loss_name} has one ratio per row, but with {cause} a row holds turns whose "
                f"advantages differ under {chosen.name}; use encoding steps, or a loss per token, such as ppo"
            )
        return self

    @model_validator(mode="after")
    def _program_plays_alone(self) -> Self:
        if self.harness is not None and (
            self.algorithm.demonstrations or self.algorithm.estimator.branches
        ):
            raise ValueError(
                f"algorithm.name {self.algorithm.name} continues episodes from a state, which an agent program "
                "cannot; leave out [harness], or choose another algorithm"
                if self.algorithm.estimator.branches
                else "the oracle does not use the prompts of an agent program: with [harness], leave out "
                "algorithm.demonstrations"
            )
        return self


def read_config(path: Path, overrides: Mapping[str, Any] | None = None) -> Config:
    """Read the configuration in the TOML file at `path`; `overrides` maps `section.key` to a value.

    Raises ConfigError that names the file, the key and the valid values.
    """
    try:
        tree = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"no configuration at {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as TOML: {error}") from error
    for name, value in (overrides or {}).items():
        _override(tree, name, value)
    return parse_config(tree, str(path))


def parse_config(tree: Mapping[str, Any], where: str = "configuration") -> Config:
    """Parse a configuration from a plain tree. Raises ConfigError with one line per problem."""
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        problems = [explain(problem, Config) for problem in error.errors()]
        if isinstance(tree.get("env"), Mapping):
            problems = [problem.replace("env.0.", "env.") for problem in problems]
        raise ConfigError(f"{where}: " + "; ".join(problems)) from None


def _override(tree: dict[str, Any], name: str, value: Any) -> None:
    *sections, key = name.split(".")
    found: Any = tree
    for section in sections:
        if isinstance(found, list) and section.isdecimal() and int(section) < len(found):
            found = found[int(section)]
        elif isinstance(found, dict):
            found = found.setdefault(section, {})
        else:
            break
    if not isinstance(found, dict):
        raise ConfigError(f"override {name}: no section; number those of [[env]] as in env.0.id")
    found[key] = value
