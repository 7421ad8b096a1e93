"""The configuration of a training run: one typed tree, read from TOML.

An unknown key is refused with the nearest known one; so is a value out of range.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, cast, get_args

from pydantic import (
    BaseModel,
    Field,
    StrictInt,
    ValidationError,
    field_validator,
    model_validator,
)

from verigym.agents.chat import Thoughts
from verigym.agents.parsing import Parse
from verigym.agents.prompts import read_text
from verigym.errors import ConfigError, RequestError, suggestion
from verigym.trainers.credit.estimator import Estimator, Level, Options
from verigym.trainers.credit.table import ESTIMATORS
from verigym.trainers.loss.aggregate import Mode
from verigym.trainers.loss.correction import REJECTIONS
from verigym.trainers.loss.table import LOSSES, Loss
from verigym.trainers.sections import (
    BranchSection,
    CurriculumSection,
    EngineSection,
    GroupSection,
    PlaySection,
    RewardSection,
    SamplingSection,
    Section,
    WarmUpSection,
)


class VerifierSection(Section):
    """A verifier that takes the place of the environment's own."""

    id: str
    params: dict[str, Any] = Field(default_factory=dict)


class EnvSection(Section):
    """One environment to train on; `[[env]]` may stand many times."""

    id: str
    """Full or short id of the environment, or the path of a data set's TOML file."""
    weight: float = Field(default=1.0, gt=0)
    """Share of the tasks, relative to the other environments'."""
    difficulty: StrictInt | str | None = None
    """Level of the tasks, such as 7, or its name; None for the environment's first name."""
    difficulties: tuple[StrictInt | str, ...] = ()
    """Several levels, for the curriculum to choose from."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the environment."""
    max_turns: int | None = Field(default=None, ge=1)
    """Maximum number of turns; None for the task's own limit."""
    tools: tuple[str, ...] = ()
    """Tools to play an environment of one turn with: `python`, `calculator`, `search` (docs/tools.md)."""
    attempts: int | None = Field(default=None, ge=1)
    """Number of answers to a task of one turn; after a wrong one the policy hears that it was wrong."""
    reflect: bool = False
    """If True, a reply that is not judged follows each wrong answer."""
    corpus: str | None = None
    """Folder of .txt and .md files, or .jsonl file, that the tool `search` searches."""
    verifier: str | VerifierSection | None = None
    """URL of a verifier service (`verigym serve`), or a table of `id` and `params`; None for the
    environment's own verifier, in process."""

    @model_validator(mode="after")
    def _one_way_to_say_levels(self) -> Self:
        if self.difficulties and self.difficulty is not None:
            raise ValueError("give difficulty or difficulties, not both")
        for name in ("difficulty", "max_turns", "verifier", "split"):
            if name in self.options:
                raise ValueError(f"{name} cannot be set in env.options; the run sets it")
        for name in ("tools", "corpus"):
            if name in self.options:
                raise ValueError(f"{name} cannot be set in env.options; it is a key of [[env]]")
        return self


class LoraSection(Section):
    """Low-rank adapters in place of all weights (arXiv 2106.09685); needs the extra `lora`."""

    rank: int = Field(default=16, ge=1)
    alpha: int = Field(default=32, ge=1)
    """Scale of the adapter, divided by `rank`."""
    targets: str | tuple[str, ...] = "all-linear"
    """Names of the layers that get an adapter."""
    merge: bool = False
    """Add the adapter to the weights in the folders `best` and `last`."""


