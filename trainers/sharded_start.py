"""Policy and learner of a run of several processes, on rank 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from verigym.agents.policies.hf import HFPolicy
from verigym.trainers.config import Config
from verigym.trainers.outline_policy import OutlinePolicy
from verigym.trainers.sharded import ShardedEngine


def start_sharded(
    config: Config, policy: HFPolicy, folder: Path, options: dict[str, Any]
) -> tuple[HFPolicy, ShardedEngine]:
    """Shard the model of `policy`, and return what plays and what learns. Another engine than torch samples from
    weights of its own, and then nobody keeps the whole model, but its outline."""
    keeps = config.engine.name == "torch"
    options = {"pad_id": policy.tokenizer.pad_token_id or 0, **options}
    engine = ShardedEngine.lead(policy.model, keeps=keeps, **options)
    if keeps:
        return policy, engine
    outline = OutlinePolicy.outline(
        folder,
        name=policy.name,
        max_new_tokens=policy.max_new_tokens,
        temperature=policy.temperature,
        think=policy.think,
    )
    outline.save_weights = engine.save
    return outline, engine
