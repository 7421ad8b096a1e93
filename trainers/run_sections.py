"""Sections of the configuration for the run itself: sizes, optimiser, evaluation, limits and records."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from verigym.trainers.sections import Section


class TrainSection(Section):
    """Sizes, the order of play and learning, and the optimiser (AdamW)."""

    mode: Literal["sync", "one-step-off", "async"] = "sync"
    """`sync`: play, then learn. `one-step-off`: the next step's episodes are played, with the weights of before,
    during the update. `async`: episodes are played without a pause, at most `max_staleness` versions ahead."""
    max_staleness: int = Field(default=2, ge=1)
    """Maximum number of updates between a token and the step that trains on it, with `async`."""

    steps: int = Field(default=100, ge=0)
    """Number of training steps; 0 ends the run after its warm-up."""
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
    microbatch_tokens: int | None = Field(default=None, ge=1)
    """Maximum number of distinct tokens per forward pass (of padded ones for models that read plain rows); changes
    memory, not the gradient. None for 16384 on a GPU, and on a processor for the fewest from 2048 on that compute hardly
    a token twice."""
    gradient_checkpointing: bool = False
    """Compute activations again in the backward pass: less memory, about a third more time."""
    epochs: int = Field(default=1, ge=1)
    max_env_steps: int | None = Field(default=None, ge=1)
    """Number of environment steps after which the run stops, at the end of a training step."""
    time_limit_s: float | None = Field(default=None, gt=0)
    """Seconds after which the run stops, at the end of a training step."""
    threads: int | None = Field(default=None, ge=1)
    """Number of CPU threads of torch; None for torch's default."""


class EvalSection(Section):
    """Evaluation on held-out splits: validation during training, test before and after."""

    every: int = Field(default=10, ge=1)
    episodes: int = Field(default=128, ge=1)
    temperature: float = Field(default=1.0, ge=0)
    stop_at: float | None = Field(default=None, gt=0, le=1)
    """Success rate on validation at which the run stops; None to never stop early."""


class LimitsSection(Section):
    """Timeouts and limits on faults."""

    patience_s: float = Field(default=120.0, ge=0)
    """Maximum seconds that one step waits for a verifier that does not answer."""
    step_timeout_s: float = Field(default=60.0, gt=0)
    """Deadline of one environment step."""
    generate_timeout_s: float = Field(default=600.0, gt=0)
    """Deadline of one batch of the policy."""
    error_retries: int = Field(default=2, ge=0)
    """Number of retries after an error of the verifier itself."""
    backoff_s: float = Field(default=0.25, gt=0)
    """Seconds before the first retry; the pause doubles up to `backoff_max_s`."""
    backoff_max_s: float = Field(default=5.0, gt=0)
    fault_share: float = Field(default=0.25, ge=0, le=1)
    """Maximum share of faulted episodes; a step with a larger share stops the run."""
    stuck_s: float = Field(default=600.0, gt=0)
    """Seconds without progress after which the run says what it is doing, and writes RUN/stuck.txt."""


class CanarySection(Section):
    """Episodes of known worth beside training, which measure the verifier's error."""

    every: int = Field(default=50, ge=0)
    """Number of training steps from one play to the next, the first after step 1; 0 for none."""
    episodes: int = Field(default=4, ge=1)
    """Number of tasks, each played by the oracle, with empty replies and with the prompt given back."""


class LogSection(Section):
    """Dashboards beside TensorBoard."""

    wandb: Literal["off", "offline", "online"] = "off"
    """Weights & Biases (extra `wandb`): `offline` writes RUN/wandb for a later `wandb sync`."""
    project: str = "verigym"
    """Project of Weights & Biases."""


class CheckpointSection(Section):
    """Checkpoints to keep on disk."""

    every: int = Field(default=10, ge=1)
    keep: int = Field(default=2, ge=1)
    transcripts: int = Field(default=2, ge=0)
    """Number of groups per step whose first episodes are written to disk with their credit; of the first group, every
    `every` steps, all episodes, so that the report can set its step groups side by side."""


class CriticSection(Section):
    """The critic of estimators that need one: `ppo`, `hae`, `spa-rl`, `stepsearch`."""

    lr: float = Field(default=1e-5, gt=0)
    clip: float | None = Field(default=0.5, gt=0)
    """Distance from the old value beyond which a better one earns nothing; None for no bound."""
    warmup_steps: int = Field(default=0, ge=0)
    """Number of training steps in which the critic alone learns."""