class PolicySection(Section):
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
    show_turns: bool = False
    """If True, each prompt states the turn and the turn limit."""
    show_tokens: bool = False
    """If True, each prompt states `max_new_tokens`."""
    system_prompt: str = ""
    """Text that opens the system message; `@PATH` reads it from a file."""
    native_tools: bool = False
    """If True, the chat template lists the environment's tools, and results are messages of role `tool`, with
    `transcript` and a template that has the role."""
    task_in_system: bool | None = None
    """If True, the task's text stands in the system message, else in the first user message; None for True
    with `steps` and False with `transcript`."""
    thoughts: Thoughts | None = None
    """`keep` repeats earlier replies with their thoughts, `drop` without; None for `drop` with `steps` and
    `keep` with `transcript`."""
    parse: Parse = "environment"
    """Place of the action in a reply: as the environment reads it, in the last answer or action `tag`, in
    the last `fence`, or in the `last-line`."""
    think: Literal["auto", "on", "off"] = "auto"
    """Thinking, where the chat template has a switch for it; `auto` for the template's own choice."""
    device: str = "cpu"
    dtype: Literal["float32", "bfloat16"] = "float32"
    lora: LoraSection | None = None
    """Train an adapter; None to train all weights."""

    @field_validator("system_prompt")
    @classmethod
    def _from_file(cls, value: str) -> str:
        try:
            return read_text(value)
        except RequestError as error:
            raise ValueError(str(error)) from error

    @model_validator(mode="after")
    def _fits_encoding(self) -> Self:
        if self.encoding == "transcript":
            for name in ("history", "show_task"):
                if getattr(self, name) != PolicySection.model_fields[name].default:
                    raise ValueError(
                        f"{name} is for encoding steps; leave it out with encoding transcript"
                    )
        return self


class CorrectionSection(Section):
    """Weights for the difference between the sampler's log-probabilities and the trainer's."""

    level: Literal["token", "sequence", "geometric"] | None = None
    """Ratio used as the weight: that of each token, the product over a row, or its geometric mean. None for no
    correction."""
    action: Literal["truncate", "mask"] = "truncate"
    """Treatment of a weight out of bounds: it is cut to the bound (TIS), or set to 0 (MIS, IcePop)."""
    c_max: float | None = Field(default=2.0, gt=0)
    c_min: float | None = Field(default=None, gt=0)
    batch_normalize: bool = False
    """Divide by the mean weight of the batch."""
    reject: dict[str, float] = Field(default_factory=dict)
    """Upper bounds by quantity, such as {seq_mean_k3 = 0.01}; rows or tokens beyond one are dropped."""
    veto_low: float | None = Field(default=None, gt=0)
    """Ratio of a single token below which its row is dropped."""
    veto_high: float | None = Field(default=None, gt=0)

    @field_validator("reject")
    @classmethod
    def _known(cls, value: dict[str, float]) -> dict[str, float]:
        for name, bound in value.items():
            if name not in REJECTIONS:
                raise ValueError(f"unknown quantity {name!r}; {suggestion(name, REJECTIONS)}")
            if bound <= 0:
                raise ValueError(f"the bound of {name} must be above 0, got {bound}")
        return value

    @property
    def is_used(self) -> bool:
        """True if rows have to be compared with the trainer's own log-probabilities."""
        return bool(self.level or self.reject or self.veto_low or self.veto_high)


