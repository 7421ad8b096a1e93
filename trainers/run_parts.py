"""`Run`: the parts of a training run, made from its configuration, and its counters.

The steps of the loop (run.py) are functions that take it; each stands in the file that it is named after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import torch.distributed as dist

from verigym.agents.fork import Fork
from verigym.agents.loop import play
from verigym.agents.plan import Plan
from verigym.agents.policies.hf import HFPolicy
from verigym.agents.policy import Policy
from verigym.episode import Episode, Turn
from verigym.trainers import tiny
from verigym.trainers.branching import make_branching
from verigym.trainers.config import Config
from verigym.trainers.critic import Critic
from verigym.trainers.engine import Engine
from verigym.trainers.groups import make_group
from verigym.trainers.how_to_play import make_encoding, make_envs, make_settings
from verigym.trainers.identity import identity
from verigym.trainers.lora import add_adapter
from verigym.trainers.players import Players
from verigym.trainers.progress import Listener, Progress
from verigym.trainers.run_folder import RunFolder
from verigym.trainers.source import RolloutSource
from verigym.trainers.stop import StopRequest
from verigym.trainers.tasks import Tasks
from verigym.trainers.watchdog import Watchdog

if TYPE_CHECKING:
    from verigym.trainers.programs import Programs


class Run:
    """One run: model, engine, players, tasks, folder and counters. Use it with `with`."""

    source: RolloutSource
    """Gives the loop its episodes; set once the run is made (modes.py)."""

    def __init__(self, config: Config, folder: Path, listen: Listener, stop: StopRequest) -> None:
        self.config = config
        self.listen = listen
        self.stop = stop
        self.watchdog = Watchdog(
            folder / "stuck.txt", config.limits.stuck_s, partial(self.say, "alarm")
        )
        self.tasks = Tasks(config)
        self.digest = identity(config)
        self.path = folder
        model = _model_folder(config, folder, self.tasks)
        self.policy, self.engine = _load_parts(config, model)
        self.encoding = make_encoding(config.policy)
        self.policy.prompts = self.encoding
        self.settings = make_settings(config)
        self.envs = make_envs(config)
        self.group = make_group(config.group, config.env[0])
        self.critic: Critic | None = None
        self.branching = make_branching(config)
        self.opened: RunFolder | None = None
        self.step = 0
        self.env_steps = 0
        self.optimizer_steps = 0
        self.wall_s = 0.0
        self.started = ""
        self.stages: list[dict[str, Any]] = []
        self.success: float | None = None
        self.best: float | None = None
        self.history: list[dict[str, Any]] = []
        self.validated: list[float | None] = []
        self.alarms_on: set[str] = set()
        # True if the weights are those of `step`: not in warm-up, nor in the middle of an update.
        self.is_whole = False
        self.finished = False
        self.players = Players(config, model, self.policy, self.engine)
        self.programs: Programs | None = None
        if config.harness is not None:
            # The gateway needs the extra `server`, which training without a program does not.
            from verigym.trainers.programs import Programs

            self.programs = Programs(config.harness, self.settings, self.envs)

    @property
    def folder(self) -> RunFolder:
        """The run's folder. Raises RuntimeError before the start has opened it."""
        if self.opened is None:
            raise RuntimeError(f"{self.path} is not opened yet")
        return self.opened

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close environments, engine and files."""
        if self.programs is not None:
            self.programs.close()
        # Before the environments, with which a cluster of Ray may end.
        self.players.close()
        self.envs.close()
        self.engine.close()
        if self.opened is not None:
            self.opened.close()

    def play(
        self,
        plans: Sequence[Plan],
        policy: Policy,
        on_fork: Callable[[Episode, Fork], None] | None = None,
    ) -> list[Episode]:
        """Play `plans` with the run's prompts, settings and environments.

        The model's episodes are played by the user's agent program, if there is one.
        """
        if self.programs is not None and policy in (self.players.trained, self.players.judge):
            return self.programs.play(plans, policy, self.note_turn, self.wait)
        return play(
            plans,
            policy,
            self.encoding,
            self.settings,
            envs=self.envs,
            on_turn=self.note_turn,
            on_wait=self.wait,
            on_fork=on_fork,
        )

    def has_ended(self) -> bool:
        """Return True at the configured end: of steps, environment steps, time or success."""
        train, target = self.config.train, self.config.eval.stop_at
        return (
            self.step >= train.steps
            or (train.max_env_steps is not None and self.env_steps >= train.max_env_steps)
            or (train.time_limit_s is not None and self.wall_s >= train.time_limit_s)
            or (target is not None and self.success is not None and self.success >= target)
        )

    def note_turn(self, episode: Episode, turn: Turn) -> None:
        """Note a turn as progress. Raises KeyboardInterrupt if the user asked to stop."""
        self.stop.check()
        self.watchdog.moved(f"playing {episode.env_id} with policy {episode.policy}")

    def wait(self, text: str) -> None:
        """Tell listeners what the run waits for. Raises KeyboardInterrupt if the user asked to stop."""
        self.stop.check()
        self.watchdog.waiting(f"waiting for {text}")
        self.say("waiting", text)

    def say(self, stage: str, text: str) -> None:
        """Tell listeners a sentence."""
        self.listen(Progress(stage=stage, done=self.step, total=self.config.train.steps, text=text))


def _model_folder(config: Config, folder: Path, tasks: Tasks) -> Path:
    """Return the folder of the model; a tiny one is created in the run's folder."""
    name = config.policy.model
    if name not in ("tiny", "tiny-words"):
        return Path(name).resolve()
    path = (folder / "model").resolve()
    if not (path / "config.json").exists():
        words = tiny.KEYDOOR_WORDS if name == "tiny" else tasks.words(config.policy.show_legal)
        tiny.build(path, seed=config.seed, words=words)
    return path


def _load_parts(config: Config, model: Path) -> tuple[HFPolicy, Engine]:
    """Return the policy and the learner."""
    if config.engine.name == "tinker":
        from verigym.trainers.tinker_start import start_tinker

        return start_tinker(config, model)
    options: dict[str, Any] = {
        "temperature": config.policy.temperature,
        "train": config.train,
        "algorithm": config.algorithm,
        "max_tokens": config.policy.max_new_tokens,
    }
    if dist.is_torchelastic_launched():
        from verigym.trainers.ranks import n_processes
        from verigym.trainers.sharded_start import start_sharded

        if n_processes() > 1:
            return start_sharded(config, _load_policy(config, model), model, options)
    policy = _load_policy(config, model)
    return policy, Engine(policy.model, pad_id=policy.tokenizer.pad_token_id or 0, **options)


def _load_policy(config: Config, model: Path) -> HFPolicy:
    chosen = config.policy
    policy = HFPolicy.load(
        model,
        max_new_tokens=chosen.max_new_tokens,
        temperature=chosen.temperature,
        think=chosen.think,
        device=chosen.device,
        dtype=chosen.dtype,
        max_batch=config.train.groups * config.train.group_size,
    )
    if chosen.lora is not None:
        add_adapter(policy.model, chosen.lora, config.seed)
    return policy
