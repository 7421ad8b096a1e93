"""The configuration of a training run: one typed tree, read from TOML.

An unknown key is refused with the nearest known one; so is a value out of range.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from verigym.errors import ConfigError, suggestion


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EnvSection(_Section):
    """Environments and tasks to train on."""

    id: str
    """Full or short id of the environment."""
    difficulty: StrictInt | str | None = None
    """Level of the tasks, such as 7, or its name; None for the environment's first name."""
    max_turns: int | None = Field(default=None, ge=1)
    """Maximum number of turns; None for the task's own limit."""
    verifier: str | None = None
    """URL of a verifier service (`verigym serve`); None to judge in process."""


class PolicySection(_Section):
    """The model and its prompts."""

    model: str = "tiny"
    """Folder of a transformers model, or `tiny` for a small model created at the start."""
    max_new_tokens: int = Field(default=16, ge=1)
    temperature: float = Field(default=1.0, gt=0)
    encoding: Literal["steps", "transcript"] = "steps"
    """`steps`: one prompt of bounded length per turn. `transcript`: one growing conversation."""
    history: int = Field(default=0, ge=0)
    """Number of earlier turns that a prompt repeats, with `steps`."""
    show_task: bool = True
    """If True, prompts contain the task's text besides the observation, with `steps`."""
    show_legal: bool = True
    """If True, prompts list the legal actions, if the environment can list them."""
    device: str = "cpu"
    dtype: Literal["float32", "bfloat16"] = "float32"


class WarmUpSection(_Section):
    """Supervised learning on the oracle's play before reinforcement; 0 episodes for none."""

    episodes: int = Field(default=0, ge=0)
    noise: float = Field(default=0.0, ge=0, le=1)
    """Share of the demonstrator's moves that are random legal ones."""
    epochs: int = Field(default=4, ge=1)
    lr: float = Field(default=1e-3, gt=0)
    """Peak learning rate, reached after ten batches; it then falls linearly to a tenth."""
    batch_rows: int = Field(default=64, ge=1)
    smoothing: float = Field(default=0.0, ge=0, lt=1)
    """Label smoothing over the tokens that demonstrations use: the policy keeps enough entropy to
    explore in reinforcement learning."""


class AlgorithmSection(_Section):
    """Estimation of advantages from returns, and the loss. Defaults: GiGPO, arXiv 2505.10978."""

    name: Literal["gigpo", "grpo"] = "gigpo"
    semantics: Literal["paper", "verl_agent"] = "paper"
    norm: Literal["mean_std", "mean"] = "mean_std"
    gamma: float = Field(default=0.95, gt=0, le=1)
    omega: float = Field(default=1.0, ge=0)
    invalid_penalty: float = Field(default=0.1, ge=0)
    """Penalty subtracted from the reward of a turn with an invalid action."""
    clip_low: float = Field(default=0.2, gt=0)
    clip_high: float = Field(default=0.2, gt=0)
    dual_clip: float | None = Field(default=None, gt=1)
    kl_coef: float = Field(default=0.0, ge=0)
    """Weight of the k3 KL term to the initial model of reinforcement learning; 0 keeps no copy of it."""
    aggregation: Literal[
        "token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "trajectory-mean"
    ] = "token-mean"


class TrainSection(_Section):
    """Sizes and the optimiser (AdamW)."""

    steps: int = Field(default=100, ge=1)
    groups: int = Field(default=8, ge=1)
    """Number of tasks per step."""
    group_size: int = Field(default=8, ge=1)
    """Number of episodes per task; they start in the identical state."""
    lr: float = Field(default=1e-6, gt=0)
    lr_warmup_steps: int = Field(default=0, ge=0)
    lr_final: float = Field(default=1.0, ge=0, le=1)
    """Final learning rate as a share of `lr`; the rate falls linearly."""
    weight_decay: float = Field(default=0.0, ge=0)
    max_grad_norm: float = Field(default=1.0, gt=0)
    minibatch_rows: int = Field(default=256, ge=1)
    """Number of rows per optimiser step."""
    microbatch_tokens: int = Field(default=16384, ge=1)
    """Maximum number of padded tokens per forward pass; changes memory, not the gradient."""
    epochs: int = Field(default=1, ge=1)
    max_env_steps: int | None = Field(default=None, ge=1)
    """Number of environment steps after which the run stops, at the end of a training step."""
    time_limit_s: float | None = Field(default=None, gt=0)
    """Seconds after which the run stops, at the end of a training step."""
    threads: int | None = Field(default=None, ge=1)
    """Number of CPU threads of torch; None for torch's default."""


class EvalSection(_Section):
    """Evaluation on held-out splits: validation during training, test before and after."""

    every: int = Field(default=10, ge=1)
    episodes: int = Field(default=128, ge=1)
    temperature: float = Field(default=1.0, ge=0)
    stop_at: float | None = Field(default=None, gt=0, le=1)
    """Success rate on validation at which the run stops; None to never stop early."""


class LimitsSection(_Section):
    """Timeouts and limits on faults."""

    patience_s: float = Field(default=120.0, ge=0)
    """Maximum seconds that one step waits for a verifier that does not answer."""
    step_timeout_s: float = Field(default=60.0, gt=0)
    """Deadline of one environment step."""
    fault_share: float = Field(default=0.25, ge=0, le=1)
    """Maximum share of faulted episodes; a step with a larger share stops the run."""


class CheckpointSection(_Section):
    """Checkpoints to keep on disk."""

    every: int = Field(default=10, ge=1)
    keep: int = Field(default=2, ge=1)
    transcripts: int = Field(default=2, ge=0)
    """Number of groups per step whose first episodes are written to disk with their credit."""


class Config(_Section):
    """Configuration of a training run."""

    name: str = "run"
    seed: int = Field(default=0, ge=0)
    env: EnvSection
    policy: PolicySection = PolicySection()
    warmup: WarmUpSection = WarmUpSection()
    algorithm: AlgorithmSection = AlgorithmSection()
    train: TrainSection = TrainSection()
    eval: EvalSection = EvalSection()
    limits: LimitsSection = LimitsSection()
    checkpoint: CheckpointSection = CheckpointSection()


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
        problems = [_explain(problem) for problem in error.errors()]
        raise ConfigError(f"{where}: " + "; ".join(problems)) from None


def _override(tree: dict[str, Any], name: str, value: Any) -> None:
    *sections, key = name.split(".")
    for section in sections:
        tree = tree.setdefault(section, {})
        if not isinstance(tree, dict):
            raise ConfigError(f"override {name}: {section} is not a section")
    tree[key] = value


def _explain(problem: Any) -> str:
    place = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        section: type[BaseModel] = Config
        for part in problem["loc"][:-1]:
            inner = section.model_fields[str(part)].annotation
            assert isinstance(inner, type)
            section = inner
        return f"unknown key {place}; {suggestion(str(problem['loc'][-1]), section.model_fields)}"
    if problem["type"] == "missing":
        return f"{place} is missing"
    return f"{place}: {problem['msg']}, got {problem['input']!r}"
