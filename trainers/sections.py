"""Sections of the configuration that say what is played and how it is rewarded.

The others, and the tree, are in `config.py`.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Section(BaseModel):
    """Base of the sections: an unknown key is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CurriculumSection(Section):
    """Choice among the environments and levels of `[[env]]`, at each training step."""

    name: Literal["weights", "sec", "dump", "adcl", "success-band"] = "weights"
    """`weights` keeps the shares; `sec` and `dump` follow the size of the advantages (arXiv 2505.14970,
    2504.09710), `adcl` goes from easy to hard (2505.08364), `success-band` takes what is solved at
    times."""
    alpha: float = Field(default=0.5, gt=0, le=1)
    """Weight of the newest step in moving averages."""
    tau: float | None = Field(default=None, gt=0)
    """Temperature of `sec` and `dump`; None for 1 and 0.1."""
    window: int = Field(default=300, ge=1)
    """Number of groups of one arm that `dump` remembers."""
    chunks: int = Field(default=4, ge=1)
    """Number of stages of `adcl`."""
    band: tuple[float, float] = (0.1, 0.9)
    """Least and largest success rate of `success-band`."""
    floor: float = Field(default=0.05, ge=0, le=1)
    """Share of the tasks that is drawn by weights in any case, so that no arm is forgotten."""

    @model_validator(mode="after")
    def _band_is_ordered(self) -> Self:
        low, high = self.band
        if not 0 <= low < high <= 1:
            raise ValueError(f"band must be two rates with 0 <= low < high <= 1, got {self.band}")
        return self


class SamplingSection(Section):
    """More episodes where a step's first ones teach too little."""

    dynamic_batches: int = Field(default=1, ge=1)
    """Maximum number of batches of groups that a step plays until `train.groups` have unequal returns
    (DAPO's dynamic sampling, arXiv 2503.14476, plays 10); 1 for no refill, and then no group is dropped."""
    dars: Literal["none", "et", "hw"] = "none"
    """Extra episodes for tasks that were solved less than half of the time: as many as equal treatment
    needs, or more for harder ones (arXiv 2508.13755)."""
    dars_max: int | None = Field(default=None, ge=1)
    """Maximum number of episodes of a task; None for 32 with `et`, 64 with `hw`."""
    hints: int = Field(default=0, ge=0, le=3)
    """Number of times that a task which its whole group failed is played again with a longer beginning of the
    oracle's play in the prompt, 25, 50 and 75 % (GHPO, arXiv 2507.10628)."""


class OverlongSection(Section):
    """Penalty of episodes with many sampled tokens, from DAPO (arXiv 2503.14476)."""

    max_length: int = Field(default=20480, ge=1)
    cache: int = Field(default=4096, ge=1)
    """Number of tokens over which the penalty rises to `factor`."""
    factor: float = Field(default=1.0, gt=0)

    @model_validator(mode="after")
    def _cache_fits(self) -> Self:
        if self.cache > self.max_length:
            raise ValueError(
                f"cache must be at most max_length, {self.max_length}, got {self.cache}"
            )
        return self


class PolicyRewardSection(Section):
    """Reward that comes from the policy itself; docs/rewards.md says what each can be fooled by."""

    name: Literal["entropy", "confidence", "likelihood", "reference-likelihood", "calibration"]
    """Low entropy of all tokens or on average, likelihood of the reply, gain in likelihood of the reference
    by the reasoning, or closeness of the stated confidence to success."""
    weight: float = Field(default=1.0, gt=0)
    replace: bool = False
    """If True, it takes the place of the environment's reward; if False, it is added."""


class RewardSection(Section):
    """Changes of the reward before advantages are estimated; recorded rewards stay as they are."""

    overlong: OverlongSection | None = None
    relative_length: float = Field(default=0.0, ge=0)
    """Weight of the reward for short replies, relative to the group (Kimi k1.5, arXiv 2501.12599)."""
    policy: PolicyRewardSection | None = None
    """Reward from the policy's own probabilities."""
    disco: Literal["log", "log2", "inv"] | None = None
    """Weigh rewards by how rare the environment and how hard the task is (arXiv 2505.15074)."""

    @property
    def is_used(self) -> bool:
        """True if rewards change."""
        return bool(self.overlong or self.relative_length or self.disco or self.policy)


class GroupSection(Section):
    """Rewards from a group verifier, which judges all members of a group together."""

    verifier: str | None = None
    """Id of the group verifier, such as `group/majority`; None to reward each episode by itself."""
    of: str | dict[str, Any] | None = None
    """The verifier that it asks: an id, or a table of `verifier` and `params`; None for the environment's."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Parameters of the group verifier."""


