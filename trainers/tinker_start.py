"""Policy, learner and sampler of a run on a Tinker server."""

from __future__ import annotations

from pathlib import Path

from verigym.agents.engines.tinker import PRECISION_NATS, TinkerModel, TinkerSampler
from verigym.agents.policies.hf import HFPolicy
from verigym.trainers.config import Config
from verigym.trainers.learner import Learner
from verigym.trainers.outline_policy import OutlinePolicy
from verigym.trainers.tinker_learner import TinkerLearner


def start_tinker(config: Config, folder: Path) -> tuple[OutlinePolicy, TinkerLearner]:
    """Create an adapter on the server; `folder` holds tokenizer and configuration of its model."""
    engine, chosen = config.engine, config.policy
    assert engine.url is not None  # tinker_fit.py
    assert chosen.lora is not None
    policy = OutlinePolicy.outline(
        folder,
        name=f"tinker:{folder.name}",
        max_new_tokens=chosen.max_new_tokens,
        temperature=chosen.temperature,
        think=chosen.think,
    )
    model = TinkerModel(
        engine.url,
        engine.base_model or str(folder),
        rank=chosen.lora.rank,
        seed=config.seed,
        timeout_s=engine.timeout_s,
        start_timeout_s=engine.start_timeout_s,
    )
    learner = TinkerLearner(
        model,
        train=config.train,
        algorithm=config.algorithm,
        max_tokens=chosen.max_new_tokens,
        reduction=engine.reduction,
    )
    policy.save_weights = learner.save
    return policy, learner


def sampler_of(config: Config, policy: HFPolicy, learner: Learner) -> TinkerSampler:
    """Return the sampler on the learner's server."""
    assert isinstance(learner, TinkerLearner)
    return TinkerSampler(
        learner.server,
        max_context=policy.max_context,
        precision_nats=PRECISION_NATS[config.policy.dtype],
    )
