"""Settings of a run that a Tinker server cannot carry out, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from verigym.trainers.algorithm_section import AlgorithmSection
from verigym.trainers.policy_section import PolicySection
from verigym.trainers.run_sections import TrainSection
from verigym.trainers.sections import EngineSection, RewardSection, WarmUpSection

_ALPHA = 32


@dataclass(frozen=True, kw_only=True)
class TinkerFit:
    """The sections of a configuration that a Tinker server has to do with."""

    engine: EngineSection
    policy: PolicySection
    algorithm: AlgorithmSection
    train: TrainSection
    warmup: WarmUpSection
    reward: RewardSection

    def misfit(self) -> str | None:
        """Say what the Tinker protocol does not have, and what to do; None if it has everything."""
        return next(_misfits(self), None)


def _misfits(config: TinkerFit) -> Iterator[str]:
    policy, algorithm, lora = config.policy, config.algorithm, config.policy.lora
    yield from _of_policy(config)
    if lora is None:
        yield "a Tinker server trains LoRA adapters alone: add [policy.lora] with a rank"
    elif lora.alpha != _ALPHA:
        yield f"the server fixes alpha at {_ALPHA}: leave out policy.lora.alpha"
    elif lora.targets != "all-linear":
        yield "the server chooses the layers: leave out policy.lora.targets"
    elif lora.merge:
        yield "the weights stay on the server: leave out policy.lora.merge"
    if policy.temperature != 1.0:
        yield (
            "servers return the log-probabilities of temperature 1, whatever they sample at: set "
            "policy.temperature = 1.0"
        )
    distributions = "the protocol gives log-probabilities of sampled tokens, not distributions: "
    if algorithm.estimator.reads_tokens:
        yield f"{distributions}algorithm.name {algorithm.name} reads them"
    if algorithm.policy_loss.distils:
        yield f"{distributions}loss {algorithm.loss_name} compares them"
    if algorithm.entropy_coef > 0:
        yield f"{distributions}leave out algorithm.entropy_coef"
    if algorithm.entropy_control != "none":
        yield f"{distributions}leave out algorithm.entropy_control"
    if config.reward.policy is not None:
        yield f"{distributions}leave out [reward.policy]"
    if algorithm.branch is not None and algorithm.branch.states == "entropy":
        yield f"{distributions}set algorithm.branch.states = 'uniform'"
    if algorithm.estimator.heads:
        yield f"it trains no critic: choose another algorithm.name than {algorithm.name}, such as gigpo"
    if algorithm.kl_coef > 0:
        yield "it keeps no reference model: leave out algorithm.kl_coef"
    if algorithm.off_policy_threshold is not None:
        yield "that would be one more pass for each mini-batch: leave out algorithm.off_policy_threshold"
    if config.warmup.is_used and config.warmup.smoothing > 0:
        yield f"{distributions}set warmup.smoothing = 0"
    if config.warmup.is_used and config.warmup.loss == "dpo":
        yield "it keeps no reference model: set warmup.loss = 'imitation'"


def _of_policy(config: TinkerFit) -> Iterator[str]:
    if config.engine.url is None:
        yield "set engine.url to the server's address"
    if config.policy.device != "cpu":
        yield "the model is on the server: leave out policy.device"
    if config.train.mode != "sync":
        yield "servers sample and train in turn: set train.mode = 'sync'"
    if config.train.gradient_checkpointing:
        yield "the server decides on its memory: leave out train.gradient_checkpointing"