class BranchSection(Section):
    """Continuations from states of the episodes, for estimator `branch`."""

    share: float = Field(default=0.5, gt=0)
    """Expected environment steps of all continuations, relative to those of the episodes themselves."""
    continuations: int = Field(default=4, ge=1)
    """Number of continuations from each chosen state."""
    states: Literal["uniform", "entropy"] = "uniform"
    """Chance of a state to be chosen: the same for all, or relative to the policy's entropy at the first
    token of its reply, for one more forward pass."""


class WarmUpSection(Section):
    """Supervised learning before reinforcement (docs/warm-start.md)."""

    source: Literal["oracle", "episodes", "teacher"] = "oracle"
    """`oracle`: the environments' own solvers. `episodes`: recorded episodes, filtered by reward. `teacher`: another
    policy, whose episodes are recorded first."""
    episodes: int = Field(default=0, ge=0)
    """Number of tasks that the oracle or the teacher plays, 0 for no warm-up; with `episodes` the maximum number of
    recorded episodes, 0 for all."""
    paths: tuple[str, ...] = ()
    """Files of recorded episodes, or folders of `verigym eval`, for `episodes`."""
    min_reward: float = 1.0
    """Least return of a recorded episode that is imitated."""
    teacher: str | None = None
    """Policy that teaches, such as `openai:MODEL@URL` or `hf:FOLDER`."""
    teacher_options: dict[str, Any] = Field(default_factory=dict)
    """Arguments of that policy, such as {temperature = 0.7, max_new_tokens = 2048}."""
    samples: int = Field(default=1, ge=1)
    """Number of the teacher's answers to each task."""
    loss: Literal["imitation", "dpo"] = "imitation"
    """`imitation` of the replies, or preferences between recorded replies in the same state (DPO, arXiv
    2305.18290)."""
    beta: float = Field(default=0.1, gt=0)
    """Strength of the pull towards the initial model, for `dpo`."""
    noise: float = Field(default=0.0, ge=0, le=1)
    """Share of the oracle's moves that are replaced by random legal ones."""
    epochs: int = Field(default=4, ge=1)
    lr: float = Field(default=1e-3, gt=0)
    """Peak learning rate, reached after ten batches; it then falls linearly to a tenth."""
    batch_rows: int = Field(default=64, ge=1)
    """Number of rows per optimiser step; a pair of `dpo` is two."""
    smoothing: float = Field(default=0.0, ge=0, lt=1)
    """Label smoothing over the tokens that demonstrations use: the policy keeps enough entropy to
    explore in reinforcement learning."""

    @property
    def is_used(self) -> bool:
        """True if there is a warm-up."""
        return self.episodes > 0 or self.source == "episodes"

    @model_validator(mode="after")
    def _source_is_complete(self) -> Self:
        for name, source in (("paths", "episodes"), ("teacher", "teacher")):
            if bool(getattr(self, name)) != (self.source == source):
                raise ValueError(f"warmup.{name} and warmup.source {source!r} go together")
        if self.source == "teacher" and not self.episodes:
            raise ValueError("warmup.episodes must be above 0: the number of tasks for the teacher")
        if self.samples > 1 and self.source != "teacher":
            raise ValueError("warmup.samples is for source 'teacher'")
        if self.loss == "dpo" and self.source == "oracle":
            raise ValueError(
                "warmup.loss 'dpo' compares recorded replies; use source 'episodes' or 'teacher'"
            )
        return self


class PlaySection(Section):
    """Scheduling of the episodes of a step."""

    batching: Literal["cohorts", "ready"] = "cohorts"
    """`cohorts`: fixed sets of episodes in lockstep, so that a run repeats bit for bit. `ready`: whichever
    episodes wait share a batch; faster with slow environments, and not repeatable to the last bit."""
    cohorts: int = Field(default=2, ge=1)
    """Number of sets; one generates while the environments of the others step."""
    max_live: int = Field(default=256, ge=1)
    """Maximum number of episodes played at once."""
    env_workers: int = Field(default=16, ge=1)
    """Number of threads for environment steps."""