class AlgorithmSection(Section):
    """Estimation of advantages, and the loss. Defaults: GiGPO, arXiv 2505.10978."""

    name: str = "gigpo"
    """Estimator of the advantages; `verigym train --list` prints all."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of that estimator."""
    branch: BranchSection | None = None
    """Budget of `branch`; None for its defaults."""
    loss: str | None = None
    """Policy loss; None for the one that the estimator's paper uses."""
    loss_options: dict[str, Any] = Field(default_factory=dict)
    """Options of the loss."""
    aggregation: Mode | None = None
    """Reduction of the tokens' losses to one number; None for the loss's or the estimator's own."""
    demonstrations: int = Field(default=0, ge=0)
    """Number of the oracle's episodes in each group, for loss `luffy`."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Constant length L of `dr-grpo` and `sum-norm`; None for `policy.max_new_tokens`."""
    anchors: Literal["state", "observation", "repaired"] = "state"
    """Name of the state that visits are compared by: the environment's key of its state, the
    observation, or the last observation that was no mere "Nothing happens" (arXiv 2606.22995)."""
    invalid_penalty: float = Field(default=0.1, ge=0)
    """Penalty subtracted from the reward of a turn with an invalid action."""
    old_logprobs: Literal["rollout", "recomputed"] = "rollout"
    """Log-probabilities in the ratio: those that the sampler recorded, or the trainer's at the start of
    the update, for one more forward pass."""
    correction: CorrectionSection = CorrectionSection()
    off_policy_threshold: float | None = Field(default=None, gt=0)
    """Drift in nats per token beyond which rows with a negative advantage are dropped; None for none."""
    m2po_threshold: float | None = Field(default=None, gt=0)
    """Second moment of the log-ratio down to which the farthest tokens are dropped; None for none."""
    kl_coef: float = Field(default=0.0, ge=0)
    """Weight of the KL term to the initial model of reinforcement learning; 0 keeps no copy of it."""
    kl: Literal["k1", "k2", "k3", "k3+", "unbiased"] = "k3"
    """Estimate of that KL term."""
    entropy_coef: float = Field(default=0.0, ge=0)
    """Weight of the entropy bonus."""
    entropy_control: Literal["none", "high-entropy", "clip-cov", "kl-cov"] = "none"
    """`high-entropy` trains only the tokens of highest entropy (80/20), the other two treat the tokens
    that would lower it most."""
    entropy_fraction: float | None = Field(default=None, gt=0, le=1)
    """Share of tokens for `entropy_control`; None for 0.2 with `high-entropy`, else 0.0002."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.name not in ESTIMATORS:
            raise ValueError(
                f"unknown algorithm.name {self.name!r}; {suggestion(self.name, ESTIMATORS)}"
            )
        if self.loss is not None and self.loss not in LOSSES:
            raise ValueError(
                f"unknown algorithm.loss {self.loss!r}; {suggestion(self.loss, LOSSES)}"
            )
        _ = self.estimator_options, self.policy_loss_options
        if self.branch is not None and not self.estimator.branches:
            raise ValueError(
                f"algorithm.name {self.name} plays no continuations; leave out [algorithm.branch], or "
                "choose branch"
            )
        chosen = self.policy_loss
        if chosen.one_advantage and self.level == "token":
            raise ValueError(
                f"loss {self.loss_name} has one ratio per row, but {self.name} gives each token an "
                "advantage of its own; use a loss per token, such as ppo"
            )
        if chosen.anchored and (self.correction.level or self.old_logprobs == "recomputed"):
            raise ValueError(
                f"loss {self.loss_name} is anchored on the sampler's log-probabilities already; leave "
                "out algorithm.correction.level and algorithm.old_logprobs"
            )
        self._check_recipe(chosen)
        if self.entropy_control in ("clip-cov", "kl-cov") and self.loss_name != "ppo":
            raise ValueError(
                f"entropy_control {self.entropy_control} is defined for loss ppo, got {self.loss_name}"
            )
        return self

    def _check_recipe(self, chosen: Loss) -> None:
        if chosen.imitates != bool(self.demonstrations):
            raise ValueError(
                f"loss {self.loss_name} needs demonstrations in each group: set algorithm.demonstrations, "
                "such as 1"
                if chosen.imitates
                else f"loss {self.loss_name} cannot learn from algorithm.demonstrations; use loss luffy"
            )
        if chosen.imitates and (
            self.correction.is_used
            or self.m2po_threshold
            or self.off_policy_threshold
            or self.kl == "unbiased"
        ):
            raise ValueError(
                "demonstrations have no log-probabilities of a sampler: leave out algorithm.correction, "
                "m2po_threshold, off_policy_threshold and kl unbiased"
            )
        if (chosen.distil is not None) != (self.name == "sdpo"):
            raise ValueError(
                f"algorithm.name sdpo and loss sdpo go together, got {self.name} and {self.loss_name}"
            )

    @property
    def estimator(self) -> Estimator:
        """The entry of the estimator in the table."""
        return ESTIMATORS[self.name]

    @property
    def level(self) -> Level:
        """The finest part of an episode that has an advantage of its own."""
        return cast(Level, getattr(self.estimator_options, "level", self.estimator.level))

    @cached_property
    def estimator_options(self) -> Options:
        """The estimator's options, checked."""
        return _options(self.estimator.options, self.options, "algorithm.options")

    @property
    def loss_name(self) -> str:
        """Name of the policy loss."""
        return self.loss or self.estimator.loss

    @property
    def policy_loss(self) -> Loss:
        """The entry of the loss in the table."""
        return LOSSES[self.loss_name]

    @cached_property
    def policy_loss_options(self) -> Options:
        """The loss's options, checked; those of the estimator's paper hold if it names the loss."""
        own = self.estimator.loss_options if self.loss_name == self.estimator.loss else {}
        given = {**own, **self.loss_options}
        return _options(self.policy_loss.options, given, "algorithm.loss_options")

    @property
    def aggregation_mode(self) -> Mode:
        """Reduction of the tokens' losses to one number."""
        chosen = self.aggregation or self.policy_loss.aggregation or self.estimator.aggregation
        return cast(Mode, chosen)


