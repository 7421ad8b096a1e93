"""Identity of a run: a digest of its configuration, and the versions that it was made with."""

from __future__ import annotations

import platform

import torch
import transformers

import verigym
from verigym.canonical import digest
from verigym.trainers.config import Config


def identity(config: Config) -> str:
    """Return the digest of all that decides the weights; what may change on resume is left out."""
    tree = config.model_dump(mode="json")
    for section in ("limits", "checkpoint", "eval", "canary", "log", "workers"):
        del tree[section]
    for name in (
        "steps",
        "max_env_steps",
        "time_limit_s",
        "microbatch_tokens",
        "gradient_checkpointing",
        "threads",
    ):
        del tree["train"][name]
    del tree["play"]["env_workers"]
    if config.train.mode != "async":
        del tree["train"]["max_staleness"]
    if config.train.mode == "sync":
        del tree["train"]["mode"]
    if config.train.lr_final != 1.0 or config.curriculum.name == "adcl":
        tree["train"]["steps"] = config.train.steps
    for env in tree["env"]:
        if not isinstance(env["verifier"], dict):
            del env["verifier"]
    # Engines differ in rounding alone, but addresses, sizes and deadlines decide nothing.
    tree["engine"] = config.engine.name
    if config.engine.name == "torch":
        del tree["engine"]
    if config.group.verifier is None:
        del tree["group"]
    del tree["name"]
    return digest(tree)


def versions() -> dict[str, str]:
    """Return the versions of what decides a run's numbers."""
    return {
        "verigym": verigym.__version__,
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
        "python": platform.python_version(),
    }