class WorkersSection(Section):
    """Processes in which environments and their verifiers run (docs/scaling.md)."""

    name: Literal["threads", "ray"] = "threads"
    """`threads` of this process, or actors of Ray (extra `ray`), which may be on other machines."""
    runs: Literal["environments", "verifiers"] = "environments"
    """Parts that run in the actors: environments with their verifiers, or verifiers alone, for environments that are
    cheap to step and costly to judge."""
    address: str | None = None
    """Address of a Ray cluster, `auto` for that of this machine; None to start one on loopback."""
    actors: int = Field(default=2, ge=1)
    """Number of actors."""
    slots: int = Field(default=8, ge=1)
    """Maximum number of steps or verdicts that an actor makes at once; play.env_workers bounds those of all."""
    cpus: float = Field(default=1.0, gt=0)
    """Processors that Ray reserves for each actor."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        fields = type(self).model_fields
        changed = [name for name in fields if getattr(self, name) != fields[name].default]
        if self.name == "threads" and changed:
            raise ValueError(f'workers.{changed[0]} is for Ray; set workers.name = "ray"')
        return self


class ReplicasSection(Section):
    """Several engines that sample, each with the whole model in an actor of Ray (extra `ray`; docs/scaling.md)."""

    actors: int = Field(default=2, ge=1)
    """Number of engines."""
    address: str | None = None
    """Address of a Ray cluster, `auto` for that of this machine; None to start one on loopback."""
    cpus: float = Field(default=1.0, gt=0)
    """Processors that Ray reserves for each engine."""
    gpus: float = Field(default=0.0, ge=0)
    """GPUs that Ray reserves for each engine; with torch, `policy.device` says where it computes."""


_SERVED = ("name", "url", "max_sequences", "timeout_s", "start_timeout_s")
_ENGINE_FIELDS = {
    "torch": ("name", "replicas"),
    "vllm": (*_SERVED, "transfer", "cache_gib", "sleep_level", "options", "replicas"),
    "tinker": (*_SERVED, "base_model", "reduction"),
}
"""Settings that each engine has a use for."""


class EngineSection(Section):
    """The engine that samples in training (docs/engines.md). With `tinker` it trains, too; with the others the
    torch engine does."""

    name: Literal["torch", "vllm", "tinker"] = "torch"
    url: str | None = None
    """Address of a vLLM or Tinker server; None to start vLLM in a child process, on the model's folder."""
    base_model: str | None = None
    """Name of the model on the Tinker server; None for the path of `policy.model`, which holds its tokenizer."""
    reduction: Literal["sum", "row-mean"] = "sum"
    """Reduction of the tokens' losses by the Tinker server: their sum, or the mean over each row and then over
    rows, as SkyRL's jax backend does."""
    transfer: Literal["gloo", "disk", "delta", "nccl", "ipc"] = "gloo"
    """Way of the weights to vLLM: `disk` and `delta` by a folder, `delta` only what changed where that is
    smaller. Of a learner in several processes, each sends its own rows. A LoRA adapter always goes through a folder."""
    max_sequences: int = Field(default=64, ge=1)
    """Maximum number of prompts that the engine continues at once."""
    cache_gib: float = Field(default=4.0, gt=0)
    """Memory for keys and values, in GiB."""
    sleep_level: int = Field(default=0, ge=0, le=2)
    """Sleep of vLLM during updates, if it shares a device with the trainer: 0 none, 1 with the weights in
    the host's memory, 2 without weights."""
    timeout_s: float = Field(default=300.0, gt=0)
    """Deadline of one call; an engine that misses it is killed and started anew."""
    start_timeout_s: float = Field(default=600.0, gt=0)
    """Deadline of its start."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Further engine arguments of vLLM, such as `tensor_parallel_size`."""
    replicas: ReplicasSection | None = None
    """Several such engines on Ray, which take requests in turn; None for one without Ray."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        fields = type(self).model_fields
        changed = [
            name
            for name in fields
            if getattr(self, name) != fields[name].get_default(call_default_factory=True)
        ]
        used = _ENGINE_FIELDS[self.name]
        if self.replicas is not None:
            used = (*used, "timeout_s", "start_timeout_s")
        if others := [name for name in changed if name not in used]:
            users = " or ".join(
                name for name, fields in _ENGINE_FIELDS.items() if others[0] in fields
            )
            raise ValueError(f"engine.{others[0]} is for engine {users}, not for {self.name}")
        if self.url is not None and self.options:
            raise ValueError(
                "engine.options are for an engine that is started here, not for a server"
            )
        if self.replicas is not None and (self.url is not None or self.sleep_level):
            raise ValueError(
                "engine.replicas are started in actors of Ray and keep their memory; leave out "
                f"engine.{'url' if self.url is not None else 'sleep_level'}"
            )
        return self

    @property
    def samples_apart(self) -> bool:
        """True if samples come from other weights than the learner's own, which are sent to it."""
        return self.name != "torch" or self.replicas is not None