class CriticSection(Section):
    """The critic of estimators that need one: `ppo`, `hae`, `spa-rl`, `stepsearch`."""

    lr: float = Field(default=1e-5, gt=0)
    clip: float | None = Field(default=0.5, gt=0)
    """Distance from the old value beyond which a better one earns nothing; None for no bound."""
    warmup_steps: int = Field(default=0, ge=0)
    """Number of training steps in which the critic alone learns."""


def _options(kind: type[Options], given: Mapping[str, Any], where: str) -> Options:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise ValueError(
            "; ".join(_explain(problem, kind, where) for problem in error.errors())
        ) from None


class TrainSection(Section):
    """Sizes and the optimiser (AdamW)."""

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
    microbatch_tokens: int = Field(default=16384, ge=1)
    """Maximum number of distinct tokens per forward pass (of padded ones for models that read plain rows); changes
    memory, not the gradient."""
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
    """Number of groups per step whose first episodes are written to disk with their credit."""


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
    warmup: WarmUpSection = WarmUpSection()
    algorithm: AlgorithmSection = AlgorithmSection()
    critic: CriticSection | None = None
    """None for the defaults if the estimator needs a critic."""
    train: TrainSection = TrainSection()
    eval: EvalSection = EvalSection()
    limits: LimitsSection = LimitsSection()
    play: PlaySection = PlaySection()
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
    def _one_ratio_per_turn(self) -> Self:
        chosen = self.algorithm
        turned = chosen.level != "episode" and self.policy.encoding == "transcript"
        if turned and chosen.policy_loss.one_advantage:
            raise ValueError(
                f"loss {chosen.loss_name} has one ratio per row, but with policy.encoding transcript a "
                f"row holds turns whose advantages differ under {chosen.name}; use encoding steps, or a "
                "loss per token, such as ppo"
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
        problems = [_explain(problem) for problem in error.errors()]
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


def _explain(problem: Any, root: type[BaseModel] = Config, under: str = "") -> str:
    path = [
        part for part in problem["loc"] if part not in ("str", "VerifierSection", "tuple[str, ...]")
    ]
    place = ".".join([*([under] if under else []), *(str(part) for part in path)])
    if problem["type"] == "extra_forbidden":
        section: type[BaseModel] = root
        for part in path[:-1]:
            if isinstance(part, str):
                section = _model_in(section.model_fields[part].annotation)
        key = str(path[-1])
        if section is AlgorithmSection and (table := _table_of(key)):
            return f"unknown key {place}; it belongs in [algorithm.{table}]"
        return f"unknown key {place}; {suggestion(key, section.model_fields)}"
    if problem["type"] == "missing":
        return f"{place} is missing"
    if problem["type"] == "value_error":
        message = str(problem["ctx"]["error"])
        return message if not place or place in message else f"{place}: {message}"
    if problem["type"] == "literal_error":
        known = re.findall(r"'([^']*)'", problem["ctx"]["expected"])
        return f"unknown {place} {problem['input']!r}; {suggestion(str(problem['input']), known)}"
    return f"{place}: {problem['msg']}, got {problem['input']!r}"


def _model_in(annotation: Any) -> type[BaseModel]:
    """Return the section in an annotation such as `tuple[EnvSection, ...]` or `CriticSection | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(
        _model_in(inner) for inner in get_args(annotation) if inner not in (str, type(None))
    )


def _table_of(option: str) -> str | None:
    """Return the table that an option of some estimator or loss stands in; None if it is none."""
    if any(option in entry.options.model_fields for entry in ESTIMATORS.values()):
        return "options"
    return (
        "loss_options" if any(option in e.options.model_fields for e in LOSSES.values()) else None
    )
